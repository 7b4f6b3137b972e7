/** Asks this node's own store and the other nodes at once, and puts together what they give (BQ-116 to BQ-134). */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import type { ShowView } from '../access/show.ts'
import { POOL } from '../answer/diversity.ts'
import { strategyOf } from '../answer/front.ts'
import { type AnswerSource, coverageOf, type NodesTold } from '../answer/show-page.ts'
import { BeliefsError } from '../errors.ts'
import type { Coverage, NodeCoverage, QueryResult } from '../model.ts'
import { evaluateInSteps } from '../query/asked.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Embedded } from '../query/understand.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import { type CheckedOptions, type CheckedQuery, type CheckedScope, MAX_PER_NODE } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { askOrRecall, type CachedAnswer } from './cached-nodes.ts'
import { type GatheredWorld, gatherWorld, showingGathered } from './gathered-world.ts'
import type { AskedSource, Guest, NodeFailure, NodesAnswer } from './guest.ts'

/** `federations`: those that the requester may query. One that only this node holds has answered. */
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
function cutNodes(
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
}

/** For putting together what is there, however long that took to come. */
const MIN_LEFT_MS = 500

interface Gathered {
  readonly source: AnswerSource
  /** What is left for the first page. */
  readonly time: TimeLimit
}

/**
 * Rejects where nobody answered, and where the caller has gone. `completed`: puts something in the place of what nodes that
 * failed did not give.
 */
export async function gather(
  gathering: Gathering,
  time: TimeLimit,
  completed: (answer: NodesAnswer) => NodesAnswer = answer => answer,
): Promise<Gathered> {
  const { state, query, requester, sources, embedded, asOf } = gathering
  const asking = askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  // Nobody waits for it where the store fails first.
  asking.catch(() => undefined)
  const { limit, offset, maxResultsPerNode, diversity } = query.options
  // As many as a node gives, and never fewer than the first page shows.
  const usual = Math.max(maxResultsPerNode, limit + offset)
  const most = diversity.enabled || isInTotalOrder(gathering) ? usual : POOL
  const own = await ownResults(gathering, most, time)
  const given = await asking
  const nodes = { ...given, answer: completed(given.answer) }
  // Made with the first use, which is a write: before anything is read for the answer.
  state.secret()
  requireAnswer(query.options.scope, own.keys.length, nodes.answer)
  const left = time.leftMs < MIN_LEFT_MS ? new TimeLimit(MIN_LEFT_MS, time.signal) : time
  return { source: await putTogether(gathering, own, nodes, left), time: left }
}

/**
 * Whether results stand in the total order, by scores that do not depend on what else is gathered: then more of this node's own can be
 * gathered later. Else all that may take part are gathered at once.
 */
function isInTotalOrder({ state, query: { semantic, options }, embedded }: Gathering): boolean {
  const isByWords = semantic !== null && embedded.question === null
  return options.mergeStrategy === 'rerank' && !options.diversity.enabled && !isByWords && strategyOf(state) === null
}

/** What this node's own store gives to an answer. */
interface OwnResults {
  readonly keys: readonly EntryKey[]
  /** Matches behind them. */
  readonly left: number
  /** The last of them, where more can be gathered. */
  readonly end: ScoredBelief | null
  /** Of each list at most so many. */
  readonly most: number
  /** Where there is no match, what came closest to the text. */
  readonly nearest: readonly EntryKey[]
  /** Whether more were near enough to the text than may be matches. */
  readonly isCut: boolean
  /** Federations that the requester may query, ascending. */
  readonly federations: readonly string[]
}

/** Each time so many times as many. */
const GROWTH = 4
/** They are copied, and held while the answer is read. */
const MAX_OWN = 10_000

/** By key in the store of this node, or as it came from another: what needs not be gathered. */
type Passed = ReadonlySet<EntryKey | Guest>

const NOTHING: Passed = new Set()

function ownResults(
  gathering: Gathering,
  most: number,
  time: TimeLimit,
  passed: Passed = NOTHING,
): Promise<OwnResults> {
  const { state, query, requester, embedded, asOf } = gathering
  return state.lookInSteps(
    requester,
    function* (view) {
      const evaluation = yield* evaluateInSteps(state, view, query, embedded, asOf)
      const { matches, isCut } = evaluation
      const kept = bestOfSources(evaluation, query.options, most).filter(({ createdAt }) => createdAt <= asOf)
      const canGrow = isInTotalOrder(gathering) && most < MAX_OWN && matches.count > most
      return {
        keys: kept.map(({ entry }) => entry).filter(entry => !passed.has(entry)),
        left: matches.count - kept.length,
        end: canGrow ? (kept.at(-1) ?? null) : null,
        most,
        nearest: evaluation.nearest().map(({ entry }) => entry),
        isCut,
        federations: view.requester.federations,
      }
    },
    time,
  )
}

/** Where sources are not put in one order, of each source (BQ-127 to BQ-129). */
function bestOfSources(
  evaluation: Evaluation,
  { mergeStrategy }: Pick<CheckedOptions, 'mergeStrategy'>,
  most: number,
): readonly ScoredBelief[] {
  return mergeStrategy === 'rerank' ? evaluation.best(most) : evaluation.bestOfEach(most).flat()
}

async function putTogether(
  gathering: Gathering,
  own: OwnResults,
  answered: CachedAnswer,
  time: TimeLimit,
  passed: Passed = NOTHING,
): Promise<AnswerSource> {
  const { state, query, requester, embedded, asOf } = gathering
  const { answer, isStale } = answered
  const guests = answer.answers.flatMap(one => one.guests).filter(guest => !passed.has(guest))
  const gathered = function* (home: ShowView): Steps<GatheredWorld> {
    const world = yield* gatherWorld(state, home, [...own.keys, ...own.nearest], guests, asOf)
    yield* world.state.columns.refreshInSteps()
    return world
  }
  const world = await state.lookInSteps(requester, gathered, time)
  const coverage = coverageOfNodes(query.options.scope, own.federations, answer)
  const nodes: NodesTold = {
    coverage,
    errors: nodeErrors(answer),
    isStale,
    isExact: own.left === 0 && !own.isCut && answer.failures.length === 0 && answer.answers.every(({ more }) => !more),
    cut: cutNodes(coverage, query.options),
  }
  const { end } = own
  return {
    ...{ state: world.state, embedded, asOf, byteLength: world.byteLength, nodes, left: own.left },
    showing: home => showingGathered(world, home, query.options),
    ...(end !== null && {
      end,
      grown: async (rest, limited) => {
        const kept = new Set(rest)
        const gone = [...world.homeKeys, ...world.guests].flatMap(([entry, one]) => (kept.has(entry) ? [] : [one]))
        const all = new Set([...passed, ...gone])
        const more = await ownResults(gathering, Math.min(MAX_OWN, GROWTH * own.most), limited, all)
        return putTogether(gathering, more, answered, limited, all)
      },
    }),
  }
}
