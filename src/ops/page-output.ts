/** Schemas of what questions answer: the page, its items, and explanations. The types in `model` are the contract. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { explanationOutput } from '../model/explanation-output.ts'
import type { Coverage, Excerpt, Item, Page, Passage, StageTrace } from '../model/page.ts'

// z.json() would also do, but it is recursive in JSON Schema, and any object is what is meant.
export const jsonObject: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), z.json())

const excerptFields = {
  text: z.string(),
  start_line: z.int(),
  end_line: z.int(),
  section: z.array(z.string()).describe('Headings above the excerpt, outermost first'),
  highlights: z.array(z.tuple([z.int(), z.int()])),
  cut_start: z.boolean().optional().describe('It begins inside a sentence'),
  cut_end: z.boolean().optional().describe('It ends inside a sentence'),
}
const excerptOutput: z.ZodType<Excerpt> = z.strictObject(excerptFields)
const passageOutput: z.ZodType<Passage> = z.strictObject({
  ...excerptFields,
  score: z.number().describe('By the same formula as the score of the result, over this passage alone'),
  explanation: explanationOutput.optional(),
})

const itemOutput: z.ZodType<Item> = z.strictObject({
  rank: z.int(),
  id: z.string(),
  holder: z.string(),
  collection: z.string(),
  kind: z.string(),
  title: z.string(),
  score: z.number(),
  components: z.record(z.string(), z.number()),
  excerpt: excerptOutput,
  passages: z.array(passageOutput).optional().describe('Where passages are asked for: best first'),
  tags: z.array(z.string()),
  metadata: jsonObject,
  origin: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  source: z.string(),
  why: z.string(),
  explanation: explanationOutput.optional(),
})

const coverageOutput: z.ZodType<Coverage> = z.strictObject({
  embedded: z.number(),
  sources: z.array(z.string()),
  failed: z.array(z.string()),
  complete: z.boolean(),
})

const stageTraceOutput: z.ZodType<StageTrace> = z.strictObject({
  stage: z.string(),
  ms: z.number(),
  out: z.int(),
  detail: jsonObject.optional(),
})

export const pageOutput: z.ZodType<Page> = z.strictObject({
  items: z.array(itemOutput),
  cursor: z.string().nullable(),
  verdict: z.enum(['answered', 'weak', 'nothing_relevant']),
  reason: z.string().nullable(),
  verdict_by: z
    .enum(['meaning', 'words'])
    .optional()
    .describe('What the verdict rests on. words: there was no meaning to go by, or too little'),
  nearest: z.array(itemOutput).optional().describe('What came nearest where nothing is relevant: not an answer'),
  did_you_mean: z.string().optional(),
  lens: z.string(),
  mode: z.enum(['hybrid', 'words', 'meaning', 'list']),
  as_of: z.string(),
  coverage: coverageOutput,
  notes: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  trace: z.array(stageTraceOutput).optional(),
})
