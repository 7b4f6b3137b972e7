/** Single entries: read, list, write, delete. A viewer writes and deletes what it holds itself; the owner everything. */
import { z } from 'zod'
import type { Engine, EntryView, ListPage } from '../engine/engine.ts'
import { getInput, idsInput, listInput, putEntriesInput, touchInput } from '../model/entry-input.ts'
import type { Operation } from '../model/operation.ts'
import { jsonObject } from '../model/page.ts'

const entryFields = {
  id: z.string().describe('Id of the entry'),
  holder: z.string().describe('Id of the agent that holds the entry'),
  audience: z
    .strictObject({
      kind: z.enum(['public', 'private', 'shared']).describe('Everybody, nobody else, or members of federations'),
      federations: z.array(z.string()).optional().describe('Ids of those whose members may see it; shared alone'),
    })
    .describe('Who may see it besides its holder'),
  collection: z.string().describe('Name of its collection'),
  kind: z.string().describe('Kind of entry, such as note or code'),
  title: z.string().describe('Title; empty: none'),
  tags: z.array(z.string()).describe('Tags of the entry'),
  metadata: jsonObject.describe('Facts stored with it, as JSON'),
  origin: z.string().nullable().describe('Where it comes from, such as a path; null: not known'),
  created_at: z.string().describe('When it was created, ISO 8601'),
  updated_at: z.string().describe('When it was last changed, ISO 8601'),
  valid_from: z.string().nullable().describe('Start of its validity, ISO 8601; null: always valid'),
  valid_until: z.string().nullable().describe('End of its validity, ISO 8601; null: no end'),
  known_at: z.string().describe('When it became known, ISO 8601'),
  access: z
    .strictObject({
      last_accessed: z.string().describe('When it was last used, ISO 8601'),
      count: z.int().min(0).describe('How often it was used'),
      strength: z.number().min(0).describe('Grows with each use and fades with time'),
    })
    .nullable()
    .describe("This viewer's use of it; null: none yet"),
}

const entryNames = z.array(
  z.strictObject({
    id: z.string().describe('Id of the entry'),
    title: z.string().describe('Title of the entry; empty: none'),
  }),
)

const entryOutput: z.ZodType<EntryView> = z.strictObject({
  ...entryFields,
  content: z.string().describe('Full text'),
  links: entryNames.describe('Visible entries that its text links to, at most 100'),
  backlinks: entryNames.describe('Visible entries whose text links to it, at most 100'),
})

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

const listOutput: z.ZodType<ListPage> = z.strictObject({
  items: z.array(z.strictObject(entryFields)).describe('Entries in the requested order'),
  total: z.int().min(0).describe('Number of entries that match, on all pages'),
  cursor: z.string().nullable().describe('Cursor of the next page; null: this is the last'),
})

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
