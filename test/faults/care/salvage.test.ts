/** What can be read of a damaged store is copied into a new one; the rest is reported; the damaged one is only read. */
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { salvageStore } from '../../../src/store/care/salvage.ts'
import { examineStore } from '../../../src/store/care/store-care.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { dump, makeStore, onFile, overwrite, pagesOf } from './damaged-store.ts'

const ENTRIES = 400
let folder: TempFolder
let file: string
let before: ReturnType<typeof dump>
beforeEach(() => {
  folder = tempFolder()
  file = folder.file('store.db')
  makeStore(file, ENTRIES)
  before = dump(file)
})
afterEach(() => folder[Symbol.dispose]())

let made = 0
function salvaged() {
  const to = folder.file(`new-${++made}.db`)
  const damaged = readFileSync(file)
  const salvage = salvageStore(file, to, 9)
  expect(readFileSync(file).equals(damaged)).toBe(true)
  expect(examineStore(to).filter(({ ok }) => !ok)).toEqual([])
  return { ...salvage, after: dump(to), to }
}

const junk = new Uint8Array(4096).fill(0xa5)

it('takes all of a sound store', () => {
  const { lost, entries, after } = salvaged()
  expect(lost).toEqual([])
  expect(entries).toBe(ENTRIES - 2)
  expect(after).toEqual(before)
})

describe('of a store', () => {
  it.each(['entries', 'bodies', 'chunks', 'vectors', 'access', 'declared_toy_colours', 'changes', 'meta'])(
    'with a damaged page of %s takes every other row, and tells what was lost',
    table => {
      const page = pagesOf(file, name => name === table).at(-2) ?? pagesOf(file, name => name === table)[0] ?? 0
      const isRoot =
        onFile(file, db => db.prepare('select 1 from sqlite_schema where rootpage = ?').get(page)) !== undefined
      overwrite(file, page, 0, junk)
      const { lost, entries, after } = salvaged()
      expect(lost.join()).toContain(table.replace('declared_', ''))
      const kept = after[table]?.length ?? 0
      if (isRoot) expect(kept).toBeLessThan(before[table]?.length ?? 0)
      else if (table !== 'meta') expect(kept).toBeGreaterThan(20)
      if (!['entries', 'bodies'].includes(table)) expect(entries).toBe(ENTRIES - 2)
      else {
        const names = lost.find(line => /^\d+ entr/.test(line)) ?? ''
        expect(Number(names.split(' ')[0])).toBe(ENTRIES - 2 - entries)
        expect(names).toMatch(/(ann|bob)\/e\d+/)
      }
      // Nothing was made up, and what is kept is as it was.
      for (const name of ['entries', 'bodies', 'chunks', 'vectors', 'access', 'declared_toy_colours', 'meta']) {
        const known = new Set(before[name])
        expect(after[name]?.filter(row => !known.has(row))).toEqual([])
      }
    },
  )

  it('whose first page was overwritten in its head takes everything', () => {
    overwrite(file, 1, 0, junk.subarray(0, 100))
    const { lost, after } = salvaged()
    expect(lost).toEqual([])
    expect(after).toEqual(before)
  })

  it('that was cut short takes what is there', () => {
    truncateSync(file, Math.floor(statSync(file).size * 0.7))
    const { lost, entries } = salvaged()
    expect(lost.length).toBeGreaterThan(0)
    expect(entries).toBeGreaterThan(10)
  })

  it('of which nothing is left says so', () => {
    writeFileSync(file, '# Notes\n'.repeat(2_000))
    expect(() => salvageStore(file, folder.file('new.db'), 9)).toThrow(
      expect.objectContaining({ code: 'store_corrupt' }),
    )
  })
})
