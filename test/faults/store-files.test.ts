/** Files that are no store, no longer a store, or out of reach: a typed error each time, and never a changed file. */

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { QuerentError } from '../../src/model/errors.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { draftOf, lineChunks } from '../support/entries.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { Child } from './child.ts'

let folder: TempFolder
let file: string
beforeEach(() => {
  folder = tempFolder()
  file = folder.file('store.db')
})
afterEach(() => folder[Symbol.dispose]())

/** A closed store of a few pages. */
function makeStore(entries = 50): void {
  const store = openSqliteStore({ file })
  store.write(1, writer => {
    for (let at = 0; at < entries; at++) {
      const draft = draftOf({ id: `entry ${at}`, content: `line ${at}\n`.repeat(40), tags: [`tag ${at}`] })
      writer.put(draft, lineChunks(draft))
    }
  })
  store.close()
}

/** What opening and reading everything fails with, or undefined. */
function failure(readOnly = false): QuerentError | undefined {
  try {
    const store = openSqliteStore({ file, readOnly, timeoutMs: 50 })
    try {
      store.entries(store.scanEntries(0, 1e6))
      store.chunks(store.chunksWithoutVector('m', 1e6).map(chunk => chunk.key))
      store.changesSince(0, 1e6)
    } finally {
      store.close()
    }
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(QuerentError)
    return error as QuerentError
  }
}

