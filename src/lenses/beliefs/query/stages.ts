/**
 * The beliefs lens in the query pipeline (`querent query --lens beliefs`): answers with the requester's own beliefs and public ones,
 * filtered and ranked like `beliefs.query` with equal filters and context. Beliefs shared through federations are available only through
 * `beliefs.query`, because that operation can hide holders, while results of the pipeline name them.
 */
import type { Bitset } from '../../../base/bitset.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Candidate, Scored } from '../../../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../../../model/entry.ts'
import { weightedSum } from '../../../model/formula.ts'
import type { Query } from '../../../model/query.ts'
import { allowedEntries } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { byFormula } from '../../../pipeline/formula.ts'
import { parseWith } from '../../../pipeline/parse.ts'
import type { Plan, Retrieval, Scoring, Stages } from '../../../pipeline/stage.ts'
import { lateError } from '../../../pipeline/time-limit.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import { droppedAt } from '../questions/explain-place.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import { type CheckedContext, filtersOf, toContext } from '../schema/filters.ts'
import { NO_FLOOR, queryFields } from '../schema/query.ts'
import { object, type Value } from '../schema/values.ts'
import { type Begun, type BeliefsState, stateOf, undisturbed } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { Evaluation } from './evaluation.ts'
import { embeddedAs, understand } from './understand.ts'

const SCOPE = { local: true, federated: false, network: true }

/** Schema of a pipeline query's `options` for this lens: which beliefs match (filters), and how they are weighted (context). */
export const beliefsOptions = object({ filters: queryFields.filters, context: queryFields.context })
type BeliefsOptions = Value<typeof beliefsOptions>

export function beliefsStages(host: LensHost): Partial<Stages> {
  // The lens's state is created on first use, so that a lens that is never used costs nothing.
  const state = (): BeliefsState => stateOf(host)
  return {
    parse,
    retrieve: async (plan, depth, context) => {
      try {
        const allow = await context.turns.run(allowedEntries(plan, context))
        await context.turns.run(state().columns.refreshInSteps())
        return await undisturbed(host.store, context.turns, () => retrieve(state(), plan, allow, depth, context))
      } catch (thrown) {
        // A timeout is converted to the pipeline's own error for timeouts.
        throw thrown instanceof BeliefsError && thrown.code === 'TIMEOUT' ? lateError(context) : thrown
      }
    },
    score,
  }
}

/** Parses the query's text always with the grammar of this lens, whatever syntax the query asks for (BQ-032 to BQ-041). */
function parse(query: Query, context: QueryContext): Plan {
  const { filters } = query.options as BeliefsOptions
  const grammar = { allowsLoneSigns: true, allowEmpty: filtersOf(filters).length > 0 }
  const plan = parseWith(grammar, { ...query, syntax: 'strict' }, context)
  for (const warning of weighingOf(plan, context).warnings) context.note(warning)
  return plan
}

/** The context of the query, with ranking weights. Throws UNAUTHORIZED if the query's options name another requester. */
function weighingOf({ mode, parsed, query }: Plan, { accessScope: { viewer } }: QueryContext): CheckedContext {
  const isList = mode === 'list' || parsed.residual === ''
  return toContext((query.options as BeliefsOptions).context, { id: viewer.id, trustGraph: null }, isList)
}

function retrieve(
  state: BeliefsState,
  plan: Plan,
  allow: Bitset | null,
  depth: number,
  context: QueryContext,
): Begun<Retrieval> {
  const evaluation = evaluate(state, plan, context)
  const missing = (entry: EntryKey) => state.host.store.read(() => whyMissing(evaluate(state, plan, context), entry))
  return {
    steps: candidatesOf(evaluation, plan, allow, depth, missing),
    isSame: state.unchanged(evaluation.requester),
  }
}

