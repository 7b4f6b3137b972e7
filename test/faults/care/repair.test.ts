/** The doctor of a whole home: what it finds, repairs and leaves alone; who may ask; beside a process that works on. */
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Lease } from '../../../src/engine/background/lease.ts'
import type { Engine, Finding } from '../../../src/engine/engine.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { checkOf } from '../../../src/store/sqlite/rows.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { idsOf, openTestEngine } from '../../support/engines.ts'
import { querentHere } from '../../support/in-process.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { dump, onFile, overwrite, pagesOf } from './damaged-store.ts'

let folder: TempFolder
let home: string
let file: string
let snapshot: string
beforeEach(async () => {
  folder = tempFolder()
  home = folder.file('home')
  file = join(home, 'store.db')
  snapshot = join(home, 'index', 'words.snapshot')
  await withEngine(async engine => {
    const entries = Array.from({ length: 600 }, (_, at) => ({
      ...{ id: `e${at}`, content: `filler of ${at} words`, tags: [`t${at % 7}`] },
    }))
    await engine.put({ entries: [...entries, { id: 'fox', content: 'the quick fox jumps' }], wait: true })
  })
})
afterEach(() => folder[Symbol.dispose]())

async function withEngine<T>(body: (engine: Engine) => Promise<T>): Promise<T> {
  await using engine = await openTestEngine({ home, embedder: openToyEmbedder() })
  return await body(engine)
}

const wrong = (findings: readonly Finding[]) => findings.filter(({ ok }) => !ok).map(({ check }) => check)
const repairedOf = (findings: readonly Finding[]) =>
  Object.fromEntries(
    findings.filter(({ repaired }) => repaired !== null).map(({ check, repaired }) => [check, repaired]),
  )

it('changes no row of a sound store, and makes no backup of it', async () => {
  const before = dump(file)
  const answer = await withEngine(engine => engine.doctor({ repair: true }))
  expect(answer).toMatchObject({ ok: true, backup: null })
  expect(repairedOf(answer.findings)).toEqual({})
  const { meta: _, ...after } = dump(file)
  const { meta: __, ...wanted } = before
  expect(after).toEqual(wanted)
})

it('repairs the store after copying it, makes dropped vectors again, and tells so', async () => {
  const before = dump(file)
  const { ok, findings, backup, damaged } = await withEngine(async engine => {
    // What it remembers of vectors that are there is not to be trusted after a repair.
    await engine.embedded()
    onFile(file, db => {
      db.exec(`update vectors set vector = zeroblob(8) where key in (select key from vectors limit 3);
        update tallies set count = count + 5; delete from entry_tags where tag = 't3'`)
    })
    const damaged = dump(file)
    return { ...(await engine.doctor({ repair: true })), damaged }
  })
  expect(findings.filter(one => !one.ok)).toEqual([])
  expect(ok).toBe(true)
  expect(repairedOf(findings)).toEqual({
    // Those vectors are read as if they had not been made yet.
    'index vectors-toy@toy': 'built again',
    lookups: expect.stringMatching(/^wrote the lookups of \d+ entries again$/),
    'vector rows': 'dropped 3 vectors',
    tallies: expect.stringMatching(/^counted \d numbers? again$/),
  })
  expect(backup).toMatch(/store\.before-repair-2026-03-01T12-00-00-000Z\.db$/)
  expect(statSync(backup ?? '').mode & 0o777).toBe(0o600)
  const { vectors, entry_tags, tallies, bodies } = dump(file)
  expect([vectors, entry_tags, tallies, bodies]).toEqual(
    ['vectors', 'entry_tags', 'tallies', 'bodies'].map(name => before[name]),
  )
  expect(dump(backup ?? '')['tallies']).toEqual(damaged['tallies'])
})

it('copies nothing where the caller wants no copy', async () => {
  onFile(file, db => db.exec('update tallies set count = count + 5'))
  const answer = await withEngine(engine => engine.doctor({ repair: true, backup: false }))
  expect(answer).toMatchObject({ ok: true, backup: null })
})

function damageSnapshot(): Buffer {
  const bytes = readFileSync(snapshot)
  bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1
  writeFileSync(snapshot, bytes)
  return bytes
}

it('writes snapshots again that are damaged, and passes over those that are only old', async () => {
  damageSnapshot()
  // An engine that could not read one writes a new one when it closes.
  expect(wrong((await withEngine(engine => engine.doctor())).findings)).toEqual(['snapshot words'])
  damageSnapshot()
  const { ok, findings } = await withEngine(engine => engine.doctor({ repair: true }))
  expect(repairedOf(findings)).toEqual({ 'snapshot words': 'written again' })
  expect(ok).toBe(true)
  rmSync(snapshot)
  expect((await withEngine(engine => engine.doctor())).ok).toBe(true)
})

