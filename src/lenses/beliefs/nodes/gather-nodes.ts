/** Asks other nodes for a query, and makes what they give a leg of it (BQ-116 to BQ-134). */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import type { ShowView } from '../access/show.ts'
import { coverageOf, type NodesTold } from '../answer/show-page.ts'
import { BeliefsError } from '../errors.ts'
import type { Coverage, NodeCoverage, QueryResult } from '../model.ts'
import { evaluateInSteps } from '../query/evaluation.ts'
import type { Embedded } from '../query/understand.ts'
import type { RemoteLeg } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import { type CheckedOptions, type CheckedQuery, type CheckedScope, MAX_PER_NODE } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { askOrRecall } from './asking/ask-nodes.ts'
import type { AskedSource, NodeFailure, NodesAnswer } from './remote-belief.ts'
import { remoteLeg } from './remote-leg.ts'

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
        results: answer?.remotes.length ?? 0,
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

/** Neither a node nor this one's own store. */
function nobodyAnswered({ failures }: NodesAnswer): BeliefsError {
  const reasons = failures.map(({ reason }) => reason)
  const details = { nodes: failures.map(({ source }) => source.peer.id), reason: reasons[0] ?? null, reasons }
  if (failures.every(({ code }) => code === 'TIMEOUT')) {
    const elapsed = Math.round(Math.max(...failures.map(({ elapsedMs }) => elapsedMs)))
    return new BeliefsError('TIMEOUT', 'no node answered in time', { ...details, elapsed_ms: elapsed })
  }
  const message = failures.some(({ retryable }) => retryable)
    ? 'no node could answer; try again'
    : 'no node answers this requester; asking again changes nothing'
  return new BeliefsError('NODE_UNAVAILABLE', message, details)
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

/** For evaluating what is there, however long that took to come. */
const MIN_LEFT_MS = 500

interface Gathered {
  readonly nodes: NodesTold & { readonly leg: RemoteLeg }
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
  const given = await askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  const answer = completed(given.answer)
  const left = time.leftMs < MIN_LEFT_MS ? new TimeLimit(MIN_LEFT_MS, time.signal) : time
  if (!query.options.scope.local && answer.answers.length === 0 && answer.asked.length > 0) {
    const own = (view: ShowView) => evaluateInSteps(state, view, query, embedded, asOf)
    if ((await state.lookInSteps(requester, own, left)).total === 0) throw nobodyAnswered(answer)
  }
  // Made with the first use, which is a write: before anything is read for the answer.
  state.secret()
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
