/**
 * Imports an export of conversations into the store: adds new messages, rewrites edited ones, and removes those that the export marks as
 * deleted.
 */
import { nextTurn } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import { type Audience, audience, partitionKey } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { entriesChangedAfter } from '../../pipeline/columns.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import type { ChatNames, ChatOptions, ChatReport, ChatSettings, ExportFile } from '../lens.ts'
import type { Conversation, Message } from './model.ts'
import { resolvedDates } from './reading/dates.ts'
import { readConversations } from './reading/read.ts'
import { Findings } from './reading/reader.ts'
import { MESSAGES, messagesOf, threadOf } from './tables.ts'
import {
  bodyOf,
  entryIdOf,
  ownMessage,
  type Placed,
  reindexFollowers,
  type Said,
  saidIn,
  writeMessage,
} from './write-message.ts'

/** Number of messages written in one transaction; other writers can write between two transactions. */
const BATCH = 500

/**
 * Numbers of messages by what an import did with them, and of chunks. `gone`: messages that the export marks as deleted and that were not
 * in the store.
 */
type Counts = Record<'added' | 'updated' | 'unchanged' | 'deleted' | 'gone' | 'chunks', number>

/** Imports an export of conversations into the store. Throws for an invalid request, but never because of the content of a file. */
export async function importConversations(
  store: Store,
  files: readonly ExportFile[],
  { date_order: dateOrder, ...options }: ChatOptions,
  settings: ChatSettings,
  names: ChatNames,
  { signal, report }: Pick<CallContext, 'signal' | 'report'>,
): Promise<ChatReport> {
  const findings = new Findings()
  const counts: Counts = { added: 0, updated: 0, unchanged: 0, deleted: 0, gone: 0, chunks: 0 }
  const conflicts: { path: string; message: string }[] = []
  let done = 0
  for await (const conversation of readConversations(files, { ...options, dateOrder }, findings)) {
    for (const { part, audience } of partsOf(store, conversation, settings)) {
      const { length } = part.messages
      const positions = new Positions(part, audience)
      for (let at = 0; at < length; at += BATCH) {
        if (signal.aborted) throw cancelled(counts)
        const end = Math.min(at + BATCH, length)
        await store.writeWhenFree(settings.now, writer => {
          const changed: Row[] = []
          for (const message of positions.of(writer, at, end)) {
            const conflict = take(writer, message, { ...settings, audience }, counts, changed)
            if (conflict !== null) conflicts.push({ path: names.whole, message: conflict })
          }
          // The message after a changed or deleted one is indexed together with that message's text, so it is indexed again here. It may
          // not be part of this export: it was remembered separately, or the export begins later.
          reindexFollowers(writer, changed)
          positions.written(writer)
        })
        done += end - at
        report?.({ phase: 'read', done, total: null, current: conversation.title || conversation.id })
        await nextTurn()
      }
    }
  }
  const { gone, ...made } = counts
  findings.leave('deleted message', gone)
  return { ...made, ...reported(findings, names, conflicts) }
}

interface Part {
  readonly part: Conversation
  readonly audience: Audience
}

/**
 * Splits the messages of a conversation into parts with one audience each, in the order of the export: a message already in the store keeps
 * its audience, and a message's index text must not quote one with another audience.
 */
function partsOf(
  store: Store,
  conversation: Conversation,
  { given, audience: kept, holder }: ChatSettings,
): readonly Part[] {
  if (given.audience !== undefined) return [{ part: conversation, audience: given.audience }]
  const known = store.read(reader => audiencesOf(reader, conversation.id, holder))
  const all = new Map([...known.values()].map(each => [partitionKey(each), each]))
  const [only = audience('private', holder)] = all.size === 1 ? all.values() : []
  const audienceOf = ({ id }: Message): Audience => known.get(entryIdOf(conversation.id, id)) ?? kept ?? only
  const parts = Map.groupBy(conversation.messages, message => partitionKey(audienceOf(message)))
  return [...parts.values()].map(messages => ({
    part: { ...conversation, messages },
    audience: audienceOf(messages[0] as Message),
  }))
}

/** Audiences of those messages of a conversation that the holder owns, by the messages' entry ids. */
function audiencesOf(reader: StoreReader, conversation: string, holder: string): ReadonlyMap<string, Audience> {
  const rows = reader.table(MESSAGES).scan({ conversation })
  const threads = new Map(rows.map(row => [row['entry'] as EntryKey, row['thread'] as string]))
  const ofThread = new Map<string, Audience | undefined>()
  const found = new Map<string, Audience>()
  for (const { key, id, holder: whose } of reader.identities([...threads.keys()])) {
    const thread = threads.get(key) as string
    if (whose !== holder) continue
    if (!ofThread.has(thread)) ofThread.set(thread, reader.entry(key)?.audience)
    const of = ofThread.get(thread)
    if (of !== undefined) found.set(id, of)
  }
  return found
}

/**
 * Writes one imported message. Returns a text about the conflict that prevents it, or null. `changed`: collects the rows of messages that
 * were deleted or changed.
 */
function take(
  writer: StoreWriter,
  message: Placed,
  { given, collection, tags, audience, now, moved }: ChatSettings & { readonly audience: Audience },
  counts: Counts,
  changed: Row[],
): string | null {
  try {
    const { conversation, id } = message
    const own = ownMessage(writer, entryIdOf(conversation, id), conversation, audience.holder)
    if (message.deleted) {
      const isHere = own !== undefined && writer.delete(own.entry.key)
      counts[isHere ? 'deleted' : 'gone']++
      if (isHere) changed.push(own.row)
      return null
    }
    if (own !== undefined && given.audience === undefined && !isSame(own.entry.audience, audience)) {
      return `${own.entry.id}: its visibility was changed meanwhile; add the export again`
    }
    const { change, chunks } = writeMessage(writer, message, own, {
      collection: given.collection ?? own?.entry.collection ?? collection ?? 'conversations',
      tags: given.tags ?? own?.entry.tags ?? tags ?? [],
      ...{ audience, now },
    })
    if (own !== undefined) moved(own.entry.audience, audience)
    if (own !== undefined && change === 'updated') changed.push(own.row)
    counts[change]++
    counts.chunks += chunks
    return null
  } catch (error) {
    if (!(error instanceof QuerentError && error.code === 'conflict')) throw error
    return error.message
  }
}

