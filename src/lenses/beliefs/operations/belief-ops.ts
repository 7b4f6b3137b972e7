/** Writing beliefs, and reading one by its id. The asker is the holder of what it writes. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import { embedEntries } from '../../embed-entries.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { type ShowView, showBelief, showHistory, sourceOfSeen } from '../access/show.ts'
import { checkOnly } from '../check/agents.ts'
import { checkPut, checkSupersede } from '../check/belief.ts'
import { DEFAULT_TIMEOUT_MS } from '../check/options.ts'
import { checkGet } from '../check/questions.ts'
import { noSuchBelief } from '../errors.ts'
import type { Belief } from '../model.ts'
import { DERIVATION_TYPES, DIMENSIONS, VISIBILITIES } from '../model.ts'
import { currentOf } from '../record/current.ts'
import { deleteBelief } from '../record/delete.ts'
import { putBeliefs } from '../record/put.ts'
import { historyOf, versionNamed, versionOfId } from '../record/read.ts'
import { supersedeBelief } from '../record/supersede.ts'
import { type WriteContext, writeBeliefs } from '../record/write.ts'
import { TimeLimit } from '../time-limit.ts'
import { type BeliefsCall, inCall } from './call.ts'

const SHARE: JsonObject = { type: ['number', 'null'], minimum: 0, maximum: 1, description: 'null: it is not known' }
const TIME: JsonObject = { type: ['string', 'null'], format: 'date-time' }
const NAMES: JsonObject = { type: 'array', items: { type: 'string' } }

const DRAFT: Readonly<Record<string, JsonObject>> = {
  id: described(TEXT, 'Of the new version; made when left out'),
  content: described(TEXT, '1 to 65,536 bytes of UTF-8'),
  content_hash: described(TEXT, 'Hexadecimal SHA-256 of the content, to be held against it'),
  confidence: {
    type: 'object',
    properties: Object.fromEntries(DIMENSIONS.map(name => [name, SHARE])),
    description: 'How sure, in six respects',
  },
  valid_from: described(TIME, 'Holds from then on'),
  valid_until: described(TIME, 'Holds until then'),
  derivation: {
    type: 'object',
    description: 'What it rests on',
    properties: {
      type: described({ type: 'string', enum: [...DERIVATION_TYPES] }, 'How it came about'),
      sources: described(OBJECTS, '{belief_id or external_ref, contribution_type, weight}'),
      method_description: described({ type: ['string', 'null'] }, 'How, in words'),
      confidence_rationale: described({ type: ['string', 'null'] }, 'Why it is as sure as that'),
    },
  },
  domains: described(NAMES, 'Paths such as science/biology, at most 20'),
  visibility: described({ type: 'string', enum: [...VISIBILITIES] }, 'Who may see it, its holder apart'),
  federation_ids: described(NAMES, 'Whom a federated belief is shared with'),
}
const WAIT = described(FLAG, 'Whether to return only when it can be found by meaning; default true')
const BELIEF_ID = described(TEXT, 'Id of a version')
const ONE = answers({ belief: OBJECT })

const put: Operation<LensHost> = {
  name: 'beliefs.put',
  summary: 'Store beliefs that the asker holds: one, or a list of them together or not at all',
  input: anything({ ...DRAFT, beliefs: described(OBJECTS, 'Instead of one: many, each as one'), wait: WAIT }),
  output: answers({}, { belief: OBJECT, beliefs: OBJECTS }),
  effect: { kind: 'write', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      const now = host.clock.now()
      const { drafts, isMany, wait } = checkPut(input, now)
      const beliefs = await written(call, wait, now, writing => putBeliefs(writing, drafts, isMany).map(({ id }) => id))
      return isMany ? { beliefs } : { belief: beliefs[0] }
    }),
}

const supersede: Operation<LensHost> = {
  name: 'beliefs.supersede',
  summary: 'Replace a belief of the asker by a new version with these changes',
  input: anything({ belief_id: described(TEXT, 'The version that it follows'), ...DRAFT, wait: WAIT }, ['belief_id']),
  output: ONE,
  effect: { kind: 'write', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      const { revision, wait } = checkSupersede(input)
      const act = (writing: WriteContext) => [supersedeBelief(writing, revision).id]
      return { belief: (await written(call, wait, host.clock.now(), act))[0] }
    }),
}

const remove: Operation<LensHost> = {
  name: 'beliefs.delete',
  summary: 'Delete a belief of the asker: a last version without content takes its place',
  input: anything({ belief_id: BELIEF_ID }, ['belief_id']),
  output: answers({ belief_id: TEXT, tombstone_id: TEXT, deleted_at: TEXT }),
  effect: { kind: 'destroy', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, async ({ asker }) => {
      const id = checkOnly(input, 'belief_id')
      const now = host.clock.now()
      const tombstone = await writeBeliefs(host, asker.id, now, writing => deleteBelief(writing, id))
      return { belief_id: id, tombstone_id: tombstone.id, deleted_at: new Date(now).toISOString() }
    }),
}

const get: Operation<LensHost> = {
  name: 'beliefs.get',
  summary: 'Read one belief by its id, with its older versions on request',
  input: anything({ belief_id: BELIEF_ID, include_superseded: described(FLAG, 'Older versions too') }, ['belief_id']),
  output: answers({ belief: OBJECT, source: OBJECT }, { history: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, async ({ state, asker, signal }) => {
      const { beliefId, includeSuperseded } = checkGet(input)
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
      return state.look(asker.id, body, new TimeLimit(DEFAULT_TIMEOUT_MS, signal))
    }),
}

export const BELIEF_OPERATIONS: readonly Operation<LensHost>[] = [put, supersede, remove, get]

/** Writes, waits for vectors if asked to, and shows what was written to its holder, in the order of the ids. */
async function written(
  { state, host, asker, context }: BeliefsCall,
  wait: boolean,
  now: number,
  act: (writing: WriteContext) => readonly string[],
): Promise<readonly Belief[]> {
  const ids = await writeBeliefs(host, asker.id, now, act)
  if (wait) {
    try {
      const entries = ids.flatMap(id => currentOf(host.store, asker.id, id)?.entry.key ?? [])
      await embedEntries(host, entries, context.signal, context.report)
    } catch {
      // It is written, and words find it; queries say that vectors are missing.
    }
  }
  // It is written: a caller that goes now ends nothing.
  await state.load(new AbortController().signal)
  return state.look(asker.id, view =>
    ids.flatMap(id => {
      const seen = versionNamed(view, { holder: asker.id, id })
      return seen === undefined ? [] : [showBelief(view, seen, { kind: 'local', id: null })]
    }),
  )
}
