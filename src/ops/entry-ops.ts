/** Single entries: read, list, write, delete. A viewer writes and deletes what it holds itself; the owner everything. */
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { getInput, idsInput, listInput, putEntriesInput, touchInput } from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'
import { type EntryView, entryOutput, type ListPage, listOutput } from '../model/reports.ts'

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
