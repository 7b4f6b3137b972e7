/** Writes one message as an entry with its row. The same message again writes nothing. */
import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { lowerBound } from '../../base/lower-bound.ts'
import type { Entry, EntryDraft, EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { aroundDamage } from '../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { bodyOf, chunksOf, type Said, titleOf, unitOf } from './indexed-text.ts'
import type { Message, Profile } from './model.ts'
import { idWithinLimit } from './reading/draft.ts'
import { LAST, MESSAGES, messagesOf, threadOf } from './tables.ts'

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

export interface WrittenMessage {
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
function metadataOf({ title, attachments, edited, versions }: Placed): JsonObject {
  return {
    ...(title !== '' && { conversation_title: title }),
    ...(attachments.length > 0 && { attachments: attachments.map(each => ({ ...each })) }),
    ...(edited !== undefined && { edited: true }),
    ...(versions.length > 0 && { versions: versions.map(({ text, at }) => ({ text, at })) }),
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
 * An answer is found by the question before it, whose words stand with it in the indexes: when a question goes or changes, they
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
