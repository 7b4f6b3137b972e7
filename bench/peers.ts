/**
 * Querent beside two engines that programs embed for the same purpose, SQLite (FTS5 and the extension sqlite-vec) and LanceDB:
 * the same entries, questions and filters, ten results with their texts. Engines take turns question by question, in one
 * process: none of them holds its rows as JavaScript objects (docs/decisions/018). `npm install --prefix bench/peers` installs
 * both; without them the benchmark fails, and its last figures stay.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Engine } from '../src/engine/engine.ts'
import { LOCAL_OWNER } from '../src/model/viewer.ts'
import { bigHome, ENTRIES, questions, SHARES } from './lib/big-store.ts'
import { copyOf, keptStore, madeOf } from './lib/kept-store.ts'
import { quick } from './lib/quick.ts'
import { latency, type Row, timedAsync } from './lib/report.ts'
import { DIMENSIONS, generated, heldOut } from './lib/stand-in.ts'

export const name = 'peers'

const QUESTIONS = quick ? 20 : 200
const INSERTS = quick ? 5 : 40
const K = 10
const BATCH = 5_000
/** Of reciprocal rank fusion, and how many results of each list it sees, as the article of sqlite-vec has them. */
const FUSION = { rank: 60, depth: 100 }
/** Settings with which LanceDB finds 0.99 of the right answers here. */
const LANCE = { ef: 128, nprobes: 20, refineFactor: 4 }
/** To be raised when what the stores of the peers hold changes. */
const VERSION = 1
const [, [, KEEPS_5_PERCENT]] = SHARES as [unknown, readonly [string, number]]

interface Item {
  readonly row: number
  readonly text: string
  readonly vector: Float32Array
  /** 0 to 999 in equal shares. */
  readonly bucket: number
}

interface Asked {
  readonly text: string
  readonly vector: Float32Array
  /** Only items of a bucket below it. */
  readonly below?: number
}

/** Answers are row numbers, best first. */
interface Peer {
  readonly name: string
  nearest(asked: Asked): Promise<readonly number[]>
  words(asked: Asked): Promise<readonly number[]>
  hybrid(asked: Asked): Promise<readonly number[]>
  insert(item: Item): Promise<unknown>
  close(): unknown
}

const KINDS: readonly {
  readonly name: string
  readonly below?: number
  readonly ask: (peer: Peer, asked: Asked) => Promise<readonly number[]>
}[] = [
  { name: 'vectors, no filter', ask: (peer, asked) => peer.nearest(asked) },
  { name: 'vectors, filter keeps 5 %', below: KEEPS_5_PERCENT, ask: (peer, asked) => peer.nearest(asked) },
  { name: 'words, any of 3', ask: (peer, asked) => peer.words(asked) },
  { name: 'hybrid', ask: (peer, asked) => peer.hybrid(asked) },
]

export async function run(): Promise<readonly Row[]> {
  using home = await bigHome()
  await using engine = await home.open()
  const rows: Row[] = []
  const peers = [querent(engine), await openSqlite(engine), await openLance(engine)]
  for (const kind of KINDS) rows.push(...(await measure(peers, kind)))
  for (const peer of peers) rows.push(latency(`${peer.name}: insert`, await inserts(peer)))
  for (const peer of peers) peer.close()
  return rows
}

/** Each question once to warm up, then once timed. Recall of vectors is against SQLite, whose scan is exact. */
async function measure(peers: readonly Peer[], { name, below, ask }: (typeof KINDS)[number]): Promise<readonly Row[]> {
  const texts = questions(3)
  const times = peers.map((): number[] => [])
  const found = peers.map((): (readonly number[])[] => [])
  for (let at = -QUESTIONS; at < QUESTIONS; at++) {
    const n = (at + QUESTIONS) % QUESTIONS
    const asked = { text: texts[n] as string, vector: heldOut(n), ...(below !== undefined && { below }) }
    for (const [which, peer] of peers.entries()) {
      let rows: readonly number[] = []
      const ms = await timedAsync(async () => {
        rows = await ask(peer, asked)
      })
      if (at < 0) continue
      times[which]?.push(ms)
      found[which]?.push(rows)
    }
  }
  const exact = found[peers.findIndex(peer => peer.name === SQLITE)] as (readonly number[])[]
  return peers.map((peer, which) => {
    const row = latency(`${peer.name}: ${name}`, times[which] as number[])
    if (!name.startsWith('vectors')) return row
    const hits = (found[which] ?? []).map((rows, n) => rows.filter(one => exact[n]?.includes(one)).length)
    const recall = hits.reduce((sum, one) => sum + one, 0) / exact.flat().length
    return { ...row, note: `recall ${recall.toFixed(3)}` }
  })
}

