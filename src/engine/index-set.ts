/**
 * All indexes of one engine, kept up to date together: loaded from snapshots when it opens, brought forward along the
 * change feed before each question, saved when it was worth it.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Index } from '../index/contract.ts'
import { loadSnapshot, saveSnapshot } from '../index/snapshot.ts'
import type { Store } from '../store/store.ts'

/** Replaying fewer changes than this is quicker than reading a new snapshot is worth writing. */
const WORTH_SAVING = 500
/** The feed is cut when it is longer than this; an index that fell further behind rebuilds. */
const FEED_LENGTH = 200_000

export class IndexSet {
  readonly #store: Store
  /** Null for a store without a home: nothing is saved. */
  readonly #folder: string | null
  readonly #indexes: readonly Index[]
  readonly #saved = new Map<string, number>()
  #version = -1

  constructor(store: Store, folder: string | null, indexes: readonly Index[]) {
    this.#store = store
    this.#folder = folder
    this.#indexes = indexes
    for (const index of indexes) this.#load(index)
  }

  get all(): readonly Index[] {
    return this.#indexes
  }

  /** Brings every index to the newest committed change. Costs microseconds when nothing was committed. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => {
      for (const index of this.#indexes) index.refresh(reader)
    })
    this.#version = version
  }

  /** Writes snapshots of indexes that moved far enough since their last one. Failing to is no error: they rebuild. */
  save(force = false): void {
    if (this.#folder === null) return
    for (const index of this.#indexes) {
      const behind = index.position - (this.#saved.get(index.name) ?? 0)
      if (behind <= 0 || (!force && behind < WORTH_SAVING)) continue
      try {
        mkdirSync(this.#folder, { recursive: true })
        saveSnapshot(this.#path(index), index, this.#store.storeId)
        this.#saved.set(index.name, index.position)
      } catch {
        // A full or read-only disk costs speed at the next start, not knowledge.
      }
    }
  }

  /** The feed position that every snapshot has reached; changes before it may be forgotten. */
  prunable(): number {
    const reached = Math.min(...this.#indexes.map(index => this.#saved.get(index.name) ?? 0))
    const tail = this.#store.lastSeq() - FEED_LENGTH
    return Math.min(reached, tail)
  }

  #load(index: Index): void {
    if (this.#folder === null) return
    const loaded = loadSnapshot(this.#path(index), index, this.#store.storeId, this.#store.lastSeq())
    if (loaded.ok) this.#saved.set(index.name, index.position)
  }

  #path(index: Index): string {
    return join(this.#folder ?? '', `${index.name.replace(/[^\w.-]/g, '_')}.snapshot`)
  }
}
