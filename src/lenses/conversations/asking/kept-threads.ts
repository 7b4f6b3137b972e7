/** Threads of conversations that are kept in memory, those used last, and which messages are theirs. */
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Transcript } from './transcript.ts'

/** One thread, by the partition that its messages are in: more than one where some were given to other eyes. */
export type Thread = ReadonlyMap<PartitionId, Transcript>

export class KeptThreads {
  readonly #most: number
  /** In the order of use, oldest first. */
  readonly #threads = new Map<string, Thread>()
  readonly #threadOf = new Map<EntryKey, string>()

  /** `most` messages are kept in all; of the thread used last as many as it has. */
  constructor(most: number) {
    this.#most = most
  }

  has(id: string): boolean {
    return this.#threads.has(id)
  }

  get(id: string, make: () => Thread): Thread {
    const known = this.#threads.get(id)
    const thread = known ?? make()
    this.#threads.delete(id)
    this.#threads.set(id, thread)
    if (known === undefined) this.grown(id, thread)
    return thread
  }

  entries(): readonly (readonly [string, Thread])[] {
    return [...this.#threads]
  }

  /** The thread of a message; undefined where it is not kept. */
  threadOf(entry: EntryKey): string | undefined {
    return this.#threadOf.get(entry)
  }

  /** Messages were added behind its last ones. */
  grown(id: string, thread: Thread): void {
    for (const { spoken } of thread.values()) {
      for (let at = spoken.length - 1; at >= 0; at--) {
        const { entry } = spoken[at] as { entry: EntryKey }
        if (this.#threadOf.has(entry)) break
        this.#threadOf.set(entry, id)
      }
    }
  }

  delete(id: string): void {
    for (const { spoken } of this.#threads.get(id)?.values() ?? []) {
      for (const { entry } of spoken) this.#threadOf.delete(entry)
    }
    this.#threads.delete(id)
  }

  clear(): void {
    this.#threads.clear()
    this.#threadOf.clear()
  }

  /** Those used longest ago, while there are too many messages. */
  forgetOldest(): void {
    for (const id of this.#threads.keys()) {
      if (this.#threadOf.size <= this.#most || this.#threads.size === 1) return
      this.delete(id)
    }
  }
}
