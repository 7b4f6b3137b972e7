/** Writes one message as an entry with its row. The same message again writes nothing. */
import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { lowerBound } from '../../base/compare.ts'
import type { ChunkDraft, Entry, EntryDraft, EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { aroundDamage } from '../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { chunk } from '../../text/chunk.ts'
import { LineCounter, linesOfSpan } from '../../text/lines.ts'
import type { Attachment, Message, Profile } from './model.ts'
import { dayOf, dayText } from './reading/dates.ts'
import { idWithinLimit } from './reading/reader.ts'
import { datesIn, LAST, MESSAGES, messagesOf, threadOf } from './tables.ts'

// What a message is found by: who says it and when, as its title; the question it answers and the dates it speaks of, in
// the headings of its chunks, which are indexed and embedded and are no part of what is shown.

/** Characters at the end of a message among which a question mark makes it a question. */
const QUESTION_END = 40
/** Characters of a question in front of its answer: what is longer keeps its end. */
const MAX_QUESTION = 400
/** Words of a chunk of an assistant's chat. */
const CHUNK_WORDS = 120

export interface Said {
  readonly speaker: string
  readonly body: string
}

export interface Unit extends Said, Pick<Message, 'at' | 'zone'> {
  readonly profile: Profile
  /** The message before it in the same session. */
  readonly before: Said | null
  readonly dates: readonly string[]
}

/** Of a message as it is stored: its row, and the content of its entry. */
export function unitOf(row: Row, body: string, before: Said | null): Unit {
  return {
    ...{ speaker: row['speaker'] as string, body, profile: row['profile'] as Profile, before },
    ...{ at: row['at'] as number | null, zone: row['zone'] as number | null, dates: datesIn(row) },
  }
}

/** What is stored as the content: the text, and in brackets what came with it. */
export function bodyOf({ text, attachments }: Pick<Message, 'text' | 'attachments'>): string {
  return nonEmpty(text, ...attachments.map(attachmentText)).join(' ')
}

function attachmentText({ kind, caption, name }: Attachment): string {
  const label = nonEmpty(kind === 'image' ? 'photo' : kind, name ?? '').join(' ')
  return `[${caption === null ? label : `${label}: ${caption}`}]`
}

/** `Mira, 14 March 2025`. A date in front of an assistant's answer hides more than it finds. */
export function titleOf(unit: Pick<Unit, 'profile' | 'speaker' | 'at' | 'zone'>): string {
  return nonEmpty(unit.speaker, unit.profile === 'assistant' ? '' : dateOf(unit)).join(', ')
}

/** Headings: `Tom: Did you find a place?`, `(weekend of 8 March 2025)`. */
export function chunksOf(unit: Unit): readonly ChunkDraft[] {
  if (unit.profile === 'assistant') return pieces(unit.body)
  const headings = nonEmpty(questionBefore(unit), unit.dates.length === 0 ? '' : `(${unit.dates.join('; ')})`)
  return chunk(unit.body).map(draft => ({ ...draft, headings }))
}

/**
 * What a message of people is ranked by beside what was said: `14 March 2025`, `Tom: Did you find a place?`, and
 * `weekend of 8 March 2025`.
 */
export function surroundingText(unit: Unit): string {
  return nonEmpty(dateOf(unit), questionBefore(unit), ...unit.dates).join('\n')
}

/** `Mira: Yes, the barn.` */
export function spokenText({ speaker, body }: Said): string {
  return speaker === '' ? body : `${speaker}: ${body}`
}

function dateOf({ at, zone }: Pick<Unit, 'at' | 'zone'>): string {
  return at === null ? '' : dayText(dayOf(at, zone))
}

/** Empty where no question came before. */
function questionBefore({ before }: Pick<Unit, 'before'>): string {
  if (before === null || !/[?？؟]/u.test(before.body.slice(-QUESTION_END))) return ''
  return spokenText({ ...before, body: before.body.slice(-MAX_QUESTION) }).toWellFormed()
}

function nonEmpty(...texts: readonly string[]): readonly string[] {
  return texts.filter(text => text !== '')
}

/** Of an assistant's chat. Cut between paragraphs and sentences where one is near; in order, not overlapping. */
export function pieces(body: string): readonly ChunkDraft[] {
  const words = [...body.matchAll(/[^\s]+(?:\s+|$)/g)].map(({ index, 0: word }) => ({ end: index + word.length, word }))
  const lines = new LineCounter(body)
  const drafts: ChunkDraft[] = []
  let start = 0
  for (let first = 0; first < words.length; ) {
    const last = lastWord(words, first)
    const end = last === words.length - 1 ? body.length : (words[last]?.end as number)
    drafts.push({ start, end, ...linesOfSpan(lines, body, start, end), headings: [] })
    start = end
    first = last + 1
  }
  return drafts.length > 0 ? drafts : chunk(body)
}

/** The last word of the piece that begins with `first`: one that ends a paragraph or a sentence in its second half. */
function lastWord(words: readonly { readonly word: string }[], first: number): number {
  const max = Math.min(words.length, first + CHUNK_WORDS) - 1
  if (max === words.length - 1) return max
  for (const border of [/\n\s*\n/, /[.!?…]["')\]]*\s$|\n/]) {
    for (let at = max; at > first + CHUNK_WORDS / 2; at--) {
      if (border.test(words[at]?.word ?? '')) return at
    }
  }
  return max
}

/** What entries get from the request. */
export interface EntrySettings {
  readonly collection: string
  readonly tags: readonly string[]
  readonly audience: Audience
  readonly now: Instant
}

/** A message whose place in its thread is known. */
export interface Placed extends Message {
  readonly profile: Profile
  /** Of the conversation. */
  readonly title: string
  readonly dates: readonly string[]
  /** The message before it in its session; null at the beginning of one. */
  readonly before: Said | null
}

interface WrittenMessage {
  readonly key: EntryKey
  readonly change: 'added' | 'updated' | 'unchanged'
  /** How many were written. */
  readonly chunks: number
}

/** Of the entry of a message. */
export function entryIdOf(conversation: string, message: string): string {
  return idWithinLimit(`${conversation}/${message}`)
}

export interface OwnMessage {
  readonly entry: Entry
  readonly row: Row
}

/** The holder's own message of this id. Throws `conflict` where the id is that of something else. */
export function ownMessage(
  reader: StoreReader,
  id: string,
  conversation: string,
  holder: string,
): OwnMessage | undefined {
  const everywhere = reader.partitions().map(partition => partition.id)
  const entry = aroundDamage(reader, () => reader.entries(reader.find(id, everywhere))).find(
    found => found.audience.holder === holder,
  )
  if (entry === undefined) return undefined
  const row = reader.table(MESSAGES).get({ entry: entry.key })
  if (row !== undefined && row['conversation'] === conversation) return { entry, row }
  const message = `the id ${id} belongs to another entry; delete that one, or give the message another id`
  throw new QuerentError('conflict', message, { id })
}

/** `before`: as `ownMessage` finds it. */
export function writeMessage(
  writer: StoreWriter,
  message: Placed,
  before: OwnMessage | undefined,
  settings: EntrySettings,
): WrittenMessage {
  const id = entryIdOf(message.conversation, message.id)
  const body = bodyOf(message)
  const chunks = chunksOf({ ...message, body })
  const { key, changed, created } = writer.put(draftOf(id, body, message, before?.entry, settings), chunks)
  const row = rowOf(key, message, settings.audience)
  const isMoved = before === undefined || !isSame(before.row, row)
  if (isMoved) {
    writer.table(MESSAGES).put(row)
    rememberLast(writer, row)
    if (!changed) writer.announce(key)
  }
  const change = created ? 'added' : changed || isMoved ? 'updated' : 'unchanged'
  return { key, change, chunks: change === 'unchanged' ? 0 : chunks.length }
}

function draftOf(
  id: string,
  content: string,
  message: Placed,
  before: Entry | undefined,
  { collection, tags, audience, now }: EntrySettings,
): EntryDraft {
  const { at, edited } = message
  const isSame = before !== undefined && before.content === content
  const createdAt = at ?? before?.createdAt ?? now
  return {
    id,
    collection,
    kind: 'message',
    title: titleOf(message),
    content,
    tags: [...tags],
    metadata: metadataOf(message),
    audience,
    origin: null,
    createdAt,
    updatedAt: edited?.at ?? (isSame ? before.updatedAt : before === undefined ? createdAt : now),
    // One whose clock runs ahead, or names no zone, is to be found at once.
    validFrom: isSame ? before.validFrom : at !== null && at <= now ? at : null,
    validUntil: null,
    knownAt: isSame ? before.knownAt : now,
  }
}

/** What is rarely there and never ranked by. */
function metadataOf({ title, attachments, edited }: Placed): JsonObject {
  return {
    ...(title !== '' && { conversation_title: title }),
    ...(attachments.length > 0 && { attachments: attachments.map(each => ({ ...each })) }),
    ...(edited !== undefined && { edited: true }),
  }
}

function rowOf(entry: EntryKey, message: Placed, audience: Audience): Row {
  const { conversation, session, position, speaker, role, at, zone, replyTo, profile, dates } = message
  return {
    ...{ entry, conversation, session, position, speaker, role, at, zone, profile },
    reply_to: replyTo === null ? null : entryIdOf(conversation, replyTo),
    dates: dates.length === 0 ? null : dates.join('; '),
    thread: threadOf(conversation, audience),
  }
}

function rememberLast(writer: StoreWriter, row: Row): void {
  const { entry, thread } = row as { entry: EntryKey; thread: string }
  const table = writer.table(LAST)
  table.delete({ entry }) // it may have been the last of another thread
  const last = table.get({ thread })
  const lastRow = last === undefined ? undefined : writer.table(MESSAGES).get({ entry: last['entry'] as EntryKey })
  if (lastRow === undefined || Number(lastRow['position']) <= Number(row['position'])) table.put({ thread, entry })
}

function isSame(one: Row, other: Row): boolean {
  return Object.keys(other).every(name => one[name] === other[name])
}

/** What a message says; null when it is gone. */
export function saidIn(reader: StoreReader, row: Row): Said | null {
  const entry = reader.entry(row['entry'] as EntryKey)
  return entry === undefined ? null : { speaker: row['speaker'] as string, body: entry.content }
}

/**
 * An answer is found by the question before it, whose words are indexed with the answer: when a question goes or changes, they
 * go or change there too. `rows`: of messages as they were before they were deleted or changed.
 */
export function reindexFollowers(writer: StoreWriter, rows: readonly Row[]): void {
  for (const [thread, changed] of Map.groupBy(rows, row => row['thread'] as string)) {
    const left = messagesOf(writer, thread)
    const behind = (position: number) =>
      lowerBound(left.length, at => Number((left[at] as Row)['position']) <= position)
    for (const at of new Set(changed.map(row => behind(Number(row['position']))))) {
      const row = left[at]
      if (row !== undefined) reindex(writer, row, left[at - 1])
    }
  }
}

function reindex(writer: StoreWriter, row: Row, previous: Row | undefined): void {
  const entry = writer.entry(row['entry'] as EntryKey)
  if (entry === undefined) return
  const { key, partition, contentHash, ...draft } = entry
  const before = previous?.['session'] === row['session'] ? saidIn(writer, previous as Row) : null
  writer.put(draft, chunksOf(unitOf(row, entry.content, before)))
}
