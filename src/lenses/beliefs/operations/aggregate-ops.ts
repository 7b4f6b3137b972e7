/** Figures of a federation in place of its beliefs (BQ-105), for its members. */
import { askAggregate } from '../aggregates/ask-aggregate.ts'
import { aggregateAnswer, aggregateInput, toAggregateQuestion } from '../aggregates/question.ts'
import { operation } from './call.ts'

const aggregate = operation({
  name: 'federations.aggregate',
  summary: 'Ask how many members of a federation hold how many beliefs on a topic, in figures that give no member away',
  input: aggregateInput,
  output: aggregateAnswer,
  effect: { kind: 'write', idempotent: true },
  run: ({ state, agent, signal }, input) => askAggregate(state, agent.id, toAggregateQuestion(input), signal),
})

export const AGGREGATE_OPERATIONS = [aggregate] as const
