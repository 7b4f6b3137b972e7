/**
 * Answers another node's question, or refuses it (BQ-119 to BQ-123). Before anything else the envelope is checked; then it is
 * answered as whoever signed it may see it, whatever the question claims.
 */
import { type Envelope, envelopeRefusal } from '../../../../identity/envelope.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import { FEDERATIONS } from '../../../../store/core-tables.ts'
import type { LensHost } from '../../../lens.ts'
import { type ShowView, showCurrent } from '../../access/show.ts'
import { modelOf, vectorIndex } from '../../embedding.ts'
import { answersNobody, BeliefsError, faulty, unauthorized } from '../../errors.ts'
import { Evaluation } from '../../query/evaluation.ts'
import type { Understood } from '../../query/question.ts'
import { embedText, understand } from '../../query/understand.ts'
import type { BeliefsState } from '../../state.ts'
import { TimeLimit } from '../../time-limit.ts'
import { nameOfDid } from '../asking/dids.ts'
import type { WireAnswer, WireQuery, WireScope } from '../wire/protocol.ts'
import { asQuery, MOST_ITEMS } from '../wire/shapes.ts'
import { vectorFromText } from '../wire/vectors.ts'
import { itemsOf, makeHolderKeys } from './items.ts'
import { sealAnswer } from './seal-answer.ts'
import { questionOf, textOf } from './wire-question.ts'

export interface NodeCall {
  readonly state: BeliefsState
  readonly signal: AbortSignal
  /** Counts the question against who asks; throws RATE_LIMITED. */
  charge(sender: string): void
}

export async function answerNode(input: unknown, call: NodeCall): Promise<WireAnswer> {
  const { state } = call
  if (!state.settings.answerNodes) throw answersNobody()
  const node = nodeOf(state.host)
  const envelope = takenEnvelope(input, node, call)
  const query = asQuery(envelope.query)
  if (query === null) throw notUnderstood()
  const requester = requesterOf(state, query.scope, envelope.sender)
  const model = modelOf(state.host)
  if (query.vector !== null && query.vector.model !== model) {
    return sealAnswer(node, envelope, { model, needs_text: true, more: false, items: [] })
  }
  // Larger requests are cut, not refused (BQ-118).
  const time = new TimeLimit(Math.min(MOST_MS, query.timeout_ms), call.signal)
  try {
    const found = await find(state, query, { requester, sender: envelope.sender }, time)
    return sealAnswer(node, envelope, { model, needs_text: false, ...found })
  } catch (thrown) {
    throw thrown instanceof BeliefsError && thrown.code === 'TIMEOUT' ? late() : thrown
  }
}

/** Not after how long: that would tell of work on what the sender may not see. */
function late(): BeliefsError {
  return new BeliefsError('TIMEOUT', 'there was no answer within timeout_ms')
}

/**
 * Throws UNAUTHORIZED, always the same, for one that cannot be taken. The number is used up by one that is good in all else and
 * that its sender may ask still.
 */
function takenEnvelope(input: unknown, node: NodeIdentity, { charge }: NodeCall): Envelope {
  if (typeof input !== 'object' || input === null) throw unauthorized()
  // The cast: what is no envelope is refused as malformed.
  const envelope = input as Envelope
  const checks = { audience: node.keys().did, now: node.now(), nonces: node.nonces, charge }
  if (envelopeRefusal(envelope, checks) !== null) throw unauthorized()
  return envelope
}

/** Public beliefs are told alike, whoever asks. No key is written so. */
const ANYBODY = 'did:key:anybody'

/** Who is not an active member, with leave to query, is told the same of a federation that there is and of one that there is not. */
function requesterOf(state: BeliefsState, scope: WireScope, sender: string): string {
  if (scope.kind === 'network') {
    if (!state.settings.answerNetwork) throw unauthorized()
    return ANYBODY
  }
  const requester = nameOfDid(state.host.store, sender)
  const { federation } = scope
  if (!state.requester(requester).federations.includes(federation)) throw unauthorized()
  // It gives away no single beliefs, and counts are not told to other nodes yet (BQ-105).
  if (state.host.store.table(FEDERATIONS).get({ id: federation })?.['results'] === 'aggregate') throw unauthorized()
  return requester
}

const MOST_MS = 30_000

interface Who {
  readonly requester: string
  readonly sender: string
}

async function find(
  state: BeliefsState,
  query: WireQuery,
  { requester, sender }: Who,
  time: TimeLimit,
): Promise<Pick<WireAnswer, 'items' | 'more'>> {
  const { scope } = query
  const limit = Math.min(MOST_ITEMS, query.limit)
  state.load()
  const vector = vectorOf(state.host, query)
  const embedded = await embedText(state, textOf(query.text), time.signal, time)
  const asOf = state.host.clock.now()
  const question = questionOf(query, requester)
  const through = scope.federation ?? undefined
  const best = (view: ShowView) => {
    const { sight } = view.requester
    const understood =
      vector === null ? understand(state, embedded, question.semantic, sight) : byVector(state.host, vector)
    return new Evaluation(state, view, question, understood, asOf).best(limit + 1).map(({ entry }) => entry)
  }
  const keys = state.look(requester, best, time, through)
  if (scope.kind === 'network') makeHolderKeys(state, keys)
  // The second point of the matrix (BQ-095).
  const show = (view: ShowView) => {
    return itemsOf(state, view, showCurrent(view, keys.slice(0, limit), question.scope), scope, sender)
  }
  return { items: state.look(requester, show, time, through), more: keys.length > limit }
}

function byVector(host: LensHost, vector: Float32Array): Understood {
  const index = vectorIndex(host, modelOf(host) as string)
  return { meaning: { by: 'vector', index, vector }, include: [], exclude: [], thresholds: null }
}

/** Null: it is asked without one. Throws for what is no vector of this node's model. */
function vectorOf({ embedder }: LensHost, { vector }: WireQuery): Float32Array | null {
  if (vector === null) return null
  const found = vectorFromText(vector.values)
  if (found === null || found.length !== embedder?.model.dimensions) throw notUnderstood()
  return found
}

function nodeOf({ node }: LensHost): NodeIdentity {
  if (node === undefined) throw new Error('invariant broken: a node without a key')
  return node
}

function notUnderstood(): Error {
  const constraint = 'a question in the form that docs/guide/nodes.md describes'
  return faulty([{ code: 'INVALID_QUERY', path: 'query', constraint, reason: 'malformed', value: null }])
}
