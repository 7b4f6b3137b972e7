/** Single entries: read, list, write, delete. A viewer writes and deletes what it holds itself; the owner everything. */
import { z } from 'zod'
import type { Engine, EntryView, ListPage } from '../engine/engine.ts'
import { getInput, idsInput, listInput, putEntriesInput, touchInput } from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'
import { jsonObject } from './page-output.ts'

const entryFields = {
  id: z.string(),
  holder: z.string(),
  audience: z.strictObject({
    kind: z.enum(['public', 'private', 'shared']),
    federations: z.array(z.string()).optional(),
  }),
  collection: z.string(),
  kind: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  metadata: jsonObject,
  origin: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  valid_from: z.string().nullable(),
  valid_until: z.string().nullable(),
  known_at: z.string(),
  access: z.strictObject({ last_accessed: z.string(), count: z.int(), strength: z.number() }).nullable(),
}

const entryOutput: z.ZodType<EntryView> = z.strictObject({ ...entryFields, content: z.string() })

export const get: Operation<Engine, typeof getInput, z.ZodType<EntryView>> = {
  name: 'get',
  summary: 'Read one entry by id, which counts as use of it',
  input: getInput,
  output: entryOutput,
  // Knowledge stays as it is; the reader's own count of uses does not.
  effect: { kind: 'read', idempotent: false },
  run: (engine, input, context) => engine.get(input, context),
}

const touchOutput: z.ZodType<{ readonly touched: number }> = z.strictObject({ touched: z.int() })

export const touch: Operation<Engine, typeof touchInput, typeof touchOutput> = {
  name: 'touch',
  summary: 'Count a use of entries, because they were opened or cited',
  input: touchInput,
  output: touchOutput,
  effect: { kind: 'read', idempotent: false },
  run: (engine, input, context) => engine.touch(input, context),
}

const listOutput: z.ZodType<ListPage> = z.strictObject({
  items: z.array(z.strictObject(entryFields)),
  total: z.int(),
  cursor: z.string().nullable(),
})

export const list: Operation<Engine, typeof listInput, z.ZodType<ListPage>> = {
  name: 'list',
  summary: 'List entries that fulfil a filter, page by page, without their content',
  input: listInput,
  output: listOutput,
  effect: { kind: 'read', idempotent: true },
  run: (engine, input, context) => engine.list(input, context),
}

const putOutput: z.ZodType<Awaited<ReturnType<Engine['put']>>> = z.strictObject({
  ids: z.array(z.string()),
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  embedding_error: z.string().nullable(),
})

export const put: Operation<Engine, typeof putEntriesInput, typeof putOutput> = {
  name: 'put',
  summary: 'Write entries; one with the id of an entry you hold replaces it',
  input: putEntriesInput,
  output: putOutput,
  effect: { kind: 'write', idempotent: false },
  run: (engine, input, context) => engine.put(input, context),
}

const deleteOutput: z.ZodType<{ readonly deleted: number }> = z.strictObject({ deleted: z.int() })

export const remove: Operation<Engine, typeof idsInput, typeof deleteOutput> = {
  name: 'delete',
  summary: 'Delete entries by id',
  input: idsInput,
  output: deleteOutput,
  effect: { kind: 'destroy', idempotent: true },
  run: (engine, input, context) => engine.delete(input, context),
}
