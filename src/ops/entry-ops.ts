/** Single entries: read, list, write, delete. A viewer writes and deletes what it holds itself; the owner everything. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Engine } from '../engine/engine.ts'
import {
  addInput,
  getInput,
  idsInput,
  listInput,
  putEntriesInput,
  syncInput,
  touchInput,
} from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'
import {
  type AddReport,
  addOutput,
  type EntryView,
  entryOutput,
  type ListPage,
  listOutput,
  type SyncReport,
  syncOutput,
} from '../model/reports.ts'

export const get: Operation<Engine, typeof getInput, z.ZodType<EntryView>> = {
  name: 'get',
  summary: 'Read one entry by id and count a use of it',
  input: getInput,
  output: entryOutput,
  // Knowledge stays as it is; the reader's own count of uses does not.
  effect: { kind: 'read', idempotent: false },
  run: (engine, input, context) => engine.get(input, context),
}

const touchOutput: z.ZodType<{ readonly touched: number }> = z.strictObject({
  touched: z.int().min(0).describe('Entries whose use was counted'),
})

export const touch: Operation<Engine, typeof touchInput, typeof touchOutput> = {
  name: 'touch',
  summary: 'Count a use of entries that were opened or cited',
  input: touchInput,
  output: touchOutput,
  effect: { kind: 'read', idempotent: false },
  run: (engine, input, context) => engine.touch(input, context),
}

export const list: Operation<Engine, typeof listInput, z.ZodType<ListPage>> = {
  name: 'list',
  summary: 'List entries that match a filter, without their content',
  input: listInput,
  output: listOutput,
  effect: { kind: 'read', idempotent: true },
  run: (engine, input, context) => engine.list(input, context),
}

const putOutput: z.ZodType<Awaited<ReturnType<Engine['put']>>> = z.strictObject({
  ids: z.array(z.string()).describe('Ids of the entries, in the order of the input'),
  created: z.int().min(0).describe('Entries that are new'),
  updated: z.int().min(0).describe('Entries that were replaced'),
  unchanged: z.int().min(0).describe('Entries that were already the same'),
  embedding_error: z.string().nullable().describe('Why vectors are missing; null: they exist or will follow'),
})

export const put: Operation<Engine, typeof putEntriesInput, typeof putOutput> = {
  name: 'put',
  summary: 'Write entries; an entry with the id of your own entry replaces it',
  input: putEntriesInput,
  output: putOutput,
  effect: { kind: 'write', idempotent: false },
  run: (engine, input, context) => engine.put(input, context),
}

const deleteOutput: z.ZodType<{ readonly deleted: number }> = z.strictObject({
  deleted: z.int().min(0).describe('Number of deleted entries'),
})

export const remove: Operation<Engine, typeof idsInput, typeof deleteOutput> = {
  name: 'delete',
  summary: 'Delete entries by id',
  input: idsInput,
  output: deleteOutput,
  effect: { kind: 'destroy', idempotent: true },
  run: (engine, input, context) => engine.delete(input, context),
}

// Much at once: files and folders in, the whole store out and in again. They read the disk or everything: owner only.

export const add: Operation<Engine, typeof addInput, z.ZodType<AddReport>> = {
  name: 'add',
  summary: 'Add files and folders; later runs find new, changed and deleted files',
  input: addInput,
  output: addOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.add(input, context),
}

export const sync: Operation<Engine, typeof syncInput, z.ZodType<SyncReport>> = {
  name: 'sync',
  summary: 'Read the changed files of added folders again',
  input: syncInput,
  output: syncOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.sync(input, context),
}

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const linesOutput: z.ZodType<{ readonly lines: readonly unknown[] }> = z.strictObject({
  lines: z.array(z.unknown()).describe('Lines of an export, each an object'),
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
  warnings: z.array(z.string()).describe('Imported data that this store cannot use, and what to do about it'),
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
