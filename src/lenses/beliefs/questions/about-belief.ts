/** Questions that start from a belief instead of a text: its vector stands in for that of a question. */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { type ShowView, shownHolder } from '../access/show.ts'
import { vectorIndex } from '../embedding.ts'
import { noSuchBelief } from '../errors.ts'
import type { Call } from '../query/call.ts'
import { Evaluation } from '../query/evaluation.ts'
import { byOrder, NEAR, type ScoredBelief } from '../ranking/scored.ts'
import { currentOfKeys, rowOfId, type SeenVersion } from '../record/read.ts'
import { vectorsOf } from '../record/vectors.ts'
import type { CheckedContext, CheckedWarning } from '../schema/context.ts'
import type { CheckedFilters } from '../schema/filters.ts'
import type { CheckedScope } from '../schema/query.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'

interface BeliefQuestion {
  readonly beliefId: string
  readonly context: CheckedContext
  readonly scope: CheckedScope
  readonly filters: readonly CheckedFilters[]
}

/** The belief that is asked about; the requester sees it, though the scope may not hold it. */
export interface Subject {
  readonly row: number
  readonly seen: SeenVersion
  /** As the requester is shown its holder; of one who is not shown, its federation. */
  readonly holder: string
  /** Null: it has none, so that nothing is like it. */
  readonly vector: Float32Array | null
}

/** Throws `not_found` for a belief that may not be seen, TIMEOUT when time is over. */
export async function askAbout<T>(
  state: BeliefsState,
  { beliefId, context, scope, filters }: BeliefQuestion,
  { requester, signal, machineTime }: Call,
  read: (evaluation: Evaluation, subject: Subject, warnings: readonly CheckedWarning[]) => T,
): Promise<T> {
  await state.load(signal)
  const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
  const asOf = state.host.clock.now()
  const body = function* (view: ShowView): Steps<T> {
    time.check()
    const { columns } = view
    const row = rowOfId(view, columns.texts.idNumber(beliefId))
    const entry = columns.arrays.entries[row] as EntryKey
    const [seen] = row === -1 ? [] : currentOfKeys(view, [entry])
    if (seen === undefined) throw noSuchBelief('belief_id')
    const vector = vectorsOf(view, [{ entry }])[0] ?? null
    const meaning =
      vector === null || view.model === null
        ? { by: 'nothing' as const }
        : { by: 'vector' as const, index: vectorIndex(state.host, view.model), vector }
    const question = { semantic: null, filters, context, weights: context.weights, scope }
    const understood = { meaning, include: [], exclude: [], thresholds: null }
    const evaluation = new Evaluation(state, view, question, understood, asOf)
    yield* evaluation.prepare()
    yield
    const source = view.requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row))
    const shown = source === null ? null : shownHolder(view, columns.holderOf(row), source)
    const subject = { row, seen, holder: shown ?? ` ${source?.id}`, vector }
    return read(evaluation, subject, [...context.warnings, ...(vector === null ? [NO_VECTOR] : [])])
  }
  return state.lookInSteps(requester, body, time)
}

/** First search; grows until it holds all that are near enough. */
const FIRST = 256

/** Of the matches, those whose raw cosine with the subject is at least this, in the usual order; no copies of it. */
export function likeSubject(evaluation: Evaluation, subject: Subject, least: number): readonly ScoredBelief[] {
  const { matches, view, understood, requester } = evaluation
  const { meaning } = understood
  if (meaning.by !== 'vector' || matches.count === 0) return []
  const { columns } = view
  const { partitions } = requester.sight
  for (let k = FIRST; ; k *= 4) {
    view.time?.check()
    const hits = meaning.index.search({ vector: meaning.vector, k, partitions, allow: matches.bits })
    const isAll = hits.length < k || (hits.at(-1)?.score ?? 0) < least - NEAR
    if (!isAll) continue
    const near = hits.filter(({ score }) => score >= least - NEAR)
    const rows = near.map(({ entry }) => columns.rowOf(entry))
    return evaluation
      .scoresOf(rows)
      .filter(({ row, cosine }) => (cosine ?? -1) >= least && !isCopy(columns, row, subject.row))
      .sort(byOrder)
  }
}

function isCopy(columns: Evaluation['view']['columns'], row: number, of: number): boolean {
  const { ids, contents } = columns.arrays
  return row === of || ids[row] === ids[of] || contents[row] === contents[of]
}

const NO_VECTOR: CheckedWarning = {
  code: 'vectors_pending',
  message: 'The belief has no vector, so nothing can be compared with it by meaning.',
}
