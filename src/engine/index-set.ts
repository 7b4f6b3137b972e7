/**
 * Holds all indexes of one engine. An index is loaded from its snapshot file when it is first needed, updated from the store's change feed
 * before each query, and saved when enough has changed. Loading and updating are done in steps with pauses if the caller can wait (QE-019);
 * concurrent callers share the work, each running the next step. For callers that cannot wait, the remaining steps run without a pause.
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

/**
 * Number of changes since the last snapshot below which no new one is written, because applying so few changes again at the next start is
 * cheaper.
 */
const MIN_SAVED_CHANGES = 500
/**
 * Number of changes that an index may lag behind the store before it is updated ahead of the next query: indexing the words of so many
 * entries takes about 0.2 s.
 */
const MUCH = 5_000
/** Maximum number of changes kept in the store's change feed; older ones are pruned. An index that lags further behind must be rebuilt. */
const FEED_LENGTH = 200_000

export class IndexSet {
  readonly #store: Store
  /** The folder with the snapshot files of the indexes. Null for a store without a home: no snapshots are saved. */
  readonly #snapshots: SnapshotFolder | null
  /** All indexes of the engine by name; an index is empty until it is loaded. */
  readonly #indexes: Map<string, Index>
  readonly #loaded = new Set<Index>()
  /** Positions in the change feed up to which the indexes' snapshots reach, for snapshots whose file header has been read. */
  readonly #saved = new Map<Index, number>()
  /**
   * For each index whose snapshot file was found unusable: the position in the change feed that the file's header gave. If the header later
   * gives another position, another process has replaced the file since.
   */
  readonly #refused = new Map<Index, number>()
  /** Generators, suspended at a pause, that continue the loading of indexes. */
  readonly #loading = new Map<Index, Steps<void>>()
  /**
   * Suspended generator that updates the loaded indexes, and the version of the store to which it updates them; null: no update is in
   * progress.
   */
  #following: { readonly steps: Steps<void>; version: number } | null = null
  #version = -1
  #onChange: (() => boolean) | null = null

  /** `folder`: where the snapshot files of the indexes are kept; null: no snapshots are saved. */
  constructor(store: Store, folder: string | null, indexes: readonly Index[]) {
    this.#store = store
    this.#snapshots = folder === null ? null : new SnapshotFolder(folder, store)
    this.#indexes = new Map(indexes.map(index => [index.name, index]))
  }

