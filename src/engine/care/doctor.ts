/** Checks that a store, its indexes and its embedder are sound, and says what to do about each thing that is not. */
import type { Steps, Turns } from '../../base/turns.ts'
import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Lens, LensHost } from '../../lenses/lens.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import { noticesFor } from '../../pipeline/notices.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { REPAIR_HELP, RESTORE_HELP } from '../../store/care/problem.ts'
import { LEASES } from '../../store/core-tables.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { examineAside } from '../../store/store-thread.ts'
import { HARMLESS, type JobState, type Refused } from '../background/background.ts'
import { isGone } from '../background/lease.ts'
import { NATIVE_HELP } from '../embedder.ts'
import { orStopped } from '../ending.ts'
import { type Examined, filesFindings, finding, looked, lookedLong, ofStore } from './doctor-files.ts'
import { type IndexesToExamine, indexesFindings, snapshotsFindings } from './doctor-indexes.ts'

export interface DoctorInput extends IndexesToExamine, EmbeddingToExamine {
  readonly store: Store
  readonly home: string | null
  /** Null: the store is not the home's, and is asked itself. */
  readonly storeFile: string | null
  readonly machineNow: () => number
  readonly jobs: ReadonlyMap<string, JobState>
  readonly lenses: readonly Lens[]
  /** Of every lens there is, also of those that are not loaded. */
  readonly tables: readonly TableDeclaration[]
  readonly hostOf: (lens: string) => LensHost
}

export async function examine(input: DoctorInput): Promise<readonly Examined[]> {
  const { store, home, storeFile, embedder, signal } = input
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
    ...looked('leases', () => [leasesFinding(store, input.machineNow)]),
    ...(await lookedLong('snapshots', () => turns.run(snapshotsFindings(input)))),
    ...(await lookedLong('indexes', () => turns.run(indexesFindings(input, store, embedder)))),
    ...(await inTurn(lenses, lens => lookedLong(`lens ${lens.name}`, () => tablesAgree(lens, store, turns)))),
    ...(await inTurn(lenses, lens => nothingMissing(lens, input, turns))),
    ...looked('vectors', () => [vectorsFinding(input, store)]),
    await embedderFinding(input),
    ...[...input.jobs].map(([name, state]) => jobWorks(name, state)),
    ...looked('notices', () => noticesFor(store, LOCAL_OWNER).map(message => finding('notices', true, message))),
  ]
}

/** Whether the store's table of this name, if any, has the columns that this version declares. */
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

/** The store knows only its own declarations; which ones this version has is known here. */
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

/** Of one state of the store, whatever is written at the pauses. */
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

/** Problems listed for each check. */
const MAX_LISTED = 5

function withoutProblems(check: string, problems: readonly string[], sound: string): Examined {
  if (problems.length === 0) return finding(check, true, sound)
  return finding(check, false, problems.slice(0, MAX_LISTED).join('; '), RESTORE_HELP)
}

function jobWorks(name: string, { failure, progress }: JobState): Examined {
  const done = progress === null ? '' : ` (${progress.phase}: ${progress.done} of ${progress.total ?? '?'})`
  const message = failure === null ? `works${done}` : `its last run failed${done}: ${failure}`
  return finding(`job ${name}`, failure === null, message, 'It runs again by itself; see the lens that brings it.')
}

/** A lease ends within seconds; one that ends this much later was taken by a clock that is ahead. */
const TOO_LATE_MS = 10 * 60_000

export function leasesFinding(store: Store, machineNow: () => number): Examined {
  const rows = store.table(LEASES).scan()
  const left = rows.filter(row => isLeft(row, machineNow()))
  if (left.length === 0) return finding('leases', true, 'none is left behind')
  const names = left.map(({ name }) => name).join(', ')
  return finding('leases', true, `left behind: ${names}`, null, async () => {
    await store.writeWhenFree(machineNow(), writer => {
      for (const { name, holder } of left) writer.table(LEASES).delete({ name: name ?? null, holder: holder ?? null })
    })
    return `released ${names}`
  })
}

function isLeft({ holder, expires_at }: Row, now: number): boolean {
  return isGone(String(holder)) || Number(expires_at) > now + TOO_LATE_MS
}

/** Whether every text has a vector, and whether the embedder would make one. */
export interface EmbeddingToExamine {
  readonly embedder: Embedder | null
  readonly embedderError: string | null
  /** Chunks set aside; null when this engine embeds nothing. */
  readonly refused: Refused | null
  /** Ends the wait for an embedder that does not answer. */
  readonly signal: AbortSignal
}

/** The first use of a local model takes a second, a provider with retries a few. */
const PATIENCE_MS = 60_000

export function vectorsFinding({ embedder, refused }: EmbeddingToExamine, store: Store): Examined {
  if (embedder === null) return finding('vectors', true, 'no embedder: questions are answered from words')
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
