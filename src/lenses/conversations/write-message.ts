/** Writes one message as an entry with its row. The same message again writes nothing. */
import { type JsonObject, sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { Entry, EntryDraft, EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import { MAX_ID_LENGTH } from '../../model/limits.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { aroundDamage } from '../../pipeline/around-damage.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { bodyOf, chunksOf, type Said, titleOf } from './indexed-text.ts'
import type { Message, Profile } from './model.ts'
import { LAST, MESSAGES } from './tables.ts'
import { threadOf } from './thread.ts'

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
  readonly chunks: number
  /** Of the message as it was; null when it was not there. */
  readonly rowBefore: Row | null
}

/** Of the entry of a message; what is too long keeps its beginning and gets a hash of the whole. */
export function entryIdOf(conversation: string, message: string): string {
  const id = `${conversation}/${message}`
  if (id.length <= MAX_ID_LENGTH) return id
  return `${id.slice(0, MAX_ID_LENGTH - 17).toWellFormed()}~${sha256(id).slice(0, 16)}`
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
  return { key, change, chunks: change === 'unchanged' ? 0 : chunks.length, rowBefore: before?.row ?? null }
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
    // One whose clock runs ahead, or tells no zone, is to be found at once.
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
