/** Asking: a question, the reasons of an answer, and more of the same kind. */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Engine, ExplainAnswer, ExplainRequest } from '../engine/engine.ts'
import { explainInput, similarInput } from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'
import type { Count, Page } from '../model/page.ts'
import { countOutput, explainOutput, pageOutput } from '../model/page-output.ts'
import { costOfAsking, costOfCounting } from '../model/query-cost.ts'
import { queryInput } from '../model/query-input.ts'

/** Asking changes access state, which is not a change of knowledge: `read`; twice moves memory twice: not idempotent. */
const ASK = { kind: 'read', idempotent: false } as const
const READ = { kind: 'read', idempotent: true } as const

export const query: Operation<Engine, typeof queryInput, z.ZodType<Page>> = {
  name: 'query',
  summary: 'Search; results are ranked passages with lines, score and reason',
  input: queryInput,
  output: pageOutput,
  effect: ASK,
  cost: costOfAsking,
  run: (engine, input, context) => engine.query(input, context),
  async *stream(engine, input, context) {
    for await (const chunk of engine.stream(input, context)) yield chunk as unknown as JsonObject
  },
}

export const explain: Operation<Engine, z.ZodType<ExplainRequest>, z.ZodType<ExplainAnswer>> = {
  name: 'explain',
  summary: 'Explain why an entry has its rank, why it is missing, or why it ranks above another',
  input: explainInput,
  output: explainOutput,
  effect: READ,
  cost: input => costOfAsking({ ...input.query, explain: true }),
  run: (engine, input, context) => engine.explain(input, context),
}

export const count: Operation<Engine, typeof queryInput, z.ZodType<Count>> = {
  name: 'count',
  summary: 'Count the results of a query on all pages',
  input: queryInput,
  output: countOutput,
  effect: READ,
  cost: costOfCounting,
  run: (engine, input, context) => engine.count(input, context),
}

export const similar: Operation<Engine, typeof similarInput, z.ZodType<Page>> = {
  name: 'similar',
  summary: 'Find entries similar to a given one',
  input: similarInput,
  output: pageOutput,
  effect: ASK,
  cost: costOfAsking,
  run: (engine, input, context) => engine.similar(input, context),
}
