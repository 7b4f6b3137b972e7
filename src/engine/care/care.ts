/**
 * Maintenance of a home (the folder with the store and its settings): connects the engine's health check (the doctor) and its backup with
 * the parts of the engine that they need.
 */
import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { type Steps, Turns } from '../../base/turns.ts'
import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Index, LinkIndex, PointIndex, VectorIndex, WordIndex } from '../../index/contract.ts'
import type { SnapshotLoad, SnapshotProblem } from '../../index/snapshot.ts'
import type { Lens, LensHost } from '../../lenses/lens.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { BackupRequest, DoctorRequest } from '../../model/reports.ts'
import type { TableDeclaration } from '../../model/table.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import { noticesFor } from '../../pipeline/notices.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { copyStore } from '../../store/care/copy-store.ts'
import { REPAIR_HELP, RESTORE_HELP } from '../../store/care/problem.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { examineAside } from '../../store/store-thread.ts'
import { HARMLESS, type JobState, type Refused } from '../background/background.ts'
import { NATIVE_HELP } from '../embedder.ts'
import { orStopped } from '../ending.ts'
import type { Backup, Examination } from '../engine.ts'
import type { Parts } from '../parts.ts'
import { PLUGIN_FOLDER, TRUST_FILE } from '../plugins.ts'
import {
  type Examined,
  examination,
  filesFindings,
  finding,
  looked,
  lookedLong,
  ofStore,
  repair,
} from './doctor-files.ts'

export class Care {
  readonly #parts: Parts
  readonly #embedNew: (call: CallContext) => Promise<unknown>
  readonly #hostOf: (lens: string) => LensHost

  /** `embedNew` makes the missing vectors of chunks, as far as the embedder works. */
  constructor(parts: Parts, embedNew: (call: CallContext) => Promise<unknown>, hostOf: (lens: string) => LensHost) {
    this.#parts = parts
    this.#embedNew = embedNew
    this.#hostOf = hostOf
  }

  async doctor({ repair: repairs = false, backup = true }: DoctorRequest, call: CallContext): Promise<Examination> {
    const look = () => this.#examine(call.signal)
    if (!repairs) return examination(await look())
    hereOnly(call, 'doctor with repair')
    const { storeFile, clock } = this.#parts
    const follow = () => this.#followRepair(call)
    return repair({ examine: look, storeFile, backup, now: () => clock.now(), follow })
  }

  backup(request: BackupRequest, call: CallContext): Promise<Backup> {
    hereOnly(call, 'backup')
    return backUp(request, this.#parts, call)
  }

  #examine(signal: AbortSignal): Promise<readonly Examined[]> {
    const { store, home, storeFile, embedder, embedderError, embedding, jobs, indexes, registry, makeIndex } =
      this.#parts
    return examine({
      ...{ store, home, storeFile, embedder, embedderError, jobs, signal },
      refused: embedding?.refused(store.partitions().map(({ id }) => id)) ?? null,
      names: indexes.names,
      indexOf: name => indexes.current(name),
      lenses: registry.all,
      tables: registry.tables,
      hostOf: this.#hostOf,
      fresh: index => makeIndex(index.name),
      loaded: indexes.tryLoading,
      renew: name => this.#renew(name),
    })
  }

  /**
   * Makes missing vectors and rebuilds all indexes after the store file was repaired. Problems that remain are reported by the next health
   * check.
   */
  async #followRepair(call: CallContext): Promise<void> {
    await this.#embedNew(call)
    for (const name of this.#parts.indexes.names) await this.#renew(name)
  }

  /** Rebuilds an index in memory. Its snapshot file is also written, unless another process is writing snapshots just now. */
  async #renew(name: string): Promise<void> {
    const { indexes, snapshots } = this.#parts
    const mayWrite = await snapshots.take()
    try {
      await new Turns().run(indexes.renew(name, mayWrite))
    } finally {
      if (mayWrite) await snapshots.release()
    }
  }
}

/** Throws for a call from a remote client: operations that write files on this machine may be called only from this machine. */
function hereOnly({ remote }: CallContext, what: string): void {
  if (remote !== true) return
  throw new QuerentError('denied', `${what} is for the local owner only, on this machine`, { operation: what })
}

/**
 * Where a backup copies from: the file of the store, and the home (the folder with store and settings), whose other contents the backup
 * lists but does not copy. A null field: the store is in memory, or not in a home.
 */
export interface BackupPlace {
  readonly storeFile: string | null
  readonly home: string | null
}

