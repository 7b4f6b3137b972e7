/** Asks for an aggregate where the federation lives, in the name of a member of this node (BQ-105). */
import type { Json } from '../../../../base/canonical.ts'
import { type Envelope, sealEnvelope } from '../../../../identity/envelope.ts'
import { isTimely, newNonce } from '../../../../identity/freshness.ts'
import type { Keys } from '../../../../identity/keys.ts'
import { isStatementOf } from '../../../../identity/statement.ts'
import { QuerentError } from '../../../../model/errors.ts'
import { TransportFailure } from '../../../../pipeline/transport.ts'
import type { LensHost } from '../../../lens.ts'
import { mustBeMember, notAggregate } from '../../aggregates/access.ts'
import { spentUntil } from '../../aggregates/pay.ts'
import type { AggregateQuestion } from '../../aggregates/topic.ts'
import { BeliefsError, unauthorized } from '../../errors.ts'
import type { BeliefsState } from '../../state.ts'
import { ensureKeys, signingKeys } from '../../trust/agent-keys.ts'
import { whyOf } from '../asking/ask-nodes.ts'
import type { Peer } from '../guest.ts'
import { readPeers } from '../peers.ts'
import { PROTOCOL } from '../wire/protocol.ts'
import {
  AGGREGATE_PATH,
  type AggregateAnswer,
  type AggregateRefusal,
  aggregateStatement,
  asAggregateAnswer,
  isSameTopic,
  type WireAggregateAnswer,
  type WireAggregateQuery,
} from './wire.ts'

/** Milliseconds that one node has. */
const MOST_MS = 5_000
/** Some ten times what an answer takes. */
const MOST_BYTES = 64 * 1024

/**
 * The nodes that are asked for the federation, one after the other, until one answers or refuses as its home does: what is asked
 * of two is paid for twice. Who lost an answer on its way asks again and pays nothing more. Throws as a question here does, and
 * NODE_UNAVAILABLE where none answers.
 */
export async function askHome(
  state: BeliefsState,
  member: string,
  question: AggregateQuestion,
  signal: AbortSignal,
): Promise<AggregateAnswer> {
  const { host } = state
  const { federation } = question
  const peers = state.look(member, ({ reader }) => {
    mustBeMember(reader, federation, member)
    return readPeers(reader).filter(({ federations }) => federations.includes(federation))
  })
  const keys = await keysOf(host, member)
  let failed = unavailable('unreachable')
  for (const peer of peers) {
    const told = await askPeer(host, peer, keys, question, signal)
    if (told instanceof BeliefsError) failed = told
    else if (told.answer !== null) return told.answer
    else throw refusalError(told.refused as AggregateRefusal, host.clock.now())
  }
  throw failed
}

/** What it said, verified; or why there is nothing of it. */
async function askPeer(
  host: LensHost,
  peer: Peer,
  keys: Keys,
  question: AggregateQuestion,
  signal: AbortSignal,
): Promise<WireAggregateAnswer | BeliefsError> {
  const query: WireAggregateQuery = { protocol: PROTOCOL, aggregate: question }
  const freshness = {
    audience: peer.did,
    timestamp: now(host),
    nonce: newNonce(bytes => host.random(bytes)),
  }
  // The casts: both are plain data, but their interfaces have no index signature.
  const envelope = sealEnvelope(keys, query as unknown as Json, freshness)
  const message = { path: AGGREGATE_PATH, body: envelope as unknown as Json, mostBytes: MOST_BYTES }
  try {
    const timely = AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])
    const given = await transportOf(host).send(peer.address, message, timely)
    return verified(given, { peer, envelope, question, now: now(host) }) ?? unavailable('invalid_data')
  } catch (thrown) {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller ended the question')
    if (!(thrown instanceof TransportFailure)) throw thrown
    const { code, reason } = whyOf(thrown)
    if (code === 'UNAUTHORIZED') return unauthorized()
    return unavailable(reason)
  }
}

interface Expected {
  readonly peer: Peer
  readonly envelope: Envelope
  readonly question: AggregateQuestion
  /** Machine time. */
  readonly now: number
}

/** Null: it is no answer of that node to this question. */
function verified(given: unknown, { peer, envelope, question, now }: Expected): WireAggregateAnswer | null {
  const answer = asAggregateAnswer(given)
  if (answer === null || answer.node !== peer.did) return null
  if (answer.audience !== envelope.sender || answer.nonce !== envelope.nonce) return null
  if (!isTimely(Date.parse(answer.timestamp), now)) return null
  if (!isStatementOf(peer.did, aggregateStatement(answer), answer.signature)) return null
  const told = answer.answer?.aggregate
  if (told === undefined) return answer
  return told.federation_id === question.federation && isSameTopic(told, question.topic) ? answer : null
}

function refusalError(refused: AggregateRefusal, now: number): Error {
  if (refused.reason === 'individual') return notAggregate()
  return spentUntil(Date.parse(refused.renews_at), refused.epsilon_per_day, now)
}

function unavailable(reason: string): BeliefsError {
  const message = 'no node that serves this federation answers'
  return new BeliefsError('NODE_UNAVAILABLE', message, { reason })
}

/** Throws UNAUTHORIZED where the key of the member is its own: then it must ask there itself. */
async function keysOf({ store, clock, random }: LensHost, member: string): Promise<Keys> {
  const kept = store.read(reader => signingKeys(reader, member))
  const keys =
    kept ?? (await store.writeWhenFree(clock.now(), writer => ensureKeys(writer, member, bytes => random(bytes))))
  if (keys === null) throw unauthorized()
  return keys
}

function transportOf({ transport }: LensHost) {
  if (transport === undefined) throw new TransportFailure('unreachable', 'this store has no way to other nodes')
  return transport
}

/** Machine time: envelopes are held against it. */
function now({ node, clock }: LensHost): number {
  return node?.now() ?? clock.now()
}
