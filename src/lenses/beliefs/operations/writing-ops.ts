/** Operations that write beliefs, agents and trust, and that read them by id. A requester can state only its own trust in others. */
import { publicKeyOf } from '../../../identity/keys.ts'
import { OWNER } from '../../../model/partition.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import { AGENTS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'
import { embedEntries } from '../../embed-entries.ts'
import { type ShowView, showBelief, showHistory, sourceOfSeen } from '../access/show.ts'
import { createAgent, listAgents, updateAgent } from '../agents/federations.ts'
import { type Belief, VISIBILITIES } from '../model.ts'
import { trustQuestion } from '../ranking/scored.ts'
import { currentOf, historyOf, notSeen, versionNamed, versionOfId } from '../record/read.ts'
import type { StoredVersion } from '../record/version.ts'
import { deleteBelief, putBeliefs, supersedeBelief, writeBeliefs, writeManyBeliefs } from '../record/write.ts'
import {
  agentInput,
  agentsAnswer,
  edgesAnswer,
  nothing,
  oneAgent,
  oneEdge,
  removed,
  toEdge,
  trustAnswer,
  trustComputeInput,
  trustListInput,
  trustRemoveInput,
  trustSetInput,
} from '../schema/agents.ts'
import { putInput, supersedeInput, toPut } from '../schema/belief.ts'
import { type CheckedWarning, toContext } from '../schema/filters.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import { deleted, deleteInput, getInput, oneBelief, putAnswer, versions } from '../schema/questions.ts'
import { TRUST } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import { federationTarget } from '../trust/edge.ts'
import { putEdge, removeEdge } from '../trust/edges.ts'
import { computeTrust, listTrust, shownEdge } from '../trust/trust-graph.ts'
import { type BeliefsCall, operation, writing } from './belief-operation.ts'

/** The warnings as a field to be added to an answer; without warnings the field is absent. */
function warnedOf(warnings: readonly CheckedWarning[]): { warnings?: CheckedWarning[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] }
}

/**
 * Warnings for a statement of trust in a target. For a federation in which the owner is not an active member, the warning is the same as
 * for one that does not exist.
 */
function trustWarnings(reader: StoreReader, owner: string, target: string): readonly CheckedWarning[] {
  const prefix = federationTarget('')
  const isKnown = target.startsWith(prefix)
    ? isActive(reader, target.slice(prefix.length), owner)
    : target === OWNER || publicKeyOf(target) !== null || reader.table(AGENTS).get({ id: target }) !== undefined
  if (isKnown) return []
  const message = `${target} is not an agent of this node, a did:key or a federation of yours: the statement has no effect.`
  return [{ code: 'unknown_target', message }]
}

/** Warnings for a version of a belief that was written. `visibility`: the visibility as given in the input, before it was normalised. */
function beliefWarnings(
  reader: StoreReader,
  { id, holder, content, visibility, federationIds }: StoredVersion,
  given: string | undefined,
): readonly CheckedWarning[] {
  const warnings: CheckedWarning[] = []
  if (content.trim() === '')
    warnings.push({ code: 'blank_content', message: `${id} says nothing: its content is blank.` })
  if (given !== undefined && !VISIBILITIES.some(known => known === given.toLowerCase()))
    warnings.push({
      code: 'unknown_visibility',
      message: `${id} is private: ${JSON.stringify(given)} is not one of ${VISIBILITIES.join(', ')}.`,
    })
  if (visibility === 'federated' && !federationIds.some(federation => isActive(reader, federation, holder)))
    warnings.push({
      code: 'seen_by_nobody',
      message: `${id} is visible to its holder only: the holder is not an active member of any federation that it is shared with.`,
    })
  return warnings
}

function isActive(reader: StoreReader, federation: string, agent: string): boolean {
  return reader.table(MEMBERSHIPS).get({ federation, agent })?.['status'] === 'active'
}

const put = operation({
  name: 'beliefs.put',
  summary: 'Store one belief of the requester, or a list of them, all or none',
  input: putInput,
  output: putAnswer,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => {
    const now = call.host.clock.now()
    const { drafts, isMany } = toPut(input, now)
    const { host, agent, context } = call
    const versions = await writeManyBeliefs(host, agent.id, now, {
      count: drafts.length,
      act: writing => putBeliefs(writing, drafts, isMany),
      turns: turnsUntil(context.signal),
    })
    const beliefs = await written(call, input.wait, versions)
    const given = input.beliefs ?? [input]
    const warnings = versions.flatMap((version, at) => beliefWarnings(host.store, version, given[at]?.visibility))
    return { ...(isMany ? { beliefs } : { belief: beliefs[0] }), ...warnedOf(warnings) }
  },
})

const supersede = operation({
  name: 'beliefs.supersede',
  summary: 'Replace a belief of the requester with a new version',
  input: supersedeInput,
  output: oneBelief,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => {
    const { host, agent } = call
    const version = await writeBeliefs(host, agent.id, host.clock.now(), writing => supersedeBelief(writing, input))
    const [belief] = await written(call, input.wait, [version])
    const warnings = beliefWarnings(host.store, version, input.visibility)
    // The cast is safe: one version was written, so there is one belief.
    return { belief: belief as Belief, ...warnedOf(warnings) }
  },
})

