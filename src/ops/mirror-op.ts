/** `mirror`: entries of a collection leave the store, so it is for the local owner. */
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { mirrorCollection } from '../engine/mirror.ts'
import { MAX_NAME_LENGTH } from '../model/limits.ts'
import type { Operation } from '../model/operation.ts'

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
