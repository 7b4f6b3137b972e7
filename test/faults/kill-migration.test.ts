/** kill -9 while a store of schema 1 gets the check sums of its rows: whoever opens it next goes on where that stopped. */
import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { sha256 } from '../../src/base/canonical.ts'
import { removeStore } from '../../src/store/care/file.ts'
import { examineStore } from '../../src/store/care/store-care.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { dump, onFile } from './care/damaged-store.ts'
import { Child } from './child.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/stores/schema-1.db', import.meta.url))
/** Some ten portions of each of two tables. */
const ENTRIES = 40_000
/** A child may be through before it is seen at work. */
const MOST_TRIES = 10

/** A store of schema 1 with so many entries more. */
function makeOld(file: string): void {
  copyFileSync(FIXTURE, file)
  onFile(file, db => {
    db.exec('pragma journal_mode = wal; begin')
    const entry = db.prepare(
      `insert into entries (key, partition, id, holder, collection, kind, title, created_at, updated_at, known_at)
       values (?, (select min(id) from partitions), ?, 'owner', 'notes', 'note', ?, 1, 2, 3)`,
    )
    const body = db.prepare(`insert into bodies values (?, ?, ?, '[]', '{}')`)
    for (let at = 0; at < ENTRIES; at++) {
      const content = `text of the fox number ${at}`
      entry.run(10_000 + at, `old${at}`, `title ${at}`)
      body.run(10_000 + at, content, sha256(content))
    }
    db.exec('commit; pragma wal_checkpoint(truncate)')
  })
}

/** How many rows of both tables have no check sum yet; null before there is such a column. */
function unchecked(db: DatabaseSync): number | null {
  try {
    const count = (table: string) =>
      Number(db.prepare(`select count(*) as n from ${table} where _check is null`).get()?.['n'])
    return count('entries') + count('bodies')
  } catch {
    return null
  }
}

it('a process killed in the middle leaves the rest to the next one, and every row is as it was', {
  timeout: 600_000,
}, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const old = folder.file('old.db')
  makeOld(old)
  const [whole, killed] = [folder.file('whole.db'), folder.file('killed.db')]
  let left: number | null = 0
  for (let tries = 0; tries < MOST_TRIES && (left === null || left === 0); tries++) {
    removeStore(killed)
    copyFileSync(old, killed)
    await using child = new Child('store-child.ts', import.meta.url, ['open', killed])
    await child.says('opening')
    const db = new DatabaseSync(killed, { readOnly: true, timeout: 60_000 })
    do {
      await pause(2)
      left = unchecked(db)
    } while ((left === null || left >= 2 * ENTRIES) && !child.lines.includes('opened'))
    await child.kill()
    left = unchecked(db)
    db.close()
  }
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(2 * ENTRIES)
  // It cannot be read only as long as rows have no check sum.
  expect(() => openSqliteStore({ file: killed, readOnly: true })).toThrow(
    expect.objectContaining({ code: 'store_readonly' }),
  )
  openSqliteStore({ file: killed }).close()
  copyFileSync(old, whole)
  openSqliteStore({ file: whole }).close()
  onFile(killed, db => expect(unchecked(db)).toBe(0))
  expect(dump(killed)).toEqual(dump(whole))
  expect(examineStore(killed).filter(({ ok, check }) => !ok && check !== 'vector rows')).toEqual([])
})
