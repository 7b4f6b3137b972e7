/** Much at once: files and folders in, the whole store out and in again. They read the disk or everything: owner only. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { AddReport, Engine, SyncReport } from '../engine/engine.ts'
import { addInput, syncInput } from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'

const audience = z.strictObject({
  kind: z.enum(['public', 'private', 'shared']).describe('Everybody, nobody else, or members of federations'),
  federations: z.array(z.string()).optional().describe('Ids of those whose members may see it; shared alone'),
})

const where = z.string().describe('File or folder, and within a file the part')
const said = z.string().describe('What is the matter, in a sentence')

const addReport = z.strictObject({
  added: z.int().min(0).describe('Entries that are new'),
  updated: z.int().min(0).describe('Entries whose text is another'),
  unchanged: z.int().min(0).describe('Entries that are as they were'),
  deleted: z.int().min(0).describe('Entries whose file or part of a file is gone'),
  skipped: z
    .array(
      z.strictObject({
        path: where,
        reason: z.string().describe('In words, such as: binary'),
        count: z.int().min(1).optional().describe('How many there were. Absent: one'),
      }),
    )
    .describe('What was passed over'),
  errors: z.array(z.strictObject({ path: where, message: said })).describe('What is not in the store'),
  warnings: z
    .array(z.strictObject({ path: where, message: said }))
    .describe('What is in the store otherwise than its file says'),
  chunks: z.int().min(0).describe('Pieces that new texts were cut into'),
  pending: z.int().min(0).describe('Pieces that have no vector yet'),
  visibility_changes: z
    .array(
      z.strictObject({
        path: where,
        from: audience.describe('Who might see them before'),
        to: audience.describe('Who may see them now'),
        count: z.int().min(1).describe('Entries of that path'),
      }),
    )
    .describe('Entries that others may see now than before'),
  embedding_error: z.string().nullable().describe('Why vectors are missing; null: they are there, or follow'),
  ms: z.number().min(0).describe('How long it took, milliseconds'),
})

const addOutput: z.ZodType<AddReport> = addReport

export const add: Operation<Engine, typeof addInput, z.ZodType<AddReport>> = {
  name: 'add',
  summary: 'Add files and folders; later runs find new, changed and deleted files',
  input: addInput,
  output: addOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.add(input, context),
}

export const changedPath = z.strictObject({
  path: z.string().describe('The path that was added'),
  lens: z.string().nullable().describe('Lens that has read it as code; null: entries were made of its files'),
  missing: z.boolean().describe('It is gone or empty, as where a disk is not mounted: its entries are kept'),
  is_changed: z.boolean().describe('Whether anything at or below it is not as it was when it was read'),
  files: z.int().min(0).nullable().describe('Files that it holds; null, here and below: not counted, as of code'),
  changed: z.int().min(0).nullable().describe('Files whose size or time is another than when they were read'),
  added: z.int().min(0).nullable().describe('Files that were never read'),
  deleted: z.int().min(0).nullable().describe('Files that were read and are gone, or are left out now'),
  error: z
    .string()
    .nullable()
    .describe('Why files of it could not be read when this process last tried; null: none failed'),
})

const syncOutput: z.ZodType<SyncReport> = addReport.extend({
  paths: z.array(changedPath).describe('Added paths, as they were found'),
})

export const sync: Operation<Engine, typeof syncInput, z.ZodType<SyncReport>> = {
  name: 'sync',
  summary: 'Read again what has changed in files and folders that were added',
  input: syncInput,
  output: syncOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.sync(input, context),
}

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const linesOutput: z.ZodType<{ readonly lines: readonly unknown[] }> = z.strictObject({
  lines: z.array(z.unknown()).describe('Each an object, as an export gives it'),
})

/** As one document, or line by line. */
export const exportAll: Operation<Engine, typeof nothing, typeof linesOutput> = {
  name: 'export',
  summary: 'Export everything in the store as lines for `import`',
  input: nothing,
  output: linesOutput,
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: async (engine, _input, context) => ({ lines: await collect(engine.export(context)) }),
  // Its lines are JSON, which TypeScript does not see of interfaces.
  stream: (engine, _input, context) => engine.export(context) as AsyncIterable<object> as AsyncIterable<JsonObject>,
}

const importOutput: z.ZodType<Awaited<ReturnType<Engine['import']>>> = z.strictObject({
  entries: z.int().min(0).describe('Entries that were written'),
  rows: z.int().min(0).describe('Rows of tables of lenses that were written'),
  warnings: z.array(z.string()).describe('What came in and is of no use here, and what to do about it'),
})

export const importAll: Operation<Engine, typeof linesOutput, typeof importOutput> = {
  name: 'import',
  summary: 'Import the lines of an export',
  input: linesOutput,
  output: importOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.import(each(input.lines), context),
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

async function collect<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = []
  for await (const value of values) collected.push(value)
  return collected
}