export async function backUp(
  { to, overwrite }: BackupRequest,
  { storeFile, home }: BackupPlace,
  { signal, report }: CallContext,
): Promise<Backup> {
  if (storeFile === null || home === null) {
    throw invalidArgument('to', to, 'a store on disk to copy: this one is in memory, or not in a home; use `export`')
  }
  // A relative backup path would be resolved from the working folder of the server process, which a remote caller does not know.
  if (!isAbsolute(to)) throw invalidArgument('to', to, 'an absolute path')
  const copy = await copyStore({
    from: storeFile,
    to,
    overwrite,
    report: (done, total) => {
      signal.throwIfAborted()
      report?.({ phase: 'copying', done, total })
    },
  })
  return { ...copy, not_held: besides(home) }
}

/**
 * Names of the files and folders in the home that a backup of the store does not contain: the settings, the record of trusted plug-ins, and
 * the plug-in folder, if they exist.
 */
function besides(home: string): readonly string[] {
  const folder = join(home, PLUGIN_FOLDER)
  const plugins = existsSync(folder) && readdirSync(folder).length > 0 ? [PLUGIN_FOLDER] : []
  return [...['config.json', TRUST_FILE].filter(name => existsSync(join(home, name))), ...plugins]
}

// The health check (the doctor): checks that a store, its indexes and its embedder are sound, and says what to do about each problem found.

export interface DoctorInput extends IndexesToExamine, EmbeddingToExamine {
  readonly store: Store
  readonly home: string | null
  /**
   * File of the store, if it is in the home. Null: the store is elsewhere, so the health check examines it only through the methods of the
   * store.
   */
  readonly storeFile: string | null
  readonly jobs: ReadonlyMap<string, JobState>
  readonly lenses: readonly Lens[]
  /** Table declarations of all lenses, including lenses that are not loaded. */
  readonly tables: readonly TableDeclaration[]
  readonly hostOf: (lens: string) => LensHost
}

export async function examine(input: DoctorInput): Promise<readonly Examined[]> {
  const { store, home, storeFile, signal } = input
  const turns = turnsUntil(signal)
  const foreign = input.tables.filter(table => !isAsDeclared(table, store))
  const lenses = input.lenses.filter(({ tables = [] }) => !tables.some(table => foreign.includes(table)))
  return [
    ...withForeign(
      foreign,
      await lookedLong('store', async () =>
        (await (storeFile === null ? store.check() : examineAside(storeFile, signal))).map(ofStore),
      ),
    ),
    ...looked('home', () => (home === null || storeFile === null ? [] : filesFindings(home, storeFile))),
    ...(await lookedLong('snapshots', () => turns.run(snapshotsFindings(input)))),
    ...(await lookedLong('indexes', () => turns.run(indexesFindings(input, store)))),
    ...(await inTurn(lenses, lens => lookedLong(`lens ${lens.name}`, () => tablesAgree(lens, store, turns)))),
    ...(await inTurn(lenses, lens => nothingMissing(lens, input, turns))),
    ...looked('vectors', () => [vectorsFinding(input, store)]),
    await embedderFinding(input),
    ...[...input.jobs].map(([name, state]) => jobWorks(name, state)),
    ...looked('notices', () => noticesFor(store, LOCAL_OWNER).map(message => finding('notices', true, message))),
  ]
}

/**
 * Whether a table in the store has the columns that this version of the program declares for it; also true if the table does not exist or
 * cannot be read because of damage.
 */
function isAsDeclared(table: TableDeclaration, store: Store): boolean {
  try {
    store.table(table)
    return true
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'conflict') return false
    if (error instanceof QuerentError && error.code === 'store_corrupt') return true
    throw error
  }
}

/**
 * Adds a finding for tables whose columns differ from those that this version of the program declares. The store's own examination cannot
 * report them, because it knows only the declarations stored with the tables.
 */
function withForeign(foreign: readonly TableDeclaration[], found: readonly Examined[]): readonly Examined[] {
  if (foreign.length === 0) return found
  const names = foreign.map(({ name }) => name).join(', ')
  const message = `other columns than this version declares: ${names}`
  const help =
    'A version that was never released made them. `querent export --skip-damaged` saves everything else; import that into a new home.'
  return [...found.filter(({ check, ok }) => check !== 'tables' || !ok), finding('tables', false, message, help)]
}

async function inTurn<T>(
  all: readonly T[],
  look: (one: T) => Promise<readonly Examined[]>,
): Promise<readonly Examined[]> {
  const found: Examined[] = []
  for (const one of all) found.push(...(await look(one)))
  return found
}

async function tablesAgree(
  { name, tables = [], check }: Lens,
  store: Store,
  turns: Turns,
): Promise<readonly Examined[]> {
  for (const table of tables) store.table(table).scan({}, { limit: 1 })
  if (check === undefined) return []
  const problems = await ofOneState(check, store, turns)
  const notes = problems.filter(({ isNote }) => isNote).map(({ message }) => finding(`lens ${name}`, true, message))
  const damages = problems.filter(({ help, isNote }) => help === null && !isNote).map(({ message }) => message)
  const others = problems.filter(({ help }) => help !== null)
  const found = others.map(({ message, help }) => finding(`lens ${name}`, false, message, help))
  if (damages.length === 0 && found.length > 0) return [...found, ...notes]
  return [withoutProblems(`lens ${name}`, damages, 'its tables agree with each other'), ...found, ...notes]
}

