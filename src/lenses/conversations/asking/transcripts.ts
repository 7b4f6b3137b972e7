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
import { type Stored, Transcript } from './transcript.ts'

/** Messages kept in all, about 600 bytes each; of the last conversation asked as many as it has. */
const MOST_MESSAGES = 250_000
/** Changes followed one by one; beyond that all is read anew. */
const MOST_CHANGES = 5_000
/** Names of conversations whose threads are known. */
const MOST_NAMES = 1_000
/** Entries read at once. */
const BATCH = 1_000

/** One thread, by the partition that its messages are in: more than one where some were given to other eyes. */
type Thread = Map<PartitionId, Transcript>

export class Transcripts {
  readonly #store: Store
  /** In the order of use, oldest first. */
  readonly #threads = new Map<string, Thread>()
  readonly #named = new Recent<string, ReadonlySet<string>>(MOST_NAMES)
  #seq = -1

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Of these threads what lies in these partitions, as the store is now: one after the other, until `most` messages are
   * reached.
   */
  of(
    threads: Iterable<string>,
    partitions: readonly PartitionId[],
    most: number = Number.POSITIVE_INFINITY,
  ): readonly Transcript[] {
    return this.#reading(reader => {
      const found: Transcript[] = []
      let messages = 0
      for (const id of threads) {
        if (messages >= most) break
        for (const transcript of this.#thread(reader, id).values()) {
          if (!partitions.includes(transcript.partition)) continue
          found.push(transcript)
          messages += transcript.spoken.length
        }
      }
      this.#forget()
      return found
    })
  }

  /** Threads of the conversations of this name, whoever holds them. */
  named(conversation: string): ReadonlySet<string> {
    return this.#reading(reader =>
      this.#named.get(conversation, () => {
        const rows = reader.table(MESSAGES).scan({ conversation }, { columns: ['entry', 'thread'] })
        return new Set(rows.map(row => row['thread'] as string))
      }),
    )
  }

  #reading<T>(work: (reader: StoreReader) => T): T {
    return this.#store.read(reader => {
      this.#follow(reader)
      return work(reader)
    })
  }

  #thread(reader: StoreReader, id: string): Thread {
    const thread = this.#threads.get(id) ?? made(storedMessages(reader, messagesOf(reader, id)))
    this.#threads.delete(id)
    this.#threads.set(id, thread)
    return thread
  }

  #forget(): void {
    let kept = 0
    for (const id of [...this.#threads.keys()].reverse()) {
      const size = sizeOf(this.#threads.get(id) as Thread)
      if (kept > 0 && kept + size > MOST_MESSAGES) this.#threads.delete(id)
      else kept += size
    }
  }

  #follow(reader: StoreReader): void {
    const seq = reader.lastSeq()
    if (seq === this.#seq) return
    const news = this.#seq < 0 ? null : entriesChangedAfter(reader, this.#seq, MOST_CHANGES)
    this.#seq = seq
    if (news === null) {
      this.#threads.clear()
      this.#named.clear()
    } else if (news.entries.size > 0) this.#take(reader, news.entries)
  }

  #take(reader: StoreReader, changed: ReadonlySet<EntryKey>): void {
    const rows = reader.table(MESSAGES).scan({}, { entries: [...changed] })
    for (const row of rows) this.#name(row['conversation'] as string, row['thread'] as string)
    const byThread = Map.groupBy(rows, row => row['thread'] as string)
    for (const [id, thread] of [...this.#threads]) {
      const fresh = byThread.get(id) ?? []
      if (holdsAny(thread, changed) || !grow(reader, thread, fresh)) this.#threads.delete(id)
    }
  }

  /** A thread that lost its last message stays: there is nothing in it. */
  #name(conversation: string, thread: string): void {
    const known = this.#named.find(conversation)
    if (known !== undefined && !known.has(thread)) this.#named.set(conversation, new Set([...known, thread]))
  }
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

function sizeOf(thread: Thread): number {
  let size = 0
  for (const { spoken } of thread.values()) size += spoken.length
  return size
}
