/** Figures of a federation in place of its beliefs (BQ-105): for its members here, and for those on other nodes. */
import { isElsewhere } from '../agents/federations.ts'
import { askAggregate } from '../aggregates/ask-aggregate.ts'
import { answerAggregate } from '../nodes/aggregates/answer-aggregate.ts'
import { askHome } from '../nodes/aggregates/ask-home.ts'
import { aggregateWithBudget, wireAggregateAnswer, wireAggregateQuery } from '../nodes/aggregates/wire.ts'
import { aggregateInput, toAggregateQuestion } from '../schema/agents.ts'
import { operation } from './call.ts'
import { nodeOperation } from './node-call.ts'

/** Bytes of an envelope with a topic. */
const ENVELOPE_LIMIT = 16 * 1024

const aggregate = operation({
  name: 'federations.aggregate',
  summary: 'Ask how many members of a federation hold how many beliefs on a topic, in figures that give no member away',
  input: aggregateInput,
  output: aggregateWithBudget,
  effect: { kind: 'write', idempotent: true },
  run: ({ state, host, agent, signal }, input) => {
    const question = toAggregateQuestion(input)
    const ask = isElsewhere(host.store, question.federation) ? askHome : askAggregate
    return ask(state, agent.id, question, signal)
  },
})

const ofNode = nodeOperation(
  {
    name: 'nodes.aggregate',
    summary: 'Answer what a member of a federation asks of it from another node, signed',
    output: wireAggregateAnswer,
    effect: { kind: 'write', idempotent: false },
    bodyLimit: ENVELOPE_LIMIT,
  },
  wireAggregateQuery,
  answerAggregate,
)

export const AGGREGATE_OPERATIONS = [aggregate, ofNode] as const