/** Runs a check that reads the store, on one committed state of the store, even if there are writes while the check pauses. */
async function ofOneState<T>(read: (reader: StoreReader) => Steps<T>, store: Store, turns: Turns): Promise<T> {
  const snapshot = store.snapshot()
  if (snapshot === null) return store.readInSteps(() => read(store), turns)
  try {
    return await turns.run(read(snapshot.reader))
  } finally {
    snapshot.close()
  }
}

function nothingMissing(
  { name, repairs = [] }: Lens,
  { store, hostOf, signal }: DoctorInput,
  turns: Turns,
): Promise<readonly Examined[]> {
  return inTurn(repairs, ({ check, sound, find, repair }) =>
    lookedLong(check, async () => {
      const missing = await ofOneState(find, store, turns)
      if (missing.length === 0) return [finding(check, true, sound)]
      const shown = missing.slice(0, MAX_LISTED).join('; ')
      const message = missing.length > MAX_LISTED ? `${shown}; and ${missing.length - MAX_LISTED} more` : shown
      return [finding(check, false, message, REPAIR_HELP, () => repair(hostOf(name), signal))]
    }),
  )
}

/** Maximum number of problems listed in the message of one finding. */
const MAX_LISTED = 5

function withoutProblems(check: string, problems: readonly string[], sound: string): Examined {
  if (problems.length === 0) return finding(check, true, sound)
  return finding(check, false, problems.slice(0, MAX_LISTED).join('; '), RESTORE_HELP)
}

function jobWorks(name: string, { failure, progress }: JobState): Examined {
  const done = progress === null ? '' : ` (${progress.phase}: ${progress.done} of ${progress.total ?? '?'})`
  const message = failure === null ? `works${done}` : `its last run failed${done}: ${failure}`
  return finding(
    `job ${name}`,
    failure === null,
    message,
    'It runs again by itself; see the documentation of its lens.',
  )
}

// Checks of the indexes: each index in use is compared with one rebuilt from the store, and each snapshot file is loaded as a test.

interface IndexesToExamine {
  readonly names: readonly string[]
  /**
   * Returns the index in use with this name, loaded and updated to the latest commit. A health check must not update it itself, because a
   * snapshot of it may be in the making.
   */
  readonly indexOf: (name: string) => Index
  /**
   * Creates an empty index of the same kind as the given one; the health check rebuilds the empty index from the store, to compare the
   * index in use with it.
   */
  readonly fresh: (index: Index) => Index
  /**
   * Loads the snapshot of an index into an empty index of the same kind, to test the snapshot file; null: this engine saves no snapshots.
   */
  readonly loaded: ((empty: Index) => Steps<SnapshotLoad>) | null
  /** Rebuilds the index in use with this name from the store, and saves its snapshot. */
  readonly renew: (name: string) => Promise<void>
}

/**
 * Checks that each index in use has as many rows as one rebuilt from the store. The check pauses between steps; both indexes are updated
 * before they are compared, so writes during a pause make no difference.
 */
function* indexesFindings({ names, indexOf, fresh, renew }: IndexesToExamine, store: Store): Steps<Examined[]> {
  const found: Examined[] = []
  for (const name of names) {
    const rebuilt = fresh(indexOf(name))
    yield* rebuild(rebuilt, store)
    const [rows, wanted] = store.read(reader => {
      rebuilt.refresh(reader)
      // The index in use is fetched again after the rebuild, because other tasks may have replaced or removed it during the pauses.
      const index = indexOf(name)
      const all = reader.partitions().map(({ id }) => id)
      return [rowsOf(index, all), rowsOf(rebuilt, all)]
    })
    found.push(comparison(name, rows, wanted, () => renew(name)))
    yield
  }
  return found
}

/**
 * Rebuilds the index from the store, with pauses between steps. Each step runs in one read transaction, so that it sees a single commit.
 */
function* rebuild(index: Index, store: Store): Steps<void> {
  const steps = index.rebuildInSteps?.(store)
  if (steps === undefined) index.rebuild(store)
  else while (store.read(() => steps.next(false)).done !== true) yield
}

function* snapshotsFindings({ names, indexOf, fresh, loaded, renew }: IndexesToExamine): Steps<Examined[]> {
  const found: Examined[] = []
  for (const name of loaded === null ? [] : names) {
    const load = loaded?.(fresh(indexOf(name)))
    if (load !== undefined) found.push(snapshotFinding(name, yield* load, () => renew(name)))
  }
  return found
}

