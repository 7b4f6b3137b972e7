/** What the doctor repairs in a store file: all that can be made again, and nothing else. */
import { copyFileSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examineStore, repairStore } from '../../../src/store/care/store-care.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { assertUntil } from '../../support/until-met.ts'
import { dump, indexNames, interiorPagesOf, makeStore, onFile, overwrite, pagesOf } from './damaged-store.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 500 : 30

let folder: TempFolder
let sound: string
let before: ReturnType<typeof dump>
beforeAll(() => {
  folder = tempFolder()
  sound = folder.file('sound.db')
  makeStore(sound, 150)
  before = dump(sound)
})
afterAll(() => folder[Symbol.dispose]())

let copies = 0
function copyOfSound(): string {
  const file = folder.file(`copy-${++copies}.db`)
  copyFileSync(sound, file)
  return file
}

const wrongChecks = (file: string) =>
  examineStore(file)
    .filter(({ ok }) => !ok)
    .map(({ check }) => check)

/** What a damage is called, how it is done, and what of the store cannot be as it was. */
interface Damage {
  readonly name: string
  readonly check: string
  /** `pick` chooses a row. */
  readonly sql: (pick: number) => string
  /** The vector that is dropped, to be made again: by the key of its chunk. */
  readonly dropsVectorOf?: (pick: number) => number
  /** The feed is cut, or hears of the repairing. */
  readonly changesFeed?: true
}

const nth = (table: string, columns: string, pick: number) =>
  `(select ${columns} from ${table} order by 1, 2 limit 1 offset ${pick} % (select count(*) from ${table}))`
const pickedKey = (pick: number) =>
  onFile(sound, db =>
    Number(db.prepare('select key from vectors order by key limit 1 offset ?').get(pick % 148)?.['key']),
  )
const DAMAGES: readonly Damage[] = [
  {
    name: 'a lost tag',
    check: 'lookups',
    sql: pick => `delete from entry_tags where (tag, entry) = ${nth('entry_tags', 'tag, entry', pick)}`,
  },
  {
    name: 'a tag nobody gave',
    check: 'lookups',
    sql: pick =>
      `insert or replace into entry_tags select 'zzz' || ${pick}, key from entries order by key limit 1 offset ${pick % 140}`,
  },
  {
    name: 'a lost value',
    check: 'lookups',
    sql: pick =>
      `delete from entry_values where entry = (select entry from bodies order by entry limit 1 offset ${pick % 140})`,
  },
  {
    name: 'a wrong tally',
    check: 'tallies',
    sql: pick =>
      `update tallies set count = count + 1 + ${pick} % 5 where (partition, model) = ${nth('tallies', 'partition, model', pick)}`,
  },
  {
    name: 'a lost tally',
    check: 'tallies',
    sql: pick => `delete from tallies where (partition, model) = ${nth('tallies', 'partition, model', pick)}`,
  },
  {
    name: 'a tally of nothing',
    check: 'tallies',
    sql: pick => `insert or replace into tallies values (${77 + pick}, 0, 3, null)`,
  },
  {
    name: 'access to nothing',
    check: 'references',
    sql: pick => `insert or replace into access values ('ann', ${9_000 + pick}, 1, 1, 1.0, null)`,
  },
  {
    name: 'a chunk of nothing',
    check: 'references',
    sql: pick =>
      `insert into chunks (entry, ordinal, start_unit, end_unit, start_line, end_line, headings) values (${9_000 + pick}, 0, 0, 1, 1, 1, '[]')`,
  },
  {
    name: 'a file of nothing',
    check: 'references',
    sql: pick => `insert or replace into declared_files values (${9_000 + pick}, '/r', 'x', 'h', 1, 1, null)`,
  },
  {
    name: 'a vector of nothing',
    check: 'vector rows',
    sql: pick => `insert or replace into vectors values (${(8_000 + pick) * 256 + 1}, 3, zeroblob(512), null)`,
  },
  {
    name: 'a vector of no model',
    check: 'vector rows',
    changesFeed: true,
    sql: pick =>
      `insert or replace into vectors select key * 256 + 9, entry, zeroblob(8), null from chunks order by key limit 1 offset ${pick % 140}`,
  },
  {
    name: 'a short vector',
    check: 'vector rows',
    sql: pick => `update vectors set vector = zeroblob(12) where key = ${pickedKey(pick)}`,
    dropsVectorOf: pickedKey,
  },
  {
    name: 'a vector of zeros',
    check: 'vector rows',
    sql: pick => `update vectors set vector = zeroblob(512) where key = ${pickedKey(pick)}`,
    dropsVectorOf: pickedKey,
  },
  {
    name: 'a lost change',
    check: 'feed',
    sql: pick => `delete from changes where seq = 2 + ${pick} % 298`,
    changesFeed: true,
  },
  {
    name: 'the newest changes lost',
    check: 'feed',
    sql: pick => `delete from changes where seq > 300 - ${pick} % 300`,
    changesFeed: true,
  },
  {
    name: 'a change of nothing',
    check: 'feed',
    sql: pick => `update changes set entry = 9000 where seq = 1 + ${pick} % 300`,
    changesFeed: true,
  },
]

