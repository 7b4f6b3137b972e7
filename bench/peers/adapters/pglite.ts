/** pgvector, in a PostgreSQL that is compiled to WebAssembly: the only way to have it from the registry. */
import { join } from 'node:path'
import { sqlOf } from '../lib/filters.ts'
import type { Item } from '../lib/item.ts'
import { load, type OpenPeer, type Peer, versionOf } from '../lib/peer.ts'
import { FIELDS, valuesOf } from '../lib/tables.ts'

interface Pglite {
  readonly PGlite: new (options: Readonly<Record<string, unknown>>) => Database
}

interface Database {
  exec(sql: string): Promise<unknown>
  query(sql: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly { readonly id: number }[] }>
  close(): Promise<void>
}

const BATCH = 200

export const peer: Peer = {
  name: 'pgvector in PGlite',
  version: () => `PGlite ${versionOf('@electric-sql/pglite')}, pgvector 0.8.7`,
  holds: 'texts',
  settings:
    'HNSW (m 16, ef_construction 64, its defaults), cosine, hnsw.iterative_scan strict_order; knob: hnsw.ef_search; a b-tree index on each of four columns, analysed; words: a GIN index over to_tsvector(simple), ts_rank_cd of an OR, which is not BM25; no fusion of its own. Time includes the texts of the ten. WebAssembly, one connection: the server that is compiled for a machine is several times as fast',
  durability: 'one transaction; its file system in Node does not flush',
  async build(folder, items) {
    const db = await connect(folder)
    await db.exec(`CREATE EXTENSION IF NOT EXISTS vector;
      CREATE TABLE items(id int PRIMARY KEY, content text, embedding vector(384), ${FIELDS.map(name => `${name} int`).join(', ')})`)
    for (let from = 0; from < items.count; from += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, items.count - from) }, (_, i) => rowOf(items.of(from + i)))
      const places = rows.map((row, r) => `(${row.map((_, c) => `$${r * row.length + c + 1}`).join(', ')})`)
      await db.query(`INSERT INTO items VALUES ${places.join(', ')}`, rows.flat())
    }
    await db.exec(`CREATE INDEX ON items USING hnsw (embedding vector_cosine_ops);
      CREATE INDEX ON items USING gin (to_tsvector('simple', content));
      ${FIELDS.map(name => `CREATE INDEX ON items (${name});`).join(' ')} ANALYZE items`)
    await db.close()
  },
  async open(folder) {
    const db = await connect(folder)
    await db.exec('SET hnsw.iterative_scan = strict_order')
    return asking(db)
  },
}

function asking(db: Database): OpenPeer {
  const ask = async (sql: string, values: readonly unknown[]) => (await db.query(sql, values)).rows.map(({ id }) => id)
  return {
    knob: () => ({ name: 'hnsw.ef_search', values: [40, 80, 160, 320, 640, 1000] }),
    set: async value => void (await db.exec(`SET hnsw.ef_search = ${value}`)),
    nearest: ({ list }, k, filter) => {
      const where = filter === undefined ? '' : `WHERE ${sqlOf({ ...filter, value: Math.ceil(filter.value) })}`
      return ask(`SELECT id, content, embedding <=> $1 AS distance FROM items ${where} ORDER BY distance LIMIT ${k}`, [
        `[${list.join(',')}]`,
      ])
    },
    words: (text, k) =>
      ask(
        `SELECT id, content FROM items, to_tsquery('simple', $1) asked WHERE to_tsvector('simple', content) @@ asked
         ORDER BY ts_rank_cd(to_tsvector('simple', content), asked) DESC LIMIT ${k}`,
        [text.split(' ').join(' | ')],
      ),
    put: (item, isNew) => {
      const row = rowOf(item)
      const names = ['id', 'content', 'embedding', ...FIELDS]
      const places = row.map((_, i) => `$${i + 1}`).join(', ')
      return isNew
        ? db.query(`INSERT INTO items VALUES (${places})`, row)
        : db.query(`UPDATE items SET (${names.join(', ')}) = ROW(${places}) WHERE id = $1`, row)
    },
    remove: row => db.query('DELETE FROM items WHERE id = $1', [row]),
    close: () => db.close(),
  }
}

async function connect(folder: string): Promise<Database> {
  const { PGlite } = await load<Pglite>('@electric-sql/pglite')
  const { vector } = await load<{ readonly vector: unknown }>('@electric-sql/pglite-pgvector')
  return new PGlite({ dataDir: join(folder, 'pg'), extensions: { vector } })
}

function rowOf(item: Item): unknown[] {
  return [item.row, item.text, `[${item.vector.join(',')}]`, ...valuesOf(item)]
}
