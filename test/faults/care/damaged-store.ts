/** A store with something of everything, its tables as text, and damages to do to its file. */
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { audience } from '../../../src/model/partition.ts'
import type { TableDeclaration } from '../../../src/model/table.ts'
import { FILES } from '../../../src/store/core-tables.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { TOY_KEY, toyVector } from '../../support/toy-embedder.ts'

export const COLOURS: TableDeclaration = {
  name: 'toy_colours',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'name', type: 'text' },
    { name: 'weight', type: 'real', nullable: true },
  ],
  key: ['entry', 'name'],
  ofEntry: true,
  indexes: [['name']],
}

export function makeStore(file: string, entries: number): void {
  const store = openSqliteStore({ file, storeId: 'test' })
  store.write(1, writer => {
    for (let at = 0; at < entries; at++) {
      const of = audience(at % 3 === 0 ? 'public' : 'private', at % 2 === 0 ? 'ann' : 'bob')
      const content = `words of the entry ${at} `.repeat(1 + (at % 7))
      const draft = draftOf({
        ...{ id: `e${at}`, title: `t${at}`, content, audience: of },
        tags: [`tag${at % 11}`, `own${at}`],
        metadata: { n: at, deep: { flag: at % 2 === 0, list: ['a', `b${at}`] } },
      })
      const { key } = writer.put(draft, wholeChunk(draft))
      const [chunk] = writer.chunksOf(key)
      writer.putVectors(TOY_KEY, [{ chunk: chunk?.key ?? 0, vector: toyVector(content) }])
      writer.setAccess({ id: at % 2 === 0 ? 'ann' : 'owner' }, key, { lastAccessed: at, count: at, strength: at / 8 })
      writer.table(COLOURS).put({ entry: key, name: `c${at % 5}`, weight: at / 3 })
      writer.table(FILES).put({ entry: key, root: '/r', path: `p${at}`, hash: `h${at}`, size: at, modified_at: at })
    }
    writer.setMeta('secret', 'kept')
  })
  store.write(2, writer => {
    for (const key of [2, 5]) writer.delete(key)
  })
  store.close()
  onFile(file, db => db.exec('pragma wal_checkpoint(truncate)'))
}

export function onFile<T>(file: string, act: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file)
  try {
    db.exec('pragma foreign_keys = off')
    return act(db)
  } finally {
    db.close()
  }
}

/** Every row of every table, by table, each as text; without what says where tables lie and how often the store
 * changed. */
export function dump(file: string): Readonly<Record<string, readonly string[]>> {
  return onFile(file, db => {
    const names = db.prepare(`select name from sqlite_schema where type = 'table' order by name`).all()
    return Object.fromEntries(
      names.map(({ name }) => {
        const rows = db.prepare(`select * from "${name}" not indexed`).all()
        const texts = rows.map(row => JSON.stringify(Object.values(row).map(reported))).sort()
        return [
          String(name),
          name === 'meta' ? texts.filter(text => !/^\["(revision|\\u0000schema\/)/.test(text)) : texts,
        ]
      }),
    )
  })
}

function reported(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

/** Pages of the trees of these names. */
export function pagesOf(file: string, isMeant: (name: string) => boolean): readonly number[] {
  return pagesLike(file, isMeant, '%')
}

/** Those of them that hold other pages' numbers. */
export function interiorPagesOf(file: string, isMeant: (name: string) => boolean): readonly number[] {
  return pagesLike(file, isMeant, 'internal')
}

function pagesLike(file: string, isMeant: (name: string) => boolean, type: string): readonly number[] {
  return onFile(file, db => {
    const rows = db.prepare('select name, pageno from dbstat where pagetype like ? order by pageno').all(type)
    return rows.filter(({ name }) => isMeant(String(name))).map(({ pageno }) => Number(pageno))
  })
}

export function indexNames(file: string): ReadonlySet<string> {
  return onFile(file, db => {
    const rows = db.prepare(`select name from sqlite_schema where type = 'index'`).all()
    return new Set(rows.map(({ name }) => String(name)))
  })
}

/** Changes bytes of one page; `at` from its beginning. */
export function overwrite(file: string, page: number, at: number, bytes: Uint8Array): void {
  const all = readFileSync(file)
  all.set(bytes, (page - 1) * 4096 + at)
  writeFileSync(file, all)
}
