/**
 * All indexes of one engine: each loaded from its snapshot when it is first asked for (a question by words alone never
 * waits for the vectors), brought forward along the change feed before each question, saved when it was worth it.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Index } from '../index/contract.ts'
import {
  loadSnapshot,
  positionOfSnapshot,
  type SnapshotLoad,
  saveSnapshot,
  snapshotPosition,
} from '../index/snapshot.ts'
import { QuerentError } from '../model/errors.ts'
import type { Store } from '../store/store.ts'

/** Replaying fewer changes than this is quicker than reading a new snapshot is worth writing. */
const WORTH_SAVING = 500
/** The feed is cut when it is longer than this; an index that fell further behind rebuilds. */
const FEED_LENGTH = 200_000

export class IndexSet {
  readonly #store: Store
  /** Null for a store without a home: nothing is saved. */
  readonly #folder: string | null
  /** By name; empty until they are loaded. */
  readonly #indexes: ReadonlyMap<string, Index>
  readonly #loaded = new Set<Index>()
  /** Feed positions of the snapshots, as far as they were looked at. */
  readonly #saved = new Map<Index, number>()
  /** The same of those that turned out to be of no use. */
  readonly #refused = new Map<Index, number>()
  #version = -1
  #onChange: (() => void) | null = null

  constructor(store: Store, folder: string | null, indexes: readonly Index[]) {
    this.#store = store
    this.#folder = folder
    this.#indexes = new Map(indexes.map(index => [index.name, index]))
  }

  get names(): readonly string[] {
    return [...this.#indexes.keys()]
  }

  /** Every index, loaded and brought to the newest committed change. */
  get all(): readonly Index[] {
    return this.names.map(name => this.get(name))
  }

  /** The index of that name, which there must be; loaded on the first call, and then all are brought forward. */
  get(name: string): Index {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new Error(`invariant broken: no index ${name}`)
    if (!this.#loaded.has(index)) {
      this.#load(index)
      this.#loaded.add(index)
      this.#version = -1
      this.refresh()
    }
    return index
  }

  /** Calls back before indexes may change. */
  beforeChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Brings every loaded index to the newest committed change. Costs microseconds when nothing was committed. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#onChange?.()
    this.#store.read(reader => {
      for (const index of this.#loaded) index.refresh(reader)
    })
    this.#version = version
  }

  /** Whether some snapshot is so far behind the store that a new one should be written. */
  get isWorthSaving(): boolean {
    return this.#folder !== null && [...this.#indexes.values()].some(index => this.#isWorthSaving(index))
  }

  /** Writes snapshots of the indexes whose last one is far behind. Failing to is no error: they rebuild. */
  save(): void {
    if (this.#folder === null) return
    for (const [name, index] of this.#indexes) {
      this.#lookAgain(index)
      if (!this.#isWorthSaving(index)) continue
      try {
        this.#save(name, index)
      } catch {
        // A full or read-only disk costs speed at the next start, not knowledge.
      }
    }
  }

  /** Whether a file of the folder may hold what was forgotten up to this change of the feed. */
  mayHold(seq: number): boolean {
    return this.#olderThan(seq).length > 0
  }

  /**
   * Removes every file of the folder that may hold what was forgotten up to this change, or with `rewrite` writes the
   * snapshots of these indexes anew. They are loaded first, so that nothing is lost but a file. Throws `io_failed`.
   */
  forget(seq: number, rewrite: boolean): void {
    for (const path of this.#olderThan(seq)) {
      const own = [...this.#indexes].find(([, index]) => this.#path(index) === path)
      if (own !== undefined) this.get(own[0])
      if (own === undefined || !rewrite || !this.#isSaved(...own)) removeFile(path)
      if (own !== undefined) this.#saved.delete(own[1])
    }
  }

  /** Memory lets go of what is no more. As long as writing snapshots anew. */
  letGo(): void {
    this.refresh()
    for (const index of this.#loaded) index.letGo?.()
  }

  /** False when it cannot be written. */
  #isSaved(name: string, index: Index): boolean {
    try {
      this.#save(name, index)
      return true
    } catch {
      return false
    }
  }

  #save(name: string, index: Index): void {
    this.get(name)
    this.refresh()
    mkdirSync(this.#folder ?? '', { recursive: true })
    saveSnapshot(this.#path(index), index, this.#store)
    this.#saved.set(index, index.position)
  }

  /** Snapshots that reflect an earlier state, and what saving left behind. */
  #olderThan(seq: number): readonly string[] {
    const folder = this.#folder
    if (folder === null || seq === 0) return []
    return filesOf(folder).filter(path => {
      const position = path.endsWith('.snapshot') ? positionOfSnapshot(path, this.#store.storeId) : null
      return position === null || position < seq
    })
  }

  /** Whether what is saved is of use, tried with an empty index of the same kind; null without a home. */
  get tryLoading(): ((empty: Index) => SnapshotLoad) | null {
    return this.#folder === null ? null : empty => loadSnapshot(this.#path(empty), empty, this.#store)
  }

  /** Builds the index of that name anew from the store, and writes its snapshot. */
  renew(name: string): void {
    const index = this.get(name)
    this.#onChange?.()
    this.#store.read(reader => index.rebuild(reader))
    if (this.#folder === null) return
    mkdirSync(this.#folder, { recursive: true })
    saveSnapshot(this.#path(index), index, this.#store)
    this.#saved.set(index, index.position)
  }

  /** Changes up to here may be forgotten: every snapshot is beyond it, and is told from others by the change it ends with. */
  prunable(): number {
    const reached = Math.min(...[...this.#indexes.values()].map(index => this.#savedAt(index)))
    const tail = this.#store.lastSeq() - FEED_LENGTH
    return Math.min(reached - 1, tail)
  }

  #isWorthSaving(index: Index): boolean {
    return this.#store.lastSeq() - this.#savedAt(index) >= WORTH_SAVING
  }

  /** Looks at the head of the file when the index was not loaded. */
  #savedAt(index: Index): number {
    const known = this.#saved.get(index)
    if (known !== undefined) return known
    const found = this.#folder === null ? 0 : snapshotPosition(this.#path(index), index, this.#store)
    this.#saved.set(index, found)
    return found
  }

  #load(index: Index): void {
    if (this.#folder === null) return
    const loaded = loadSnapshot(this.#path(index), index, this.#store)
    this.#saved.set(index, loaded.ok ? index.position : 0)
    if (!loaded.ok) this.#refused.set(index, snapshotPosition(this.#path(index), index, this.#store))
  }

  /** Another process may have saved it since this one looked. */
  #lookAgain(index: Index): void {
    const found = snapshotPosition(this.#path(index), index, this.#store)
    if (found !== this.#refused.get(index)) this.#saved.set(index, found)
  }

  #path(index: Index): string {
    return join(this.#folder ?? '', `${index.name.replace(/[^\w.-]/g, '_')}.snapshot`)
  }
}

/** Those that the engine writes; a folder that is not there has none. */
function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter(name => /\.snapshot(\.tmp)?$/.test(name))
      .map(name => join(folder, name))
  } catch {
    return []
  }
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw new QuerentError('io_failed', `cannot remove ${path}: ${cause}`, { path, cause }, error)
  }
}
