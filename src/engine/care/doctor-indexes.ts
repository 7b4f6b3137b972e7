/** The indexes, held against ones built anew, and the snapshots they would be read from. */
import type { Steps } from '../../base/turns.ts'
import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Index, VectorIndex } from '../../index/contract.ts'
import type { SnapshotLoad, SnapshotProblem } from '../../index/snapshot.ts'
import { REPAIR_HELP } from '../../store/care/problem.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import {
  type AtOneMoment,
  type Comparison,
  compareIndexes,
  isVectorIndex,
  LEAST_RECALL,
  recallOf,
  type SampledQuestion,
  sampleQuestions,
} from './compare-indexes.ts'
import { type Examined, finding } from './finding.ts'

export interface IndexesToExamine {
  readonly names: readonly string[]
  /** The living index of that name, at the newest committed change. */
  readonly indexOf: (name: string) => Index
  /** A second index of the same kind, empty: rebuilt here to compare the living one with. */
  readonly fresh: (index: Index) => Index
  /** Takes the snapshot of an index into an empty one of its kind; null: nothing is saved here. */
  readonly loaded: ((empty: Index) => Steps<SnapshotLoad>) | null
  /** Builds the living index of that name anew and saves it. */
  readonly renew: (name: string) => Promise<void>
}

/** Questions that indexes are examined by. */
const QUESTIONS = 20

/** In steps: what is written at a pause comes into both indexes. */
export function* indexesFindings(
  { names, indexOf, fresh, renew }: IndexesToExamine,
  store: Store,
  embedder: Embedder | null,
): Steps<readonly Examined[]> {
  const model = embedder === null ? null : modelKey(embedder.model)
  const questions = yield* sampleQuestions(store, model, QUESTIONS)
  const found: Examined[] = []
  for (const name of names) {
    const rebuilt = fresh(indexOf(name))
    yield* rebuild(rebuilt, store)
    const atOneMoment: AtOneMoment = look => {
      // Whoever brings it forward in steps is done with it.
      const index = indexOf(name)
      return store.read(reader => {
        for (const one of [index, rebuilt]) one.refresh(reader)
        return look({ index, rebuilt, reader })
      })
    }
    found.push(comparison(name, yield* compareIndexes(atOneMoment, questions), () => renew(name)))
    const index = indexOf(name)
    if (isVectorIndex(index)) found.push(yield* findsTheNearest(index, store, questions))
  }
  return found
}

/** Each step within one read, so that it sees one commit. */
function* rebuild(index: Index, store: Store): Steps<void> {
  const steps = index.rebuildInSteps?.(store)
  if (steps === undefined) index.rebuild(store)
  else while (store.read(() => steps.next(false)).done !== true) yield
}

export function* snapshotsFindings({ names, indexOf, fresh, loaded, renew }: IndexesToExamine): Steps<Examined[]> {
  const found: Examined[] = []
  for (const name of loaded === null ? [] : names) {
    const load = loaded?.(fresh(indexOf(name)))
    if (load !== undefined) found.push(snapshotFinding(name, yield* load, () => renew(name)))
  }
  return found
}

function comparison(name: string, { difference, rows, answers }: Comparison, renew: () => Promise<void>): Examined {
  const check = `index ${name}`
  if (difference === null) return finding(check, true, `${rows} rows and ${answers} sampled answers, as a rebuild has`)
  return finding(check, false, difference, REPAIR_HELP, async () => {
    await renew()
    return 'built anew'
  })
}

function* findsTheNearest(
  index: VectorIndex,
  reader: StoreReader,
  questions: readonly SampledQuestion[],
): Steps<Examined> {
  const partitions = reader.partitions().map(({ id }) => id)
  const recall = yield* recallOf(index, partitions, questions)
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
