/**
 * All indexes of one engine: each loaded from its snapshot when it is first asked for (a question by words alone never
 * waits for the vectors), brought forward along the change feed before each question, saved when it was worth it.
 */
import type { Index, VectorIndex } from '../index/contract.ts'
import type { SnapshotLoad } from '../index/snapshot.ts'
import { aroundDamage } from '../pipeline/around-damage.ts'
import type { Store } from '../store/store.ts'
import { SnapshotFolder } from './snapshot-folder.ts'

/** Replaying fewer changes than this is quicker than reading a new snapshot is worth writing. */
const WORTH_SAVING = 500
/** More changes than a question should have to wait for: some 0.2 s of indexing words. */
const MUCH = 5_000
/** The feed is cut when it is longer than this; an index that fell further behind rebuilds. */
const FEED_LENGTH = 200_000

export class IndexSet {
  readonly #store: Store
  /** Null for a store without a home: nothing is saved. */
  readonly #snapshots: SnapshotFolder | null
  /** By name; empty until they are loaded. */
  readonly #indexes: ReadonlyMap<string, Index>
  /** Undefined: nothing is embedded. */
  readonly #vectorsName: string | undefined
  readonly #loaded = new Set<Index>()
  /** Feed positions of the snapshots, as far as they were looked at. */
  readonly #saved = new Map<Index, number>()
  /** The same of those that turned out to be of no use. */
  readonly #refused = new Map<Index, number>()
  #version = -1
  #onChange: (() => void) | null = null

  /** `folder`: where snapshots are kept; null: nowhere. */
  constructor(store: Store, folder: string | null, indexes: readonly Index[]) {
    this.#store = store
    this.#snapshots = folder === null ? null : new SnapshotFolder(folder, store)
    this.#indexes = new Map(indexes.map(index => [index.name, index]))
    this.#vectorsName = this.names.find(name => name.startsWith('vectors-'))
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

  /** The index of the embedder's vectors, as `get` gives it; null where nothing is embedded. */
  get vectors(): VectorIndex | null {
    return this.#vectorsName === undefined ? null : (this.get(this.#vectorsName) as VectorIndex)
  }

  /** Changes of the store that the loaded index that is furthest behind has not taken in. */
  get lag(): number {
    const positions = [...this.#loaded].map(index => index.position)
    return positions.length === 0 ? 0 : Math.max(0, this.#store.lastSeq() - Math.min(...positions))
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
    this.#store.read(reader =>
      aroundDamage(reader, () => {
        for (const index of this.#loaded) index.refresh(reader)
      }),
    )
    this.#version = version
  }

  /** Takes in what much writing left behind, so that the next question need not wait for all of it. */
  keepUp(name: string): void {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    const position = this.#loaded.has(index) ? index.position : this.#savedAt(index)
    if (this.#store.lastSeq() - position < MUCH) return
    this.get(name)
    this.refresh()
  }

  /** Whether some snapshot is so far behind the store that a new one should be written. */
  get isWorthSaving(): boolean {
    return this.#snapshots !== null && [...this.#indexes.values()].some(index => this.#isWorthSaving(index))
  }

  /** Writes snapshots of the indexes whose last one is far behind. Failing to is no error: they rebuild. */
  save(): void {
    const snapshots = this.#snapshots
    if (snapshots === null) return
    for (const index of this.#indexes.values()) {
      this.#lookAgain(index, snapshots)
      // A full or read-only disk costs speed at the next start, not knowledge.
      if (this.#isWorthSaving(index)) this.#trySaving(index, snapshots)
    }
  }

  /** Whether a file of the folder may hold what was forgotten up to this change of the feed. */
  mayHold(seq: number): boolean {
    return seq > 0 && this.#snapshots !== null && this.#snapshots.olderThan(seq).length > 0
  }

  /**
   * Removes every file of the folder that may hold what was forgotten up to this change, or with `rewrite` writes the
   * snapshots of these indexes anew. They are loaded first, so that nothing is lost but a file. Throws `io_failed`.
   */
  forget(seq: number, rewrite: boolean): void {
    const snapshots = this.#snapshots
    if (snapshots === null || seq === 0) return
    for (const path of snapshots.olderThan(seq)) {
      const own = [...this.#indexes.values()].find(index => snapshots.pathOf(index) === path)
      if (own !== undefined) this.get(own.name)
      if (own === undefined || !rewrite || !this.#trySaving(own, snapshots)) snapshots.remove(path)
      if (own !== undefined) this.#saved.delete(own)
    }
  }

  /** Memory lets go of what is no more. As long as writing snapshots anew. */
  letGo(): void {
    this.refresh()
    for (const index of this.#loaded) index.letGo?.()
  }

  /** Whether what is saved is of use, tried with an empty index of the same kind; null without a home. */
  get tryLoading(): ((empty: Index) => SnapshotLoad) | null {
    const snapshots = this.#snapshots
    return snapshots === null ? null : empty => snapshots.load(empty)
  }

  /** Builds the index of that name anew from the store, and if told to writes its snapshot. */
  renew(name: string, save: boolean): void {
    const index = this.get(name)
    this.#onChange?.()
    this.#store.read(reader => aroundDamage(reader, () => index.rebuild(reader)))
    if (save && this.#snapshots !== null) this.#save(index, this.#snapshots)
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

  /** False when it cannot be written. */
  #trySaving(index: Index, snapshots: SnapshotFolder): boolean {
    try {
      this.get(index.name)
      this.refresh()
      this.#save(index, snapshots)
      return true
    } catch {
      return false
    }
  }

  #save(index: Index, snapshots: SnapshotFolder): void {
    snapshots.save(index)
    this.#saved.set(index, index.position)
  }

  /** Looks at the head of the file when the index was not loaded. */
  #savedAt(index: Index): number {
    const known = this.#saved.get(index)
    if (known !== undefined) return known
    const found = this.#snapshots?.positionOf(index) ?? 0
    this.#saved.set(index, found)
    return found
  }

  #load(index: Index): void {
    const snapshots = this.#snapshots
    if (snapshots === null) return
    const loaded = snapshots.load(index)
    this.#saved.set(index, loaded.ok ? index.position : 0)
    if (!loaded.ok) this.#refused.set(index, snapshots.positionOf(index))
  }

  /** Another process may have saved it since this one looked. */
  #lookAgain(index: Index, snapshots: SnapshotFolder): void {
    const found = snapshots.positionOf(index)
    if (found !== this.#refused.get(index)) this.#saved.set(index, found)
  }
}
