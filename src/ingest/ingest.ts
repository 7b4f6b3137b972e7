/**
 * Brings files and folders into a store: entries of new files are added, those of changed files are written again, those of missing files
 * are deleted; files with the same bytes that would be read in the same way are left alone. An error in one file is reported at the end and
 * does not stop the others. Several runs may add the same folder at once: before writing, each checks what the others have written
 * (CX-075).
 */
import { must } from '../base/assert.ts'
import { sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { atOnce, type Steps, Turns } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import type { Ingester } from '../model/ingester.ts'
import type { Progress } from '../model/operation.ts'
import { type Audience, audience } from '../model/partition.ts'
import type { Viewer } from '../model/viewer.ts'
import { SEEN_FILES } from '../store/core-tables.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import { CHUNKER_VERSION } from '../text/chunk.ts'
import { type GivenOptions, type PathOptions, rememberOptions } from './added-paths.ts'
import { type IngestReport, ReportDraft } from './ingest-report.ts'
import { checkMap } from './jsonl.ts'
import {
  areSame,
  areSeenAlike,
  isWithin,
  type KnownFile,
  type KnownRow,
  knownRows,
  ownFile,
  pathWithin,
  rowsOfFile,
  type SeenFile,
  seenFiles,
} from './known-files.ts'
import { type FileOutcome, loadFile } from './load-file.ts'
import { goneFile, messageOf, type Place, placeOf, shown } from './place.ts'
import { exists, type Found, fileAt, seenNow, walk } from './walk.ts'
import { type EntrySettings, newAudience, newCollection, type ReadFile, writeFile } from './write-file.ts'

export interface IngestRequest {
  /** Files and folders to add; relative paths start from the working folder of the process. */
  readonly paths: readonly string[]
  /**
   * Collection of the entries. If this option is absent, it has the value given when the path was added before, otherwise its default. The
   * same applies to the other options of the entries, such as `kind` and `tags`.
   */
  readonly collection?: string | undefined
  /** Kind of the entries. Default: by file type (`document`, `code`), or as the file states. */
  readonly kind?: string | undefined
  readonly tags?: readonly string[] | undefined
  /** Visibility of new entries: only for their holder, for everybody, or shared with federations. Default: `private`. */
  readonly visibility?: 'private' | 'public' | 'shared' | undefined
  readonly federations?: readonly string[] | undefined
  /** For files of records, such as JSON Lines: for a field of an entry, the name of the record's field. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /**
   * Name of the lens (one of Querent's ways to query) whose ingesters (file readers) are tried before the built-in ones. Default: only the
   * built-in ones are used.
   */
  readonly lens?: string | undefined
  /** Maximum size of a file in bytes; larger files are skipped. Default: 10 MiB. */
  readonly maxBytes?: number | undefined
  /** Restricts the run to these absolute paths, which may be those of deleted files. Default: all files below `paths`. */
  readonly only?: ReadonlySet<string> | undefined
}

export interface IngestContext {
  /** The viewer on whose behalf the files are added, and who becomes the holder of the entries. */
  readonly viewer: Viewer
  readonly now: Instant
  readonly signal: AbortSignal
  readonly report?: ((progress: Progress) => void) | undefined
  /** Function that returns the ingesters (file readers) of a lens, which are tried before the built-in ones. */
  readonly ingestersOf?: ((lens: string) => readonly Ingester[]) | undefined
}

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024

/**
 * Adds files and folders to the store. Throws for errors that concern more than a single file: a path that does not exist, an invalid field
 * map, a store that cannot be written.
 */
export async function ingest(store: Store, request: IngestRequest, context: IngestContext): Promise<IngestReport> {
  checkMap(request.map ?? {})
  const isGone = (path: string) => request.only?.has(path) === true && !exists(path)
  const places = await Promise.all(
    request.paths.map((path, at) => (isGone(path) ? goneFile(path) : placeOf(path, `paths.${at}`))),
  )
  const run = new Run(store, request, context)
  for (const place of places) await run.take(place)
  return run.report()
}

type OptionsOf = (path: string) => PathOptions
/** Rows of the table of files (which entry was made from which file), by absolute path. */
type KnownRows = ReadonlyMap<string, readonly KnownRow[]>

/**
 * Number of files that are read at the same time and written in one transaction. Fewer if their bytes exceed `BATCH_BYTES`, because all
 * these files are held in memory.
 */
const BATCH = 16
const BATCH_BYTES = 32 * 1024 * 1024
/**
 * Up to this many bytes of files are written in one uninterrupted transaction; for more, the transaction pauses now and then so that other
 * work can run.
 */
const BYTES_AT_ONCE = 1 << 18
/** Fixed cost of writing an entry, counted in bytes of text. */
const EACH = 2_048
/** Maximum number of times that a file is read, if other runs keep writing its entries meanwhile. */
const MAX_READS = 10

interface GoneFile {
  /** Absolute path of a file that had entries and no longer exists. */
  readonly path: string
  readonly hash: string
}

interface Loaded {
  readonly outcome: FileOutcome
  /** Rows of the table of files (which entry was made from which file) when this file was read. */
  readonly rows: readonly KnownRow[]
  /** Size and modification time of the file just before it was read; null: the file did not exist. */
  readonly seen: SeenFile | null
}

class Run {
  readonly #store: Store
  readonly #request: IngestRequest
  readonly #context: IngestContext
  readonly #given: GivenOptions
  /**
   * Decides when the run pauses so that other work can run. Stopping takes effect between batches only: a batch that has begun is read and
   * written to its end, so that the report matches the store.
   */
  readonly #turns = new Turns()
  readonly #report = new ReportDraft()
  /** Absolute paths of files that have been processed, so that a file below two of the given folders is read once. */
  readonly #done = new Set<string>()
  /** Absolute paths of files that were read in this run and left out because of their contents, such as binary files. */
  readonly #leftOut = new Set<string>()
  /** Absolute paths of files that could not be written, for example because other entries have the ids of their entries. */
  readonly #refused = new Set<string>()
  /**
   * Rows of the table `SEEN_FILES` of this holder (the owner of the entries), by absolute path: size and modification time of files that
   * were read, but whose size and time no entry records, mostly because no entry was made.
   */
  readonly #seen: Map<string, SeenFile>
  /**
   * Returns, for the hash of a new file, a missing file with that hash, from which the new file was probably moved; undefined if there is
   * none.
   */
  #movedFrom: (hash: string) => GoneFile | undefined = () => undefined

  constructor(store: Store, request: IngestRequest, context: IngestContext) {
    this.#store = store
    this.#request = request
    this.#context = context
    const { visibility, federations, collection, kind, tags, map, lens } = request
    const given = visibility && audience(visibility, context.viewer.id, federations)
    this.#given = { collection, kind, tags, map, lens, audience: given }
    this.#seen = new Map(seenFiles(store, context.viewer.id))
  }

  report(): IngestReport {
    return this.#report.finish()
  }

  async take(place: Place): Promise<void> {
    const known = knownRows(this.#store, place.absolute)
    const { viewer, now } = this.#context
    const about = { holder: viewer.id, now, known: known.keys() }
    const optionsOf = await rememberOptions(this.#store, place, this.#given, about)
    const files: string[] = []
    const unread: string[] = []
    for await (const found of place.isFolder ? walk(place.root, this.#context.signal) : fileAt(place.absolute)) {
      if (found.kind === 'failed') unread.push(found.path)
      if (!this.#isWanted(found.path)) continue
      if (found.kind === 'file' && !this.#done.has(found.path)) files.push(found.path)
      if (found.kind !== 'file') this.#tell(place, found)
      this.#progress('find', files.length, null, shown(place, found.path))
    }
    const there = new Set(files)
    const gone = [...known].filter(([path]) => this.#isWanted(path) && !there.has(path) && !exists(path))
    this.#movedFrom = movedFiles(gone.flatMap(([path, rows]) => rows.map(({ hash }) => ({ path, hash }))))
    await this.#read(place, files, known, optionsOf)
    const missed = [...known].filter(
      ([path]) => this.#isWanted(path) && !this.#done.has(path) && !unread.some(folder => isWithin(path, folder)),
    )
    this.#checkAborted()
    await this.#forget(place, missed, optionsOf)
    await this.#unsee(place, there)
  }

  #isWanted(path: string): boolean {
    return this.#request.only?.has(path) ?? true
  }

  async #read(place: Place, files: readonly string[], known: KnownRows, optionsOf: OptionsOf): Promise<void> {
    for (let at = 0, batch = batchFrom(files, 0); batch.length > 0; at += batch.length, batch = batchFrom(files, at)) {
      this.#checkAborted()
      this.#progress('read', at, files.length, shown(place, batch[0] as string))
      await this.#readBatch(place, batch, path => known.get(path) ?? [], optionsOf)
    }
    this.#progress('read', files.length, files.length)
  }

  /** Reads and writes a batch of files. Files whose entries another run has written meanwhile are looked up and read again. */
  async #readBatch(
    place: Place,
    paths: readonly string[],
    rowsOf: (path: string) => readonly KnownRow[],
    optionsOf: OptionsOf,
  ): Promise<void> {
    let left = paths
    for (let reads = 0; left.length > 0 && reads < MAX_READS; reads++) {
      const of = reads === 0 ? rowsOf : (path: string) => rowsOfFile(this.#store, path)
      const loads = left.map(path => this.#load(place, path, of(path), optionsOf(path)))
      const loaded = await Promise.all(loads).catch((error: unknown) => {
        this.#checkAborted()
        throw error
      })
      left = await this.#write(place, loaded)
    }
    for (const path of left) this.#report.fail(shown(place, path), 'other runs kept changing it; add it again')
  }

  async #load(place: Place, absolute: string, rows: readonly KnownRow[], options: PathOptions): Promise<Loaded> {
    const { now, viewer, ingestersOf, signal } = this.#context
    const settings = { given: this.#given, options, holder: viewer.id, now }
    const seen = seenNow(absolute)
    const file = {
      absolute,
      root: place.root,
      path: pathWithin(place.root, absolute),
      rows,
      own: () => this.#own(rows),
      maxBytes: this.#request.maxBytes ?? DEFAULT_MAX_BYTES,
      ingesters: (options.lens !== null && ingestersOf?.(options.lens)) || [],
      reading: { now, map: options.map ?? {} },
      settings,
      fingerprint: fingerprintOf(settings),
    }
    return { outcome: await loadFile(this.#turns, file, signal), rows, seen }
  }

  #own(rows: readonly KnownRow[]): KnownFile | undefined {
    return rows.length === 0 ? undefined : ownFile(this.#store, rows, this.#context.viewer.id)
  }

  /**
   * Writes the entries of a batch of files. Returns the absolute paths of files that were not written, because another run has changed
   * their rows since they were read.
   */
  async #write(place: Place, loaded: readonly Loaded[]): Promise<readonly string[]> {
    const { now } = this.#context
    const sizes = loaded.flatMap(({ outcome }) =>
      outcome.kind === 'read' ? [outcome.file.size + EACH * outcome.file.documents.length] : [],
    )
    if (sizes.length === 0 && loaded.every(one => this.#isNoted(one)))
      return this.#store.read(reader => atOnce(this.#takeAll(place, loaded, reader, null)))
    const write = (writer: StoreWriter) => this.#takeAll(place, loaded, writer, writer)
    const isLong = sizes.reduce((sum, size) => sum + size, 0) > BYTES_AT_ONCE
    if (isLong) return await this.#store.writeInSteps(now, write, this.#turns)
    return await this.#store.writeWhenFree(now, writer => atOnce(write(writer)))
  }

  *#takeAll(
    place: Place,
    loaded: readonly Loaded[],
    reader: StoreReader,
    writer: StoreWriter | null,
  ): Steps<readonly string[]> {
    const stale: string[] = []
    for (const one of loaded) {
      const { outcome, rows } = one
      const { absolute, kind } = outcome
      const isHeldAgainst = kind === 'read' || kind === 'unchanged'
      if (isHeldAgainst && !areSame(rowsOfFile(reader, absolute), rows)) {
        stale.push(absolute)
        continue
      }
      yield* this.#take(place, outcome, writer)
      if (!this.#isNoted(one)) this.#noteSeen(one, must(writer, 'a transaction for what was seen'))
    }
    return stale
  }

  /**
   * Whether the table `SEEN_FILES` (files whose size and time no entry records) needs no change for this file: it has the right size and
   * time, or rightly has no row.
   */
  #isNoted(loaded: Loaded): boolean {
    return areSeenAlike(this.#seenToKeep(loaded), this.#seen.get(loaded.outcome.absolute))
  }

  /**
   * Size and modification time that the table `SEEN_FILES` must keep for this file. Null: it needs none, because the table `FILES` keeps
   * them with the file's entries.
   */
  #seenToKeep({ outcome, rows, seen }: Loaded): SeenFile | null {
    const isWritten = outcome.kind === 'read' && outcome.file.documents.length > 0
    if (isWritten && !this.#refused.has(outcome.absolute)) return null
    if (outcome.kind === 'unchanged' && areSeenAlike(rows[0]?.seen, seen)) return null
    return seen
  }

  #noteSeen(loaded: Loaded, writer: StoreWriter): void {
    const { absolute: path } = loaded.outcome
    const seen = this.#seenToKeep(loaded)
    const [table, holder] = [writer.table(SEEN_FILES), this.#context.viewer.id]
    if (seen === null) {
      table.delete({ holder, path })
      this.#seen.delete(path)
      return
    }
    table.put({ holder, path, size: seen.size, modified_at: seen.modifiedAt })
    this.#seen.set(path, seen)
  }

  /** Removes files that no longer exist from the table `SEEN_FILES`. */
  async #unsee(place: Place, found: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#seen.keys()].filter(
      path => isWithin(path, place.absolute) && !found.has(path) && seenNow(path) === null,
    )
    if (gone.length === 0) return
    const { viewer, now } = this.#context
    await this.#store.writeWhenFree(now, writer => {
      for (const path of gone) writer.table(SEEN_FILES).delete({ holder: viewer.id, path })
    })
    for (const path of gone) this.#seen.delete(path)
  }

  *#take(place: Place, outcome: FileOutcome, writer: StoreWriter | null): Steps<void> {
    const path = shown(place, outcome.absolute)
    if (outcome.kind !== 'skipped' || outcome.reason === 'empty') this.#done.add(outcome.absolute)
    else this.#leftOut.add(outcome.absolute)
    if (outcome.kind === 'skipped') this.#report.skip(path, outcome.reason)
    if (outcome.kind === 'failed') this.#report.fail(path, outcome.message)
    if (outcome.kind === 'unchanged') this.#report.count({ unchanged: outcome.entries })
    if (outcome.kind !== 'read') return
    for (const message of outcome.problems) this.#report.fail(path, message)
    for (const message of outcome.warnings) this.#report.warn(path, message)
    yield* this.#writeOne(place, outcome.file, must(writer, 'a transaction for what is read'))
  }

  /** Writes the entries of one file, which can be undone separately (in a savepoint): an error in one file does not undo the others. */
  *#writeOne(place: Place, file: ReadFile, writer: StoreWriter): Steps<void> {
    const moves: [Audience, Audience][] = []
    const before = file.known === undefined ? this.#takeMoved(file, writer) : null
    const known = before?.known ?? file.known
    try {
      const written = yield* writer.savepoint(() =>
        writeFile(writer, { ...file, known }, (from, to) => moves.push([from, to])),
      )
      if (before !== null) this.#done.add(before.path)
      this.#report.count(written)
      for (const [from, to] of moves) this.#report.visibility.add(place.given, from, to)
    } catch (error) {
      if (!(error instanceof QuerentError && ['usage', 'limit', 'conflict'].includes(error.kind))) throw error
      this.#refused.add(file.absolute)
      this.#report.fail(shown(place, file.absolute), error.message)
    }
  }

  /**
   * Finds a missing file that had the same bytes as this new file: the file was moved, so the entries of the missing file are kept as those
   * of the new one. Missing files that another run has written meanwhile are not used. Null: there is none.
   */
  #takeMoved({ hash }: ReadFile, writer: StoreWriter): { readonly path: string; readonly known: KnownFile } | null {
    for (let gone = this.#movedFrom(hash); gone !== undefined; gone = this.#movedFrom(hash)) {
      const { path } = gone
      const known = ownFile(
        writer,
        rowsOfFile(writer, path).filter(row => row.hash === hash),
        this.#context.viewer.id,
      )
      if (known !== undefined && !exists(path)) return { path, known }
    }
    return null
  }

  /**
   * Deletes the entries of files that no longer exist or that ignore rules now exclude. This folder's ignore rules do not apply to a file
   * whose entries were made through another added folder: its entries are deleted only if the file no longer exists.
   */
  async #forget(
    place: Place,
    missed: readonly (readonly [string, readonly KnownRow[]])[],
    optionsOf: OptionsOf,
  ): Promise<void> {
    const late: string[] = []
    for (const [path, rows] of missed) {
      this.#checkAborted()
      const file = this.#own(rows)
      if (file === undefined) continue
      const isThere = exists(path)
      if (isThere && file.root !== place.root) continue
      // Whether the file was created after its folder was listed, so that the listing did not have it.
      const isNew = isThere && !this.#leftOut.has(path) && (await this.#isFound(place, path))
      if (isNew) late.push(path)
      else if (!(await this.#forgetOne(path, rows, file, isThere))) late.push(path)
    }
    const found = late.filter(exists)
    await this.#readBatch(place, found, path => rowsOfFile(this.#store, path), optionsOf)
  }

  /**
   * Deletes the entries made from one file. Returns false, and deletes nothing, if the file exists again or another run has written its
   * entries. `isLeftOut`: the file exists, but ignore rules exclude it.
   */
  #forgetOne(path: string, rows: readonly KnownRow[], file: KnownFile, isLeftOut: boolean): Promise<boolean> {
    return this.#store.writeWhenFree(this.#context.now, writer => {
      if (!areSame(rowsOfFile(writer, path), rows) || (!isLeftOut && exists(path))) return false
      for (const { key } of file.entries.values()) if (writer.delete(key)) this.#report.count({ deleted: 1 })
      return true
    })
  }

  async #isFound({ root }: Place, path: string): Promise<boolean> {
    for await (const { kind } of walk(root, this.#context.signal, path)) return kind === 'file'
    return false
  }

  #tell(place: Place, found: Exclude<Found, { kind: 'file' }>): void {
    const path = shown(place, found.path)
    if (found.kind === 'skipped') this.#report.skip(path, found.reason)
    else this.#report.fail(path, messageOf(found.error))
  }

  #progress(phase: string, done: number, total: number | null, current?: string): void {
    this.#context.report?.(current === undefined ? { phase, done, total } : { phase, done, total, current })
  }

  #checkAborted(): void {
    if (!this.#context.signal.aborted) return
    const { added, updated } = this.report()
    const message = 'adding files was stopped; entries that were written before are kept'
    throw new QuerentError('cancelled', message, { added, updated })
  }
}

/** The next files that are read together, from the index `at`; at least one if any are left. */
function batchFrom(files: readonly string[], at: number): readonly string[] {
  let bytes = 0
  const isFull = (path: string, count: number) => {
    bytes += seenNow(path)?.size ?? 0
    return count > 0 && bytes > BATCH_BYTES
  }
  const batch = files.slice(at, at + BATCH)
  const end = batch.findIndex(isFull)
  return end < 0 ? batch : batch.slice(0, end)
}

/**
 * Hash of everything besides the file's bytes that determines which entries are made from it: options, audience, and the version of the
 * chunker.
 */
function fingerprintOf(settings: EntrySettings): string {
  const { kind, tags, map } = settings.options
  const collection = newCollection(settings.options)
  return sha256(JSON.stringify([CHUNKER_VERSION, collection, kind, tags, newAudience(settings), map ?? {}]))
}

/**
 * Returns a function that finds, by hash, the missing file from which a new file was moved. If several missing files have the same bytes,
 * each call gives the next one, in the order of `gone`.
 */
function movedFiles<T extends { readonly hash: string }>(gone: readonly T[]): (hash: string) => T | undefined {
  const left = Map.groupBy(gone, ({ hash }) => hash)
  return hash => left.get(hash)?.shift()
}