async function inserts(peer: Peer): Promise<readonly number[]> {
  const times: number[] = []
  for (let at = 0; at < INSERTS; at++) {
    const item = { row: ENTRIES + at, text: `inserted ${at}`, vector: heldOut(500 + at), bucket: at }
    times.push(await timedAsync(() => peer.insert(item)))
  }
  return times
}

/**
 * The stand-in embedder gives each new text the next held-out vector: the questions are asked in their order. A word that
 * nothing in scope has is corrected, and the corrected text has another vector: recall in small stores shows it.
 */
function querent(engine: Engine): Peer {
  const rowsOf = async (mode: 'hybrid' | 'words' | 'meaning', { text, below }: Asked) => {
    const filter = below === undefined ? {} : { filter: { metadata: { bucket: { lt: below } } } }
    const page = await engine.query({ text, mode, any: true, limit: K, ...filter }, { viewer: LOCAL_OWNER })
    return [...page.items, ...(page.nearest ?? [])].map(({ id }) => Number(id.slice('entry-'.length)))
  }
  return {
    name: 'Querent',
    nearest: asked => rowsOf('meaning', asked),
    words: asked => rowsOf('words', asked),
    hybrid: asked => rowsOf('hybrid', asked),
    insert: ({ row, text }) => engine.put({ entries: [{ id: `entry-${row}`, content: text }], wait: true }),
    close: () => {},
  }
}

/** The entries of the home, in batches. */
function* batches(engine: Engine): Iterable<readonly Item[]> {
  const { store } = engine.host('default')
  let last = 0
  for (let from = 0; from < ENTRIES; from += BATCH) {
    const keys = store.scanEntries(last, BATCH)
    last = keys.at(-1) as number
    yield keys.map((key, at) => {
      const { title, content, metadata } = store.entry(key) as NonNullable<ReturnType<typeof store.entry>>
      const row = from + at
      return { row, text: `${title} ${content}`, vector: generated(row), bucket: Number(metadata['bucket']) }
    })
  }
}

/** Packages of bench/peers, which the repository's own package file does not name. */
async function load<T>(name: string): Promise<T> {
  const { resolve } = createRequire(new URL('./peers/package.json', import.meta.url))
  try {
    return (await import(pathToFileURL(resolve(name)).href)) as T
  } catch (cause) {
    throw new Error(`${name} cannot be loaded: run npm install --prefix bench/peers`, { cause })
  }
}

function keptPeer(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const kept = { name: `${name}-${ENTRIES}`, made: madeOf([VERSION], []), holds: `${ENTRIES} entries in ${name}` }
  return keptStore(kept, async folder => {
    await make(folder)
    return folder
  })
}

const SQLITE = 'SQLite with FTS5 and sqlite-vec'

async function openSqlite(engine: Engine): Promise<Peer> {
  const { getLoadablePath } = await load<{ getLoadablePath(): string }>('sqlite-vec')
  const connect = (folder: string) => {
    const db = new DatabaseSync(join(folder, 'items.db'), { allowExtension: true })
    db.loadExtension(getLoadablePath())
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    return db
  }
  const inserter = (db: DatabaseSync) => {
    const item = db.prepare('INSERT INTO items(id, content) VALUES (?, ?)')
    const text = db.prepare('INSERT INTO texts(rowid, content) VALUES (?, ?)')
    const vector = db.prepare('INSERT INTO vectors(id, embedding, bucket) VALUES (?, ?, ?)')
    return (items: readonly Item[]) => {
      db.exec('BEGIN')
      for (const one of items) {
        item.run(one.row, one.text)
        text.run(one.row, one.text)
        // The extension takes whole numbers only as 64-bit ones.
        vector.run(BigInt(one.row), bytesOf(one.vector), BigInt(one.bucket))
      }
      db.exec('COMMIT')
    }
  }
  const folder = await keptPeer('sqlite', async made => {
    const db = connect(made)
    db.exec(`CREATE TABLE items(id INTEGER PRIMARY KEY, content TEXT NOT NULL);
      CREATE VIRTUAL TABLE texts USING fts5(content, content='items', content_rowid='id');
      CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, embedding float[${DIMENSIONS}], bucket integer)`)
    const insert = inserter(db)
    for (const items of batches(engine)) insert(items)
    db.exec("INSERT INTO texts(texts) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
  })
  const copy = copyOf(folder)
  const db = connect(copy.path)
  const insert = inserter(db)
  const ids = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => Number(id))
  const near = `SELECT v.id, i.content FROM vectors v JOIN items i ON i.id = v.id WHERE v.embedding MATCH ? AND k = ${K}`
  const [nearest, nearestBelow, words, hybrid] = [
    `${near} ORDER BY v.distance`,
    `${near} AND v.bucket < ? ORDER BY v.distance`,
    `SELECT i.id, i.content FROM texts JOIN items i ON i.id = texts.rowid WHERE texts MATCH ? ORDER BY rank LIMIT ${K}`,
    `WITH near AS (SELECT id, row_number() OVER (ORDER BY distance) AS place FROM vectors WHERE embedding MATCH ? AND k = ${FUSION.depth}),
      worded AS (SELECT rowid AS id, row_number() OVER (ORDER BY rank) AS place FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${FUSION.depth}),
      fused AS (SELECT id, sum(1.0 / (${FUSION.rank} + place)) AS score FROM (SELECT * FROM near UNION ALL SELECT * FROM worded) GROUP BY id)
      SELECT i.id, i.content FROM fused JOIN items i USING (id) ORDER BY score DESC LIMIT ${K}`,
  ].map(sql => db.prepare(sql)) as [Statement, Statement, Statement, Statement]
  return {
    name: SQLITE,
    nearest: async ({ vector, below }) =>
      ids(below === undefined ? nearest.all(bytesOf(vector)) : nearestBelow.all(bytesOf(vector), BigInt(below))),
    words: async ({ text }) => ids(words.all(anyOf(text))),
    hybrid: async ({ text, vector }) => ids(hybrid.all(bytesOf(vector), anyOf(text))),
    insert: async item => insert([item]),
    close: () => {
      db.close()
      copy[Symbol.dispose]()
    },
  }
}