function isSame(one: Audience, other: Audience): boolean {
  return partitionKey(one) === partitionKey(other)
}

function reported(
  { problems, unlisted, left }: Findings,
  { shown, whole }: ChatNames,
  conflicts: ChatReport['errors'],
): Pick<ChatReport, 'skipped' | 'errors'> {
  const errors = problems.map(({ path, line, at, message }) => {
    const where = [line === null ? '' : `line ${line}`, at ?? ''].filter(part => part !== '').join(', ')
    return { path: shown(path), message: where === '' ? message : `${where}: ${message}` }
  })
  const more = unlisted === 0 ? [] : [{ path: whole, message: `${unlisted} more problems` }]
  const skipped = Object.entries(left).map(([what, count]) => ({ path: whole, reason: what, count }))
  return { skipped, errors: [...errors, ...more, ...conflicts] }
}

function cancelled({ added, updated }: Counts): QuerentError {
  const message = 'adding conversations was stopped; messages that were written before are kept'
  return new QuerentError('cancelled', message, { added, updated })
}

/**
 * The positions that an export's messages get in their thread. Messages are written in batches, and where others write in between,
 * positions are computed again.
 */
class Positions {
  readonly #conversation: Conversation
  readonly #audience: Audience
  #placed: readonly Placed[] | null = null
  #seq = 0

  constructor(conversation: Conversation, audience: Audience) {
    this.#conversation = conversation
    this.#audience = audience
  }

  /** The export's messages from index `from` to before `to`, with their positions in the store as it is now. */
  of(reader: StoreReader, from: number, to: number): readonly Placed[] {
    if (this.#placed === null || entriesChangedAfter(reader, this.#seq)?.entries.size !== 0) {
      this.#placed = placed(reader, this.#conversation, this.#audience)
    }
    return this.#placed.slice(from, to)
  }

  /** Must be called after each batch is written. From then on, only later writes to the store cause the positions to be computed again. */
  written(reader: StoreReader): void {
    this.#seq = reader.lastSeq()
  }
}

/**
 * Computes the positions of an export's messages among the stored messages of the conversation. Stored messages keep their position and
 * session, since an export may begin later than an earlier one, and messages remembered separately may follow it.
 */
function placed(reader: StoreReader, conversation: Conversation, audience: Audience): readonly Placed[] {
  const { id, title, profile, messages } = conversation
  const rows = messagesOf(reader, threadOf(id, audience))
  const byEntry = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
  const identities = reader.identities([...byEntry.keys()])
  const byId = new Map(identities.map(identity => [identity.id, byEntry.get(identity.key) as Row]))
  const knownAs = messages.map(message => byId.get(entryIdOf(id, message.id)))
  const sessions = new Map<string, string>()
  for (const [at, { session }] of messages.entries()) {
    const row = knownAs[at]
    if (row !== undefined && !sessions.has(session)) sessions.set(session, row['session'] as string)
  }
  const shift = shiftOf(messages, knownAs, rows)
  const positions = positionsOf(messages, knownAs, rows, shift)
  const dates = resolvedDates(conversation)
  const first = sessions.get(messages[0]?.session ?? '') ?? ''
  let before = shift === 0 ? null : lastSaid(reader, rows, shift, first)
  let session = before === null ? null : first
  return messages.map((message, at) => {
    const own = sessions.get(message.session) ?? message.session
    const said = session === own ? before : null
    session = own
    if (!message.deleted) before = { speaker: message.speaker, body: bodyOf(message) }
    else if (said === null) before = null
    const position = positions[at] as number
    return { ...message, position, session: own, profile, title, dates: dates[at] ?? [], before: said }
  })
}

/** Number to add to the position of a message in the export to get its position in the stored thread. */
function shiftOf(messages: readonly Message[], knownAs: readonly (Row | undefined)[], rows: readonly Row[]): number {
  const at = knownAs.findIndex(row => row !== undefined)
  if (at < 0) return Number(rows.at(-1)?.['position'] ?? -1) + 1
  return Math.max(0, Number(knownAs[at]?.['position']) - (messages[at] as Message).position)
}

/**
 * Positions for the export's messages, strictly ascending. A stored message keeps its position if that is after the one before; no message
 * gets the position of a stored message that is not in the export.
 */
function positionsOf(
  messages: readonly Message[],
  knownAs: readonly (Row | undefined)[],
  rows: readonly Row[],
  shift: number,
): readonly number[] {
  const own = new Set(knownAs)
  const taken = new Set(rows.filter(row => !own.has(row)).map(row => Number(row['position'])))
  let ahead = shift
  let last = -1
  return messages.map(({ position }, at) => {
    const before = Number(knownAs[at]?.['position'] ?? -1)
    let next = before > last ? before : Math.max(last + 1, position + ahead)
    while (taken.has(next)) next++
    ahead = next - position
    last = next
    return next
  })
}

/** Speaker and text of the last message of the session before the given position. */
function lastSaid(reader: StoreReader, rows: readonly Row[], position: number, session: string): Said | null {
  const row = rows.findLast(each => Number(each['position']) < position && each['session'] === session)
  return row === undefined ? null : saidIn(reader, row)
}
