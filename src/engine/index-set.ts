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

/** Replaying fewer changes than this is quicker than reading a new snapshot is worth writing. */
const MIN_SAVED_CHANGES = 500
/** More changes than a question should have to wait for: some 0.2 s of indexing words. */
const MUCH = 5_000
/** The feed is cut when it is longer than this; an index that fell further behind rebuilds. */
const FEED_LENGTH = 200_000

export class IndexSet {
  readonly #store: Store
  /** Null for a store without a home: nothing is saved. */
  readonly #snapshots: SnapshotFolder | null
  /** By name; empty until they are loaded. */
  readonly #indexes: Map<string, Index>
  readonly #loaded = new Set<Index>()
  /** Feed positions of the snapshots, as far as they were looked at. */
  readonly #saved = new Map<Index, number>()
  /** The same of those that turned out to be of no use. */
  readonly #refused = new Map<Index, number>()
  /** Of indexes that are being loaded. */
  readonly #loading = new Map<Index, Steps<void>>()
  /** Of the loaded ones, to a version of the store; null: they are not being brought forward. */
  #following: { readonly steps: Steps<void>; version: number } | null = null
  #version = -1
  #onChange: (() => boolean) | null = null

  /** `folder`: where snapshots are kept; null: nowhere. */
  constructor(store: Store, folder: string | null, indexes: readonly Index[]) {
    this.#store = store
    this.#snapshots = folder === null ? null : new SnapshotFolder(folder, store)
    this.#indexes = new Map(indexes.map(index => [index.name, index]))
  }