  get names(): readonly string[] {
    return [...this.#indexes.keys()]
  }

  /** Adds an empty index to the set; its name must not be in use. */
  add(index: Index): void {
    this.#indexes.set(index.name, index)
  }

  /** Removes the index of this name and its snapshot file. The caller must no longer use the index. */
  remove(name: string): void {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    this.#indexes.delete(name)
    this.#loaded.delete(index)
    this.#loading.get(index)?.return()
    this.#loading.delete(index)
    this.#snapshots?.remove(this.#snapshots.pathOf(index))
  }

  /** All indexes of the engine. The first access to an index loads it and updates it to the latest commit. */
  get all(): readonly Index[] {
    return this.names.map(name => this.get(name))
  }

  /**
   * The index of this name, which must exist. If the index is not loaded, it is loaded and all loaded indexes are updated to the latest
   * commit; otherwise it is returned as it is.
   */
  get(name: string): Index {
    const index = this.#named(name)
    if (this.#loaded.has(index)) return index
    while (this.#loadSome(index));
    this.refresh()
    return index
  }

  /** The index of this name, which must exist, updated to the latest commit after any work in progress during which it must not change. */
  current(name: string): Index {
    this.refresh()
    return this.get(name)
  }

  /**
   * Loads the named indexes and updates all loaded ones to the latest commit, with pauses between steps. Afterwards `get` of these names
   * and `refresh` return without further work.
   */
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

  /** Number of changes in the change feed that the most outdated of the loaded indexes has not applied yet. */
  get lag(): number {
    const positions = [...this.#loaded].map(index => index.position)
    return positions.length === 0 ? 0 : Math.max(0, this.#store.lastSeq() - Math.min(...positions))
  }

  /**
   * Sets the listener that is called before any index may change. Each call of the listener does a piece of work that must be finished
   * first; the listener returns true as long as some of its work is left.
   */
  beforeChange(listener: () => boolean): void {
    this.#onChange = listener
  }

  /** Updates every loaded index to the latest commit. Takes microseconds when nothing was committed. */
  refresh(): void {
    while (this.#followSome());
  }

  /**
   * Updates the index of this name if it is thousands of changes behind the store, so that the next query need not apply all of them.
   * Pauses between steps.
   */
  *keepUp(name: string): Steps<void> {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    const position = this.#loaded.has(index) ? index.position : this.#savedAt(index)
    if (this.#store.lastSeq() - position >= MUCH) yield* this.getInSteps(name)
  }

  /** Whether the snapshot of any index is so far behind the store that new snapshots should be written. */
  get isWorthSaving(): boolean {
    return this.#snapshots !== null && [...this.#indexes.values()].some(index => this.#isWorthSaving(index))
  }

  /**
   * Writes new snapshots of the indexes whose last snapshot is far behind the store, with pauses between steps. A failure to write is no
   * error: the index is then rebuilt at the next start.
   */
  *save(): Steps<void> {
    const snapshots = this.#snapshots
    if (snapshots === null) return
    for (const index of this.#indexes.values()) {
      this.#lookAgain(index, snapshots)
      // A snapshot that cannot be written (full or read-only disk) makes the next start slower, but loses no data.
      if (this.#isWorthSaving(index)) yield* this.#trySaving(index, snapshots)
    }
  }

  /** Whether a file in the snapshot folder may contain data that was deleted up to this position in the change feed. */
  mayHold(seq: number): boolean {
    return seq > 0 && this.#snapshots !== null && this.#snapshots.olderThan(seq).length > 0
  }

  /**
   * Removes every snapshot file that may contain data deleted up to this position in the change feed; with `rewrite`, replaces it by a new
   * snapshot without that data. The indexes are loaded first, so nothing but files is lost. Pauses between steps. Throws `io_failed`.
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

  /** Purges deleted data from the memory of all loaded indexes, with pauses between steps. Takes as long as writing all snapshots. */
  *letGo(): Steps<void> {
    yield* this.getInSteps()
    yield* this.#whileSame(lettingGo([...this.#loaded]))
  }

  /**
   * Function that tests the snapshot of an index by loading it into an empty index of the same kind; null for a store without a home, which
   * has no snapshots.
   */
  get tryLoading(): ((empty: Index) => Steps<SnapshotLoad>) | null {
    const snapshots = this.#snapshots
    return snapshots === null ? null : empty => snapshots.load(empty)
  }

  /** Rebuilds the index of this name from the store, with pauses between steps; with `save`, also writes its snapshot. */
  *renew(name: string, save: boolean): Steps<void> {
    yield* this.getInSteps(name)
    const index = this.#named(name)
    this.#loaded.delete(index)
    this.#loading.set(index, rebuilding(index, this.#store))
    yield* this.getInSteps(name)
    if (save && this.#snapshots !== null) yield* this.#save(index, this.#snapshots)
  }

  /** Ends all loading and updating in progress, which closes the snapshot files that are open. */
  close(): void {
    for (const steps of this.#loading.values()) steps.return()
    this.#loading.clear()
    this.#following?.steps.return()
    this.#following = null
  }

  /**
   * Number of the last change that may be deleted from the store's change feed. A snapshot is recognised as one of this store by the last
   * change that it contains, so that change and all later ones are kept for every snapshot.
   */
  prunable(): number {
    const reached = Math.min(...[...this.#indexes.values()].map(index => this.#savedAt(index)))
    const tail = this.#store.lastSeq() - FEED_LENGTH
    return Math.min(reached - 1, tail)
  }

  #isWorthSaving(index: Index): boolean {
    return this.#store.lastSeq() - this.#savedAt(index) >= MIN_SAVED_CHANGES
  }

  /** Loads, updates and saves an index, with pauses between steps; returns false if its snapshot cannot be written. */
  *#trySaving(index: Index, snapshots: SnapshotFolder): Steps<boolean> {
    try {
      yield* this.getInSteps(index.name)
      yield* this.#save(index, snapshots)
      return true
    } catch {
      return false
    }
  }

  /** Saves the snapshot of an index that `getInSteps` has just loaded and updated, with no pause in between. */
  *#save(index: Index, snapshots: SnapshotFolder): Steps<void> {
    const { position } = index
    const failures: unknown[] = []
    // A failure to save is stored rather than thrown, because another task may run this step as part of its own update and must not get the
    // error.
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

  /**
   * Runs a generator of work during which no loaded index may change: updates of the indexes wait until the work is done. The indexes must
   * just have been updated, with no pause in between.
   */
  *#whileSame(steps: Steps<void>): Steps<void> {
    this.#following = { steps, version: -1 }
    this.#version = -1
    yield* this.getInSteps()
  }

  /**
   * Position in the change feed up to which the snapshot of an index reaches, 0 without a usable snapshot. Reads the header of the file if
   * the position is not known yet.
   */
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

  /**
   * Runs the next step of loading an index. Returns false when the index is loaded. An error in a step ends the loading, and the next call
   * starts it from the beginning.
   */
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
    // The update in progress does not cover the index that was just loaded, so another update must follow.
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

  /** Runs the next step of updating the loaded indexes to the latest commit. Returns false when they are up to date. */
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

  /**
   * Whether all loaded indexes have applied the last change of the feed; true also after commits that write no changes, such as settings.
   */
  #isCurrent(): boolean {
    const last = this.#store.lastSeq()
    return [...this.#loaded].every(({ position }) => position === last)
  }

  *#follow(indexes: readonly Index[]): Steps<void> {
    for (const index of indexes) yield* refreshing(index, this.#store)
  }

  /**
   * Runs a generator for some milliseconds within one read transaction of the store, so that it sees a single commit. Returns true if the
   * generator has not ended.
   */
  #step(steps: Steps<void>): boolean {
    try {
      return !this.#store.read(reader => aroundDamage(reader, () => manySteps(steps)))
    } catch (error) {
      steps.return()
      throw error
    }
  }

  /** Reads the position of an index's snapshot file again, because another process may have saved the index meanwhile. */
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

/** Pattern of the file names of complete and incomplete snapshots. */
const NAME = /\.snapshot(\.\w+)?$/

export class SnapshotFolder {
  readonly #folder: string
  readonly #store: Store

  /** The snapshot folder does not exist until the first snapshot is saved, and is created then. */
  constructor(folder: string, store: Store) {
    this.#folder = folder
    this.#store = store
  }

  /** Loads the snapshot of an index from its file into the given empty index, with pauses between steps. */
  load(index: Index): Steps<SnapshotLoad> {
    return loadInSteps(this.pathOf(index), index, this.#store)
  }

  /** Writes the snapshot file of an index, with pauses between steps. Throws `io_failed`. Only one process may do so at a time. */
  *save(index: Index): Steps<void> {
    mkdirSync(this.#folder, { recursive: true })
    yield* saveInSteps(this.pathOf(index), index, this.#store)
  }

  /** Position in the change feed up to which the index's snapshot file reaches; 0 if there is no usable snapshot. */
  positionOf(index: Index): number {
    return snapshotPosition(this.pathOf(index), index, this.#store)
  }

  pathOf({ name }: Index): string {
    return join(this.#folder, `${name.replace(/[^\w.-]/g, '_')}.snapshot`)
  }

  /** Paths of snapshot files whose state is older than this position in the change feed, or unknown. */
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

// Creates the indexes of an engine: one of words, one of vectors for each embedding model, and those that lenses declare.

type MakeIndex = () => Index
/** Creates an empty index of the vectors that this embedder's model has in the store. */
type MakeVectorIndex = (embedder: Embedder, store: Store) => Index

/** Functions that create the empty indexes of an engine, by index name. */
export class IndexMakers {
  readonly #makers: Map<string, MakeIndex>
  readonly #store: Store
  /** Creates vector indexes. Null: the engine was opened without an embedder. */
  readonly #makeVectors: MakeVectorIndex | null

  constructor(makers: readonly MakeIndex[], store: Store, makeVectors: MakeVectorIndex | null) {
    this.#makers = new Map(makers.map(make => [make().name, make]))
    this.#store = store
    this.#makeVectors = makeVectors
  }

  /** One newly created, empty index of each name. */
  all(): readonly Index[] {
    return [...this.#makers.values()].map(make => make())
  }

  /** Creates the vector index for a further embedder. From now on `all` includes an index for this embedder. */
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
   * Opens a temporary store in memory with indexes of its own, which are created when they are first used. `embedder`: the embedder whose
   * vectors the temporary store will hold; null: it will hold no vectors.
   */
  openScratch(embedder: Embedder | null): Scratch {
    const store = openMemoryStore()
    const vectors = embedder === null ? [] : [this.#vectorsOf(embedder, store)]
    const indexes = new IndexSet(store, null, [openWordIndex(), ...vectors])
    const scratch: Scratch = {
      store,
      index: name => indexes.current(name),
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

/** The indexes of a temporary store in memory that `openScratch` created. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}
