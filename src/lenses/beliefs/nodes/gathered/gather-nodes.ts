/** Asks this node's own store and the other nodes at once, and puts together what they give (BQ-116 to BQ-134). */
import type { Instant } from '../../../../base/clock.ts'
import type { Steps } from '../../../../base/turns.ts'
import { toIso } from '../../../../model/instant.ts'
import type { ShowView } from '../../access/show.ts'
import { verdictOf } from '../../answer/page-draft.ts'
import { BeliefsError } from '../../errors.ts'
import type { Coverage, NodeCoverage, QueryResult } from '../../model.ts'
import { warningsOf } from '../../query/asked.ts'
import { evaluateInSteps } from '../../query/evaluate.ts'
import { Evaluation } from '../../query/evaluation.ts'
import { type Embedded, understand } from '../../query/understand.ts'
import type { CheckedWarning } from '../../schema/filters.ts'
import { type CheckedOptions, type CheckedQuery, type CheckedScope, MAX_PER_NODE } from '../../schema/query.ts'
import type { BeliefsState } from '../../state.ts'
import { TimeLimit } from '../../time-limit.ts'
import { askOrRecall, type CachedAnswer } from '../cached-nodes.ts'
import type { AskedSource, NodeFailure, NodesAnswer } from '../guest.ts'
import { GatheredOrder, gatherWorld, type OwnResults, ownResults } from './gathered-order.ts'

/** `federations`: those that the requester may query. One that only this node holds has answered. */
function coverageOfNodes(
  { local, federated, network }: CheckedScope,
  federations: readonly string[],
  { asked, answers, failures }: NodesAnswer,
): Coverage {
  const gave = new Set(answers.map(({ source }) => source))
  const responded = (isOf: (source: AskedSource) => boolean) => {
    const nodes = asked.filter(isOf)
    return nodes.length === 0 || nodes.some(source => gave.has(source))
  }
  const queried = federated ? [...federations] : []
  const ofFederations = queried.filter(id => responded(({ kind, id: asked }) => kind === 'federated' && asked === id))
  const ofNetwork = network && responded(({ kind }) => kind === 'network')
  return {
    local,
    federations_queried: queried,
    federations_responded: ofFederations,
    network_queried: network,
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
        results: answer?.guests.length ?? 0,
        more: answer?.more ?? false,
        answered_at: answer === undefined ? null : toIso(answer.answeredAt),
        elapsed_ms: Math.round((answer ?? failures.find(one => one.source === source))?.elapsedMs ?? 0),
      }
    }),
  }
}

/** One for each source that failed, in the order of the sources. */
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

/** Which nodes have more than they were asked for. */
export function cutNodes(
  { nodes = [] }: Coverage,
  { maxResultsPerNode: most }: Pick<CheckedOptions, 'maxResultsPerNode'>,
): readonly CheckedWarning[] {
  const names = new Set(nodes.filter(({ more }) => more).map(({ node }) => node))
  if (names.size === 0) return []
  const advice =
    most < MAX_PER_NODE
      ? `Raise it (to ${MAX_PER_NODE} at most), or ask a narrower question.`
      : 'Ask a narrower question.'
  const has = names.size === 1 ? 'has' : 'have'
  const message = `${[...names].join(', ')} ${has} more that match: each gives at most max_results_per_node, ${most} here. ${advice}`
  return [{ code: 'nodes_cut', message }]
}

/** Throws where nobody gave an answer: neither a node nor this one's own store. */
function requireAnswer(scope: CheckedScope, own: number, { asked, answers, failures }: NodesAnswer): void {
  if (scope.local || own > 0 || answers.length > 0 || asked.length === 0) return
  const reasons = failures.map(({ reason }) => reason)
  const details = { nodes: failures.map(({ source }) => source.peer.id), reason: reasons[0] ?? null, reasons }
  if (failures.every(({ code }) => code === 'TIMEOUT')) {
    const elapsed = Math.round(Math.max(...failures.map(({ elapsedMs }) => elapsedMs)))
    throw new BeliefsError('TIMEOUT', 'no node answered in time', { ...details, elapsed_ms: elapsed })
  }
  const message = failures.some(({ retryable }) => retryable)
    ? 'no node could answer; try again'
    : 'no node answers this requester; asking again changes nothing'
  throw new BeliefsError('NODE_UNAVAILABLE', message, details)
}

/** Never what a node says itself (BQ-133). */
const MESSAGES: Readonly<Record<NodeFailure['code'], string>> = {
  TIMEOUT: 'the node did not answer in time',
  NODE_UNAVAILABLE: 'the node gave no answer that could be used',
  UNAUTHORIZED: 'the node does not answer this requester',
  RATE_LIMITED: 'the node was asked too often; wait before asking again',
}

