/**
 * Answers another node's question, or refuses it (BQ-119 to BQ-123). Before anything else the envelope is checked; then it is
 * answered as whoever signed it may see it, whatever the question claims, with no trust and no weights of anybody's.
 */
import type { LensHost } from '../../../lens.ts'
import { type ShowView, showCurrent } from '../../access/show.ts'
import { DIMENSIONS } from '../../dimensions.ts'
import { modelOf, vectorIndex } from '../../embedding.ts'
import { BeliefsError } from '../../errors.ts'
import { rankingWeights } from '../../measures/weights.ts'
import type { RankingWeights } from '../../model.ts'
import { Evaluation } from '../../query/evaluation.ts'
import type { Question, Understood } from '../../query/question.ts'
import { thresholdsOf } from '../../query/thresholds.ts'
import { embedText, understand } from '../../query/understand.ts'
import { toContext } from '../../schema/context.ts'
import { type CheckedFilters, NO_FILTER } from '../../schema/filters.ts'
import type { CheckedText } from '../../schema/text.ts'
import type { BeliefsState } from '../../state.ts'
import { TimeLimit } from '../../time-limit.ts'
import { sealedAnswer } from '../sealed.ts'
import {
  answerStatement,
  asQuery,
  MOST_ITEMS,
  type WireAnswer,
  type WireFilter,
  type WireQuery,
  type WireScope,
} from '../wire/protocol.ts'
import { vectorFromText } from '../wire/vectors.ts'
import { itemsOf, makeHolderKeys } from './items.ts'
import { seenState } from './seen-state.ts'
import { type NodeCall, nodeOf, notUnderstood, requesterOf, takenEnvelope } from './taken.ts'

export async function answerNode(input: unknown, call: NodeCall): Promise<WireAnswer> {
  const { state } = call
  const node = nodeOf(state.host)
  const envelope = await takenEnvelope(input, node, call)
  const query = asQuery(envelope.query)
  if (query === null) throw notUnderstood()
  const who = { requester: requesterOf(state, query.scope, envelope.sender), sender: envelope.sender }
  const model = modelOf(state.host)
  if (query.vector !== null && query.vector.model !== model) {
    const seen = lookAs(state, query.scope, who, view => seenState(view, query.scope, who.sender))
    return sealedAnswer(
      node,
      envelope,
      { model, needs_text: true, more: false, state: seen, ...NOTHING },
      answerStatement,
    )
  }
  // Larger requests are cut, not refused (BQ-118).
  const timeoutMs = Math.min(MOST_MS, query.timeout_ms)
  const time = new TimeLimit(timeoutMs, call.signal)
  try {
    const found = await find(state, query, who, time)
    return sealedAnswer(node, envelope, { model, needs_text: false, ...found }, answerStatement)
  } catch (thrown) {
    throw thrown instanceof BeliefsError && thrown.code === 'TIMEOUT' ? late(timeoutMs) : thrown
  }
}

const NOTHING = { items: '[]', vectors: null }

/** Not after how long in truth: that would tell of work on what the sender may not see. */
function late(timeoutMs: number): BeliefsError {
  return new BeliefsError('TIMEOUT', 'there was no answer within timeout_ms', { elapsed_ms: timeoutMs })
}

const MOST_MS = 30_000

interface Who {
  readonly requester: string
  readonly sender: string
}

async function find(
  state: BeliefsState,
  query: WireQuery,
  who: Who,
  time: TimeLimit,
): Promise<Pick<WireAnswer, 'items' | 'vectors' | 'more' | 'state'>> {
  const { scope } = query
  const limit = Math.min(MOST_ITEMS, query.limit)
  await state.load(time.signal)
  const vector = vectorOf(state.host, query)
  const embedded = await embedText(state, textOf(query.text), time.signal, time)
  const asOf = state.host.clock.now()
  const question = questionOf(query, who.requester)
  // Of the same moment as what is found: a change behind it is told to who asks for changes since.
  const { keys, seen, hasMore } = await state.lookInSteps(
    who.requester,
    function* (view) {
      const { sight } = view.requester
      const understood =
        vector === null ? understand(state, embedded, question.semantic, sight) : byVector(state, vector)
      const evaluation = new Evaluation(state, view, question, understood, asOf)
      yield* evaluation.prepare()
      yield
      const best = evaluation.best(limit + 1)
      const hasMore = best.length > limit || evaluation.isCut
      return { keys: best.map(({ entry }) => entry), seen: seenState(view, scope, who.sender), hasMore }
    },
    time,
    scope.federation ?? undefined,
  )
  if (scope.kind === 'network') await makeHolderKeys(state, keys)
  // The second point of the matrix (BQ-095).
  const asking = { scope, sender: who.sender, limit }
  const show = (view: ShowView) => {
    return itemsOf(state, view, showCurrent(view, keys.slice(0, limit), question.scope), asking)
  }
  const { isCut, ...told } = lookAs(state, scope, who, show, time)
  return { ...told, more: isCut || hasMore, state: seen }
}

/** Through the federation that is asked alone. */
function lookAs<T>(
  state: BeliefsState,
  { federation }: WireScope,
  { requester }: Who,
  body: (view: ShowView) => T,
  time?: TimeLimit,
): T {
  return state.look(requester, body, time, federation ?? undefined)
}

function byVector({ host, settings }: BeliefsState, vector: Float32Array): Understood {
  const model = modelOf(host) as string
  const index = vectorIndex(host, model)
  return {
    meaning: { by: 'vector', index, vector },
    include: [],
    exclude: [],
    thresholds: thresholdsOf(settings, model),
  }
}

/** Null: it is asked without one. Throws for what is no vector of this node's model. */
function vectorOf({ embedder }: LensHost, { vector }: WireQuery): Float32Array | null {
  if (vector === null) return null
  const found = vectorFromText(vector.values)
  if (found === null || found.length !== embedder?.model.dimensions) throw notUnderstood()
  return found
}

function questionOf({ scope, text, vector, filters, min_similarity }: WireQuery, requester: string): Question {
  const isList = text === null && vector === null
  // What the sender has stated of trust here is no part of it: it weighs what it gets by itself.
  const context = toContext({ trust_weight: 0 }, { id: requester, trustGraph: null })
  return {
    semantic: textOf(text),
    filters: filters.map(filterOf),
    context,
    // The cast: what is left of the default weights is never nothing.
    weights: rankingWeights({ trustWeight: context.trustWeight, given: null, listMode: isList }) as RankingWeights,
    minSimilarity: min_similarity ?? null,
    scope: { local: false, federated: scope.kind === 'federated', network: scope.kind === 'network' },
  }
}

/** All of it is text: nothing in it is a sign. */
function textOf(text: string | null): CheckedText | null {
  return text === null ? null : { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
}

function filterOf(filter: WireFilter): CheckedFilters {
  const { derivation_types: types, visibility_levels: levels, min_confidence: bounds } = filter
  return {
    ...NO_FILTER,
    confidence: DIMENSIONS.flatMap(of => {
      const bound = bounds[of]
      return bound === undefined ? [] : [{ of, bound, strict: false }]
    }),
    validAt: instantOrNull(filter.valid_at),
    createdAfter: instantOrNull(filter.created_after),
    createdBefore: instantOrNull(filter.created_before),
    domainsInclude: filter.domains_include?.length === 0 ? null : filter.domains_include,
    domainsExclude: filter.domains_exclude,
    derivationTypes: types && new Set(types),
    visibilityLevels: levels && new Set(levels),
  }
}

function instantOrNull(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}
