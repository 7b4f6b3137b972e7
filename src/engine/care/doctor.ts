/** Checks that a store, its indexes and its embedder are sound, and says what to do about each thing that is not. */

import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Index, VectorIndex } from '../../index/contract.ts'
import type { SnapshotLoad } from '../../index/snapshot.ts'
import type { Lens } from '../../lenses/lens.ts'
import { QuerentError } from '../../model/errors.ts'
import { examineStore } from '../../store/care/store-care.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import type { JobState } from '../background/background.ts'
import { filesFindings, snapshotFinding } from './doctor-files.ts'
import { compareIndexes, isVectorIndex, LEAST_RECALL, recallOf } from './doctor-indexes.ts'
import { leasesFinding } from './doctor-leases.ts'
import type { Refused } from '../background/embedding.ts'
import { type Examined, finding, REPAIR } from './finding.ts'
import { orStopped } from '../or-stopped.ts'
import { type SampledQuestion, sampleQuestions } from './sampled-questions.ts'

export interface DoctorInput {
  readonly store: Store
  readonly home: string | null
  /** Null: the store is not the home's, and is asked itself. */
  readonly storeFile: string | null
  readonly machineNow: () => number
  readonly embedder: Embedder | null
  readonly embedderError: string | null
  /** Chunks set aside; null when this engine embeds nothing. */
  readonly refused: Refused | null
  readonly jobs: ReadonlyMap<string, JobState>
  readonly indexes: readonly Index[]
  readonly lenses: readonly Lens[]
  /** Ends the wait for an embedder that does not answer. */
  readonly signal: AbortSignal
  /** A second index of the same kind, empty: rebuilt here to compare the living one with. */
  readonly fresh: (index: Index) => Index
  /** Takes the snapshot of an index into an empty one of its kind; null: nothing is saved here. */
  readonly loaded: ((empty: Index) => SnapshotLoad) | null
  /** Builds the living index of that name anew and saves it. */
  readonly renew: (name: string) => void
}

/** Questions that indexes are examined by. */
const QUESTIONS = 20
/** The first use of a local model takes a second, a provider with retries a few. */
const PATIENCE_MS = 60_000

export async function examine(input: DoctorInput): Promise<readonly Examined[]> {
  const { home, storeFile } = input
  return [
    ...lookedAt('store', () => (storeFile === null ? [integrity(input.store)] : storeFindings(storeFile))),
    ...(home === null || storeFile === null ? [] : filesFindings(home, storeFile)),
    ...lookedAt('leases', () => [leasesFinding(input.store, input.machineNow)]),
    ...lookedAt('snapshots', () => snapshots(input)),
    ...lookedAt('indexes', () => indexesAnswer(input)),
    ...input.lenses.flatMap(lens => lookedAt(`lens ${lens.name}`, () => tablesAgree(lens, input.store))),
    ...lookedAt('vectors', () => [vectorsComplete(input)]),
    await embedderAnswers(input),
    ...[...input.jobs].map(([name, state]) => jobWorks(name, state)),
  ]
}

/** A damaged store keeps nobody from the other findings. */
function lookedAt(check: string, look: () => readonly Examined[]): readonly Examined[] {
  try {
    return look()
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    return [finding(check, false, error.message, error.help)]
  }
}

/** The store file, read on a connection of its own. */
function storeFindings(file: string): readonly Examined[] {
  return examineStore(file).map(({ check, ok, message, help, isMendable }) =>
    finding(check, ok, message, help, isMendable ? 'store' : null),
  )
}

function snapshots({ indexes, loaded, fresh, renew }: DoctorInput): readonly Examined[] {
  if (loaded === null) return []
  return indexes.map(index => snapshotFinding(index.name, loaded(fresh(index)), () => renew(index.name)))
}

function integrity(store: Store): Examined {
  const problems = store.check()
  return finding(
    'store',
    problems.length === 0,
    problems.length === 0 ? 'the store file is sound' : problems.slice(0, 5).join('; '),
    'Restore a backup, or take what can be read into a new store: `querent export --skip-damaged`.',
  )
}

function indexesAnswer(input: DoctorInput): readonly Examined[] {
  const { store, embedder } = input
  const model = embedder === null ? null : modelKey(embedder.model)
  return store.read(reader => {
    const questions = sampleQuestions(reader, model, QUESTIONS)
    return input.indexes.flatMap(index => {
      index.refresh(reader)
      const renew = () => input.renew(index.name)
      const compared = comparedWithRebuild(index, input.fresh(index), reader, questions, renew)
      return isVectorIndex(index) ? [compared, findsTheNearest(index, reader, questions)] : [compared]
    })
  })
}

function comparedWithRebuild(
  index: Index,
  rebuilt: Index,
  reader: StoreReader,
  questions: readonly SampledQuestion[],
  renew: () => void,
): Examined {
  rebuilt.rebuild(reader)
  const { difference, rows, answers } = compareIndexes(index, rebuilt, reader, questions)
  return finding(
    `index ${index.name}`,
    difference === null,
    difference ?? `${rows} rows and ${answers} sampled answers, as a rebuild has`,
    REPAIR,
    difference === null
      ? null
      : () => {
          renew()
          return 'built anew'
        },
  )
}

function tablesAgree({ name, tables = [], check }: Lens, store: Store): readonly Examined[] {
  // A table that is not as the lens declares it is refused by the reader.
  for (const table of tables) store.table(table).scan({}, { limit: 1 })
  if (check === undefined) return []
  const problems = store.read(reader => check(reader))
  return [
    finding(
      `lens ${name}`,
      problems.length === 0,
      problems.length === 0 ? 'its tables agree with each other' : problems.slice(0, 5).join('; '),
      'Restore a backup, or take what can be read into a new store: `querent export --skip-damaged`.',
    ),
  ]
}

function findsTheNearest(index: VectorIndex, reader: StoreReader, questions: readonly SampledQuestion[]): Examined {
  const partitions = reader.partitions().map(({ id }) => id)
  const recall = recallOf(index, partitions, questions)
  const message = recall === null ? 'nothing to measure by' : `${recall.toFixed(3)} of the 10 nearest, by samples`
  return finding(
    'recall',
    recall === null || recall >= LEAST_RECALL,
    message,
    'Ask with `approximate: false`, and please report it.',
  )
}

function vectorsComplete({ store, embedder, refused }: DoctorInput): Examined {
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

async function embedderAnswers({ embedder, embedderError, signal }: DoctorInput): Promise<Examined> {
  if (embedder === null) {
    const message = embedderError ?? 'switched off'
    return finding(
      'embedder',
      embedderError === null,
      message,
      'Run `npm run model` in a checkout, or set QUERENT_EMBEDDER=none.',
    )
  }
  const stop = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
  try {
    const [vector] = await orStopped(embedder.embed(['a short test'], 'query', stop), stop)
    const ok = vector !== undefined && vector.length === embedder.model.dimensions
    return finding('embedder', ok, `${embedder.model.id} answers with ${vector?.length ?? 0} dimensions`)
  } catch (error) {
    const message = stop.aborted ? `${embedder.model.id} has not answered` : String((error as Error).message ?? error)
    return finding('embedder', false, message, 'Check the provider.')
  }
}

function jobWorks(name: string, { failure, progress }: JobState): Examined {
  const done = progress === null ? '' : ` (${progress.phase}: ${progress.done} of ${progress.total ?? '?'})`
  const message = failure === null ? `works${done}` : `its last run failed${done}: ${failure}`
  return finding(`job ${name}`, failure === null, message, 'It runs again by itself; see the lens that brings it.')
}
