/** What many programs take who need no more: SQLite's FTS5, and vectors by the extension sqlite-vec. */
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { sqlOf } from '../lib/filters.ts'
import type { Item } from '../lib/item.ts'
import { load, type OpenPeer, type Peer, versionOf } from '../lib/peer.ts'
import { bytesOf, FIELDS, valuesOf } from '../lib/tables.ts'

interface SqliteVec {
  getLoadablePath(): string
}

const BATCH = 5000
/** Of reciprocal rank fusion, and how many of each list it sees: as the extension's own article has them. */
const RRF = 60
const DEPTH = 100

const SCHEMA = `
  CREATE TABLE items(id INTEGER PRIMARY KEY, content TEXT NOT NULL);
  CREATE VIRTUAL TABLE texts USING fts5(content, content='items', content_rowid='id');
  CREATE VIRTUAL TABLE vectors USING vec0(
    id INTEGER PRIMARY KEY, embedding float[384], ${FIELDS.map(name => `${name} integer`).join(', ')}
  );`

export const peer: Peer = {
  name: 'SQLite: FTS5 + sqlite-vec',
  version: () => `sqlite-vec ${versionOf('sqlite-vec')}, SQLite ${process.versions['sqlite']}`,
  holds: 'texts',
  settings:
    'node:sqlite, WAL, synchronous NORMAL, statements prepared; vec0 table with its default distance, which orders unit vectors as the cosine does, and four metadata columns (an exact scan); FTS5 over an external content table, unicode61; hybrid: one SQL statement, reciprocal ranks of 100 and 100. Time includes the texts of the ten.',
  durability: 'one transaction for all three tables; survives a dying process',
  async build(folder, items) {
    const db = await connect(folder)
    db.exec(SCHEMA)
    const put = putter(db)
    for (let row = 0; row < items.count; row++) {
      if (row % BATCH === 0) db.exec('BEGIN')
      put(items.of(row))
      if (row % BATCH === BATCH - 1 || row === items.count - 1) db.exec('COMMIT')
    }
    db.exec("INSERT INTO texts(texts) VALUES ('optimize')")
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
  },
  async open(folder) {
    const db = await connect(folder)
    return asking(db)
  },
}

async function connect(folder: string): Promise<DatabaseSync> {
  const db = new DatabaseSync(join(folder, 'items.db'), { allowExtension: true })
  db.loadExtension((await load<SqliteVec>('sqlite-vec')).getLoadablePath())
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  return db
}

function asking(db: DatabaseSync): OpenPeer {
  const statements = new Map<string, StatementSync>()
  const all = (sql: string, ...values: SQLInputValue[]): number[] => {
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement.all(...values).map(row => row['id'] as number)
  }
  const put = putter(db)
  const [text, vector, item] = ['texts', 'vectors', 'items'].map(table =>
    table === 'texts'
      ? db.prepare("INSERT INTO texts(texts, rowid, content) SELECT 'delete', id, content FROM items WHERE id = ?")
      : db.prepare(`DELETE FROM ${table} WHERE id = ?`),
  ) as [StatementSync, StatementSync, StatementSync]
  const remove = (row: number) => {
    text.run(row)
    vector.run(BigInt(row))
    item.run(row)
  }
  return {
    nearest: (asked, k, filter) =>
      all(
        `SELECT v.id, v.distance, i.content FROM vectors v JOIN items i ON i.id = v.id
         WHERE v.embedding MATCH ? AND k = ${k} ${filter === undefined ? '' : `AND v.${sqlOf({ ...filter, value: Math.ceil(filter.value) })}`}
         ORDER BY v.distance`,
        bytesOf(asked.vector),
      ),
    words: (asked, k) =>
      all(
        `SELECT i.id, i.content FROM texts JOIN items i ON i.id = texts.rowid WHERE texts MATCH ? ORDER BY rank LIMIT ${k}`,
        anyOf(asked),
      ),
    hybrid: (asked, k) =>
      all(
        `WITH near AS (SELECT id, row_number() OVER (ORDER BY distance) AS place FROM vectors WHERE embedding MATCH ? AND k = ${DEPTH}),
         worded AS (SELECT rowid AS id, row_number() OVER (ORDER BY rank) AS place FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${DEPTH}),
         fused AS (SELECT id, sum(1.0 / (${RRF} + place)) AS score FROM (SELECT * FROM near UNION ALL SELECT * FROM worded) GROUP BY id)
         SELECT i.id, i.content FROM fused JOIN items i USING (id) ORDER BY score DESC LIMIT ${k}`,
        bytesOf(asked.vector),
        anyOf(asked.text),
      ),
    put: (one, isNew) => {
      db.exec('BEGIN IMMEDIATE')
      if (!isNew) remove(one.row)
      put(one)
      db.exec('COMMIT')
    },
    remove: row => {
      db.exec('BEGIN IMMEDIATE')
      remove(row)
      db.exec('COMMIT')
    },
    close: () => db.close(),
  }
}

export function anyOf(text: string): string {
  return text
    .split(' ')
    .map(word => `"${word}"`)
    .join(' OR ')
}

function putter(db: DatabaseSync): (item: Item) => void {
  const item = db.prepare('INSERT INTO items(id, content) VALUES (?, ?)')
  const text = db.prepare('INSERT INTO texts(rowid, content) VALUES (?, ?)')
  const places = FIELDS.map(() => '?').join(', ')
  const vector = db.prepare(`INSERT INTO vectors(id, embedding, ${FIELDS.join(', ')}) VALUES (?, ?, ${places})`)
  return one => {
    item.run(one.row, one.text)
    text.run(one.row, one.text)
    // The extension takes whole numbers only as 64-bit ones.
    vector.run(BigInt(one.row), bytesOf(one.vector), ...valuesOf(one).map(BigInt))
  }
}
