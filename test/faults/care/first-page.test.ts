/** QE-018: damage to the head of a store file and to SQLite's list of tables costs nothing that is stored. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { salvageStore } from '../../../src/store/care/salvage.ts'
import { examineStore, repairStore } from '../../../src/store/care/store-care.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { openTestEngine } from '../../support/engines.ts'
import { querentHere } from '../../support/in-process.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { COLOURS, dump, makeStore, onFile, overwrite, pagesOf } from './damaged-store.ts'

let folder: TempFolder
let file: string
let before: ReturnType<typeof dump>
beforeEach(() => {
  folder = tempFolder()
  file = folder.file('store.db')
  makeStore(file, 60)
  before = dump(file)
})
afterEach(() => folder[Symbol.dispose]())

const junk = new Uint8Array(4096).fill(0xa5)

/** Pages of the list: the first one and those below it. */
function listPages(): readonly number[] {
  return pagesOf(file, name => name === 'sqlite_schema')
}

/** Changes a column name in the statement of a table, which SQLite does not notice. */
function renameInList(): void {
  const bytes = readFileSync(file)
  for (const page of listPages()) {
    const at = bytes.subarray((page - 1) * 4096, page * 4096).indexOf('known_at integer')
    if (at !== -1) overwrite(file, page, at, Buffer.from('known_ar'))
  }
}

const DAMAGES: readonly (readonly [name: string, damage: () => void])[] = [
  ['the head of the file', () => overwrite(file, 1, 0, junk.subarray(0, 100))],
  ['one byte of the head, the page size', () => overwrite(file, 1, 16, junk.subarray(0, 1))],
  ['the first page of the list of tables', () => overwrite(file, 1, 100, junk.subarray(100))],
  ['the head and the list of tables on the first page', () => overwrite(file, 1, 44, junk.subarray(44))],
  ['a later page of the list of tables', () => overwrite(file, listPages().at(-1) ?? 0, 0, junk)],
  ['the name of a column in the list of tables', renameInList],
]

describe.each(DAMAGES)('damage to %s', (name, damage) => {
  it('is refused by code or reported, and a repair brings back everything that was stored', () => {
    damage()
    if (!name.startsWith('the name of a column'))
      expect(() => openSqliteStore({ file }).close()).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
    else expect(examineStore(file)).toMatchObject([{ check: 'file', ok: false, isRepairable: true }])
    expect(repairStore(file, 9)).toContainEqual(expect.objectContaining({ check: 'file' }))
    expect(examineStore(file).filter(({ ok }) => !ok)).toEqual([])
    expect(dump(file)).toEqual(before)
    const store = openSqliteStore({ file })
    expect(store.table(COLOURS).count()).toBe(58)
    store.close()
    // Nothing more is found, and the list can be restored once more.
    expect(repairStore(file, 9)).toEqual([])
    overwrite(file, 1, 100, junk.subarray(100))
    repairStore(file, 9)
    expect(dump(file)).toEqual(before)
  })

  it('costs a salvage nothing', () => {
    damage()
    const to = folder.file('new.db')
    expect(salvageStore(file, to, 9)).toEqual({ entries: 58, lost: [] })
    expect(dump(to)).toEqual(before)
    overwrite(to, 1, 100, junk.subarray(100))
    expect(salvageStore(to, folder.file('newer.db'), 9).lost).toEqual([])
  })
})

it('a copy of the list that a VACUUM made old is not used, and is made again when the store is opened', () => {
  onFile(file, db => {
    for (const name of ['entries', 'bodies'])
      db.exec(`delete from ${name} where ${name === 'bodies' ? 'entry' : 'key'} > 9`)
    db.exec('vacuum')
  })
  const rest = dump(file)
  expect(salvageStore(file, folder.file('new.db'), 9).entries).toBe(rest['entries']?.length)
  openSqliteStore({ file }).close()
  overwrite(file, 1, 100, junk.subarray(100))
  expect(salvageStore(file, folder.file('newer.db'), 9).entries).toBe(rest['entries']?.length)
})

describe('partitions that cannot be read', () => {
  it('cost no entry: what they held is saved as private of its holder, never as more public', () => {
    const held = (at: string) =>
      onFile(at, db =>
        db
          .prepare(
            `select e.holder || '/' || e.id as name, p.audience from entries e join partitions p on p.id = e.partition order by 1`,
          )
          .all()
          .map(({ name, audience }) => [String(name), JSON.parse(String(audience))] as const),
      )
    const was = new Map(held(file))
    overwrite(file, pagesOf(file, name => name === 'partitions')[0] ?? 0, 0, junk)
    const to = folder.file('new.db')
    const { entries, lost } = salvageStore(file, to, 9)
    expect([entries, lost.join()]).toEqual([
      58,
      expect.stringMatching(/who may see 58 entries: .*\(saved as private\)/),
    ])
    const now = held(to)
    expect(now.map(([name]) => name)).toEqual([...was.keys()])
    for (const [name, audience] of now) expect(audience).toEqual({ kind: 'private', holder: name.split('/')[0] })
    expect(examineStore(to).filter(({ ok }) => !ok)).toEqual([])
  })
})

it('the command refuses a store with a damaged head by code, and doctor --repair makes it whole after a copy', async () => {
  const home = folder.file('home')
  const entries = Array.from({ length: 30 }, (_, at) => ({ id: `e${at}`, content: `text of the fox number ${at}` }))
  {
    await using engine = await openTestEngine({ home })
    await engine.put({ entries })
  }
  const env = { QUERENT_HOME: home, QUERENT_EMBEDDER: 'none' }
  const run = (...args: string[]) => querentHere(args, { cwd: '/', env })
  const whole = await run('export')
  overwrite(join(home, 'store.db'), 1, 0, junk.subarray(0, 100))
  const refused = await run('get', 'e3', '--json')
  expect([refused.status, refused.stdout + refused.stderr]).toEqual([1, expect.stringContaining('store_corrupt')])
  const repaired = await run('doctor', '--repair')
  expect([repaired.status, repaired.stdout]).toEqual([0, expect.stringContaining('wrote the head of the file again')])
  expect((await run('export')).stdout).toBe(whole.stdout)
  overwrite(join(home, 'store.db'), 1, 100, junk.subarray(100))
  const listed = await run('doctor', '--repair')
  expect([listed.status, listed.stdout]).toEqual([0, expect.stringContaining('wrote the list of tables again')])
  expect((await run('export')).stdout).toBe(whole.stdout)
})