function comparison(name: string, rows: number, wanted: number, renew: () => Promise<void>): Examined {
  const check = `index ${name}`
  if (rows === wanted) return finding(check, true, `${rows} rows, the same as a rebuild`)
  return finding(check, false, `${rows} rows, a rebuild has ${wanted}`, REPAIR_HELP, async () => {
    await renew()
    return 'built again'
  })
}

/**
 * Reasons, other than damage, why a snapshot file of an index was not used, each with the text of the finding: the file is missing, or
 * belongs to another version of the program or another state of the store. The index was then built from the store.
 */
const HARMLESS_SNAPSHOTS: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  missing: 'no snapshot yet',
  other_format: 'of another version, so the index was built again',
  // The index rejected a snapshot whose checksum is right, so another version of this program wrote the snapshot.
  refused: 'of another version of the index, which was built again',
  ahead_of_store: 'of a later state than the store, so the index was built again',
  other_past: 'of another history of the store, so the index was built again',
}

const HARMFUL_SNAPSHOTS: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  damaged: 'damaged',
  other_store: 'of another store',
  other_index: 'of another index',
  unreadable: 'not readable',
}

function snapshotFinding(name: string, loaded: SnapshotLoad, renew: () => Promise<void>): Examined {
  const check = `snapshot ${name}`
  if (loaded.ok) return finding(check, true, 'can be read')
  const { reason } = loaded
  const harmless = HARMLESS_SNAPSHOTS[reason]
  if (harmless !== undefined) return finding(check, true, harmless)
  const help = `It is ignored, so the store takes longer to open. ${REPAIR_HELP}`
  return finding(check, false, HARMFUL_SNAPSHOTS[reason] ?? reason, help, async () => {
    await renew()
    return 'written again'
  })
}

/**
 * Number of rows of an index (for a graph, nodes plus links), to compare it with a rebuilt one. An index without a count gives its position
 * in the change feed instead.
 */
function rowsOf(index: Index, partitions: readonly PartitionId[]): number {
  if (!hasCount(index)) return index.position
  const count = index.count({ partitions })
  return typeof count === 'number' ? count : count.nodes + count.links
}

function hasCount(index: Index): index is WordIndex | VectorIndex | PointIndex | LinkIndex {
  return 'count' in index
}

/** What the checks of vectors need. One check is whether every chunk has a vector, the other whether the embedder works at present. */
export interface EmbeddingToExamine {
  readonly embedder: Embedder | null
  readonly embedderError: string | null
  /** Chunks that have no vector because the embedder refused their texts; null if this engine does not embed chunks. */
  readonly refused: Refused | null
  /** Aborting this signal ends the wait for an embedder that does not respond. */
  readonly signal: AbortSignal
}

/**
 * Time limit in milliseconds for the check that embeds a test text: the first use of a local model takes about a second, a provider with
 * retries a few seconds.
 */
const PATIENCE_MS = 60_000

export function vectorsFinding({ embedder, refused }: EmbeddingToExamine, store: Store): Examined {
  if (embedder === null) return finding('vectors', true, 'no embedder: queries are answered by words only')
  const all = store.partitions().map(partition => partition.id)
  const [chunks, vectors] = [store.countChunks(all), store.countVectors(modelKey(embedder.model), all)]
  return finding(
    'vectors',
    vectors === chunks,
    `${vectors} of ${chunks} chunks have a vector${refusal(refused)}`,
    'Run `querent add` again, or keep `querent serve` running: vectors follow in the background.',
  )
}

function refusal(refused: Refused | null): string {
  return refused?.message ? `; the embedder refuses ${refused.count}: ${refused.message}` : ''
}

export async function embedderFinding({ embedder, embedderError, signal }: EmbeddingToExamine): Promise<Examined> {
  if (embedder === null) {
    const help = 'Run `npm run model` in a checkout, or set QUERENT_EMBEDDER=none.'
    return finding('embedder', embedderError === null, embedderError ?? 'switched off', help)
  }
  const stop = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
  try {
    const [vector] = await orStopped(embedder.embed([HARMLESS], 'query', stop), stop)
    const ok = vector !== undefined && vector.length === embedder.model.dimensions
    const message = `${embedder.model.id} answers with ${vector?.length ?? 0} dimensions${runOf(embedder)}`
    return finding('embedder', ok, message)
  } catch (error) {
    const message = stop.aborted ? `${embedder.model.id} has not answered` : String((error as Error).message ?? error)
    return finding('embedder', false, message, 'Check the provider.')
  }
}

function runOf({ runsOn }: Embedder): string {
  const run = runsOn?.()
  if (run === undefined) return ''
  if (run.runtime === 'native') return `, native runtime, workers: ${run.workers}`
  return `, WebAssembly runtime, workers: ${run.workers}; ${NATIVE_HELP}`
}
