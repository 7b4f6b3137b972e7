/** The indexes, held against ones built anew, and the snapshots they would be read from. */
import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Index, VectorIndex } from '../../index/contract.ts'
import type { SnapshotLoad, SnapshotProblem } from '../../index/snapshot.ts'
import { REPAIR_HELP } from '../../store/care/problem.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { compareIndexes, isVectorIndex, LEAST_RECALL, recallOf } from './compare-indexes.ts'
import { type Examined, finding } from './finding.ts'
import { type SampledQuestion, sampleQuestions } from './sampled-questions.ts'

export interface IndexesToExamine {
  readonly indexes: readonly Index[]
  /** A second index of the same kind, empty: rebuilt here to compare the living one with. */
  readonly fresh: (index: Index) => Index
  /** Takes the snapshot of an index into an empty one of its kind; null: nothing is saved here. */
  readonly loaded: ((empty: Index) => SnapshotLoad) | null
  /** Builds the living index of that name anew and saves it. */
  readonly renew: (name: string) => Promise<void>
}

/** Questions that indexes are examined by. */
const QUESTIONS = 20

export function indexesFindings(
  { indexes, fresh, renew }: IndexesToExamine,
  store: Store,
  embedder: Embedder | null,
): readonly Examined[] {
  const model = embedder === null ? null : modelKey(embedder.model)
  return store.read(reader => {
    const questions = sampleQuestions(reader, model, QUESTIONS)
    return indexes.flatMap(index => {
      index.refresh(reader)
      const rebuilt = fresh(index)
      rebuilt.rebuild(reader)
      const compared = comparison(index, rebuilt, reader, questions, () => renew(index.name))
      return isVectorIndex(index) ? [compared, findsTheNearest(index, reader, questions)] : [compared]
    })
  })
}

export function snapshotsFindings({ indexes, fresh, loaded, renew }: IndexesToExamine): readonly Examined[] {
  if (loaded === null) return []
  return indexes.map(index => snapshotFinding(index.name, loaded(fresh(index)), () => renew(index.name)))
}

function comparison(
  index: Index,
  rebuilt: Index,
  reader: StoreReader,
  questions: readonly SampledQuestion[],
  renew: () => Promise<void>,
): Examined {
  const check = `index ${index.name}`
  const { difference, rows, answers } = compareIndexes(index, rebuilt, reader, questions)
  if (difference === null) return finding(check, true, `${rows} rows and ${answers} sampled answers, as a rebuild has`)
  return finding(check, false, difference, REPAIR_HELP, async () => {
    await renew()
    return 'built anew'
  })
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

/** Snapshots that nobody damaged, but that time or a restored backup has passed by: the index was built without. */
const HARMLESS: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  missing: 'there is none yet',
  other_format: 'of another version, so the index was built anew',
  // Its bytes are as they were written, so another version wrote them.
  refused: 'of another version of the index, which was built anew',
  ahead_of_store: 'of a later state than the store, so the index was built anew',
  other_past: 'of another past of the store, so the index was built anew',
}

const HARMFUL: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  damaged: 'damaged',
  other_store: 'of another store',
  other_index: 'of another index',
  unreadable: 'not readable',
}

function snapshotFinding(name: string, loaded: SnapshotLoad, renew: () => Promise<void>): Examined {
  const check = `snapshot ${name}`
  if (loaded.ok) return finding(check, true, 'can be read')
  const { reason } = loaded
  const harmless = HARMLESS[reason]
  if (harmless !== undefined) return finding(check, true, harmless)
  const help = `It is passed over, so starting takes longer. ${REPAIR_HELP}`
  return finding(check, false, HARMFUL[reason] ?? reason, help, async () => {
    await renew()
    return 'written anew'
  })
}
