/**
 * Vectors follow words in the background: chunks without a vector are embedded one by one and stored in small batches,
 * by one process at a time. What is stored stays stored, so an interrupted run goes on where it was.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import { type Chunk, chunkText, chunkTitle } from '../model/entry.ts'
import type { Progress } from '../model/operation.ts'
import type { Store } from '../store/store.ts'
import type { Lease } from './lease.ts'
import { orStopped } from './or-stopped.ts'

const BATCH = 16
/** How long a process waits before it looks again whether another one has finished. */
const WATCH_MS = 200

export class Embedding {
  readonly #store: Store
  readonly #embedder: Embedder
  readonly #lease: Lease
  readonly #now: () => number
  readonly #stop = new AbortController()
  readonly #watchers = new Set<(progress: Progress) => void>()
  #running: Promise<void> | null = null
  #error: unknown = null

  constructor(store: Store, embedder: Embedder, lease: Lease, now: () => number) {
    this.#store = store
    this.#embedder = embedder
    this.#lease = lease
    this.#now = now
  }

  /** Why the last run ended early, or null. */
  get error(): unknown {
    return this.#error
  }

  /** Starts a run unless one is under way. Never rejects: what went wrong is in `error`. */
  start(): void {
    if (this.#running !== null || this.#stop.signal.aborted) return
    this.#error = null
    this.#running = this.#run()
      .catch(error => {
        if (!this.#stop.signal.aborted) this.#error = error
      })
      .finally(() => {
        this.#running = null
      })
  }

  /** Resolves when no chunk waits for a vector; rejects when that cannot be reached, or with `cancelled`. */
  async settled(signal: AbortSignal, report?: (progress: Progress) => void): Promise<void> {
    if (report) this.#watchers.add(report)
    try {
      while (this.#pending().length > 0) {
        this.start()
        await orStopped(this.#running ?? Promise.resolve(), signal)
        if (this.#error !== null) throw this.#error
        if (this.#stop.signal.aborted) return
      }
    } finally {
      if (report) this.#watchers.delete(report)
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #pending(limit = 1): readonly Chunk[] {
    return this.#store.chunksWithoutVector(modelKey(this.#embedder.model), limit)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted && this.#pending().length > 0) {
      if (!this.#lease.take()) {
        await sleep(WATCH_MS, undefined, { signal })
        continue
      }
      try {
        await this.#embedPending(signal)
      } finally {
        this.#lease.release()
      }
    }
  }

  /** Batch by batch, for as long as the lease can be renewed. */
  async #embedPending(signal: AbortSignal): Promise<void> {
    let done = 0
    do {
      const batch = this.#pending(BATCH)
      if (batch.length === 0) return
      await this.#embedBatch(batch, signal)
      done += batch.length
      this.#tell(done)
    } while (!signal.aborted && this.#lease.take())
  }

  async #embedBatch(batch: readonly Chunk[], signal: AbortSignal): Promise<void> {
    const vectors = await orStopped(this.#embedder.embed(this.#texts(batch), 'passage', signal), signal)
    this.#store.write(this.#now(), writer => {
      // A chunk may have gone while its text was being embedded.
      const alive = new Set(writer.chunks(batch.map(chunk => chunk.key)).map(chunk => chunk.key))
      writer.putVectors(
        modelKey(this.#embedder.model),
        batch.flatMap((chunk, i) =>
          alive.has(chunk.key) ? [{ chunk: chunk.key, vector: vectors[i] as Float32Array }] : [],
        ),
      )
    })
  }

  #texts(batch: readonly Chunk[]): readonly string[] {
    const entries = new Map(this.#store.entries([...new Set(batch.map(chunk => chunk.entry))]).map(e => [e.key, e]))
    return batch.map(chunk => {
      const entry = entries.get(chunk.entry)
      return entry ? `${chunkTitle(entry, chunk)}\n${chunkText(entry, chunk)}`.trim() : ''
    })
  }

  #tell(done: number): void {
    if (this.#watchers.size === 0) return
    const key = modelKey(this.#embedder.model)
    const ids = this.#store.partitions().map(partition => partition.id)
    const left = this.#store.countChunks(ids) - this.#store.countVectors(key, ids)
    for (const watcher of this.#watchers) watcher({ phase: 'embed', done, total: done + left })
  }
}
