/**
 * Conversations that were asked lately, ready to be asked again. They follow the change feed, so what any process remembers
 * is found by the next question: what comes behind the last message is added, and what changes otherwise is read anew.
 */
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { entriesChangedAfter } from '../../../pipeline/feed.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { MESSAGES } from '../tables.ts'
import { messagesOf } from '../thread.ts'
import { KeptThreads, type Thread } from './kept-threads.ts'
import { type Stored, Transcript } from './transcript.ts'

/** Messages kept in all, between one and two kilobytes each; of the last conversation asked as many as it has. */
const MOST_MESSAGES = 250_000
/** Changes followed one by one; beyond that all is read anew. */
const MOST_CHANGES = 5_000
/** Names of conversations whose threads are known. */
const MOST_NAMES = 1_000
/** Entries read at once. */
const BATCH = 1_000

export class Transcripts {
  readonly #store: Store
  readonly #kept = new KeptThreads(MOST_MESSAGES)
  readonly #named = new Recent<string, ReadonlySet<string>>(MOST_NAMES)
  #seq = -1

  constructor(store: Store) {
    this.#store = store
  }

  /** Of these threads what lies in these partitions, as the store is now. */
  of(threads: readonly string[], partitions: readonly PartitionId[]): readonly Transcript[] {
    return this.#reading(reader => this.#of(reader, threads, partitions))
  }

  /** The same of the conversations of these names, whoever holds them. */
  ofNamed(conversations: readonly string[], partitions: readonly PartitionId[]): readonly Transcript[] {
    return this.#reading(reader => {
      const threads = new Set(conversations.flatMap(name => [...this.#threadsNamed(reader, name)]))
      return this.#of(reader, [...threads], partitions)
    })
  }

  /**
   * The same of the conversations of these messages, the first one's first: at least so many, and as many more, up to the
   * most, as together have no more than `messages`. So a question over everything costs what it finds, not what there is.
   * `isAll`: none was left.
   */
  around(
    entries: readonly EntryKey[],
    partitions: readonly PartitionId[],
    { atLeast, atMost, messages }: { readonly atLeast: number; readonly atMost: number; readonly messages: number },
  ): { readonly transcripts: readonly Transcript[]; readonly isAll: boolean } {
    return this.#reading(reader => {
      const transcripts: Transcript[] = []
      let taken = 0
      let at = 0
      let isAll = true
      for (const id of this.#threadsOf(reader, entries)) {
        const own = at < atMost ? within(this.#thread(reader, id), partitions) : []
        taken += own.reduce((sum, { spoken }) => sum + spoken.length, 0)
        isAll = at < atMost && (at < atLeast || taken <= messages)
        if (!isAll) break
        transcripts.push(...own)
        at++
      }
      this.#kept.forgetOldest()
      return { transcripts, isAll }
    })
  }