  get names(): readonly string[] {
    return [...this.#indexes.keys()]
  }

  /** Another empty one, whose name no other has. */
  add(index: Index): void {
    this.#indexes.set(index.name, index)
  }

  /** Lets go of the index of that name and of its file. Nobody asks for it any more. */
  remove(name: string): void {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    this.#indexes.delete(name)
    this.#loaded.delete(index)
    this.#loading.get(index)?.return()
    this.#loading.delete(index)
    this.#snapshots?.remove(this.#snapshots.pathOf(index))
  }

  /** Every index, loaded and brought to the newest committed change. */
  get all(): readonly Index[] {
    return this.names.map(name => this.get(name))
  }

  /** The index of that name, which there must be; loaded on the first call, and then all are brought forward. */
  get(name: string): Index {
    const index = this.#named(name)
    if (this.#loaded.has(index)) return index
    while (this.#loadSome(index));
    this.refresh()
    return index
  }

  /** Afterwards `get` of these names, and `refresh`, have nothing to do. */
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

  /** Changes of the store that the loaded index that is furthest behind has not taken in. */
  get lag(): number {
    const positions = [...this.#loaded].map(index => index.position)
    return positions.length === 0 ? 0 : Math.max(0, this.#store.lastSeq() - Math.min(...positions))
  }

  /** Calls back before indexes may change, until the listener returns false: before each step that brings them forward. */
  beforeChange(listener: () => boolean): void {
    this.#onChange = listener
  }

  /** Brings every loaded index to the newest committed change. Costs microseconds when nothing was committed. */
  refresh(): void {
    while (this.#followSome());
  }

  /** Takes in what much writing left behind, so that the next question need not wait for all of it. */
  *keepUp(name: string): Steps<void> {
    const index = this.#indexes.get(name)
    if (index === undefined) return
    const position = this.#loaded.has(index) ? index.position : this.#savedAt(index)
    if (this.#store.lastSeq() - position >= MUCH) yield* this.getInSteps(name)
  }

  /** Whether some snapshot is so far behind the store that a new one should be written. */
  get isWorthSaving(): boolean {
    return this.#snapshots !== null && [...this.#indexes.values()].some(index => this.#isWorthSaving(index))
  }

  /** Writes snapshots of the indexes whose last one is far behind, in steps. Failing to is no error: they rebuild. */
  *save(): Steps<void> {
    const snapshots = this.#snapshots
    if (snapshots === null) return
    for (const index of this.#indexes.values()) {
      this.#lookAgain(index, snapshots)
      // A full or read-only disk costs speed at the next start, not knowledge.
      if (this.#isWorthSaving(index)) yield* this.#trySaving(index, snapshots)
    }
  }

  /** Whether a file of the folder may hold what was forgotten up to this change of the feed. */
  mayHold(seq: number): boolean {
    return seq > 0 && this.#snapshots !== null && this.#snapshots.olderThan(seq).length > 0
  }

  /**
   * Removes every file of the folder that may hold what was forgotten up to this change, or with `rewrite` writes the
   * snapshots of these indexes again. They are loaded first, so that nothing is lost but a file. In steps. Throws `io_failed`.
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

  /** Memory lets go of what is no more, in steps. It takes as long as writing all snapshots. */
  *letGo(): Steps<void> {
    yield* this.getInSteps()
    yield* this.#whileSame(lettingGo([...this.#loaded]))
  }

  /** Whether what is saved is of use, tried with an empty index of the same kind; null without a home. */
  get tryLoading(): ((empty: Index) => Steps<SnapshotLoad>) | null {
    const snapshots = this.#snapshots
    return snapshots === null ? null : empty => snapshots.load(empty)
  }

  /** Rebuilds the index of that name from the store in steps, and with `save` writes its snapshot. */
  *renew(name: string, save: boolean): Steps<void> {
    yield* this.getInSteps(name)
    const index = this.#named(name)
    this.#loaded.delete(index)
    this.#loading.set(index, rebuilding(index, this.#store))
    yield* this.getInSteps(name)
    if (save && this.#snapshots !== null) yield* this.#save(index, this.#snapshots)
  }

  /** Lets go of files that are being read or written. */
  close(): void {
    for (const steps of this.#loading.values()) steps.return()
    this.#loading.clear()
    this.#following?.steps.return()
    this.#following = null
  }

  /** Changes up to here may be forgotten: every snapshot is beyond it, and differs from others in the change it ends with. */
  prunable(): number {
    const reached = Math.min(...[...this.#indexes.values()].map(index => this.#savedAt(index)))
    const tail = this.#store.lastSeq() - FEED_LENGTH
    return Math.min(reached - 1, tail)
  }

  #isWorthSaving(index: Index): boolean {
    return this.#store.lastSeq() - this.#savedAt(index) >= MIN_SAVED_CHANGES
  }

  /** False when it cannot be written. */
  *#trySaving(index: Index, snapshots: SnapshotFolder): Steps<boolean> {
    try {
      yield* this.getInSteps(index.name)
      yield* this.#save(index, snapshots)
      return true
    } catch {
      return false
    }
  }

  /** Right after `getInSteps` of its name. */
  *#save(index: Index, snapshots: SnapshotFolder): Steps<void> {
    const { position } = index
    const failures: unknown[] = []
    // Who takes a step of it is not concerned when it fails.
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

  /** Steps between which no loaded index changes: before they are over, nobody brings one forward. Right after `getInSteps`. */
  *#whileSame(steps: Steps<void>): Steps<void> {
    this.#following = { steps, version: -1 }
    this.#version = -1
    yield* this.getInSteps()
  }

  /** Looks at the head of the file when the index was not loaded. */
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

  /** The next step of loading it. False: it is loaded. What a step throws ends the loading, and the next call begins again. */
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
    // Those that are being brought forward are without it.
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

  /** The next step of bringing the loaded ones forward. False: they are at the newest committed change. */
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

  /** What was written since may be in no index: memories, settings. */
  #isCurrent(): boolean {
    const last = this.#store.lastSeq()
    return [...this.#loaded].every(({ position }) => position === last)
  }

  *#follow(indexes: readonly Index[]): Steps<void> {
    for (const index of indexes) yield* refreshing(index, this.#store)
  }

  /** Within one read of the store, so that they see one commit. True: the last one is not among them. */
  #step(steps: Steps<void>): boolean {
    try {
      return !this.#store.read(reader => aroundDamage(reader, () => manySteps(steps)))
    } catch (error) {
      steps.return()
      throw error
    }
  }

  /** Another process may have saved it since this one looked. */
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

/** A snapshot, or one that was not finished. */
const NAME = /\.snapshot(\.\w+)?$/

export class SnapshotFolder {
  readonly #folder: string
  readonly #store: Store

  /** Made when something is saved. */
  constructor(folder: string, store: Store) {
    this.#folder = folder
    this.#store = store
  }

  /** Takes the saved state of an index into it, or into an empty one of its kind: in steps, as `loadInSteps` of snapshots. */
  load(index: Index): Steps<SnapshotLoad> {
    return loadInSteps(this.pathOf(index), index, this.#store)
  }

  /** In steps, as `saveInSteps` of snapshots. Throws `io_failed`. One process at a time. */
  *save(index: Index): Steps<void> {
    mkdirSync(this.#folder, { recursive: true })
    yield* saveInSteps(this.pathOf(index), index, this.#store)
  }

  /** The change of the feed that the index is saved up to; 0: nothing is saved that it could take. */
  positionOf(index: Index): number {
    return snapshotPosition(this.pathOf(index), index, this.#store)
  }

  pathOf({ name }: Index): string {
    return join(this.#folder, `${name.replace(/[^\w.-]/g, '_')}.snapshot`)
  }

  /** Paths of files that reflect a state before this change, or none that is known. */
  olderThan(seq: number): readonly string[] {
    return this.#paths().filter(path => {
      const position = path.endsWith('.snapshot') ? positionOfSnapshot(path, this.#store.storeId) : null
      return position === null || position < seq
    })
  }

  /** Throws `io_failed`. */
  remove(path: string): void {
    try {
      rmSync(path, { force: true })
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      throw new QuerentError('io_failed', `cannot remove ${path}: ${cause}`, { path, cause }, error)
    }
  }

  /** None in a folder that is not there. */
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

/** By name, what makes an empty one. */
export class IndexMakers {
  readonly #makers: Map<string, MakeIndex>
  readonly #store: Store
  /** Null: the engine was opened without an embedder. */
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

  /** The index of the vectors of another embedder, which `make` makes from now on too. */
  add(embedder: Embedder): Index {
    const make = () => this.#vectorsOf(embedder, this.#store)
    const index = make()
    this.#makers.set(index.name, make)
    return index
  }

  make(name: string): Index {
    return must(this.#makers.get(name), `index ${name}`)()
  }

  /** Vectors put into it are of this embedder's model. Indexes are made when they are first asked for. */
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

/** All indexes of a store that `openScratch` made. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}
