/**
 * Sends a query to other nodes, then filters and scores the beliefs in their answers so that they can be merged with the results of this
 * node (BQ-116 to BQ-134).
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { cosine } from '../../../math/vector.ts'
import { toIso } from '../../../model/instant.ts'
import { isLetIn, type ShowView, trustedAsRemote } from '../access/show.ts'
import { coverageOf, type NodesReport } from '../answer/show-page.ts'
import { BeliefsError } from '../errors.ts'
import { MAX_REPORTED, standIn } from '../matching/candidates.ts'
import { type RowTest, rowTests } from '../matching/filter.ts'
import { validInstants } from '../matching/in-scope.ts'
import {
  contentWords,
  foldContent,
  hasPhrase,
  hasTokens,
  type Operand,
  shareOfWords,
  tokensOf,
} from '../matching/operators.ts'
import {
  confidenceByColumn,
  decayRate,
  overallOf,
  recency,
  vectorColumn,
  weightColumn,
} from '../measures/confidence.ts'
import { type Coverage, DERIVATION_TYPES, type NodeCoverage, type QueryResult, VISIBILITIES } from '../model.ts'
import { evaluateInSteps } from '../query/evaluation.ts'
import { type Embedded, thresholdsOf } from '../query/understand.ts'
import {
  byOrder,
  copiesToDrop,
  finalOf,
  type RemoteLeg,
  type ScoredBelief,
  semanticOf,
  trustQuestion,
} from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import { type CheckedOptions, type CheckedQuery, type CheckedScope, MAX_PER_NODE, NO_FLOOR } from '../schema/query.ts'
import { type BeliefsState, modelOf } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import type { HolderTrust } from '../trust/holders.ts'
import { askOrRecall, bytesOf } from './asking/ask-nodes.ts'
import type { AskedSource, NodeFailure, NodesAnswer, RemoteBelief } from './remote-belief.ts'

/**
 * Coverage report of a query that included other nodes. `federations`: the federations that the requester may query. A federation for which
 * no other node had to be queried counts as having responded.
 */
function coverageOfNodes(
  scope: CheckedScope,
  federations: readonly string[],
  { asked, answers, failures }: NodesAnswer,
): Coverage {
  const gave = new Set(answers.map(({ source }) => source))
  const responded = (isOf: (source: AskedSource) => boolean) => {
    const nodes = asked.filter(isOf)
    return nodes.length === 0 || nodes.some(source => gave.has(source))
  }
  const own = coverageOf(scope, federations)
  const ofFederations = own.federated.filter(id =>
    responded(({ kind, id: asked }) => kind === 'federated' && asked === id),
  )
  const ofNetwork = own.network && responded(({ kind }) => kind === 'network')
  return {
    ...own,
    federations_responded: ofFederations,
    network_responded: ofNetwork,
    federated: ofFederations,
    network: ofNetwork,
    nodes: asked.map((source): NodeCoverage => {
      const answer = answers.find(one => one.source === source)
      return {
        node: source.peer.id,
        kind: source.kind,
        federation: source.kind === 'federated' ? source.id : null,
        responded: answer !== undefined,
        results: answer?.remotes.length ?? 0,
        more: answer?.more ?? false,
        answered_at: answer === undefined ? null : toIso(answer.answeredAt),
        elapsed_ms: Math.round((answer ?? failures.find(one => one.source === source))?.elapsedMs ?? 0),
      }
    }),
  }
}

/** One error for each source that failed, in the order of the failures: federations first, then network nodes. */
function nodeErrors({ failures }: Pick<NodesAnswer, 'failures'>): QueryResult['errors'] {
  return failures.map(({ source, code, reason, retryable, elapsedMs }) => ({
    source: { kind: source.kind, id: source.id },
    node: source.peer.id,
    code,
    message: MESSAGES[code],
    details: { reason },
    retryable,
    elapsed_ms: Math.round(elapsedMs),
  }))
}

