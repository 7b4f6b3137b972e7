/** Writing beliefs, and reading one by its id. The requester is the holder of what it writes. */
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import { embedEntries } from '../../embed-entries.ts'
import { type ShowView, showBelief, showHistory, sourceOfSeen } from '../access/show.ts'
import { noSuchBelief } from '../errors.ts'
import type { Belief } from '../model.ts'
import { currentOf, historyOf, versionNamed, versionOfId } from '../record/read.ts'
import type { StoredVersion } from '../record/version.ts'
import { deleteBelief, putBeliefs, supersedeBelief, writeBeliefs, writeManyBeliefs } from '../record/write.ts'
import { deleted, oneBelief, putAnswer, versions } from '../schema/answers.ts'
import { putInput, supersedeInput, toPut } from '../schema/belief.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import { deleteInput, getInput } from '../schema/questions.ts'
import { TimeLimit } from '../time-limit.ts'
import { type BeliefsCall, operation } from './call.ts'
import { beliefWarnings, warnedOf } from './writing-warnings.ts'

const put = operation({
  name: 'beliefs.put',
  summary: 'Store beliefs that the requester holds: one, or a list of them together or not at all',
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
  summary: 'Replace a belief of the requester by a new version with these changes',
  input: supersedeInput,
  output: oneBelief,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => {
    const { host, agent } = call
    const version = await writeBeliefs(host, agent.id, host.clock.now(), writing => supersedeBelief(writing, input))
    const [belief] = await written(call, input.wait, [version])
    const warnings = beliefWarnings(host.store, version, input.visibility)
    // The cast: one version was written, so there is one belief.
    return { belief: belief as Belief, ...warnedOf(warnings) }
  },
})

const remove = operation({
  name: 'beliefs.delete',
  summary: 'Delete a belief of the requester: a last version without content takes its place',
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
      if (seen === undefined || source === null) throw noSuchBelief('belief_id')
      const belief = showBelief(view, seen, source)
      if (!includeSuperseded) return { belief, source }
      const history = showHistory(view, historyOf(view, seen.version.holder, seen.version.chain))
      return { belief, source, history }
    }
    return state.look(agent.id, body, new TimeLimit(DEFAULT_TIMEOUT_MS, signal))
  },
})

export const BELIEF_OPERATIONS = [put, supersede, remove, get] as const

/** Waits for vectors if asked to, and shows what was written to its holder, in this order. */
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
      // It is written, and words find it; queries say that vectors are missing.
    }
  }
  // It is written: a caller that goes now ends nothing.
  await state.load(new AbortController().signal)
  return state.look(agent.id, view =>
    ids.flatMap(id => {
      const seen = versionNamed(view, { holder: agent.id, id })
      return seen === undefined ? [] : [showBelief(view, seen, { kind: 'local', id: null })]
    }),
  )
}
