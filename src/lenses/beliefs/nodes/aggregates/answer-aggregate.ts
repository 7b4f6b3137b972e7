/** Answers another node that asks for an aggregate of a federation of this one, for a member of it (BQ-105). */
import { signStatement } from '../../../../identity/statement.ts'
import { toIso } from '../../../../model/instant.ts'
import { askAggregate } from '../../aggregates/ask-aggregate.ts'
import type { AggregateQuestion } from '../../aggregates/topic.ts'
import { BeliefsError } from '../../errors.ts'
import type { BeliefsState } from '../../state.ts'
import { type NodeCall, nodeOf, notUnderstood, takenEnvelope } from '../answering/taken.ts'
import { nameOfDid } from '../asking/keys.ts'
import { PROTOCOL } from '../wire/protocol.ts'
import {
  type AggregateAnswer,
  type AggregateRefusal,
  aggregateStatement,
  asAggregateQuery,
  type WireAggregateAnswer,
} from './wire.ts'

/** Who is no member is told nothing but that; a refusal that tells a member something is signed as an answer is. */
export async function answerAggregate(input: unknown, call: NodeCall): Promise<WireAggregateAnswer> {
  const { state, signal } = call
  const node = nodeOf(state.host)
  const envelope = await takenEnvelope(input, node, call)
  const { sender, nonce } = envelope
  const query = asAggregateQuery(envelope.query)
  if (query === null) throw notUnderstood()
  const told = await answerOrRefusal(state, nameOfDid(state.host.store, sender), query.aggregate, signal)
  const keys = node.keys()
  const open: WireAggregateAnswer = {
    ...{ protocol: PROTOCOL, node: keys.did, audience: sender, nonce, timestamp: toIso(node.now()) },
    ...told,
    signature: '',
  }
  return { ...open, signature: signStatement(keys, aggregateStatement(open)) }
}

async function answerOrRefusal(
  state: BeliefsState,
  member: string,
  question: AggregateQuestion,
  signal: AbortSignal,
): Promise<{ readonly answer: AggregateAnswer | null; readonly refused: AggregateRefusal | null }> {
  try {
    return { answer: await askAggregate(state, member, question, signal), refused: null }
  } catch (thrown) {
    const refused = refusalIn(thrown)
    if (refused === null) throw thrown
    return { answer: null, refused }
  }
}

function refusalIn(thrown: unknown): AggregateRefusal | null {
  if (!(thrown instanceof BeliefsError)) return null
  const { reason, limit, renews_at: renewsAt } = thrown.details
  if (reason === 'individual') return { reason }
  if (reason !== 'privacy_budget') return null
  return { reason, epsilon_per_day: limit as number, renews_at: renewsAt as string }
}
