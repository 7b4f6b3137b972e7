/** Asking: a question, the reasons of an answer, and more of the same kind. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Engine, ExplainAnswer, ExplainRequest } from '../engine/engine.ts'
import { explainInput, similarInput } from '../model/entry-input.ts'
import { explanationOutput } from '../model/explanation-output.ts'
import type { Operation } from '../model/operation.ts'
import type { Page } from '../model/page.ts'
import { costOfAsking } from '../model/query-cost.ts'
import { queryInput } from '../model/query-input.ts'
import { pageOutput } from './page-output.ts'

/** Asking changes access state, which is not a change of knowledge: `read`; twice moves memory twice: not idempotent. */
const ASK = { kind: 'read', idempotent: false } as const
const READ = { kind: 'read', idempotent: true } as const

export const query: Operation<Engine, typeof queryInput, z.ZodType<Page>> = {
  name: 'query',
  summary: 'Ask a question; answers are ranked passages with lines, score and reason',
  input: queryInput,
  output: pageOutput,
  effect: ASK,
  cost: costOfAsking,
  run: (engine, input, context) => engine.query(input, context),
  async *stream(engine, input, context) {
    for await (const chunk of engine.stream(input, context)) yield chunk as unknown as JsonObject
  },
}

const explainOutput: z.ZodType<ExplainAnswer> = z.strictObject({
  id: z.string().describe('Of the entry'),
  passage: z.int().min(1).optional().describe('With query.group passage: its position in the entry, from 1'),
  rank: z.int().min(1).nullable().describe('Its place in the answer; null: it is not in it'),
  score: z.number().nullable().describe('Higher is better; null: it was not scored'),
  explanation: explanationOutput.nullable().describe('How the score was made; null: it was not scored'),
  dropped: z
    .strictObject({
      stage: z.string().describe('Step of the query that left it out'),
      reason: z.string().describe('Why, in a sentence'),
    })
    .nullable()
    .describe('Why it is not in the answer; null: it is'),
  over: z
    .strictObject({
      id: z.string().describe('Of the other entry'),
      passage: z.int().min(1).optional().describe('With query.group passage: position in the other entry, from 1'),
      rank: z.int().min(1).nullable().describe('Place of the other entry; null: it is not in the answer'),
      gap: z.number().describe('Score of the first less that of the other: above 0 where the first leads'),
      by_component: z.record(z.string(), z.number()).describe('The gap by what scores add up from'),
      swap: z
        .strictObject({
          weight: z.string().describe('Name of the weight'),
          from: z.number().min(0).describe('What it is'),
          to: z.number().min(0).describe('What it would have to be'),
        })
        .nullable()
        .describe('The smallest change of one weight that swaps them; null: none does'),
      sentence: z.string().describe('The comparison in words'),
    })
    .nullable()
    .describe('With over: the comparison with that entry; null: none was asked for'),
  sentence: z.string().describe('The reasons in words'),
})

export const explain: Operation<Engine, z.ZodType<ExplainRequest>, z.ZodType<ExplainAnswer>> = {
  name: 'explain',
  summary: 'Say why an entry has its rank in an answer, why it is not in it, or why it stands over another',
  input: explainInput,
  output: explainOutput,
  effect: READ,
  cost: input => costOfAsking({ ...input.query, explain: true }),
  run: (engine, input, context) => engine.explain(input, context),
}

export const similar: Operation<Engine, typeof similarInput, z.ZodType<Page>> = {
  name: 'similar',
  summary: 'Find entries like a given one',
  input: similarInput,
  output: pageOutput,
  effect: ASK,
  cost: costOfAsking,
  run: (engine, input, context) => engine.similar(input, context),
}