function* candidatesOf(
  evaluation: Evaluation,
  plan: Plan,
  allow: Bitset | null,
  depth: number,
  missing: NonNullable<Retrieval['missing']>,
): Steps<Retrieval> {
  yield* evaluation.prepare()
  yield
  const isAsked = (entry: EntryKey) => entry !== plan.except && (allow?.has(entry) ?? true)
  const found = evaluation.best(depth + 1, null, isAsked)
  const shown = found.length === 0 ? evaluation.nearest() : found.slice(0, depth)
  // To select diverse results, the pipeline compares the vectors of their chunks; each belief has one chunk.
  const keys = plan.query.diversity < 1 ? shown.map(({ entry }) => entry) : []
  const chunks = evaluation.view.reader.firstChunks(keys)
  return {
    candidates: shown.map(one => candidateOf(one, chunks.get(one.entry))),
    depth,
    allow,
    statistics: { matches: found.length },
    exhausted: found.length <= depth,
    complete: true,
    missing,
  }
}

/**
 * Why an entry is not among the results, as a sentence; null: it is. The viewer may see the entry in the store, but the local owner sees
 * more entries than this lens lets the owner query.
 */
function whyMissing(evaluation: Evaluation, entry: EntryKey): string | null {
  const { columns, requester } = evaluation.view
  const row = columns.rowOf(entry)
  if (row === -1) return 'It is not a belief.'
  if (!requester.sees(columns.arrays.partitions[row] as number)) return 'Its holder does not share it with you.'
  return droppedAt(evaluation, row)?.reason ?? null
}

function evaluate(state: BeliefsState, plan: Plan, context: QueryContext): Evaluation {
  const { id } = context.accessScope.viewer
  state.columns.refresh()
  const { leftMs, signal } = context.deadline
  const time = new TimeLimit(leftMs, signal)
  const view = {
    time,
    reader: context.reader,
    requester: state.requester(id),
    columns: state.columns,
    model: null,
    // The secret for pseudonyms and the lookup of vectors are not needed here: no holder is shown under a pseudonym, and no result reports
    // whether it has a vector.
    secret: () => '',
    isEmbedded: () => false,
  }
  const text = plan.mode === 'list' ? '' : plan.parsed.residual
  const semantic = text === '' ? null : { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
  const filters = filtersOf((plan.query.options as BeliefsOptions).filters)
  const weighing = weighingOf(plan, context)
  const { weights } = weighing
  const minSimilarity = plan.query.any ? NO_FLOOR : null
  const question = { semantic, filters, context: weighing, weights, scope: SCOPE, minSimilarity }
  time.check()
  return new Evaluation(
    state,
    view,
    question,
    understand(state, embeddedAs(plan.vector), semantic, view.requester.accessScope),
    plan.query.asOf,
  )
}

function candidateOf({ entry, createdAt, parts }: ScoredBelief, chunk: ChunkKey | undefined): Candidate {
  const { semantic, confidence, trust, recency } = parts
  const signals = { semantic: semantic ?? 0, confidence, trust, recency, created: createdAt }
  return { entry, source: 'local', signals, chunks: chunk === undefined ? {} : { meaning: chunk } }
}

function score({ candidates, statistics }: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const { weights } = weighingOf(plan, context)
  const isEmpty = statistics['matches'] === 0
  const made = byFormula(candidates, {
    formula: FORMULA,
    numbers: Object.fromEntries(Object.entries(weights).map(([part, weight]) => [`weight_${part}`, weight])),
  })
  return {
    ...made,
    // Of results with equal scores, the newer belief comes first (BQ-083).
    scored: made.scored.map((one): Scored => ({ ...one, tie: one.signals['created'] })),
    verdict: isEmpty ? 'nothing_relevant' : 'answered',
    reason: isEmpty ? 'No belief of yours, and no public one, is near the text and passes the filters.' : null,
    ceiling: null,
  }
}

const FORMULA = weightedSum({
  semantic: '(cosine + 1) / 2',
  confidence: 'weighted geometric mean of the known dimensions',
  trust: 'in its holder',
  recency: 'asserted freshness, aged by its domains',
})