/** A warning that names the nodes with more matches than were requested from them; no warning if there are none. */
function cutNodes(
  { nodes = [] }: Coverage,
  { maxResultsPerNode: most }: Pick<CheckedOptions, 'maxResultsPerNode'>,
): readonly CheckedWarning[] {
  const names = new Set(nodes.filter(({ more }) => more).map(({ node }) => node))
  if (names.size === 0) return []
  const advice =
    most < MAX_PER_NODE ? `Raise it (to ${MAX_PER_NODE} at most), or narrow the query.` : 'Narrow the query.'
  const has = names.size === 1 ? 'has' : 'have'
  const message = `${[...names].join(', ')} ${has} more that match: each gives at most max_results_per_node, ${most} here. ${advice}`
  return [{ code: 'nodes_cut', message }]
}

/** The error of a query that was answered neither by a node nor from this node's own store. */
function nobodyAnswered({ failures }: NodesAnswer): BeliefsError {
  const reasons = failures.map(({ reason }) => reason)
  const details = { nodes: failures.map(({ source }) => source.peer.id), reason: reasons[0] ?? null, reasons }
  if (failures.every(({ code }) => code === 'TIMEOUT')) {
    const elapsed = Math.round(Math.max(...failures.map(({ elapsedMs }) => elapsedMs)))
    return new BeliefsError('TIMEOUT', 'no node answered in time', { ...details, elapsed_ms: elapsed })
  }
  const message = failures.some(({ retryable }) => retryable)
    ? 'no node could answer; try again'
    : 'no node answers this requester; a retry changes nothing'
  return new BeliefsError('NODE_UNAVAILABLE', message, details)
}

/** Messages for failures of nodes. They are fixed texts of this node, never text that the failed node sent (BQ-133). */
const MESSAGES: Readonly<Record<NodeFailure['code'], string>> = {
  TIMEOUT: 'the node did not answer in time',
  NODE_UNAVAILABLE: 'the node gave no answer that could be used',
  UNAUTHORIZED: 'the node does not answer this requester',
  RATE_LIMITED: 'the node was queried too often; wait before the next query',
}

export interface Gathering {
  readonly state: BeliefsState
  readonly query: CheckedQuery
  readonly requester: string
  /** Sources to query; at least one. */
  readonly sources: readonly AskedSource[]
  readonly embedded: Embedded
  readonly asOf: Instant
}

/** Milliseconds that are always left for filtering and scoring the answers, however long they took to arrive. */
const MIN_LEFT_MS = 500

interface NodeResults {
  readonly nodes: NodesReport & { readonly leg: RemoteLeg }
  /** Time limit for computing the first page from the nodes' results. */
  readonly time: TimeLimit
}

/**
 * Queries the nodes and scores their results. Rejects if the query concerns only other nodes and none has answered, or if the caller has
 * cancelled. `completed`: may add earlier results of nodes that failed.
 */
export async function queryNodes(
  gathering: Gathering,
  time: TimeLimit,
  completed: (answer: NodesAnswer) => NodesAnswer = answer => answer,
): Promise<NodeResults> {
  const { state, query, requester, sources, embedded, asOf } = gathering
  const given = await askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  const answer = completed(given.answer)
  const left = time.leftMs < MIN_LEFT_MS ? new TimeLimit(MIN_LEFT_MS, time.signal) : time
  if (!query.options.scope.local && answer.answers.length === 0 && answer.asked.length > 0) {
    const own = (view: ShowView) => evaluateInSteps(state, view, query, embedded, asOf)
    if ((await state.lookInSteps(requester, own, left)).total === 0) throw nobodyAnswered(answer)
  }
  const leg = await state.lookInSteps(requester, view => remoteLeg(gathering, view, answer), left)
  const coverage = coverageOfNodes(query.options.scope, state.requester(requester).federations, answer)
  const nodes = {
    coverage,
    errors: nodeErrors(answer),
    isStale: given.isStale,
    isExact: answer.failures.length === 0 && answer.answers.every(({ more }) => !more),
    cut: cutNodes(coverage, query.options),
    leg,
  }
  return { nodes, time: left }
}

// Filters and scores the results of other nodes with the requester's own trust (BQ-125), by the same filters, operators, candidate
// selection and formula as for beliefs of this node. The results are a list in memory, and no belief of this node affects their scores.

/** Number of other nodes' beliefs that are filtered and scored between two pauses in which other work can run, about a millisecond. */
const AT_ONCE = 500

