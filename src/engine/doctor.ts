/** Checks that a store, its indexes and its embedder are sound, and says what to do about each thing that is not. */

import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index, VectorIndex } from '../index/contract.ts'
import type { Lens } from '../lenses/lens.ts'
import { QuerentError } from '../model/errors.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { JobState } from './background.ts'
import { compareIndexes, isVectorIndex, LEAST_RECALL, recallOf } from './doctor-indexes.ts'
import type { Refused } from './embedding.ts'
import type { Finding } from './engine.ts'
import { orStopped } from './or-stopped.ts'
import { type SampledQuestion, sampleQuestions } from './sampled-questions.ts'

export interface DoctorInput {
  readonly store: Store
  readonly home: string | null
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
}

/** Questions that indexes are examined by. */
const QUESTIONS = 20
/** The first use of a local model takes a second, a provider with retries a few. */
const PATIENCE_MS = 60_000

export async function examine(input: DoctorInput): Promise<readonly Finding[]> {
  return [
    integrity(input.store),
    ...lookedAt('indexes', () => indexesAnswer(input)),
    ...input.lenses.flatMap(lens => lookedAt(`lens ${lens.name}`, () => tablesAgree(lens, input.store))),
    ...lookedAt('vectors', () => [vectorsComplete(input)]),
    await embedderAnswers(input),
    ...[...input.jobs].map(([name, state]) => jobWorks(name, state)),
  ]
}

function finding(check: string, ok: boolean, message: string, help: string | null = null): Finding {
  return { check, ok, message, help: ok ? null : help }
}

/** A damaged store keeps nobody from the other findings. */
function lookedAt(check: string, look: () => readonly Finding[]): readonly Finding[] {
  try {
    return look()
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    return [finding(check, false, error.message, error.help)]
  }
}

function integrity(store: Store): Finding {
  const problems = store.check()
  return finding(
    'store',
    problems.length === 0,
    problems.length === 0 ? 'the store file is sound' : problems.slice(0, 5).join('; '),
    'Restore a backup, or export what can be read into a new store.',
  )
}

function indexesAnswer(input: DoctorInput): readonly Finding[] {
  const { store, embedder } = input
  const model = embedder === null ? null : modelKey(embedder.model)
  return store.read(reader => {
    const questions = sampleQuestions(reader, model, QUESTIONS)
    return input.indexes.flatMap(index => {
      index.refresh(reader)
      const compared = comparedWithRebuild(index, input.fresh(index), reader, questions)
      return isVectorIndex(index) ? [compared, findsTheNearest(index, reader, questions)] : [compared]
    })
  })
}

function comparedWithRebuild(
  index: Index,
  rebuilt: Index,
  reader: StoreReader,
  questions: readonly SampledQuestion[],
): Finding {
  rebuilt.rebuild(reader)
  const { difference, rows, answers } = compareIndexes(index, rebuilt, reader, questions)
  return finding(
    `index ${index.name}`,
    difference === null,
    difference ?? `${rows} rows and ${answers} sampled answers, as a rebuild has`,
    'Delete the folder `index` in the home: it is rebuilt at the next start.',
  )
}

function tablesAgree({ name, check }: Lens, store: Store): readonly Finding[] {
  if (check === undefined) return []
  const problems = store.read(reader => check(reader))
  return [
    finding(
      `lens ${name}`,
      problems.length === 0,
      problems.length === 0 ? 'its tables agree with each other' : problems.slice(0, 5).join('; '),
      'Restore a backup, or export what can be read into a new store.',
    ),
  ]
}

function findsTheNearest(index: VectorIndex, reader: StoreReader, questions: readonly SampledQuestion[]): Finding {
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

function vectorsComplete({ store, embedder, refused }: DoctorInput): Finding {
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

async function embedderAnswers({ embedder, embedderError, signal }: DoctorInput): Promise<Finding> {
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

function jobWorks(name: string, { failure, progress }: JobState): Finding {
  const done = progress === null ? '' : ` (${progress.phase}: ${progress.done} of ${progress.total ?? '?'})`
  const message = failure === null ? `works${done}` : `its last run failed${done}: ${failure}`
  return finding(`job ${name}`, failure === null, message, 'It runs again by itself; see the lens that brings it.')
}
