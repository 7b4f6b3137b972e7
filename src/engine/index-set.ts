/**
 * All indexes of one engine, and what makes them: each loaded from its snapshot when it is first asked for (a question by words alone never
 * waits for the vectors), brought forward along the change feed before each question, saved when it was worth it. Whoever can
 * wait has both done in steps (QE-019): several share them, each takes the next one. For who cannot, the rest is done in one piece.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../base/assert.ts'
import { manySteps, type Steps } from '../base/turns.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index } from '../index/contract.ts'
import { loadInSteps, positionOfSnapshot, type SnapshotLoad, saveInSteps, snapshotPosition } from '../index/snapshot.ts'
import { openWordIndex } from '../index/words.ts'
import type { Lens, Scratch } from '../lenses/lens.ts'
import { QuerentError } from '../model/errors.ts'
import { aroundDamage } from '../pipeline/many-rows.ts'
import { openMemoryStore } from '../store/sqlite-store.ts'
import type { Store, StoreReader } from '../store/store.ts'

/** Number of changes below which applying them again is cheaper than writing a new snapshot. */
const MIN_SAVED_CHANGES = 500
/** Number of changes that would make a query wait too long: indexing their words takes about 0.2 s. */
const MUCH = 5_000
/** Maximum length of the change feed, which is cut beyond it; an index that is further behind must be rebuilt. */
const FEED_LENGTH = 200_000

export class IndexSet {
  readonly #store: Store
  /** Snapshot files. Null for a store without a home: nothing is saved. */
  readonly #snapshots: SnapshotFolder | null
  /** Indexes by name; each is empty until it is loaded. */
  readonly #indexes: Map<string, Index>
  readonly #loaded = new Set<Index>()
  /** Feed positions of the snapshots, as far as their files have been read. */
  readonly #saved = new Map<Index, number>()
  /** Feed positions of the snapshots that could not be used. */
  readonly #refused = new Map<Index, number>()
  /** Remaining steps of the indexes that are being loaded. */
  readonly #loading = new Map<Index, Steps<void>>()
  /** Steps that update the loaded indexes to a version of the store; null: no update is in progress. */
  #following: { readonly steps: Steps<void>; version: number } | null = null
  #version = -1
  #onChange: (() => boolean) | null = null

  /** `folder`: where snapshots are kept; null: no snapshots. */
  constructor(store: Store, folder: string | null, indexes: readonly Index[]) {
    this.#store = store
    this.#snapshots = folder === null ? null : new SnapshotFolder(folder, store)
    this.#indexes = new Map(indexes.map(index => [index.name, index]))
  }

