/** Reads exports of Slack: one folder per channel, one JSON file per day, and lists of users and channels. */
import { isRecord } from '../../../base/record.ts'
import type { Attachment } from '../model.ts'
import { momentOf, offsetAt, type Zone } from './dates.ts'
import { jsonRecords, listIn, recordIn, textIn } from './json.ts'
import {
  type ExportFile,
  type Findings,
  folderOf,
  kindOfType,
  type MessageDraft,
  nameOf,
  type Place,
  type Reader,
  type ReaderOptions,
} from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Subtypes of Slack messages that a person or program wrote; messages of all other subtypes report an event, such as that a member joined.
 */
const WRITTEN: ReadonlySet<string> = new Set([
  ...['bot_message', 'me_message', 'thread_broadcast', 'reply_broadcast', 'file_share', 'file_comment'],
  ...['tombstone', 'assistant_app_thread', 'slackbot_response'],
])
/** Files of a Slack export that list conversations: public and private channels, groups, direct messages. */
const CHANNEL_LISTS = ['channels.json', 'groups.json', 'mpims.json', 'dms.json']

export function isSlackList(path: string): boolean {
  return nameOf(path) === 'users.json' || CHANNEL_LISTS.includes(nameOf(path))
}

export function isSlackDay(path: string): boolean {
  return /^\d{4}-\d\d-\d\d\.json$/.test(nameOf(path))
}

export const readSlack: Reader = async function* (files, options, findings) {
  const names = await namesIn(files, findings)
  for (const [folder, days] of daysByFolder(files, findings)) {
    const channel = names.folders.get(folder)
    const name = folder === '' ? (options.conversation ?? 'slack') : folder
    const messages: MessageDraft[] = []
    for (const day of days) {
      for await (const { value, place } of jsonRecords(day, findings)) {
        const message = messageOf(value, names, place, options, findings)
        if (message !== null) messages.push(message)
      }
    }
    yield { id: channel?.id ?? name, title: channel?.title ?? name, messages, isOrdered: false }
  }
}

interface Channel {
  readonly id: string
  readonly title: string
}

/** Users and channels of the Slack workspace, by their ids. */
interface Names {
  readonly users: ReadonlyMap<string, { readonly name: string; readonly zone: Zone | null }>
  readonly channels: ReadonlyMap<string, Channel>
  /** Channels by the name of the folder that contains their files, one per day. */
  readonly folders: ReadonlyMap<string, Channel>
}

async function namesIn(files: readonly ExportFile[], findings: Findings): Promise<Names> {
  const users = new Map<string, { name: string; zone: Zone | null }>()
  const channels = new Map<string, Channel>()
  const folders = new Map<string, Channel>()
  // Lists of users and channels are read before messages, and users before channels, since direct conversations are named after their
  // members.
  const lists = files.filter(({ path }) => isSlackList(path))
  for (const file of lists.toSorted((a, b) => Number(isUserList(b)) - Number(isUserList(a)))) {
    for await (const { value } of jsonRecords(file, findings)) {
      const id = textIn(value, 'id')
      const own = textIn(value, 'name')
      if (id === null) continue
      if (isUserList(file)) {
        const profile = recordIn(value, 'profile')
        const known = [textIn(profile, 'display_name'), textIn(profile, 'real_name'), textIn(value, 'real_name'), own]
        const seconds = value['tz_offset']
        const zone = textIn(value, 'tz') ?? (typeof seconds === 'number' ? Math.round(seconds / 60) : null)
        users.set(id, { name: known.find(one => one !== null) ?? id, zone })
        continue
      }
      const members = listIn(value, 'members').map(member => users.get(String(member))?.name ?? String(member))
      const title = own !== null && !own.startsWith('mpdm-') ? own : members.join(', ')
      channels.set(id, { id, title })
      folders.set(own ?? id, { id, title })
    }
  }
  return { users, channels, folders }
}

function isUserList({ path }: ExportFile): boolean {
  return nameOf(path) === 'users.json'
}

/** Files that hold the messages of one day, grouped by their folder and ordered by day. */
function daysByFolder(files: readonly ExportFile[], findings: Findings): ReadonlyMap<string, readonly ExportFile[]> {
  const others = files.filter(({ path }) => !isSlackList(path))
  // Where the export is a single file, it is accepted under any name, since people rename files.
  const days = files.length === 1 ? others : others.filter(({ path }) => isSlackDay(path))
  findings.leave('file that is not a day of a channel', others.length - days.length)
  const ordered = days.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return Map.groupBy(ordered, ({ path }) => folderOf(path))
}

