/** Orama: words, vectors and both, in memory, in JavaScript. */
import type { RowFilter } from '../lib/filters.ts'
import type { Item } from '../lib/item.ts'
import { load, type Peer, versionOf } from '../lib/peer.ts'

interface OramaPackage {
  create(options: Readonly<Record<string, unknown>>): Database
  insertMultiple(db: Database, documents: readonly unknown[], batch?: number): Promise<unknown>
  insert(db: Database, document: unknown): unknown
  update(db: Database, id: string, document: unknown): unknown
  remove(db: Database, id: string): unknown
  search(db: Database, asked: Readonly<Record<string, unknown>>): Answer | Promise<Answer>
}

type Database = object

interface Answer {
  readonly hits: readonly { readonly id: string }[]
}

const BATCH = 1000

export const peer: Peer = {
  name: 'Orama',
  version: () => versionOf('@orama/orama'),
  holds: 'texts',
  settings:
    'schema: string, number, three enums, vector[384]; similarity -1 (its default of 0.8 leaves out most answers), threshold 1 (OR), tokenizer as it comes; vectors are scanned one by one; hybrid: mode hybrid with its default weights; built again when opened, as it has no file of its own',
  durability: 'in memory alone',
  heap: 10_000,
  // It has no file of its own.
  build: async () => {},
  async open(_folder, items) {
    const orama = await load<OramaPackage>('@orama/orama')
    const schema = { id: 'string', content: 'string', bucket: 'number', embedding: 'vector[384]' }
    const parts = { half: 'enum', twentieth: 'enum', twohundredth: 'enum' }
    const db = orama.create({ schema: { ...schema, ...parts } })
    for (let from = 0; from < items.count; from += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, items.count - from) }, (_, i) => documentOf(items.of(from + i)))
      await orama.insertMultiple(db, rows, BATCH)
    }
    const ask = async (asked: Readonly<Record<string, unknown>>) =>
      (await orama.search(db, asked)).hits.map(({ id }) => Number(id))
    const near = (list: readonly number[]) => ({ vector: { value: list, property: 'embedding' }, similarity: -1 })
    return {
      nearest: ({ list }, k, filter) =>
        ask({ mode: 'vector', ...near(list), limit: k, ...(filter && { where: whereOf(filter) }) }),
      words: (text, k) => ask({ term: text, properties: ['content'], threshold: 1, limit: k }),
      hybrid: ({ text, list }, k) =>
        ask({ mode: 'hybrid', term: text, properties: ['content'], threshold: 1, ...near(list), limit: k }),
      put: (item, isNew) =>
        isNew ? orama.insert(db, documentOf(item)) : orama.update(db, String(item.row), documentOf(item)),
      remove: row => orama.remove(db, String(row)),
      close: () => {},
    }
  },
}

function documentOf({ row, text, vector, fields }: Item): object {
  return { id: String(row), content: text, embedding: [...vector], ...fields }
}

function whereOf({ field, op, value }: RowFilter): object {
  return { [field]: op === 'below' ? { lt: value } : { eq: value } }
}