function* remoteLeg(gathering: Gathering, view: ShowView, answer: NodesAnswer): Steps<RemoteLeg> {
  const { state, query, requester, asOf } = gathering
  const trust = state.trust.trustOf(requester, trustQuestion(query.context), asOf, () => view.time?.check())
  const all = answer.answers.flatMap(({ remotes }) => remotes)
  const isMeant = meantBy(gathering)
  const isFiltered = filterTest(all, gathering, trust)
  const score = scorerOf(gathering, trust)
  const passing: ScoredBelief[] = []
  const matching: ScoredBelief[] = []
  let pending = 0
  for (const [at, remote] of all.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) {
      view.time?.check()
      yield
    }
    if (!isLetIn(view, remote) || !isFiltered(at)) continue
    const meant = isMeant(remote)
    if (meant === null) continue
    if (meant.isByWords) pending++
    const scored = score(remote, at, meant)
    passing.push(scored)
    if (meant.isCandidate) matching.push(scored)
  }
  const dropped = copiesToDrop(
    [
      ...copies('id', matching, ({ id }) => id),
      ...copies('content', matching, ({ entry }) => (all[placeOf(entry)] as RemoteBelief).belief.content_hash),
    ],
    { byTier: query.options.mergeStrategy === 'waterfall', requester },
  )
  return {
    scored: matching.filter(one => !dropped.has(one)).sort(byOrder),
    remotes: new Map(all.map((remote, at) => [entryAt(at), remote])),
    pending,
    nearest: matching.length > 0 || query.semantic === null ? [] : passing.sort(byCosine).slice(0, MAX_REPORTED),
    byteLength: bytesOf(answer),
  }
}

/**
 * Entry key for a belief from another node, made from its position in the list: negative, so that it differs from the keys of all entries
 * in the store.
 */
function entryAt(place: number): number {
  return -1 - place
}

function placeOf(entry: number): number {
  return -1 - entry
}

/** Comparator for sorting by cosine to the query's text, highest first; beliefs with equal cosines keep their order. */
function byCosine(a: ScoredBelief, b: ScoredBelief): number {
  return (b.cosine ?? 0) - (a.cosine ?? 0)
}

function copies(same: 'id' | 'content', scored: readonly ScoredBelief[], nameOf: (one: ScoredBelief) => string) {
  const groups = Map.groupBy(scored, nameOf)
  return [...groups.values()].filter(({ length }) => length > 1).map(members => ({ same, members }))
}

/** Returns a test by position in `all`: whether the belief existed and was valid at the requested times, and passes the filters. */
function filterTest(
  all: readonly RemoteBelief[],
  { state, query: { filters, context }, asOf }: Gathering,
  trust: HolderTrust,
): (place: number) => boolean {
  const moments = validInstants(filters, asOf)
  const [from, to] = [Math.min(...moments), Math.max(...moments)]
  const isThere = ({ belief: { created_at, valid_from, valid_until } }: RemoteBelief) =>
    Date.parse(created_at) <= asOf &&
    Date.parse(valid_from) <= from &&
    (valid_until === null || Date.parse(valid_until) > to)
  const tests = filters.length === 0 ? [] : testsOf()
  return place => isThere(all[place] as RemoteBelief) && tests.every(test => test(place, 0))

  function testsOf(): readonly RowTest[] {
    const beliefs = all.map(({ belief }) => belief)
    const confidences = Float64Array.from(beliefs.flatMap(({ confidence }) => [...vectorColumn(confidence)]))
    const arrays = {
      confidences,
      created: Float64Array.from(beliefs, ({ created_at }) => Date.parse(created_at)),
      derivations: Uint8Array.from(beliefs, ({ derivation }) => DERIVATION_TYPES.indexOf(derivation.type)),
      visibilities: Uint8Array.from(beliefs, ({ visibility }) => VISIBILITIES.indexOf(visibility)),
      domainSets: Int32Array.from(beliefs.keys()),
    }
    const texts = {
      bounds: { domainSets: beliefs.length },
      domainSet: (number: number) => beliefs[number]?.domains ?? [],
    }
    const weights = weightColumn(context.confidenceWeights)
    const dimensions = weights.length
    const { named } = trust.columns([])
    const basis = (place: number) => named(trustedAsRemote(all[place] as RemoteBelief).target)
    return rowTests(filters, {
      columns: { arrays, texts },
      asOf,
      queryDomains: context.queryDomains,
      overall: place => overallOf(confidences, place * dimensions, weights),
      decay: state.settings.decay,
      holderShown: place => beliefs[place]?.holder_id ?? null,
      reputation: place => basis(place).reputation,
      direct: place => basis(place).direct,
      // The sources of a belief from another node are named without their holders, so they cannot be found here, and the belief counts as
      // having derivation depth 0.
      depth: () => 0,
    })
  }
}

