/** The export of Slack, unpacked: a folder a channel, a file of JSON a day, and lists of users and channels. */
import { isRecord } from '../../../base/record.ts'
import type { Attachment } from '../model.ts'
import type { MessageDraft } from './draft.ts'
import { type ExportFile, folderOf, nameOf } from './export-file.ts'
import type { Findings, Place } from './findings.ts'
import { momentOf } from './instants.ts'
import { jsonRecords, listIn, recordIn, textIn } from './json-records.ts'
import type { Reader, ReaderOptions } from './reader.ts'
import { isSlackList, SlackPeople } from './slack-people.ts'
import { slackText } from './slack-text.ts'
import { offsetAt } from './zones.ts'

type Fields = Readonly<Record<string, unknown>>

/** Subtypes of messages that somebody wrote; all others tell of something that happened. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...['bot_message', 'me_message', 'thread_broadcast', 'reply_broadcast', 'file_share', 'file_comment'],
  ...['tombstone', 'assistant_app_thread', 'slackbot_response'],
])

export const readSlack: Reader = async function* (files, options, findings) {
  const people = new SlackPeople()
  await people.read(files, findings)
  for (const [folder, days] of daysByFolder(files, findings)) {
    const channel = people.channelIn(folder)
    const name = folder === '' ? (options.conversation ?? 'slack') : folder
    const messages: MessageDraft[] = []
    for (const day of days) {
      for await (const { value, place } of jsonRecords(day, null, findings)) {
        const message = messageOf(value, people, place, options, findings)
        if (message !== null) messages.push(message)
      }
    }
    yield { id: channel?.id ?? name, title: channel?.title ?? name, messages, isOrdered: false }
  }
}

/** Files named after a day, in order, by the folder they are in. */
function daysByFolder(files: readonly ExportFile[], findings: Findings): ReadonlyMap<string, readonly ExportFile[]> {
  const found = new Map<string, ExportFile[]>()
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (isSlackList(file.path)) continue
    // A day file by itself may have been given another name.
    if (!isSlackDay(file.path) && files.length > 1) {
      findings.leave('file that is no day of a channel')
      continue
    }
    const folder = folderOf(file.path)
    const days = found.get(folder)
    if (days === undefined) found.set(folder, [file])
    else days.push(file)
  }
  return found
}

export function isSlackDay(path: string): boolean {
  return /^\d{4}-\d\d-\d\d\.json$/.test(nameOf(path))
}

function messageOf(
  value: Fields,
  people: SlackPeople,
  place: Place,
  options: ReaderOptions,
  findings: Findings,
): MessageDraft | null {
  const subtype = textIn(value, 'subtype')
  if (subtype !== null && !WRITTEN.has(subtype)) {
    findings.leave(`event ${subtype.slice(0, 80)}`)
    return null
  }
  const deleted = subtype === 'tombstone'
  const attachments = [...listIn(value, 'files').map(fileOf), ...linksOf(value)]
  const text = slackText(textIn(value, 'text') ?? '', people) || slackText(textsBelow(value['blocks']), people)
  // Of a page that is linked to its name will do; what a program put below its text, or a message that is passed on, is said.
  const below = listIn(value, 'attachments').filter(link => text === '' || addressOf(link) === null || isPassedOn(link))
  const shown = [text, slackText(below.map(linkText).filter(Boolean).join('\n\n'), people)].filter(Boolean).join('\n\n')
  if (shown.trim() === '' && attachments.length === 0 && !deleted) {
    findings.leave('empty message')
    return null
  }
  const ts = textIn(value, 'ts')
  const moment = momentOf(ts, null)
  if (moment === null) findings.problem(place, 'its ts is no time; it was taken without one')
  const user = textIn(value, 'user') ?? ''
  const zone = people.zone(user) ?? options.zone
  const thread = textIn(value, 'thread_ts')
  const edited = recordIn(value, 'edited')
  return {
    id: moment === null ? null : ts,
    // The place of a deleted message is held by a program, whoever wrote it.
    speaker: deleted ? '' : speakerOf(value, user, people),
    role: null,
    at: moment?.at ?? null,
    zone: moment === null || zone === null ? null : offsetAt(zone, moment.at),
    replyTo: thread === ts ? null : thread,
    text: shown,
    attachments,
    ...(isRecord(value['edited']) && { edited: { at: momentOf(textIn(edited, 'ts'), null)?.at ?? null } }),
    deleted,
    place,
  }
}

function speakerOf(value: Fields, user: string, people: SlackPeople): string {
  const profile = recordIn(value, 'user_profile')
  const told = [
    people.user(user),
    textIn(profile, 'display_name'),
    textIn(profile, 'real_name'),
    textIn(value, 'username'),
    textIn(recordIn(value, 'bot_profile'), 'name'),
    textIn(value, 'bot_id'),
  ]
  return told.find(name => name !== null) ?? user
}

function fileOf(file: unknown): Attachment {
  const type = textIn(file, 'mimetype') ?? ''
  const kind = ['image', 'audio', 'video'].find(one => type.startsWith(`${one}/`)) ?? 'document'
  const name = textIn(file, 'name') ?? textIn(file, 'title') ?? textIn(file, 'id')
  const title = textIn(file, 'title')
  return { kind, caption: textIn(file, 'alt_txt') ?? (title === name ? null : title), name }
}

/** What Slack shows of the pages that a message links to. */
function linksOf(value: Fields): readonly Attachment[] {
  return listIn(value, 'attachments').flatMap((link): Attachment[] => {
    const address = addressOf(link)
    return address === null ? [] : [{ kind: 'link', caption: textIn(link, 'title'), name: address }]
  })
}

function addressOf(link: unknown): string | null {
  return textIn(link, 'from_url') ?? textIn(link, 'title_link')
}

function isPassedOn(link: unknown): boolean {
  return isRecord(link) && (link['is_share'] === true || link['is_msg_unfurl'] === true)
}

function linkText(link: unknown): string {
  const fields = listIn(link, 'fields').map(field =>
    ['title', 'value'].flatMap(name => textIn(field, name) ?? []).join(': '),
  )
  const texts = [...['pretext', 'title', 'text'].flatMap(field => textIn(link, field) ?? []), ...fields]
  return texts.length > 0 ? texts.join('\n') : (textIn(link, 'fallback') ?? '')
}

/** Programs often write blocks alone. */
function textsBelow(blocks: unknown): string {
  const texts: string[] = []
  const open: unknown[] = [blocks]
  // In order: the next to look at is the last of the list.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next.toReversed())
    else if (isRecord(next)) {
      const { text } = next
      if (typeof text === 'string') texts.push(text)
      open.push(...['fields', 'elements', ...(isRecord(text) ? ['text'] : [])].map(key => next[key]).filter(isBranch))
    }
  }
  return texts.join('\n')
}

function isBranch(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