type Statement = ReturnType<DatabaseSync['prepare']>

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function anyOf(text: string): string {
  return text
    .split(' ')
    .map(word => `"${word}"`)
    .join(' OR ')
}

/** What is used of the package, whose types the repository does not have. */
interface LanceDb {
  connect(path: string): Promise<{
    createTable(name: string, rows: readonly object[]): Promise<LanceTable>
    openTable(name: string): Promise<LanceTable>
  }>
  readonly Index: Readonly<Record<'hnswSq' | 'btree' | 'fts', (options?: object) => unknown>>
  readonly rerankers: { readonly RRFReranker: { create(): Promise<unknown> } }
}

interface LanceTable {
  add(rows: readonly object[]): Promise<unknown>
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>
  optimize(): Promise<unknown>
  query(): LanceQuery
}

interface LanceQuery {
  nearestTo(vector: Float32Array): LanceQuery
  fullTextSearch(text: string, options: { readonly columns: readonly string[] }): LanceQuery
  select(columns: readonly string[]): LanceQuery
  where(condition: string): LanceQuery
  ef(ef: number): LanceQuery
  nprobes(probes: number): LanceQuery
  refineFactor(factor: number): LanceQuery
  distanceType(name: string): LanceQuery
  rerank(reranker: unknown): LanceQuery
  limit(k: number): LanceQuery
  toArray(): Promise<readonly { readonly id: number }[]>
}

/** Each change is a new version of the table on disk, found by a scan beside the index until `optimize` is called again. */
async function openLance(engine: Engine): Promise<Peer> {
  // It warns of a coming change of its output columns with every query.
  process.env['RUST_LOG'] ??= 'error'
  const lance = await load<LanceDb>('@lancedb/lancedb')
  const rowOf = ({ row, text, vector, bucket }: Item) => ({ id: row, content: text, vector: [...vector], bucket })
  const folder = await keptPeer('lancedb', async made => {
    const db = await lance.connect(join(made, 'lance'))
    let table: LanceTable | undefined
    for (const items of batches(engine)) {
      const rows = items.map(rowOf)
      if (table === undefined) table = await db.createTable('items', rows)
      else await table.add(rows)
    }
    await table?.createIndex('vector', { config: lance.Index.hnswSq({ distanceType: 'cosine' }) })
    for (const field of ['bucket', 'id']) await table?.createIndex(field, { config: lance.Index.btree() })
    await table?.createIndex('content', { config: lance.Index.fts() })
    await table?.optimize()
  })
  const copy = copyOf(folder)
  const table = await (await lance.connect(join(copy.path, 'lance'))).openTable('items')
  const reranker = await lance.rerankers.RRFReranker.create()
  const { ef, nprobes, refineFactor } = LANCE
  const near = (query: LanceQuery, vector: Float32Array) =>
    query.nearestTo(vector).distanceType('cosine').nprobes(nprobes).ef(ef).refineFactor(refineFactor).limit(K)
  const worded = (text: string) =>
    table
      .query()
      .fullTextSearch(text, { columns: ['content'] })
      .limit(K)
  const ids = async (query: LanceQuery, ...scores: readonly string[]) =>
    (await query.select(['id', 'content', ...scores]).toArray()).map(({ id }) => Number(id))
  return {
    name: 'LanceDB',
    nearest: ({ vector, below }) => {
      const query = near(table.query(), vector)
      return ids(below === undefined ? query : query.where(`bucket < ${below}`), '_distance')
    },
    words: ({ text }) => ids(worded(text), '_score'),
    hybrid: ({ text, vector }) => ids(near(worded(text), vector).rerank(reranker)),
    insert: item => table.add([rowOf(item)]),
    close: () => copy[Symbol.dispose](),
  }
}