describe('a store file', () => {
  it('that is sound has nothing to repair, and stays as it is', () => {
    const file = copyOfSound()
    expect(wrongChecks(file)).toEqual([])
    expect(repairStore(file, 5)).toEqual([])
    expect(dump(file)).toEqual(before)
  })

  it('that was repaired has changed for others who have it open', () => {
    const file = copyOfSound()
    const store = openSqliteStore({ file })
    onFile(file, db => db.exec(DAMAGES[0]?.sql(7) ?? ''))
    const version = store.version()
    expect(repairStore(file, 5)).not.toEqual([])
    expect(store.version()).not.toBe(version)
    const repaired = store.version()
    expect(repairStore(file, 5)).toEqual([])
    expect(store.version()).toBe(repaired)
    store.close()
  })

  it.each(DAMAGES.map(damage => [damage.name, damage] as const))('%s is found under its name', (_, { sql, check }) => {
    const file = copyOfSound()
    onFile(file, db => db.exec(sql(7)))
    const wrong = examineStore(file).filter(({ ok }) => !ok)
    expect(wrong.map(one => one.check)).toContain(check)
    expect(wrong.every(({ isRepairable, help }) => isRepairable && help?.includes('--repair'))).toBe(true)
  })

  it(`has all its damages repaired, and nothing else changed (${RUNS} histories; QUERENT_LONG=1 for 500)`, () => {
    const damages = fc.array(fc.tuple(fc.constantFrom(...DAMAGES), fc.nat(500)), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(damages, chosen => {
        const file = copyOfSound()
        onFile(file, db => {
          for (const [damage, pick] of chosen) db.exec(damage.sql(pick))
        })
        repairStore(file, 5)
        expect(wrongChecks(file)).toEqual([])
        const after = dump(file)
        const dropped = new Set(chosen.flatMap(([{ dropsVectorOf }, pick]) => dropsVectorOf?.(pick) ?? []))
        const vectors = before['vectors']?.filter(row => !dropped.has(JSON.parse(row)[0])) ?? []
        const { changes, sqlite_sequence: _, tallies, vectors: left, ...rest } = after
        const { changes: feed, sqlite_sequence: __, tallies: counted, vectors: ___, ...wanted } = before
        expect(rest).toEqual(wanted)
        expect(left).toEqual(vectors)
        if (dropped.size === 0)
          expect(tallies?.filter(row => !row.endsWith(',0]'))).toEqual(counted?.filter(row => !row.endsWith(',0]')))
        const isWhole = dropped.size === 0 && chosen.every(([{ changesFeed }]) => changesFeed !== true)
        const old = changes?.filter(row => JSON.parse(row)[0] <= 300)
        expect(old?.every(row => feed?.includes(row))).toBe(true)
        if (isWhole) expect(changes).toEqual(feed)
      }),
      { numRuns: RUNS },
    )
  })

  it(`has damaged indexes made again, and nothing else changed (${RUNS} damages; QUERENT_LONG=1 for 500)`, async () => {
    const indexes = indexNames(sound)
    const derived = new Set([...indexes, 'entry_tags', 'entry_values', 'tallies'])
    const pages = pagesOf(sound, name => derived.has(name))
    expect(pages.length).toBeGreaterThan(20)
    const damage = fc.record({
      page: fc.constantFrom(...pages),
      at: fc.nat(4_000),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 96 }),
    })
    let found = 0
    await assertUntil(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), chosen => {
        const file = copyOfSound()
        for (const { page, at, bytes } of chosen) overwrite(file, page, at, bytes)
        if (wrongChecks(file).length > 0) found++
        repairStore(file, 5)
        expect(wrongChecks(file)).toEqual([])
        expect(dump(file)).toEqual(before)
      }),
      { numRuns: RUNS },
      () => expect(found).toBeGreaterThan(RUNS / 3),
    )
  })

  it('has an index that reaches into pages of others made again, or is left as it is', () => {
    const derived = new Set([...indexNames(sound), 'entry_tags', 'entry_values'])
    const [inner, others] = [interiorPagesOf(sound, name => derived.has(name)), pagesOf(sound, () => true)]
    expect(inner.length).toBeGreaterThan(1)
    let repaired = 0
    for (const page of inner) {
      for (const reached of others.filter(other => other !== page && other % 7 === page % 7)) {
        const file = copyOfSound()
        overwrite(file, page, LAST_CHILD_AT, bigEndian(reached))
        const [pages] = examineStore(file)
        expect(pages).toMatchObject({ check: 'pages', ok: false })
        const bytes = readFileSync(file)
        repaired += repairStore(file, 5).length > 0 ? 1 : 0
        if (pages?.isRepairable) expect(dump(file)).toEqual(before)
        else expect(readFileSync(file).equals(bytes)).toBe(true)
      }
    }
    expect(repaired).toBeGreaterThan(0)
  })

  it('with damaged rows is left byte for byte as it is', () => {
    const indexes = indexNames(sound)
    const isData = (name: string) =>
      ['bodies', 'entries', 'chunks', 'access', 'vectors'].includes(name) && !indexes.has(name)
    for (const page of pagesOf(sound, isData).filter((_, at) => at % 5 === 0)) {
      const file = copyOfSound()
      overwrite(file, page, 0, new Uint8Array(4096).fill(0xa5))
      const [pages, ...others] = examineStore(file)
      expect(pages).toMatchObject({
        check: 'pages',
        ok: false,
        isRepairable: false,
        help: expect.stringContaining('--skip-damaged'),
      })
      expect(others).toEqual([])
      const bytes = readFileSync(file)
      expect(repairStore(file, 5)).toEqual([])
      expect(readFileSync(file).equals(bytes)).toBe(true)
    }
  })
})

/** In the header of an interior page: https://www.sqlite.org/fileformat2.html, 1.6. */
const LAST_CHILD_AT = 8

function bigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}
