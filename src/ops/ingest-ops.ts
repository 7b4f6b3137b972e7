/** Much at once: files and folders in, the whole store out and in again. They read the disk or everything: owner only. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { AddReport, Engine } from '../engine/engine.ts'
import { addInput } from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'

const audience = z.strictObject({
  kind: z.enum(['public', 'private', 'shared']),
  federations: z.array(z.string()).optional(),
})

const addOutput: z.ZodType<AddReport> = z.strictObject({
  added: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  deleted: z.int(),
  skipped: z.array(
    z.strictObject({
      path: z.string(),
      reason: z.string(),
      count: z.int().optional().describe('How many there were. Absent: one'),
    }),
  ),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).describe('What is not in the store'),
  warnings: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .describe('What is in the store otherwise than its file says'),
  chunks: z.int(),
  pending: z.int(),
  visibility_changes: z
    .array(z.strictObject({ path: z.string(), from: audience, to: audience, count: z.int() }))
    .describe('Entries that others may see now than before'),
  embedding_error: z.string().nullable(),
  ms: z.number(),
})

export const add: Operation<Engine, typeof addInput, z.ZodType<AddReport>> = {
  name: 'add',
  summary: 'Add files and folders: new, changed and vanished files are found by content',
  input: addInput,
  output: addOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.add(input, context),
}

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const linesOutput: z.ZodType<{ readonly lines: readonly unknown[] }> = z.strictObject({
  lines: z.array(z.unknown()).describe('Each an object, as an export gives it'),
})

/** As one document, or line by line. */
export const exportAll: Operation<Engine, typeof nothing, typeof linesOutput> = {
  name: 'export',
  summary: 'Give everything the store holds, as lines that `import` takes',
  input: nothing,
  output: linesOutput,
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: async (engine, _input, context) => ({ lines: await gather(engine.export(context)) }),
  // Its lines are JSON, which TypeScript does not see of interfaces.
  stream: (engine, _input, context) => engine.export(context) as AsyncIterable<object> as AsyncIterable<JsonObject>,
}

const importOutput: z.ZodType<Awaited<ReturnType<Engine['import']>>> = z.strictObject({
  entries: z.int(),
  rows: z.int(),
  warnings: z.array(z.string()).describe('What came in and is of no use here, and what to do about it'),
})

export const importAll: Operation<Engine, typeof linesOutput, typeof importOutput> = {
  name: 'import',
  summary: 'Take the lines of an export',
  input: linesOutput,
  output: importOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.import(each(input.lines), context),
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

async function gather<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const gathered: T[] = []
  for await (const value of values) gathered.push(value)
  return gathered
}