interface Meant {
  /**
   * Cosine to the query's text, or the cosine expected from the belief's words if vectors cannot be compared; null if the query has no
   * text.
   */
  readonly cosine: number | null
  /** Whether the belief is compared by words because it has no vector, although the text has one. */
  readonly isByWords: boolean
  readonly isCandidate: boolean
}

/**
 * Returns a function that checks one belief from another node against the text's operators and the rules for candidates (BQ-043). That
 * function returns null if the belief does not meet the operators.
 */
function meantBy({ state, query, embedded }: Gathering): (remote: RemoteBelief) => Meant | null {
  const { semantic, options } = query
  if (semantic === null) return () => ({ cosine: null, isByWords: false, isCandidate: true })
  const { host, settings } = state
  const { question, include, exclude } = embedded
  const model = modelOf(host)
  const thresholds = model === null ? null : thresholdsOf(settings, model)
  const scale = host.embedder?.model.cosineScale ?? 1
  // If beliefs are compared by words, the minimum cosine is 0; a belief must then share at least one word with the text.
  const asked = options.minSimilarity ?? (question === null ? 0 : (thresholds?.floor ?? null))
  const floor = asked === null || asked <= NO_FLOOR ? null : asked
  const words = contentWords(semantic.base)
  const phrases = semantic.phrases.map(phrase => foldContent(phrase).trim())
  const included = include.map(operandTest)
  const excluded = exclude.map(operandTest)
  return remote => {
    let known: string | null = null
    const folded = () => {
      known ??= foldContent(remote.belief.content)
      return known
    }
    if (!phrases.every(phrase => hasPhrase(folded(), phrase))) return null
    if (excluded.some(({ means, holds }) => means(remote, thresholds?.exclude) || holds(folded()))) return null
    if (!included.every(({ means, holds }) => means(remote, thresholds?.include) || holds(folded()))) return null
    const { vector } = remote
    const share = question === null || vector === null ? shareOfWords(words, folded()) : null
    const near = share === null ? cosine(question as Float32Array, vector as Float32Array) : standIn(share, scale)
    const isNear = floor === null || (near >= floor && share !== 0)
    // A belief that literally contains a phrase or a required term is a candidate at any distance from the text.
    const isHeld = () => phrases.length > 0 || included.some(({ holds }) => holds(folded()))
    return { cosine: near, isByWords: question !== null && vector === null, isCandidate: isNear || isHeld() }
  }
}

/**
 * Tests of a belief for one term of the text. `means`: the cosine between the belief's vector and the term's vector reaches the threshold.
 * `holds`: the belief contains the term literally.
 */
function operandTest({ text, vector }: Operand) {
  const tokens = tokensOf(text)
  return {
    means: (remote: RemoteBelief, threshold: number | undefined) =>
      vector !== null &&
      remote.vector !== null &&
      threshold !== undefined &&
      cosine(vector, remote.vector) >= threshold,
    holds: (folded: string) => hasTokens(folded, tokens),
  }
}

function scorerOf(
  { state, query: { context, weights }, asOf }: Gathering,
  trust: HolderTrust,
): (remote: RemoteBelief, place: number, meant: Meant) => ScoredBelief {
  const confidence = confidenceByColumn(context.confidenceWeights)
  return (remote, place, { cosine: near, isByWords }) => {
    const { belief, source } = remote
    const createdAt = Date.parse(belief.created_at)
    const rate = decayRate(belief.domains, context.queryDomains, state.settings.decay)
    const parts = {
      semantic: near === null ? null : semanticOf(near),
      confidence: confidence(vectorColumn(belief.confidence), 0),
      trust: trust.as(trustedAsRemote(remote)).value,
      recency: recency(belief.confidence.temporal_freshness, createdAt, asOf, rate),
    }
    return {
      ...{ row: -1, entry: entryAt(place), id: belief.id, createdAt, source, holder: belief.holder_id },
      ...{ cosine: near, ...(isByWords && { isByWords }), parts, final: finalOf(parts, weights) },
    }
  }
}