it('leaves the file of an index to another process that is writing one', async () => {
  const damaged = damageSnapshot()
  const other = openSqliteStore({ file })
  const turn = new Lease(other, 'snapshots', 'elsewhere/1/x', () => Date.now())
  await withEngine(async engine => {
    expect(await turn.take()).toBe(true)
    await engine.doctor({ repair: true })
    expect(readFileSync(snapshot).equals(damaged)).toBe(true)
    turn.release()
    expect((await engine.doctor({ repair: true })).ok).toBe(true)
    expect(readFileSync(snapshot).equals(damaged)).toBe(false)
  })
  other.close()
})

it('takes files from other users only where they could get at them', async () => {
  chmodSync(file, 0o644)
  expect((await withEngine(engine => engine.doctor())).ok).toBe(true)
  chmodSync(home, 0o755)
  const { findings } = await withEngine(engine => engine.doctor({ repair: true }))
  expect(findings.find(({ check }) => check === 'permissions')).toMatchObject({
    ok: true,
    repaired: expect.stringMatching(/^removed the access of other users to \d files?$/),
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

describe('beside another process', () => {
  it('that has the store open, repairs damaged indexes; the other one sees no change and writes on', async () => {
    const other = new DatabaseSync(file)
    expect(other.prepare('select count(*) as n from entries').get()?.['n']).toBe(601)
    other.exec('pragma wal_checkpoint(truncate)')
    const pages = pagesOf(file, name => name === 'entries_by_id')
    overwrite(file, pages[1] ?? 0, 0, new Uint8Array(64))
    const { status, stdout } = await querentHere(['doctor', '--repair', '--json'], {
      cwd: folder.path,
      env: { QUERENT_HOME: home },
    })
    expect(JSON.parse(stdout).findings.filter((one: Finding) => !one.ok && one.check !== 'vectors')).toEqual([])
    expect(repairedOf(JSON.parse(stdout).findings)).toMatchObject({ pages: 'made the indexes of entries again' })
    expect(status).toBe(0)
    expect(other.prepare('select key from entries where id = ?').get('fox')).toBeDefined()
    const check = checkOf(['other', 'wrote'])
    other.exec(`insert into meta (name, value, _check) values ('other', 'wrote', ${check})`)
    other.close()
    await withEngine(async engine => {
      expect(dump(file)['meta']).toContain(JSON.stringify(['other', 'wrote', check]))
      expect((await engine.doctor()).ok).toBe(true)
      expect(idsOf(await engine.query({ text: 'quick fox', limit: 1 }))).toEqual(['fox'])
    })
  })

  it('that keeps the store locked, says so and has done nothing', async () => {
    onFile(file, db => db.exec('update tallies set count = count + 5'))
    const before = dump(file)
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    const answer = withEngine(engine => engine.doctor({ repair: true }))
    await expect(answer).rejects.toMatchObject({ code: 'store_locked' })
    other.exec('rollback')
    other.close()
    expect(dump(file)['tallies']).toEqual(before['tallies'])
  })
})

describe('the requester', () => {
  it('is the owner, and for what writes files on this machine', async () => {
    await withEngine(async engine => {
      const ann = { viewer: { id: 'ann' } }
      const far = { viewer: LOCAL_OWNER, remote: true }
      const to = folder.file('copy.db')
      await expect(engine.backup({ to }, ann)).rejects.toMatchObject({ code: 'denied' })
      await expect(engine.backup({ to }, far)).rejects.toMatchObject({ code: 'denied' })
      await expect(engine.doctor({ repair: true }, far)).rejects.toMatchObject({ code: 'denied' })
      expect((await engine.doctor({}, far)).ok).toBe(true)
      await expect(engine.backup({ to: 'copy.db' })).rejects.toMatchObject({ code: 'invalid_argument' })
      expect(existsSync(to)).toBe(false)
      writeFileSync(join(home, 'config.json'), '{}')
      expect(await engine.backup({ to })).toMatchObject({ path: to, entries: 601, not_held: ['config.json'] })
    })
  })

  it('with a store in memory gets the advice to export', async () => {
    await using engine = await openTestEngine()
    await expect(engine.backup({ to: folder.file('copy.db') })).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await engine.doctor({ repair: true })).toMatchObject({ ok: true, backup: null })
  })
})
