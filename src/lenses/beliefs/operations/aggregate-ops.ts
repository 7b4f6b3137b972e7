/** Figures of a federation in place of its beliefs (BQ-105): for its members here, and for those on other nodes. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, OBJECT, OBJECT_OR_NULL, TEXT } from '../../wire-schema.ts'
import { isElsewhere } from '../agents/federations.ts'
import { askAggregate } from '../aggregates/ask-aggregate.ts'
import { checkAggregate, MOST_TOPIC } from '../check/aggregates.ts'
import { answerAggregate } from '../nodes/aggregates/answer-aggregate.ts'
import { askHome } from '../nodes/aggregates/ask-home.ts'
import { inCall } from './call.ts'
import { nodeOperation } from './node-call.ts'

/** Bytes of an envelope with a topic. */
const ENVELOPE_LIMIT = 16 * 1024

const aggregate: Operation<LensHost> = {
  name: 'federations.aggregate',
  summary: 'Ask how many members of a federation hold how many beliefs on a topic, in figures that give no member away',
  input: anything(
    {
      federation: described(TEXT, 'Id of one whose results are aggregates, and of which the asker is an active member'),
      topic: described({ ...TEXT, maxLength: MOST_TOPIC }, 'What the beliefs are to be about, in words'),
      domain: described(TEXT, 'In place of a topic: a domain, such as science/biology, with all below it'),
    },
    ['federation'],
  ),
  output: answers({
    aggregate: described(
      OBJECT,
      'The same for all who ask that day: federation_id, topic or domain, epoch, summary (null, or member_count and belief_count with noise), rules',
    ),
    budget: described(OBJECT, 'Of the asker: epsilon_charged, epsilon_left, epsilon_per_day, renews_at'),
  }),
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ state, asker, signal }) => {
      const question = checkAggregate(input)
      const ask = isElsewhere(host.store, question.federation) ? askHome : askAggregate
      return ask(state, asker.id, question, signal)
    }),
}

const ofNode = nodeOperation(
  {
    name: 'nodes.aggregate',
    summary: 'Answer what a member of a federation asks of it from another node, signed',
    output: answers({
      node: TEXT,
      answer: described(OBJECT_OR_NULL, 'aggregate and budget, as federations.aggregate answers'),
      refused: described(OBJECT_OR_NULL, 'Why there is none, for a member'),
      signature: TEXT,
    }),
    effect: { kind: 'write', idempotent: false },
    bodyLimit: ENVELOPE_LIMIT,
  },
  answerAggregate,
)

export const AGGREGATE_OPERATIONS: readonly Operation<LensHost>[] = [aggregate, ofNode]
