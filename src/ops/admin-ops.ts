/** About the engine itself: how it is, whether it is well, what ways of asking it has. */
import { z } from 'zod'
import type { Backup, Engine, Examination, Status } from '../engine/engine.ts'
import { mirrorCollection } from '../engine/mirror.ts'
import { backupInput, doctorInput } from '../model/care-input.ts'
import { MAX_NAME_LENGTH } from '../model/limits.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import type { QueryInput } from '../model/query-input.ts'
import { changedPath } from './ingest-ops.ts'

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const READ = { kind: 'read', idempotent: true } as const

const statusOutput: z.ZodType<Status> = z.strictObject({
  version: z.string().describe('Version of the program'),
  home: z.string().nullable().describe('Folder of the store, for its owner; null: none, or not shown'),
  entries: z.int().describe('Number of entries visible to the viewer'),
  chunks: z.int().describe('Number of passages they are cut into'),
  embedded: z.int().describe('Number of chunks that have a vector'),
  collections: z
    .array(
      z.strictObject({
        value: z.string().describe('Name of the collection'),
        count: z.int().min(0).describe('Entries in it'),
      }),
    )
    .describe('The largest first'),
  embedder: z
    .strictObject({
      id: z.string().describe('Name and version of the model'),
      dimensions: z.int().min(1).describe('Length of a vector'),
      runs_on: z
        .strictObject({
          runtime: z.enum(['native', 'wasm']).describe('What computes it'),
          workers: z.int().min(1).describe('Threads or processes of it'),
        })
        .nullable()
        .describe('Where it runs; null: not on this machine, or not started'),
    })
    .nullable()
    .describe('The model that makes vectors; null: none, words answer alone'),
  embedder_error: z.string().nullable().describe('Why there are no vectors; null: nothing is wrong'),
  indexes: z
    .array(
      z.strictObject({
        name: z.string().describe('Such as words or vectors'),
        bytes: z.int().min(0).nullable().describe('Memory it takes; null: not known'),
        rows: z.int().min(0).nullable().describe('What it holds; null: not shown'),
      }),
    )
    .describe('Indexes of this process'),
  lenses: z.array(z.string()).describe('Names of the lenses'),
  notices: z
    .array(z.string())
    .describe('What background work will soon do to entries that the viewer uses, one sentence each'),
  storage: z
    .strictObject({
      log_bytes: z.int().min(0).describe('Length of the write-ahead log'),
      to_erase: z.boolean().describe('Whether deleted text is still to be wiped from the file'),
    })
    .nullable()
    .describe('The file, for its owner; null: none, or not shown'),
  paths: z
    .array(changedPath)
    .nullable()
    .describe('Files and folders that were added, and what changed below them since, for the owner; null: not shown'),
})

export const status: Operation<Engine, typeof nothing, z.ZodType<Status>> = {
  name: 'status',
  summary: 'Show what the store holds and how much of it is embedded and indexed',
  input: nothing,
  output: statusOutput,
  effect: READ,
  run: (engine, _input, context) => engine.status(context),
}

const doctorOutput: z.ZodType<Examination> = z.strictObject({
  ok: z.boolean().describe('Whether no check found anything wrong'),
  findings: z
    .array(
      z.strictObject({
        check: z.string().describe('Name of what was examined, such as words or vectors'),
        ok: z.boolean().describe('Whether nothing is wrong with it'),
        message: z.string().describe('What was found, in a sentence'),
        help: z.string().nullable().describe('What to do; null: nothing'),
        repaired: z.string().nullable().describe('With repair: what was done; null: nothing'),
      }),
    )
    .describe('One item a check'),
  backup: z.string().nullable().describe('With repair: path of the copy that was made first; null: none'),
})

export const doctor: Operation<Engine, typeof doctorInput, typeof doctorOutput> = {
  name: 'doctor',
  summary: 'Check store, indexes and embedder, say how to fix problems, and repair them on request',
  input: doctorInput,
  output: doctorOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.doctor(input, context),
}

const backupOutput: z.ZodType<Backup> = z.strictObject({
  path: z.string().describe('The file that was made'),
  bytes: z.int().min(0).describe('Its length'),
  entries: z.int().min(0).describe('How many it holds'),
  position: z.int().min(0).describe('Last change in it: what was written later is not'),
  not_held: z.array(z.string()).describe('What a backup does not contain, such as models'),
})

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
          name: z.string().describe('For the field lens of a query'),
          summary: z.string().describe('What it is for, in a line'),
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

// `bench`: how fast and how exactly this store answers, in a few seconds. The full bench is `npm run bench` in a checkout.

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

// `mirror`: entries of a collection leave the store, so it is for the local owner.

const name = z.string().min(1).max(MAX_NAME_LENGTH)

const mirrorInput = z.strictObject({
  collection: name.describe('Name of the collection here'),
  to: z.enum(['chromadb', 'qdrant']).describe('Where to'),
  url: z.string().min(1).max(4096).describe('Address of the server'),
  tenant: name.optional().describe('Of a ChromaDB server. Default: that of the server'),
  database: name.optional().describe('Of a ChromaDB server. Default: that of the server'),
  token: z.string().min(1).max(4096).optional().describe('Token or key of the server. Default: none'),
})

const names = z.array(z.string())
const count = z.int().min(0)

const mirrorOutput = z.strictObject({
  names: names.describe("The collections there that are this store's"),
  put: count.describe('Records that were written there'),
  removed: count.describe('Records that were removed there'),
  unchanged: count.describe('Records that were there already'),
  waiting: count.describe('Pieces that have no vector yet: run it again when they have'),
  refused: z
    .array(
      z.strictObject({
        id: z.string().describe('Of the entry'),
        holder: z.string().describe('Id of the viewer whose entry it is'),
        reason: z.string().describe('In the words of the server'),
      }),
    )
    .describe('Records that the server refuses'),
  taken: names.describe("Collections there that hold another store's records: they were left as they are"),
  unowned: names.describe('Collections there of an earlier version, with records unknown here: likewise'),
})

export const mirror: Operation<Engine, typeof mirrorInput, typeof mirrorOutput> = {
  name: 'mirror',
  summary: 'Copy a collection to ChromaDB or Qdrant; run it again to update the copy',
  input: mirrorInput,
  output: mirrorOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  // The cast: the report is read-only.
  run: async (engine, input, { signal, report }) =>
    (await mirrorCollection(engine, { ...input, signal, report })) as z.output<typeof mirrorOutput>,
}
