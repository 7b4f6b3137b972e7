/** Writes one message as an entry with its row in the lens's table. Writing an unchanged message again changes nothing. */
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

// Texts by which a message is found. The entry's title contains speaker and date; the headings of its chunks contain the question that the
// message answers and the dates that it mentions. Headings are indexed and embedded but not shown.

/** Number of characters at the end of a message in which a question mark makes the message count as a question. */
const QUESTION_END = 40
/** Largest number of characters of a question that is indexed with the answer after it; of a longer question, the end is used. */
const MAX_QUESTION = 400
/** Largest number of words in a chunk of a message of a chat with an assistant. */
const CHUNK_WORDS = 120

export interface Said {
  readonly speaker: string
  readonly body: string
}

export interface Unit extends Said, Pick<Message, 'at' | 'zone'> {
  readonly profile: Profile
  /** The message before this one in the same session; null: there is none. */
  readonly before: Said | null
  readonly dates: readonly string[]
}

/** The parts from which a stored message's index texts are made, from its row, its content and the message before it. */
export function unitOf(row: Row, body: string, before: Said | null): Unit {
  return {
    ...{ speaker: row['speaker'] as string, body, profile: row['profile'] as Profile, before },
    ...{ at: row['at'] as number | null, zone: row['zone'] as number | null, dates: datesIn(row) },
  }
}

/** Content of a message's entry: the message's text, followed by its attachments in brackets. */
export function bodyOf({ text, attachments }: Pick<Message, 'text' | 'attachments'>): string {
  return nonEmpty(text, ...attachments.map(attachmentText)).join(' ')
}

function attachmentText({ kind, caption, name }: Attachment): string {
  const label = nonEmpty(kind === 'image' ? 'photo' : kind, name ?? '').join(' ')
  return `[${caption === null ? label : `${label}: ${caption}`}]`
}

/**
 * Title of a message's entry: `Mira, 14 March 2025`. In chats with an assistant the title has no date, since a date in it lowers the
 * ranking of these messages more than it helps to find them.
 */
export function titleOf(unit: Pick<Unit, 'profile' | 'speaker' | 'at' | 'zone'>): string {
  return nonEmpty(unit.speaker, unit.profile === 'assistant' ? '' : dateOf(unit)).join(', ')
}

/**
 * Chunks of a message. Between people, they have headings such as `Tom: Did you find a place?` (the question before) and `(weekend of 8
 * March 2025)` (dates it mentions).
 */
export function chunksOf(unit: Unit): readonly ChunkDraft[] {
  if (unit.profile === 'assistant') return pieces(unit.body)
  const headings = nonEmpty(questionBefore(unit), unit.dates.length === 0 ? '' : `(${unit.dates.join('; ')})`)
  return chunk(unit.body).map(draft => ({ ...draft, headings }))
}

/**
 * The surrounding text of a message between people: its date, the question before it, and the dates that it mentions. The message is ranked
 * by these in addition to its own text: `14 March 2025`, `Tom: Did you find a place?`, `weekend of 8 March 2025`.
 */
export function surroundingText(unit: Unit): string {
  return nonEmpty(dateOf(unit), questionBefore(unit), ...unit.dates).join('\n')
}

/** A message's text preceded by its speaker: `Mira: Yes, the barn.` */
export function spokenText({ speaker, body }: Said): string {
  return speaker === '' ? body : `${speaker}: ${body}`
}

function dateOf({ at, zone }: Pick<Unit, 'at' | 'zone'>): string {
  return at === null ? '' : dayText(dayOf(at, zone))
}

/** The previous message if it is a question (a question mark near its end), with its speaker; empty otherwise. */
function questionBefore({ before }: Pick<Unit, 'before'>): string {
  if (before === null || !/[?？؟]/u.test(before.body.slice(-QUESTION_END))) return ''
  return spokenText({ ...before, body: before.body.slice(-MAX_QUESTION) }).toWellFormed()
}

function nonEmpty(...texts: readonly string[]): readonly string[] {
  return texts.filter(text => text !== '')
}

/** Splits a message of a chat with an assistant into chunks, between paragraphs and sentences where possible; in order, not overlapping. */
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

/**
 * Index of the last word of the chunk that begins with the word `first`: preferably a word that ends a paragraph or sentence in the second
 * half of the chunk.
 */
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

/** Fields of a message's entry that come from the request rather than from the message. */
export interface EntrySettings {
  readonly collection: string
  readonly tags: readonly string[]
  readonly audience: Audience
  readonly now: Instant
}

/** A message with the position that it gets in its thread. */
export interface Placed extends Message {
  readonly profile: Profile
  /** Title of the conversation. */
  readonly title: string
  readonly dates: readonly string[]
  /** The message before this one in the same session; null: the session begins with this one. */
  readonly before: Said | null
}

interface WrittenMessage {
  readonly key: EntryKey
  readonly change: 'added' | 'updated' | 'unchanged'
  /** Number of chunks of the message that were written; 0 where it is unchanged. */
  readonly chunks: number
}

/** Id of the entry in which a message is stored: the conversation's id, `/` and the message's id. */
export function entryIdOf(conversation: string, message: string): string {
  return idWithinLimit(`${conversation}/${message}`)
}

export interface OwnMessage {
  readonly entry: Entry
  readonly row: Row
}

/**
 * The stored message with this entry id that the holder owns; undefined: there is none. Throws `conflict` where the id belongs to an entry
 * that is not a message of this conversation.
 */
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

/** Writes a message as an entry with its row. `before`: the stored version of the message; undefined: the message is new. */
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
    // A message dated in the future (its writer's clock is ahead, or the time zone is unknown) gets no start of validity, because otherwise
    // it would not be found until then.
    validFrom: isSame ? before.validFrom : at !== null && at <= now ? at : null,
    validUntil: null,
    knownAt: isSame ? before.knownAt : now,
  }
}

/** Fields of a message that few messages have and that never affect ranking; they are stored as metadata of the entry. */
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
  table.delete({ entry }) // The message may have been moved from another thread, of which it was recorded as the last message; that record is deleted.
  const last = table.get({ thread })
  const lastRow = last === undefined ? undefined : writer.table(MESSAGES).get({ entry: last['entry'] as EntryKey })
  if (lastRow === undefined || Number(lastRow['position']) <= Number(row['position'])) table.put({ thread, entry })
}

function isSame(one: Row, other: Row): boolean {
  return Object.keys(other).every(name => one[name] === other[name])
}

/** Speaker and text of a stored message; null when the message was deleted. */
export function saidIn(reader: StoreReader, row: Row): Said | null {
  const entry = reader.entry(row['entry'] as EntryKey)
  return entry === undefined ? null : { speaker: row['speaker'] as string, body: entry.content }
}

/**
 * Updates the index texts of the messages that follow deleted or changed ones: an answer is indexed with the question before it, which may
 * have changed. `rows`: the deleted or changed messages as they were before.
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