  #reading<T>(work: (reader: StoreReader) => T): T {
    return this.#store.read(reader => {
      this.#follow(reader)
      return work(reader)
    })
  }

  #of(reader: StoreReader, threads: readonly string[], partitions: readonly PartitionId[]): readonly Transcript[] {
    const found = threads.flatMap(thread => within(this.#thread(reader, thread), partitions))
    this.#kept.forgetOldest()
    return found
  }

  #thread(reader: StoreReader, id: string): Thread {
    return this.#kept.get(id, () => made(storedMessages(reader, messagesOf(reader, id))))
  }

  #threadsNamed(reader: StoreReader, conversation: string): ReadonlySet<string> {
    return this.#named.get(conversation, () => {
      const rows = reader.table(MESSAGES).scan({ conversation }, { columns: ['entry', 'thread'] })
      return new Set(rows.map(row => row['thread'] as string))
    })
  }

  /** Each once, in the order of the messages, which may come again; the store is asked once, for all that are not kept. */
  *#threadsOf(reader: StoreReader, messages: readonly EntryKey[]): Generator<string> {
    const told = new Set<string>()
    let read: ReadonlyMap<EntryKey, string> | null = null
    for (const message of messages) {
      let thread = this.#kept.threadOf(message)
      if (thread === undefined) {
        read ??= this.#threadsRead(reader, messages)
        thread = read.get(message)
      }
      if (thread === undefined || told.has(thread)) continue
      told.add(thread)
      yield thread
    }
  }

  /** Of those of these messages that are not kept. */
  #threadsRead(reader: StoreReader, messages: readonly EntryKey[]): ReadonlyMap<EntryKey, string> {
    const entries = messages.filter(entry => this.#kept.threadOf(entry) === undefined)
    const rows = reader.table(MESSAGES).scan({}, { entries, columns: ['entry', 'thread'] })
    return new Map(rows.map(row => [row['entry'] as EntryKey, row['thread'] as string]))
  }

  #follow(reader: StoreReader): void {
    const seq = reader.lastSeq()
    if (seq === this.#seq) return
    const news = this.#seq < 0 ? null : entriesChangedAfter(reader, this.#seq, MOST_CHANGES)
    this.#seq = seq
    if (news === null) {
      this.#kept.clear()
      this.#named.clear()
    } else if (news.entries.size > 0) this.#take(reader, news.entries)
  }

  #take(reader: StoreReader, changed: ReadonlySet<EntryKey>): void {
    const rows = reader.table(MESSAGES).scan({}, { entries: [...changed] })
    for (const row of rows) this.#name(row['conversation'] as string, row['thread'] as string)
    const byThread = Map.groupBy(rows, row => row['thread'] as string)
    for (const [id, thread] of this.#kept.entries()) {
      const fresh = byThread.get(id) ?? []
      if (holdsAny(thread, changed) || !grow(reader, thread, fresh)) this.#kept.delete(id)
      else if (fresh.length > 0) this.#kept.grown(id, thread)
    }
  }

  /** A thread that lost its last message stays: there is nothing in it. */
  #name(conversation: string, thread: string): void {
    const known = this.#named.find(conversation)
    if (known !== undefined && !known.has(thread)) this.#named.set(conversation, new Set([...known, thread]))
  }
}

function within(thread: Thread, partitions: readonly PartitionId[]): readonly Transcript[] {
  return [...thread.values()].filter(({ partition }) => partitions.includes(partition))
}

/** Puts messages behind the last ones; false where they belong somewhere else. */
function grow(reader: StoreReader, thread: Thread, fresh: readonly Row[]): boolean {
  if (fresh.length === 0) return true
  const messages = storedMessages(reader, fresh)
  if (messages.length === 0) return true
  const first = Math.min(...messages.map(({ row }) => Number(row['position'])))
  // In one partition, as nearly always; else it is better read anew.
  const [transcript, other] = [...thread.values()]
  if (transcript === undefined || other !== undefined || first <= transcript.lastPosition) return false
  if (messages.some(({ entry }) => entry.partition !== transcript.partition)) return false
  transcript.append(messages)
  return true
}

function holdsAny(thread: Thread, changed: ReadonlySet<EntryKey>): boolean {
  for (const { entries } of thread.values()) for (const entry of changed) if (entries.has(entry)) return true
  return false
}

function made(messages: readonly Stored[]): Thread {
  const byPartition = Map.groupBy(messages, ({ entry }) => entry.partition)
  return new Map([...byPartition].map(([partition, own]) => [partition, new Transcript(own)]))
}

/** By position. */
function storedMessages(reader: StoreReader, rows: readonly Row[]): readonly Stored[] {
  const byEntry = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
  const keys = [...byEntry.keys()]
  const messages: Stored[] = []
  for (let at = 0; at < keys.length; at += BATCH) {
    for (const entry of reader.entries(keys.slice(at, at + BATCH))) {
      // What was made something else since is no message any more.
      if (entry.kind === 'message') messages.push({ entry, row: byEntry.get(entry.key) as Row })
    }
  }
  return messages.sort((a, b) => Number(a.row['position']) - Number(b.row['position']))
}