function messageOf(
  value: Fields,
  names: Names,
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
  const links = listIn(value, 'attachments')
  const attachments = [...listIn(value, 'files').map(fileOf), ...links.flatMap(pageOf)]
  const text = plainText(textIn(value, 'text') ?? '', names) || plainText(textsBelow(value['blocks']), names)
  // A linked page becomes an attachment with its name, which suffices. Text that a program put below the message, and forwarded messages,
  // become part of the message's text.
  const below = links.filter(link => text === '' || addressOf(link) === null || isPassedOn(link))
  const shown = [text, plainText(below.map(linkText).filter(Boolean).join('\n\n'), names)].filter(Boolean).join('\n\n')
  if (shown.trim() === '' && attachments.length === 0 && !deleted) {
    findings.leave('empty message')
    return null
  }
  const ts = textIn(value, 'ts')
  const moment = momentOf(ts, null)
  if (moment === null) findings.problem(place, 'its ts is not a time; it was stored without one')
  const user = textIn(value, 'user') ?? ''
  const zone = names.users.get(user)?.zone ?? options.zone
  const thread = textIn(value, 'thread_ts')
  const edited = value['edited']
  return {
    id: moment === null ? null : ts,
    // Slack replaces a deleted message by a message of a program, so the original speaker is unknown.
    speaker: deleted ? '' : speakerOf(value, user, names),
    role: null,
    moment: moment === null ? null : { at: moment.at, zone: offsetAt(zone, moment.at) },
    replyTo: thread === ts ? null : thread,
    text: shown,
    attachments,
    ...(isRecord(edited) && { edited: { at: momentOf(textIn(edited, 'ts'), null)?.at ?? null } }),
    deleted,
    place,
  }
}

function speakerOf(value: Fields, user: string, { users }: Names): string {
  const profile = recordIn(value, 'user_profile')
  const known = [
    users.get(user)?.name ?? null,
    textIn(profile, 'display_name'),
    textIn(profile, 'real_name'),
    textIn(value, 'username'),
    textIn(recordIn(value, 'bot_profile'), 'name'),
    textIn(value, 'bot_id'),
  ]
  return known.find(name => name !== null) ?? user
}

function fileOf(file: unknown): Attachment {
  const kind = kindOfType(textIn(file, 'mimetype') ?? '')
  const title = textIn(file, 'title')
  const name = textIn(file, 'name') ?? title ?? textIn(file, 'id')
  return { kind, caption: textIn(file, 'alt_txt') ?? (title === name ? null : title), name }
}

/** An attachment for each preview of a web page to which a message links. */
function pageOf(link: unknown): readonly Attachment[] {
  const address = addressOf(link)
  return address === null ? [] : [{ kind: 'link', caption: textIn(link, 'title'), name: address }]
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

/** Joins the texts inside a message's blocks; needed because messages of programs often have blocks but no text. */
function textsBelow(blocks: unknown): string {
  const texts: string[] = []
  const open: unknown[] = [blocks]
  // A stack of blocks: the block at the end is read next, which gives the order of the document.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next.toReversed())
    else if (isRecord(next)) {
      if (typeof next['text'] === 'string') texts.push(next['text'])
      open.push(next['fields'] ?? [], next['elements'] ?? [], next['text'] ?? [])
    }
  }
  return texts.join('\n')
}

/** Slack's markup converted to the text that Slack displays: mentions by name, links by their text. */
function plainText(markup: string, names: Names): string {
  return markup.replace(/<([^<>]+)>|&(?:amp|lt|gt);/g, (whole, inner: string | undefined) =>
    inner === undefined ? unescaped(whole) : (referenceText(inner, names) ?? whole),
  )
}

function referenceText(inner: string, { users, channels }: Names): string | null {
  const [target = '', ...rest] = inner.split('|')
  const label = unescaped(rest.join('|'))
  const id = target.slice(1)
  if (target.startsWith('@')) return `@${users.get(id)?.name ?? (label.replace(/^@/, '') || id)}`
  if (target.startsWith('#')) return `#${label.replace(/^#/, '') || (channels.get(id)?.title ?? id)}`
  if (target.startsWith('!')) return label === '' ? `@${id.split('^')[0]}` : label
  if (!/^[a-z][a-z0-9+.-]*:/i.test(target)) return null
  const address = unescaped(target).replace(/^(mailto|tel):/, '')
  return label === '' || label === address || `http://${label}` === address ? address : `${label} (${address})`
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
