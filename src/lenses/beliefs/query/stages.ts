/**
 * The lens in the pipeline (`querent query --lens beliefs`): pages of the requester's own beliefs and of public ones, ranked as
 * `beliefs.query` ranks them by default. What is shared through federations is left to that operation, for it hides who
 * holds it and a page names holders.
 */
import type { Bitset } from '../../../base/bitset.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Candidate } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { weightedSum } from '../../../model/formula.ts'
import { allowedEntries } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { byFormula } from '../../../pipeline/formula.ts'
import { parseWith } from '../../../pipeline/parse.ts'
import type { Plan, Retrieval, Scoring, Stages } from '../../../pipeline/stage.ts'
import { lateError } from '../../../pipeline/time-limit.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import { DEFAULT_TRUST_WEIGHT, rankingWeights } from '../measures/weights.ts'
import type { RankingWeights } from '../model.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import type { CheckedContext } from '../schema/context.ts'
import { toContext } from '../schema/context.ts'
import { NO_FLOOR } from '../schema/query.ts'
import { type BeliefsState, stateOf } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { Evaluation } from './evaluation.ts'
import { understand } from './understand.ts'
import { type Begun, undisturbed } from './undisturbed.ts'

const SCOPE = { local: true, federated: false, network: true }

export function beliefsStages(host: LensHost): Partial<Stages> {
  // Made on first use: a lens that nobody asks costs nothing.
  const state = (): BeliefsState => stateOf(host)
  return {
    // BQ-032 to BQ-041: one grammar, whatever the query says.
    parse: (query, context) => parseWith({ allowsLoneSigns: true }, { ...query, syntax: 'strict' }, context),
    retrieve: async (plan, depth, context) => {
      try {
        const allow = await context.turns.run(allowedEntries(plan, context))
        await context.turns.run(state().columns.refreshInSteps())
        return await undisturbed(host.store, context.turns, () => retrieve(state(), plan, allow, depth, context))
      } catch (thrown) {
        // The pipeline has a word of its own for it.
        throw thrown instanceof BeliefsError && thrown.code === 'TIMEOUT' ? lateError(context) : thrown
      }
    },
    score: (retrieval, plan) => score(retrieval, plan),
  }
}

function retrieve(
  state: BeliefsState,
  plan: Plan,
  allow: Bitset | null,
  depth: number,
  context: QueryContext,
): Begun<Retrieval> {
  const evaluation = evaluate(state, plan, context)
  return {
    steps: candidatesOf(evaluation, plan, allow, depth),
    isSame: state.unchanged(evaluation.requester),
  }
}

function* candidatesOf(evaluation: Evaluation, plan: Plan, allow: Bitset | null, depth: number): Steps<Retrieval> {
  yield* evaluation.prepare()
  yield
  const found = evaluation.bestOf(row => {
    const entry = evaluation.view.columns.arrays.entries[row] as EntryKey
    return entry !== plan.except && (allow?.has(entry) ?? true)
  }, depth + 1)
  const nearest = found.length === 0 ? evaluation.nearest() : []
  return {
    candidates: [...found.slice(0, depth), ...nearest].map(candidateOf),
    depth,
    allow,
    statistics: { matches: found.length },
    exhausted: found.length <= depth,
    complete: true,
  }
}

function evaluate(state: BeliefsState, plan: Plan, context: QueryContext): Evaluation {
  const { id } = context.sight.viewer
  state.columns.refresh()
  const { leftMs, signal } = context.deadline
  const time = new TimeLimit(leftMs, signal)
  const view = {
    time,
    reader: context.reader,
    requester: state.requester(id),
    columns: state.columns,
    model: null,
    // Nobody is shown under a pseudonym here, nor asked whether it has a vector.
    secret: () => '',
    isEmbedded: () => false,
  }
  const text = plan.mode === 'list' ? '' : plan.parsed.residual
  const semantic = text === '' ? null : { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
  const asked = toContext({}, { id, trustGraph: null })
  const minSimilarity = plan.query.any ? NO_FLOOR : null
  const question = {
    semantic,
    filters: [],
    context: asked,
    weights: weightsOf(plan, asked),
    scope: SCOPE,
    minSimilarity,
  }
  const embedded = { question: plan.vector, include: [], exclude: [], warnings: [] }
  time.check()
  return new Evaluation(
    state,
    view,
    question,
    understand(state, embedded, semantic, view.requester.sight),
    plan.query.asOf,
  )
}

function weightsOf(plan: Plan, { trustWeight }: Pick<CheckedContext, 'trustWeight'>): RankingWeights {
  const listMode = plan.mode === 'list' || plan.parsed.residual === ''
  // The cast: what is left of the default weights is never nothing.
  return rankingWeights({ trustWeight, given: null, listMode }) as RankingWeights
}

function candidateOf({ entry, parts }: ScoredBelief): Candidate {
  const { semantic, confidence, trust, recency } = parts
  return { entry, source: 'local', signals: { semantic: semantic ?? 0, confidence, trust, recency }, chunks: {} }
}

function score({ candidates, statistics }: Retrieval, plan: Plan): Scoring {
  const weights = weightsOf(plan, { trustWeight: DEFAULT_TRUST_WEIGHT })
  const isEmpty = statistics['matches'] === 0
  return {
    ...byFormula(candidates, {
      formula: FORMULA,
      numbers: Object.fromEntries(Object.entries(weights).map(([part, weight]) => [`weight_${part}`, weight])),
    }),
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