export interface Gathering {
  readonly state: BeliefsState
  readonly query: CheckedQuery
  readonly requester: string
  /** Not empty. */
  readonly sources: readonly AskedSource[]
  readonly embedded: Embedded
  readonly asOf: Instant
  readonly time: TimeLimit
}

/** For putting together what is there, however long that took to come. */
const LEAST_LEFT_MS = 500

interface Gathered {
  readonly order: GatheredOrder
  /** What is left for the first page. */
  readonly time: TimeLimit
}

/**
 * Rejects where nobody answered, and where the caller has gone. `completed`: puts something in the place of what nodes that
 * failed did not give.
 */
export async function gather(
  gathering: Gathering,
  completed: (answer: NodesAnswer) => NodesAnswer = answer => answer,
): Promise<Gathered> {
  const { state, query, requester, sources, embedded, asOf, time } = gathering
  const asking = askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  // Nobody waits for it where the store fails first.
  asking.catch(() => undefined)
  const { limit, offset, maxResultsPerNode } = query.options
  // As many as a node gives, and never fewer than the first page shows.
  const most = Math.max(maxResultsPerNode, limit + offset)
  const own = await state.lookInSteps(requester, view => ownOf(gathering, view, most), time)
  const given = await asking
  const nodes = { ...given, answer: completed(given.answer) }
  // Made with the first use, which is a write: before anything is read for the answer.
  state.secret()
  requireAnswer(query.options.scope, own.keys.length, nodes.answer)
  const left = time.leftMs < LEAST_LEFT_MS ? new TimeLimit(LEAST_LEFT_MS, time.signal) : time
  const parts = { own, most, nodes, before: null }
  const order = await state.lookInSteps(requester, view => putTogether({ ...gathering, time: left }, view, parts), left)
  return { order, time: left }
}

/** Of this node's own, each time so many times as many. */
const GROWTH = 4
/** They are copied, and held while the answer is read. */
const MOST_OWN = 10_000

/** The same list, reaching further: with more of this node's own and the same answers of the others. Not within a read. */
export async function grown(gathering: Gathering, before: GatheredOrder): Promise<GatheredOrder> {
  const { state, requester, time } = gathering
  const most = Math.min(MOST_OWN, GROWTH * before.most)
  return state.lookInSteps(
    requester,
    function* (view) {
      const own = yield* ownOf(gathering, view, most)
      return yield* putTogether(gathering, view, { own, most, nodes: before.answered, before })
    },
    time,
  )
}

function* ownOf({ state, query, embedded, asOf }: Gathering, view: ShowView, most: number): Steps<OwnResults> {
  const { options } = query
  const own = ownResults(yield* evaluateInSteps(state, view, query, embedded, asOf), options, most, asOf)
  // Diversity chooses among a pool: what is chosen would be another list with more in it.
  return options.diversity.enabled || most >= MOST_OWN ? { ...own, ends: [] } : own
}

interface Together {
  readonly own: OwnResults
  readonly most: number
  readonly nodes: CachedAnswer
  readonly before: GatheredOrder | null
}

function* putTogether(
  { state, query, requester, embedded, asOf, time }: Gathering,
  home: ShowView,
  { own, most, nodes: answered, before }: Together,
): Steps<GatheredOrder> {
  const { answer: nodes, isStale } = answered
  const { scope, mergeStrategy, minSimilarity } = query.options
  const guests = nodes.answers.flatMap(answer => answer.guests)
  const world = yield* gatherWorld(state, home, [...own.keys, ...own.nearest], guests, asOf)
  yield* world.state.columns.refreshInSteps()
  const told = {
    coverage: coverageOfNodes(scope, own.federations, nodes),
    errors: nodeErrors(nodes),
    isStale,
    isExact: own.left === 0 && !own.isCut && nodes.failures.length === 0 && nodes.answers.every(({ more }) => !more),
  }
  // Nobody changes the world of one answer, so that it may be looked at in steps.
  const view = world.state.look(requester, seen => seen, time)
  const understood = understand(world.state, embedded, query.semantic, view.requester.accessScope)
  const question = { ...query, scope, minSimilarity, byTier: mergeStrategy === 'waterfall' }
  const evaluation = new Evaluation(world.state, view, question, understood, asOf)
  yield* evaluation.prepare()
  const warnings = warningsOf(query, embedded, evaluation)
  const verdict = yield* verdictOf(evaluation)
  return yield* GatheredOrder.of(
    { world, evaluation, nodes: told, verdict, warnings, own, most, answered, before },
    query,
  )
}
