/** `bench`: how fast and how exactly this store answers, in a few seconds. The full bench is `npm run bench` in a checkout. */
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import type { QueryInput } from '../model/query-input.ts'

const TOP = 10

const benchInput = z.strictObject({
  queries: z.int().min(1).max(1000).optional().describe('Number of queries, 1 to 1000. Default: 50'),
})

const latency = z.strictObject({
  p50_ms: z.number().min(0).describe('Half of the answers came in this time, milliseconds'),
  p99_ms: z.number().min(0).describe('99 of 100 answers came in this time, milliseconds'),
})

const benchOutput = z.strictObject({
  entries: z.int().min(0).describe('Number of entries in the store'),
  chunks: z.int().min(0).describe('Number of passages'),
  questions: z.int().min(0).describe('Queries: titles of entries'),
  words: latency.describe('Answers by words alone'),
  hybrid: latency.nullable().describe('Answers by words and meaning; null: no embedder, or no questions'),
  recall_at_10: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of the exact ten nearest that the approximate index finds; null as above'),
})

export const bench: Operation<Engine, typeof benchInput, typeof benchOutput> = {
  name: 'bench',
  summary: 'Measure this store: query time and recall of the vector index',
  input: benchInput,
  output: benchOutput,
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: measure,
}

async function measure(
  engine: Engine,
  { queries = 50 }: z.output<typeof benchInput>,
  context: CallContext,
): Promise<z.output<typeof benchOutput>> {
  const { entries, chunks, embedder } = await engine.status(context)
  const { items } = await engine.list({ limit: queries, order: 'id' }, context)
  const titles = items.map(item => item.title.slice(0, 200).replace(/[^\p{L}\p{N} ]/gu, ' '))
  const questions = titles.map(title => title.trim()).filter(Boolean)
  const ask = async (text: string, more: Partial<QueryInput>): Promise<readonly string[]> => {
    const page = await engine.query({ text, limit: TOP, any: true, touch: false, ...more }, context)
    return page.items.map(item => item.id)
  }
  const words: number[] = []
  const hybrid: number[] = []
  let found = 0
  let exact = 0
  for (const [at, text] of questions.entries()) {
    words.push(await timed(() => ask(text, { mode: 'words' })))
    if (embedder !== null) {
      const nearest = await ask(text, { mode: 'meaning', approximate: false }) // also embeds the question, once
      hybrid.push(await timed(() => ask(text, {})))
      const approximate = new Set(await ask(text, { mode: 'meaning' }))
      found += nearest.filter(id => approximate.has(id)).length
      exact += nearest.length
    }
    context.report?.({ phase: 'asking', done: at + 1, total: questions.length })
  }
  return {
    ...{ entries, chunks, questions: questions.length, words: percentiles(words) },
    hybrid: hybrid.length === 0 ? null : percentiles(hybrid),
    recall_at_10: exact === 0 ? null : found / exact,
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function percentiles(times: readonly number[]): z.output<typeof latency> {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
  return { p50_ms: rounded(at(0.5)), p99_ms: rounded(at(0.99)) }
}
