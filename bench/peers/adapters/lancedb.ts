/** LanceDB: columns on disk, an index of each kind beside them, one library in the process. */
import { join } from 'node:path'
import { sqlOf } from '../lib/filters.ts'
import type { Item } from '../lib/item.ts'
import { load, type OpenPeer, type Peer, versionOf } from '../lib/peer.ts'
import { FIELDS } from '../lib/tables.ts'

interface LanceDb {
  connect(path: string): Promise<Connection>
  readonly Index: {
    hnswSq(options: Readonly<Record<string, unknown>>): unknown
    btree(): unknown
    fts(): unknown
  }
  readonly rerankers: { readonly RRFReranker: { create(): Promise<unknown> } }
}

interface Connection {
  createTable(name: string, rows: readonly object[]): Promise<Table>
  openTable(name: string): Promise<Table>
}

interface Table {
  add(rows: readonly object[]): Promise<unknown>
  delete(condition: string): Promise<unknown>
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>
  waitForIndex(names: readonly string[], seconds: number): Promise<void>
  optimize(): Promise<unknown>
  query(): Query
  mergeInsert(on: string): Merge
}

interface Query {
  nearestTo(vector: Float32Array): Query
  fullTextSearch(text: string, options?: { readonly columns: readonly string[] }): Query
  select(columns: readonly string[]): Query
  where(condition: string): Query
  ef(ef: number): Query
  nprobes(probes: number): Query
  refineFactor(factor: number): Query
  distanceType(name: string): Query
  rerank(reranker: unknown): Query
  limit(k: number): Query
  toArray(): Promise<readonly { readonly id: number }[]>
}

interface Merge {
  whenMatchedUpdateAll(): Merge
  whenNotMatchedInsertAll(): Merge
  execute(rows: readonly object[]): Promise<unknown>
}

const BATCH = 10_000
const REFINE = 4
const PROBES = 20

export const peer: Peer = {
  name: 'LanceDB',
  version: () => versionOf('@lancedb/lancedb'),
  holds: 'texts',
  settings:
    'IVF_HNSW_SQ, cosine, nprobes 20, refineFactor 4, knob: ef; filters before the search, with a BTREE index on each of four columns; FTS index; hybrid: its RRF reranker; optimised once after building. It may use both cores, all others but Chroma use one. Time includes the texts of the ten',
  durability:
    'each change is a new version of the table on disk, found by a scan beside the index until optimize() is called (it is not, between updates)',
  async build(folder, items) {
    const { connect, Index } = await load<LanceDb>('@lancedb/lancedb')
    const rowsFrom = (from: number) =>
      Array.from({ length: Math.min(BATCH, items.count - from) }, (_, i) => rowOf(items.of(from + i)))
    const table = await (await connect(join(folder, 'lance'))).createTable('items', rowsFrom(0))
    for (let from = BATCH; from < items.count; from += BATCH) await table.add(rowsFrom(from))
    await table.createIndex('vector', { config: Index.hnswSq({ distanceType: 'cosine' }) })
    for (const field of [...FIELDS, 'id']) await table.createIndex(field, { config: Index.btree() })
    await table.createIndex('content', { config: Index.fts() })
    await table.optimize()
  },
  async open(folder) {
    const lance = await load<LanceDb>('@lancedb/lancedb')
    const table = await (await lance.connect(join(folder, 'lance'))).openTable('items')
    return asking(table, await lance.rerankers.RRFReranker.create())
  },
}

function asking(table: Table, reranker: unknown): OpenPeer {
  let ef = 64
  const near = (query: Query, vector: Float32Array) =>
    query.nearestTo(vector).distanceType('cosine').nprobes(PROBES).ef(ef).refineFactor(REFINE)
  const idsOf = async (query: Query, score: readonly string[]) =>
    (await query.select(['id', 'content', ...score]).toArray()).map(({ id }) => Number(id))
  return {
    knob: () => ({ name: 'ef', values: [64, 128, 256, 512, 1024] }),
    set: value => {
      ef = value
    },
    nearest: ({ vector }, k, filter) => {
      const query = near(table.query(), vector).limit(k)
      return idsOf(filter === undefined ? query : query.where(sqlOf(filter)), ['_distance'])
    },
    words: (text, k) =>
      idsOf(
        table
          .query()
          .fullTextSearch(text, { columns: ['content'] })
          .limit(k),
        ['_score'],
      ),
    hybrid: async ({ text, vector }, k) => {
      const both = near(table.query().fullTextSearch(text, { columns: ['content'] }), vector)
      const found = await both.rerank(reranker).limit(k).select(['id', 'content']).toArray()
      return found.map(({ id }) => Number(id))
    },
    put: (item, isNew) =>
      isNew
        ? table.add([rowOf(item)])
        : table
            .mergeInsert('id')
            .whenMatchedUpdateAll()
            .whenNotMatchedInsertAll()
            .execute([rowOf(item)]),
    remove: row => table.delete(`id = ${row}`),
    close: () => {},
  }
}

function rowOf({ row, text, vector, fields }: Item): object {
  return { id: row, content: text, vector: [...vector], ...fields }
}