describe('a file that is no store', () => {
  it.each<[string, () => void]>([
    ['random bytes', () => writeFileSync(file, Buffer.alloc(20_000, 'no database at all '))],
    ['a text', () => writeFileSync(file, '# Notes\n')],
    ['the database of another application', () => new DatabaseSync(file).exec('create table t (a)')],
    ['a database of another application’s id', () => new DatabaseSync(file).exec('pragma application_id = 7')],
  ])('is refused and left alone: %s', (_, make) => {
    make()
    const before = readFileSync(file)
    for (const readOnly of [false, true]) {
      expect(failure(readOnly)?.code).toBe('store_corrupt')
      expect(failure(readOnly)?.message).toContain(file)
    }
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('may be empty: then a store is made, but not by a reader', () => {
    writeFileSync(file, '')
    expect(failure(true)?.code).toBe('store_corrupt')
    expect(failure()).toBeUndefined()
    expect(failure(true)).toBeUndefined()
  })

  it('may not be there: a reader says so and makes nothing', () => {
    expect(failure(true)?.code).toBe('store_missing')
    expect(failure()).toBeUndefined()
  })

  it('may be a folder, or lie in one that is not there', () => {
    mkdirSync(file)
    expect(failure()?.code).toBe('io_failed')
    file = folder.file('no/such/folder/store.db')
    expect(failure()?.code).toBe('io_failed')
  })
})

describe('a damaged store', () => {
  it.each([50, 100, 4096, 9000, 0.3, 0.6, 0.95])('says so when cut off (at %s bytes or of its length)', at => {
    makeStore()
    const { length } = readFileSync(file)
    truncateSync(file, at < 1 ? Math.floor(length * at) : at)
    expect(failure()?.code).toBe('store_corrupt')
    expect(failure(true)?.code).toBe('store_corrupt')
  })

  it('never answers with garbage when a page is overwritten', async () => {
    makeStore()
    const sound = readFileSync(file)
    const codes = new Set<string | undefined>()
    for (let page = 1; page < sound.length / 4096; page++) {
      const damaged = Buffer.from(sound)
      damaged.fill(0xa5, page * 4096, (page + 1) * 4096)
      writeFileSync(file, damaged)
      const code = failure()?.code
      codes.add(code)
      if (code === undefined) {
        // A page of an index that reading everything does not pass: the examination must find it.
        const store = openSqliteStore({ file })
        expect(await damageIn(store), `page ${page}`).not.toEqual([])
        store.close()
      }
    }
    expect([...codes].filter(code => code !== undefined)).toEqual(['store_corrupt'])
  })
})

it('refuses a newer schema and says which', () => {
  makeStore()
  const db = new DatabaseSync(file)
  db.exec('pragma user_version = 99')
  db.close()
  const error = failure()
  expect(error?.code).toBe('store_newer')
  expect(error?.details).toMatchObject({ found: 99 })
  expect(failure(true)?.code).toBe('store_newer')
})

describe('a store that this user cannot write', () => {
  const asNobody = async (): Promise<readonly string[]> => {
    await using child = new Child('store-child.ts', import.meta.url, ['read-as-nobody', file])
    await child.end()
    return child.lines
  }
  const lock = (folderMode: number) => {
    makeStore(3)
    chmodSync(file, 0o444)
    chmodSync(folder.path, folderMode)
  }

  it('can be read, in a folder that cannot be written either', async () => {
    lock(0o555)
    expect(await asNobody()).toEqual(['reader read 3', 'reader got store_readonly', 'writer got store_readonly'])
  })

  it('can be read, in a folder that can be written', async () => {
    lock(0o777)
    expect(await asNobody()).toEqual([
      'reader read 3',
      'reader got store_readonly',
      'writer read 3',
      'writer got store_readonly',
    ])
  })

  it('is not changed by a reader', () => {
    makeStore(1)
    const before = readFileSync(file)
    const store = openSqliteStore({ file, readOnly: true })
    expect(() => store.write(1, writer => writer.setMeta('a', 'b'))).toThrow(
      expect.objectContaining({ code: 'store_readonly' }),
    )
    expect(store.meta('a')).toBeUndefined()
    store.close()
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

describe('a store that another process is writing', () => {
  it('can be opened and read, and is locked for writing until the other is done', async () => {
    makeStore(2)
    await using child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
    await child.says('holding')
    const store = openSqliteStore({ file, timeoutMs: 50 })
    expect(store.scanEntries(0, 9)).toHaveLength(2)
    const write = () => store.write(1, writer => writer.setMeta('a', 'b'))
    expect(write).toThrow(expect.objectContaining({ code: 'store_locked', retryable: true }))
    expect(write).toThrow(file)
    child.tell('release')
    await child.says('released')
    write()
    expect(store.meta('a')).toBe('b')
    store.close()
  })

  it('fails a write at once that does not want to wait', async () => {
    makeStore(1)
    await using child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
    await child.says('holding')
    // Waiting for the store's own time would end the test's.
    const store = openSqliteStore({ file, timeoutMs: 3_600_000 })
    const write = () => store.write(1, writer => writer.setMeta('a', 'b'), 20)
    expect(write).toThrow(expect.objectContaining({ code: 'store_locked' }))
    expect(write).toThrow(expect.objectContaining({ code: 'store_locked' }))
    child.tell('release')
    await child.says('released')
    write()
    expect(store.write(1, writer => store.write(1, () => writer.meta('a'), 20))).toBe('b')
    store.close()
  })

  it('shows what the other committed, and that it did', async () => {
    makeStore(0)
    const store = openSqliteStore({ file })
    const found: number[] = []
    const version = store.version()
    await using child = new Child('store-child.ts', import.meta.url, ['write', file, '40'])
    let seen = version
    let polls = 0
    while (found.length < 40 && polls++ < 20_000) {
      await new Promise(resolve => setTimeout(resolve, 1))
      if (store.version() === seen) continue
      seen = store.version()
      const changes = store.changesSince(found.length, 100)
      for (const { seq, entry } of changes) {
        expect(seq).toBe(found.length + 1)
        expect(store.entry(entry)?.content).toBe('one\ntwo')
        expect(store.chunksOf(entry)).toHaveLength(2)
        found.push(entry)
      }
    }
    await child.end()
    expect(child.lines).toEqual(found.map(key => `wrote ${key}`))
    expect(store.version()).not.toBe(version)
    store.close()
  })

  it('keeps one state for a reader that asked for it', async () => {
    makeStore(1)
    const store = openSqliteStore({ file })
    const writer = openSqliteStore({ file })
    store.read(reader => {
      expect(reader.meta('a')).toBeUndefined()
      writer.write(1, inner => inner.setMeta('a', 'b'))
      expect(reader.meta('a')).toBeUndefined()
    })
    expect(store.meta('a')).toBe('b')
    writer.close()
    store.close()
  })

  it('loses nothing when several make it and write at once', async () => {
    const children = Array.from(
      { length: 4 },
      () => new Child('store-child.ts', import.meta.url, ['write', file, '25']),
    )
    await Promise.all(children.map(child => child.end()))
    const store = openSqliteStore({ file })
    const keys = children.flatMap(child => child.lines.map(line => Number(line.split(' ')[1])))
    expect(keys.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1))
    expect(store.scanEntries(0, 1000)).toHaveLength(100)
    expect(store.lastSeq()).toBe(100)
    expect(await damageIn(store)).toEqual([])
    store.close()
  })
})

it('says so when its log cannot be looked at, so that whoever keeps it tries again', () => {
  makeStore(1)
  const store = openSqliteStore({ file })
  symlinkSync(`${file}-loop`, `${file}-loop`)
  const log = `${file}-wal`
  if (existsSync(log)) renameSync(log, `${file}-moved`)
  symlinkSync(`${file}-loop`, log)
  expect(() => store.upkeep?.log()).toThrow(expect.objectContaining({ code: 'io_failed' }))
  rmSync(log)
  if (existsSync(`${file}-moved`)) renameSync(`${file}-moved`, log)
  store.close()
})

it('opens a copy of its file taken after closing', () => {
  makeStore(3)
  const copy = folder.file('copy.db')
  copyFileSync(file, copy)
  file = copy
  expect(failure()).toBeUndefined()
})
