import { describe, expect, it, onTestFinished } from 'vitest'
import { openNodeSqlite, type SqlDatabase } from '../../../src/store/sqlite/node-sqlite.ts'

function open(): SqlDatabase {
  const db = openNodeSqlite({ file: ':memory:', readOnly: false, immutable: false, timeoutMs: 0 })
  onTestFinished(() => db.close())
  db.exec('create table t (a integer primary key, b text)')
  return db
}

const rows = (db: SqlDatabase) => db.prepareArrays<[number]>('select a from t order by a').all().flat()

describe('the driver', () => {
  it('gives rows as objects and as arrays, from one text', () => {
    const db = open()
    expect(db.prepare('insert into t values (?, ?)').run(7, 'x')).toEqual({ changes: 1, lastKey: 7 })
    expect({ ...db.prepare('select * from t').get() }).toEqual({ a: 7, b: 'x' })
    expect(db.prepareArrays('select * from t').all()).toEqual([[7, 'x']])
    expect(db.prepare('select * from t where a = ?').get(1)).toBeUndefined()
  })

  it('takes any number of different statements', () => {
    const db = open()
    for (let at = 0; at < 1000; at++) expect(db.prepareArrays<[number]>(`select ${at}`).get()).toEqual([at])
    expect(db.prepareArrays<[number]>('select 0').get()).toEqual([0])
  })

  it('refuses to commit when a failure that ended the transaction was passed over', () => {
    const db = open()
    db.prepare('insert into t values (1, null)').run()
    const act = () =>
      db.write(() => {
        db.prepare('insert into t values (2, null)').run()
        expect(() => db.prepare('insert or rollback into t values (1, null)').run()).toThrow()
      })
    expect(act).toThrow('not passed over')
    expect(rows(db)).toEqual([1])
    expect(db.writing).toBe(false)
    db.write(() => db.prepare('insert into t values (3, null)').run())
    expect(rows(db)).toEqual([1, 3])
  })

  it('says when the disk is full, and keeps what was there', () => {
    const db = open()
    db.exec('insert into t values (1, null)')
    const [pages = 0] = db.prepareArrays<[number]>('pragma page_count').get() ?? []
    db.exec(`pragma max_page_count = ${pages + 2}`)
    const fill = () => db.write(() => db.prepare('insert into t values (2, ?)').run('x'.repeat(100_000)))
    expect(fill).toThrow(expect.objectContaining({ code: 'io_failed' }))
    expect(rows(db)).toEqual([1])
  })

  it('turns a bug of ours into `internal`, with SQLite’s reason', () => {
    const db = open()
    expect(() => db.prepare('select nothing')).toThrow(expect.objectContaining({ code: 'internal' }))
    expect(() => db.exec('no sql')).toThrow('syntax error')
  })

  it('tells of every rollback, inner ones too', () => {
    const db = open()
    let calls = 0
    db.onRollback(() => calls++)
    db.write(() => {
      expect(() => db.write(() => rollOver())).toThrow('inner')
      expect(calls).toBe(1)
    })
    expect(() => db.write(() => rollOver())).toThrow('inner')
    expect(calls).toBe(2)
  })
})

function rollOver(): never {
  throw new Error('inner')
}
