/** About the engine itself: how it is, whether it is well, what ways of asking it has. */

import { inspect } from 'node:util'
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { QuerentError } from '../model/errors.ts'
import { MAX_NAME_LENGTH } from '../model/limits.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import type { QueryInput } from '../model/query-input.ts'
import { asQuerentError } from '../model/reported-error.ts'
import {
  backupInput,
  backupOutput,
  doctorInput,
  doctorOutput,
  modelCheckOutput,
  modelsOutput,
  type Status,
  statusOutput,
  usedModelOutput,
} from '../model/reports.ts'

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const READ = { kind: 'read', idempotent: true } as const

export const status: Operation<Engine, typeof nothing, z.ZodType<Status>> = {
  name: 'status',
  summary: 'Show what the store holds and how much of it is embedded and indexed',
  input: nothing,
  output: statusOutput,
  effect: READ,
  run: (engine, _input, context) => engine.status(context),
}

export const doctor: Operation<Engine, typeof doctorInput, typeof doctorOutput> = {
  name: 'doctor',
  summary: 'Check store, indexes and embedder, say how to fix problems, and repair them on request',
  input: doctorInput,
  output: doctorOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.doctor(input, context),
}

export const backup: Operation<Engine, typeof backupInput, typeof backupOutput> = {
  name: 'backup',
  summary: 'Copy the store into one file, also while others write to it',
  input: backupInput,
  output: backupOutput,
  effect: { kind: 'write', idempotent: false, ownerOnly: true },
  run: (engine, input, context) => engine.backup(input, context),
}

const lensesOutput: z.ZodType<{ readonly lenses: readonly { readonly name: string; readonly summary: string }[] }> =
  z.strictObject({
    lenses: z
      .array(
        z.strictObject({
          name: z.string().describe('Name of the lens, for the field lens of a query'),
          summary: z.string().describe('Purpose, in one line'),
        }),
      )
      .describe('Lenses in the order of their set-up'),
  })

export const lenses: Operation<Engine, typeof nothing, typeof lensesOutput> = {
  name: 'lenses',
  summary: 'List the lenses',
  input: nothing,
  output: lensesOutput,
  effect: READ,
  run: async engine => ({ lenses: engine.lenses.map(({ name, summary }) => ({ name, summary })) }),
}

const folderOfModel = z
  .string()
  .min(1)
  .max(4_096)
  .describe(
    'Folder with manifest.json, model.onnx, tokenizer.json and tokenizer_config.json, relative to the home; or built-in, or multilingual',
  )

export const models: Operation<Engine, typeof nothing, typeof modelsOutput> = {
  name: 'models',
  summary: 'List the models in use, with what they have embedded and how long the rest takes',
  input: nothing,
  output: modelsOutput,
  effect: { ...READ, ownerOnly: true },
  run: async (engine, _input, context) => engine.models(context),
}

const checkModelInput = z.strictObject({ folder: folderOfModel })

export const checkModel: Operation<Engine, typeof checkModelInput, typeof modelCheckOutput> = {
  name: 'check_model',
  summary: 'Try a model: dimensions, size, self-test, speed',
  input: checkModelInput,
  output: modelCheckOutput,
  effect: { ...READ, ownerOnly: true },
  run: async (engine, { folder }, context) => engine.checkModel(folder, context),
}

const useModelInput = z.strictObject({
  folder: folderOfModel,
  wait: z.boolean().optional().describe('Answer when everything is embedded. Default: false'),
  for: z
    .enum(['all', 'other_languages'])
    .optional()
    .describe(
      'other_languages: beside the first model, for languages that it does not know. Default: that for a model of several languages beside one for English, else all',
    ),
})

export const useModel: Operation<Engine, typeof useModelInput, typeof usedModelOutput> = {
  name: 'use_model',
  summary: 'Use a model from now on: it embeds everything in the background, until then the previous model answers',
  input: useModelInput,
  output: usedModelOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: async (engine, input, context) => engine.useModel(input, context),
}

// `bench`: how fast and how exactly this store answers, in a few seconds. The full bench is `npm run bench` in a checkout.

const TOP = 10

const benchInput = z.strictObject({
  queries: z.int().min(1).max(1000).optional().describe('Number of queries, 1 to 1000. Default: 50'),
})

const latency = z.strictObject({
  p50_ms: z.number().min(0).describe('Median time of an answer, milliseconds'),
  p99_ms: z.number().min(0).describe('99th percentile of the time of an answer, milliseconds'),
})

const benchOutput = z.strictObject({
  entries: z.int().min(0).describe('Number of entries in the store'),
  chunks: z.int().min(0).describe('Number of passages'),
  questions: z.int().min(0).describe('Queries: titles of entries'),
  words: latency.describe('Answers by words alone'),
  hybrid: latency.nullable().describe('Answers by words and meaning; null: no embedder, or no queries'),
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

// `mirror`: entries of a collection leave the store, so it is for the local owner.

const name = z.string().min(1).max(MAX_NAME_LENGTH)

const mirrorInput = z.strictObject({
  collection: name.describe('Name of the collection here'),
  to: z.enum(['chromadb', 'qdrant']).describe('Type of the server'),
  url: z.string().min(1).max(4096).describe('Address of the server'),
  tenant: name.optional().describe('Tenant of a ChromaDB server. Default: that of the server'),
  database: name.optional().describe('Database of a ChromaDB server. Default: that of the server'),
  token: z.string().min(1).max(4096).optional().describe('Token or key of the server. Default: none'),
})

const names = z.array(z.string())
const count = z.int().min(0)

const mirrorOutput = z.strictObject({
  names: names.describe('Collections on the server that belong to this store'),
  put: count.describe('Records that were written there'),
  removed: count.describe('Records that were removed there'),
  unchanged: count.describe('Records that were there already'),
  waiting: count.describe('Chunks that have no vector yet: run it again when they have one'),
  refused: z
    .array(
      z.strictObject({
        id: z.string().describe('Id of the entry'),
        holder: z.string().describe('Id of the viewer that holds the entry'),
        reason: z.string().describe('Reason, in the words of the server'),
      }),
    )
    .describe('Records that the server refuses'),
  taken: names.describe('Collections on the server that hold records of another store; they were not changed'),
  unowned: names.describe(
    'Collections of an earlier version with records that are unknown here; they were not changed',
  ),
})

export const mirror: Operation<Engine, typeof mirrorInput, typeof mirrorOutput> = {
  name: 'mirror',
  summary: 'Copy a collection to ChromaDB or Qdrant; run it again to update the copy',
  input: mirrorInput,
  output: mirrorOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  // The cast: the report is read-only.
  run: async (engine, input, { signal, report }) => {
    const { mirrorCollection } = await import('../engine/mirror.ts')
    return (await mirrorCollection(engine, { ...input, signal, report })) as z.output<typeof mirrorOutput>
  },
}

// What of an unexpected failure the log gets, and nobody else.

/** The lines to log of a bug, causes and all; null for what is no bug. `request` finds it from what the client got. */
export function bugReport(thrown: unknown, request: string): string | null {
  return isBug(asQuerentError(thrown)) ? `querent: bug in request ${request}: ${inspect(thrown)}\n` : null
}

/** A lens may call it by a code of its own; what it was is the cause then. */
function isBug({ code, kind, cause, isOpen }: QuerentError): boolean {
  return code === 'internal' || (isOpen && kind === 'broken' && !(cause instanceof QuerentError))
}