  get names(): readonly string[] {
    return [...this.#indexes.keys()]
  }

  /** Adds an empty index, whose name must be new. */
  add(index: Index): void {
    this.#indexes.set(index.name, index)
  }

  /** Removes the index of this name and its file. It is no longer used. */
  remove(name: string): void {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    this.#indexes.delete(name)
    this.#loaded.delete(index)
    this.#loading.get(index)?.return()
    this.#loading.delete(index)
    this.#snapshots?.remove(this.#snapshots.pathOf(index))
  }

  /** All indexes, loaded and updated to the latest commit. */
  get all(): readonly Index[] {
    return this.names.map(name => this.get(name))
  }

  /** The index of this name, which must exist. The first call loads it; every call updates all loaded indexes. */
  get(name: string): Index {
    const index = this.#named(name)
    if (this.#loaded.has(index)) return index
    while (this.#loadSome(index));
    this.refresh()
    return index
  }

  /** Loads and updates these indexes in steps, so that `get` of their names, and `refresh`, return at once afterwards. */
  *getInSteps(...names: readonly string[]): Steps<void> {
    const isBehind = this.#store.version() !== this.#version || names.some(name => !this.#loaded.has(this.#named(name)))
    if (!isBehind) return
    while (this.#onChange?.() === true) yield
    for (const name of names) {
      const index = this.#named(name)
      if (this.#loaded.has(index)) continue
      while (this.#loadSome(index)) yield
      yield
    }
    while (this.#followSome()) yield
  }

  /** Number of changes that the most outdated loaded index has not applied yet. */
  get lag(): number {
    const positions = [...this.#loaded].map(index => index.position)
    return positions.length === 0 ? 0 : Math.max(0, this.#store.lastSeq() - Math.min(...positions))
  }

  /** Registers a listener that is called before each step that may change indexes, until it returns false. */
  beforeChange(listener: () => boolean): void {
    this.#onChange = listener
  }

  /** Updates every loaded index to the latest commit. Takes microseconds when nothing was committed. */
  refresh(): void {
    while (this.#followSome());
  }

  /** Updates the index if it is far behind after many writes, so that the next query need not wait for all of them. */
  *keepUp(name: string): Steps<void> {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    const position = this.#loaded.has(index) ? index.position : this.#savedAt(index)
    if (this.#store.lastSeq() - position >= MUCH) yield* this.getInSteps(name)
  }

  /** Whether a snapshot is so far behind the store that a new one should be written. */
  get isWorthSaving(): boolean {
    return this.#snapshots !== null && [...this.#indexes.values()].some(index => this.#isWorthSaving(index))
  }

  /**
   * Writes new snapshots of the indexes whose last snapshot is far behind, in steps. A failure to write is no error: the index is then
   * rebuilt at the next start.
   */
  *save(): Steps<void> {
    const snapshots = this.#snapshots
    if (snapshots === null) return
    for (const index of this.#indexes.values()) {
      this.#lookAgain(index, snapshots)
      // A full or read-only disk makes the next start slower, but loses no data.
      if (this.#isWorthSaving(index)) yield* this.#trySaving(index, snapshots)
    }
  }

  /** Whether a file in the snapshot folder may contain data that was deleted up to this change of the feed. */
  mayHold(seq: number): boolean {
    return seq > 0 && this.#snapshots !== null && this.#snapshots.olderThan(seq).length > 0
  }

  /**
   * Removes every snapshot file that may contain data deleted up to this change; with `rewrite`, writes the snapshots of these indexes
   * again. The indexes are loaded first, so that only files are lost. Runs in steps. Throws `io_failed`.
   */
  *forget(seq: number, rewrite: boolean): Steps<void> {
    const snapshots = this.#snapshots
    if (snapshots === null || seq === 0) return
    for (const path of snapshots.olderThan(seq)) {
      const own = [...this.#indexes.values()].find(index => snapshots.pathOf(index) === path)
      if (own !== undefined) yield* this.getInSteps(own.name)
      if (own === undefined || !rewrite || !(yield* this.#trySaving(own, snapshots))) snapshots.remove(path)
      if (own !== undefined) this.#saved.delete(own)
    }
  }

  /** Purges deleted data from the indexes in memory, in steps. Takes as long as writing all snapshots. */
  *letGo(): Steps<void> {
    yield* this.getInSteps()
    yield* this.#whileSame(lettingGo([...this.#loaded]))
  }

  /** Tests whether a snapshot is usable by loading it into an empty index of the same kind; null without a home. */
  get tryLoading(): ((empty: Index) => Steps<SnapshotLoad>) | null {
    const snapshots = this.#snapshots
    return snapshots === null ? null : empty => snapshots.load(empty)
  }

  /** Rebuilds the index of this name from the store in steps; with `save`, writes its snapshot. */
  *renew(name: string, save: boolean): Steps<void> {
    yield* this.getInSteps(name)
    const index = this.#named(name)
    this.#loaded.delete(index)
    this.#loading.set(index, rebuilding(index, this.#store))
    yield* this.getInSteps(name)
    if (save && this.#snapshots !== null) yield* this.#save(index, this.#snapshots)
  }

  /** Closes the files that are being read or written. */
  close(): void {
    for (const steps of this.#loading.values()) steps.return()
    this.#loading.clear()
    this.#following?.steps.return()
    this.#following = null
  }

  /**
   * Last change that may be deleted from the feed: every snapshot is newer, and snapshots identify their state by the change at which they
   * end.
   */
  prunable(): number {
    const reached = Math.min(...[...this.#indexes.values()].map(index => this.#savedAt(index)))
    const tail = this.#store.lastSeq() - FEED_LENGTH
    return Math.min(reached - 1, tail)
  }

  #isWorthSaving(index: Index): boolean {
    return this.#store.lastSeq() - this.#savedAt(index) >= MIN_SAVED_CHANGES
  }

  /** Loads, updates and saves an index; false if its snapshot cannot be written. */
  *#trySaving(index: Index, snapshots: SnapshotFolder): Steps<boolean> {
    try {
      yield* this.getInSteps(index.name)
      yield* this.#save(index, snapshots)
      return true
    } catch {
      return false
    }
  }

  /** Must be called right after `getInSteps` for this index. */
  *#save(index: Index, snapshots: SnapshotFolder): Steps<void> {
    const { position } = index
    const failures: unknown[] = []
    // Failures are collected: another caller may run a step of this save, and must not get its error.
    function* save(): Steps<void> {
      try {
        yield* snapshots.save(index)
      } catch (error) {
        failures.push(error)
      }
    }
    yield* this.#whileSame(save())
    if (failures.length > 0) throw failures[0]
    this.#saved.set(index, position)
  }

  /** Runs steps during which no loaded index may change: updates wait until they are done. Must be called right after `getInSteps`. */
  *#whileSame(steps: Steps<void>): Steps<void> {
    this.#following = { steps, version: -1 }
    this.#version = -1
    yield* this.getInSteps()
  }

  /** Feed position of the index's snapshot. Reads the head of the file if the index was not loaded. */
  #savedAt(index: Index): number {
    const known = this.#saved.get(index)
    if (known !== undefined) return known
    const found = this.#snapshots?.positionOf(index) ?? 0
    this.#saved.set(index, found)
    return found
  }

  #named(name: string): Index {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new Error(`invariant broken: no index ${name}`)
    return index
  }

  /** Runs the next step of loading the index. False: it is loaded. An error in a step ends the loading, and the next call starts again. */
  #loadSome(index: Index): boolean {
    if (!this.#loaded.has(index)) this.#prepare()
    if (this.#loaded.has(index)) return false
    const steps = this.#loading.get(index) ?? this.#load(index)
    this.#loading.delete(index)
    if (this.#step(steps)) {
      this.#loading.set(index, steps)
      return true
    }
    this.#loaded.add(index)
    // The update in progress does not include this index, so another update is needed.
    this.#version = -1
    if (this.#following !== null) this.#following.version = -1
    return false
  }

  #prepare(): void {
    while (this.#onChange?.() === true);
  }

  *#load(index: Index): Steps<void> {
    const snapshots = this.#snapshots
    if (snapshots !== null) {
      const loaded = yield* snapshots.load(index)
      this.#saved.set(index, loaded.ok ? index.position : 0)
      if (!loaded.ok) this.#refused.set(index, snapshots.positionOf(index))
    }
    yield* refreshing(index, this.#store)
  }

  /** Runs the next step of updating the loaded indexes. False: they are at the latest commit. */
  #followSome(): boolean {
    const version = this.#store.version()
    if (version === this.#version) return false
    this.#prepare()
    if (this.#following === null && this.#isCurrent()) {
      this.#version = version
      return false
    }
    const following = this.#following ?? { steps: this.#follow([...this.#loaded]), version }
    this.#following = null
    if (this.#step(following.steps)) {
      this.#following = following
      return true
    }
    this.#version = following.version
    return following.version !== this.#store.version()
  }

  /** The latest writes may concern no index at all, such as memories or settings. */
  #isCurrent(): boolean {
    const last = this.#store.lastSeq()
    return [...this.#loaded].every(({ position }) => position === last)
  }

  *#follow(indexes: readonly Index[]): Steps<void> {
    for (const index of indexes) yield* refreshing(index, this.#store)
  }

  /** Runs steps within one read of the store, so that they see a single commit. Returns true if steps are left. */
  #step(steps: Steps<void>): boolean {
    try {
      return !this.#store.read(reader => aroundDamage(reader, () => manySteps(steps)))
    } catch (error) {
      steps.return()
      throw error
    }
  }

  /** Another process may have saved the index since this process read its position. */
  #lookAgain(index: Index, snapshots: SnapshotFolder): void {
    const found = snapshots.positionOf(index)
    if (found !== this.#refused.get(index)) this.#saved.set(index, found)
  }
}

function* refreshing(index: Index, reader: StoreReader): Steps<void> {
  if (index.refreshInSteps === undefined) index.refresh(reader)
  else yield* index.refreshInSteps(reader)
}

function* rebuilding(index: Index, reader: StoreReader): Steps<void> {
  if (index.rebuildInSteps === undefined) index.rebuild(reader)
  else yield* index.rebuildInSteps(reader)
}

function* lettingGo(indexes: readonly Index[]): Steps<void> {
  for (const index of indexes) if (index.letGo !== undefined) yield* index.letGo()
}

/** File name of a snapshot, or of one that was not written completely. */
const NAME = /\.snapshot(\.\w+)?$/

export class SnapshotFolder {
  readonly #folder: string
  readonly #store: Store

  /** The folder is created when the first snapshot is saved. */
  constructor(folder: string, store: Store) {
    this.#folder = folder
    this.#store = store
  }

  /** Loads the snapshot of an index into it, or into an empty index of the same kind: in steps, like `loadInSteps` of snapshots. */
  load(index: Index): Steps<SnapshotLoad> {
    return loadInSteps(this.pathOf(index), index, this.#store)
  }

  /**
   * Writes the snapshot of an index in steps, like `saveInSteps` of snapshots. Throws `io_failed`. Only one process may do so at a time.
   */
  *save(index: Index): Steps<void> {
    mkdirSync(this.#folder, { recursive: true })
    yield* saveInSteps(this.pathOf(index), index, this.#store)
  }

  /** Feed position up to which the index is saved; 0 if there is no usable snapshot. */
  positionOf(index: Index): number {
    return snapshotPosition(this.pathOf(index), index, this.#store)
  }

  pathOf({ name }: Index): string {
    return join(this.#folder, `${name.replace(/[^\w.-]/g, '_')}.snapshot`)
  }

  /** Paths of snapshot files whose state is older than this change, or unknown. */
  olderThan(seq: number): readonly string[] {
    return this.#paths().filter(path => {
      const position = path.endsWith('.snapshot') ? positionOfSnapshot(path, this.#store.storeId) : null
      return position === null || position < seq
    })
  }

  /** Deletes a snapshot file. Throws `io_failed`. */
  remove(path: string): void {
    try {
      rmSync(path, { force: true })
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      throw new QuerentError('io_failed', `cannot remove ${path}: ${cause}`, { path, cause }, error)
    }
  }

  /** Paths of the snapshot files; an empty list if the folder does not exist. */
  #paths(): readonly string[] {
    try {
      return readdirSync(this.#folder)
        .filter(name => NAME.test(name))
        .map(name => join(this.#folder, name))
    } catch {
      return []
    }
  }
}

// Every index that an engine has: of words, of vectors where there is an embedder, and what its lenses declare. The code of an index is
// loaded where the engine has one.

type MakeIndex = () => Index
/** Of the vectors that this store has of an embedder. */
type MakeVectorIndex = (embedder: Embedder, store: Store) => Index

/** Functions that create an empty index, by index name. */
export class IndexMakers {
  readonly #makers: Map<string, MakeIndex>
  readonly #store: Store
  /** Factories of vector indexes. Null: the engine was opened without an embedder. */
  readonly #makeVectors: MakeVectorIndex | null

  constructor(makers: readonly MakeIndex[], store: Store, makeVectors: MakeVectorIndex | null) {
    this.#makers = new Map(makers.map(make => [make().name, make]))
    this.#store = store
    this.#makeVectors = makeVectors
  }

  /** One of each. */
  all(): readonly Index[] {
    return [...this.#makers.values()].map(make => make())
  }

  /** Creates the vector index for another embedder; `make` also creates such an index from now on. */
  add(embedder: Embedder): Index {
    const make = () => this.#vectorsOf(embedder, this.#store)
    const index = make()
    this.#makers.set(index.name, make)
    return index
  }

  make(name: string): Index {
    return must(this.#makers.get(name), `index ${name}`)()
  }

  /**
   * Opens a temporary store in memory. Its vectors are those of this embedder's model. Its indexes are created when they are first used.
   */
  openScratch(embedder: Embedder | null): Scratch {
    const store = openMemoryStore()
    const vectors = embedder === null ? [] : [this.#vectorsOf(embedder, store)]
    const indexes = new IndexSet(store, null, [openWordIndex(), ...vectors])
    const scratch: Scratch = {
      store,
      index: name => {
        indexes.refresh()
        return indexes.get(name)
      },
    }
    INDEXES.set(scratch, indexes)
    return scratch
  }

  #vectorsOf(embedder: Embedder, store: Store): Index {
    return must(this.#makeVectors, 'code of an index of vectors')(embedder, store)
  }
}

export async function loadIndexMakers(
  store: Store,
  embedders: readonly Embedder[],
  lenses: readonly Lens[],
): Promise<IndexMakers> {
  const makeVectors = embedders.length === 0 ? null : await loadVectorMaker()
  const makers: MakeIndex[] = [openWordIndex]
  if (makeVectors !== null) makers.push(...embedders.map(embedder => () => makeVectors(embedder, store)))
  makers.push(...lenses.flatMap(lens => lens.indexes ?? []))
  const points = lenses.flatMap(lens => lens.pointIndexes ?? [])
  if (points.length > 0) {
    const { openPointIndex } = await import('../index/points.ts')
    makers.push(...points.map(each => () => openPointIndex(each)))
  }
  const links = lenses.flatMap(lens => lens.linkIndexes ?? [])
  if (links.length > 0) {
    const { openLinkIndex } = await import('../index/links.ts')
    makers.push(...links.map(each => () => openLinkIndex(each)))
  }
  return new IndexMakers(makers, store, makeVectors)
}

async function loadVectorMaker(): Promise<MakeVectorIndex> {
  const { openVectorIndex } = await import('../index/vectors.ts')
  return ({ model }, store) => {
    const key = modelKey(model)
    const source = (chunks: readonly number[]) => store.vectorsOnly(key, chunks)
    return openVectorIndex({ model: key, dimensions: model.dimensions, source })
  }
}

const INDEXES = new WeakMap<Scratch, IndexSet>()

/** All indexes of a store that `openScratch` created. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}
