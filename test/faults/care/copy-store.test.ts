/** Copies of a store: whole, of one committed state, private, and never in the place of something else. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyStore } from '../../../src/store/care/copy-store.ts'
import { examineStore } from '../../../src/store/care/store-care.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { dump, makeStore, onFile } from './damaged-store.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const COPIES = LONG ? 60 : 8

let folder: TempFolder
let from: string
beforeEach(() => {
  folder = tempFolder()
  from = folder.file('store.db')
})
afterEach(() => folder[Symbol.dispose]())

const left = () => readdirSync(folder.path).filter(name => name.includes('unfinished'))

it('is the store, in one file that others cannot read', async () => {
  makeStore(from, 60)
  const reported: (readonly [number, number])[] = []
  const to = folder.file('copy.db')
  const copy = await copyStore({ from, to, report: (done, total) => reported.push([done, total]) })
  expect(copy).toEqual({ path: to, bytes: statSync(to).size, entries: 58, position: 122 })
  expect(dump(to)).toEqual(dump(from))
  expect(examineStore(to).every(({ ok }) => ok)).toBe(true)
  expect(statSync(to).mode & 0o777).toBe(0o600)
  const store = openSqliteStore({ file: to })
  expect(store.storeId).toBe('test')
  store.close()
  for (const [done, total] of reported) expect(done).toBeLessThanOrEqual(total)
  expect(left()).toEqual([])
})

it('holds what is still in the log, while the store is open', async () => {
  const store = openSqliteStore({ file: from })
  const draft = draftOf({ id: 'late', content: 'late' })
  store.write(1, writer => writer.put(draft, wholeChunk(draft)))
  expect(statSync(`${from}-wal`).size).toBeGreaterThan(0)
  expect(await copyStore({ from, to: folder.file('copy.db') })).toMatchObject({ entries: 1, position: 1 })
  store.close()
})

describe('refuses', () => {
  beforeEach(() => makeStore(from, 5))

  it.each<[string, (place: TempFolder) => string, string]>([
    ['the store itself', place => place.file('store.db'), 'invalid_argument'],
    ['the store by another name', place => link(place, 'store.db', 'alias.db'), 'invalid_argument'],
    ['the log of the store', place => place.file('store.db-wal'), 'invalid_argument'],
    ['a folder', place => place.path, 'invalid_argument'],
    ['a file that is there', place => written(place, 'there.db'), 'conflict'],
    ['a folder that is not there', place => place.file('none/copy.db'), 'io_failed'],
  ])('%s', async (_, name, code) => {
    const to = name(folder)
    const before = readFileSync(from)
    await expect(copyStore({ from, to })).rejects.toMatchObject({ code })
    if (code === 'invalid_argument') {
      await expect(copyStore({ from, to, overwrite: true })).rejects.toMatchObject({ code })
    }
    expect(readFileSync(from).equals(before)).toBe(true)
    expect(left()).toEqual([])
  })

  it('to overwrite a store that is in use or crashed: its log would be taken for the copy’s', async () => {
    const to = written(folder, 'other.db')
    writeFileSync(`${to}-wal`, 'log')
    await expect(copyStore({ from, to, overwrite: true })).rejects.toMatchObject({ code: 'conflict' })
    expect(readFileSync(to, 'utf8')).toBe('text')
  })

  it('to overwrite anything but a backup: a text, an empty file, a database of others, the store of another home (QE-017)', async () => {
    const text = written(folder, 'text.db')
    const empty = folder.file('empty.db')
    writeFileSync(empty, '')
    const database = folder.file('database.db')
    onFile(database, db => db.exec('create table mine (a); insert into mine values (1)'))
    const store = folder.file('store-of-another-home.db')
    makeStore(store, 3)
    for (const to of [text, empty, database, store]) {
      const before = readFileSync(to)
      await expect(copyStore({ from, to, overwrite: true })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('not a backup of Querent'),
      })
      expect(readFileSync(to).equals(before)).toBe(true)
    }
  })

  it('and overwrites a backup with `overwrite`', async () => {
    const to = folder.file('there.db')
    await copyStore({ from, to })
    onFile(from, db => db.exec("update entries set title = 'changed'"))
    await copyStore({ from, to, overwrite: true })
    expect(dump(to)).toEqual(dump(from))
  })

  it('leaves nothing behind when it is aborted', async () => {
    onFile(from, db => db.exec('create table filler (b blob); insert into filler values (zeroblob(30000000))'))
    const to = folder.file('copy.db')
    const stop = () => {
      throw new Error('stop')
    }
    await expect(copyStore({ from, to, report: stop })).rejects.toThrow('stop')
    expect(existsSync(to)).toBe(false)
    expect(left()).toEqual([])
  })
})

// Whoever may not raise the bound again has a disk of so many bytes, as far as the process can tell.
it.skipIf(process.platform === 'win32')('leaves nothing behind where the file cannot grow', async () => {
  makeStore(from, 300)
  const to = folder.file('copy.db')
  const module = new URL('../../../src/store/care/copy-store.ts', import.meta.url)
  const program = `import { copyStore } from '${module}'
    await copyStore({ from: '${from}', to: '${to}' }).catch(error => console.log(error.code))`
  const child = spawn(
    '/bin/sh',
    ['-c', `ulimit -f 200; exec '${process.execPath}' --input-type=module -e "$PROGRAM"`],
    {
      env: { ...process.env, PROGRAM: program },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let printed = ''
  child.stdout.on('data', part => {
    printed += String(part)
  })
  expect(await once(child, 'close')).toEqual([0, null])
  expect(printed).toBe('io_failed\n')
  expect(existsSync(to)).toBe(false)
  expect(left()).toEqual([])
})

it(`is of one committed state while two processes write (${COPIES} copies; QUERENT_LONG=1 for 60)`, async () => {
  openSqliteStore({ file: from }).close()
  const writers = ['one', 'two'].map(name => {
    const child = spawn(process.execPath, [new URL('writer-child.ts', import.meta.url).pathname, from, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const state = { name, child, acknowledged: 0 }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      state.acknowledged = Number(text.trimEnd().split('\n').at(-1))
    })
    return state
  })
  while (writers.some(({ acknowledged }) => acknowledged < 5)) await new Promise(done => setTimeout(done, 20))
  for (let at = 0; at < COPIES; at++) {
    const to = folder.file(`copy-${at}.db`)
    const before = writers.map(({ acknowledged }) => acknowledged)
    const copy = await copyStore({ from, to })
    expect(examineStore(to).filter(({ ok }) => !ok)).toEqual([])
    const ids = onFile(to, db =>
      db
        .prepare('select id from entries')
        .all()
        .map(({ id }) => String(id)),
    )
    expect(ids).toHaveLength(copy.entries)
    for (const [which, { name }] of writers.entries()) {
      const own = ids.filter(id => id.startsWith(`${name}-`))
      const acts = new Set(own.map(id => Number(id.split('-')[1])))
      // The first so many acts, each whole, and none that was acknowledged before is missing.
      expect(own).toHaveLength(acts.size * 3)
      expect(Math.max(...acts)).toBe(acts.size)
      expect(acts.size).toBeGreaterThanOrEqual(before[which] ?? 0)
    }
  }
  for (const { child } of writers) {
    const closed = once(child, 'close')
    child.stdin.write('end\n')
    expect(await closed).toEqual([0, null])
  }
})

function written(place: TempFolder, name: string): string {
  writeFileSync(place.file(name), 'text')
  return place.file(name)
}

function link(place: TempFolder, to: string, name: string): string {
  mkdirSync(place.file('links'), { recursive: true })
  symlinkSync(place.file(to), place.file(`links/${name}`))
  return place.file(`links/${name}`)
}