const removeBelief = operation({
  name: 'beliefs.delete',
  summary: 'Delete a belief of the requester; a final version without content replaces it',
  input: deleteInput,
  output: deleted,
  effect: { kind: 'destroy', idempotent: false },
  run: async ({ host, agent }, { belief_id: id }) => {
    const now = host.clock.now()
    const tombstone = await writeBeliefs(host, agent.id, now, writing => deleteBelief(writing, id))
    return { belief_id: id, tombstone_id: tombstone.id, deleted_at: new Date(now).toISOString() }
  },
})

const get = operation({
  name: 'beliefs.get',
  summary: 'Read one belief by its id, with its older versions on request',
  input: getInput,
  output: versions,
  effect: { kind: 'read', idempotent: true },
  run: async ({ state, agent, signal }, { belief_id: beliefId, include_superseded: includeSuperseded = false }) => {
    await state.load(signal)
    const body = (view: ShowView) => {
      const seen = versionOfId(view, beliefId, includeSuperseded)
      const source = seen === undefined ? null : sourceOfSeen(view, seen)
      if (seen === undefined || source === null) throw notSeen(view, beliefId)
      const belief = showBelief(view, seen, source)
      if (!includeSuperseded) return { belief, source }
      const history = showHistory(view, historyOf(view, seen.version.holder, seen.version.chain))
      return { belief, source, history }
    }
    return state.look(agent.id, body, new TimeLimit(DEFAULT_TIMEOUT_MS, signal))
  },
})

export const BELIEF_OPERATIONS = [put, supersede, removeBelief, get] as const

/**
 * Returns the written beliefs as their holder sees them, in the order of writing; first waits for their vectors if the request asks for
 * that.
 */
async function written(
  { state, host, agent, context }: BeliefsCall,
  wait: boolean | undefined,
  versions: readonly StoredVersion[],
): Promise<readonly Belief[]> {
  const ids = versions.map(({ id }) => id)
  if (wait !== false) {
    try {
      const entries = ids.flatMap(id => currentOf(host.store, agent.id, id)?.entry.key ?? [])
      await embedEntries(host, entries, context.signal, context.report)
    } catch {
      // A failure while waiting for vectors is ignored: the beliefs are written and can be found by words, and queries report that vectors
      // are missing.
    }
  }
  // The beliefs are written, so a caller that disconnects now must not prevent the answer from being completed; a signal that is never
  // aborted is used.
  await state.load(new AbortController().signal)
  return state.look(agent.id, view =>
    ids.flatMap(id => {
      const seen = versionNamed(view, { holder: agent.id, id })
      return seen === undefined ? [] : [showBelief(view, seen, { kind: 'local', id: null })]
    }),
  )
}

const create = operation({
  name: 'agents.create',
  summary: 'Create an agent on this node',
  input: agentInput,
  output: oneAgent,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => ({ agent: await writing(call, write => createAgent(write, input)) }),
})

const update = operation({
  name: 'agents.update',
  summary: 'Change the data of an agent',
  input: agentInput,
  output: oneAgent,
  effect: { kind: 'write', idempotent: true },
  run: async (call, input) => ({ agent: await writing(call, write => updateAgent(write, input)) }),
})

const list = operation({
  name: 'agents.list',
  summary: 'List the agents of this node: all for the local owner; for others themselves and those they set trust for',
  input: nothing,
  output: agentsAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ host, agent }) =>
    host.store.read(reader => {
      const edges = reader.table(TRUST).scan({ owner: agent.id }, { columns: ['owner', 'target'] })
      return { agents: listAgents(reader, agent.id, new Set(edges.map(edge => edge['target'] as string))) }
    }),
})

export const AGENT_OPERATIONS = [create, list, update] as const

const set = operation({
  name: 'trust.set',
  summary: 'Set how much the requester trusts another agent, in general and by domain; 0 is distrust',
  input: trustSetInput,
  output: oneEdge,
  effect: { kind: 'write', idempotent: true },
  run: async (call, input) => {
    const { host, agent } = call
    const put = await writing(call, ({ writer, ...rest }) => putEdge(writer, agent.id, toEdge(input), rest))
    return { edge: shownEdge(put), ...warnedOf(trustWarnings(host.store, agent.id, input.target)) }
  },
})

const removeStated = operation({
  name: 'trust.remove',
  summary: 'Remove your trust setting for an agent',
  input: trustRemoveInput,
  output: removed,
  effect: { kind: 'destroy', idempotent: true },
  run: async (call, { target }) => ({
    removed: await writing(call, ({ writer, viewer }) => removeEdge(writer, viewer, target)),
  }),
})

const listStated = operation({
  name: 'trust.list',
  summary: 'List the trust settings of the requester',
  input: trustListInput,
  output: edgesAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ host, agent }, page) => listTrust(host.store, agent.id, page),
})

const compute = operation({
  name: 'trust.compute',
  summary: 'Show how much the requester trusts an agent, and how that was computed',
  input: trustComputeInput,
  output: trustAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ state, host, agent, signal, machineTime }, { target, context }) => {
    const asked = trustQuestion(toContext(context, agent))
    const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
    return computeTrust(state.trust, agent.id, target, asked, host.clock.now(), () => time.check())
  },
})

export const TRUST_OPERATIONS = [set, removeStated, listStated, compute] as const
