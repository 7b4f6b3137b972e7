/** What an answer tells of the sources that were asked for it (BQ-132 to BQ-134). */
import { toIso } from '../../../../model/instant.ts'
import { BeliefsError } from '../../errors.ts'
import type { Coverage, NodeCoverage, QueryResult } from '../../model.ts'
import type { CheckedWarning } from '../../schema/context.ts'
import type { CheckedOptions, CheckedScope } from '../../schema/query.ts'
import { MAX_PER_NODE } from '../../schema/query.ts'
import type { AskedSource, NodeFailure, NodesAnswer } from '../guest.ts'

/** `federations`: those that the requester may query. One that only this node holds has answered. */
export function coverageOfNodes(
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
export function nodeErrors({ failures }: Pick<NodesAnswer, 'failures'>): QueryResult['errors'] {
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
export function mustHaveAnswer(scope: CheckedScope, own: number, { asked, answers, failures }: NodesAnswer): void {
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
