/**
 * Real disks: one of six megabytes that fills up while an engine lives on it and then has space again, and one that is
 * mounted for reading only. Only where this user may mount.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { QuerentError } from '../../src/model/errors.ts'
import { idsOf, openTestEngine } from '../support/engines.ts'
import { querentHere } from '../support/in-process.ts'
import { seededUniform } from '../support/seeded.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { contentsOf, differences } from './io/rebuilt.ts'

const NO_MOUNT: string | null = reason()

/** Two kilobytes of words that no other has in this order. */
function textOf(id: string): string {
  const uniform = seededUniform([...id].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 7))
  return `${id}: a quick fox ${Array.from({ length: 250 }, () => `w${Math.floor(uniform() * 3_000)}`).join(' ')}`
}

/** Why there can be no disk of a test's own, in words for its name. */
function reason(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'skipped: only root may mount'
  const folder = tempFolder()
  try {
    mount(folder.path)
    unmount(folder.path)
    return null
  } catch {
    return 'skipped: mounting is not allowed here'
  } finally {
    folder[Symbol.dispose]()
  }
}

function mount(path: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'none', path], { stdio: 'ignore' })
}

function unmount(path: string): void {
  execFileSync('umount', ['-l', path], { stdio: 'ignore' })
}

/** A folder that is a disk; gone with the test. */
function disk(): TempFolder {
  const folder = tempFolder()
  mount(folder.path)
  onTestFinished(() => {
    // Lazily: what a failed test left open goes with it.
    unmount(folder.path)
    folder[Symbol.dispose]()
  })
  return folder
}

describe.skipIf(NO_MOUNT !== null)(`a disk${NO_MOUNT === null ? '' : ` (${NO_MOUNT})`}`, () => {
  it('that is full keeps nobody from asking, loses nothing, and is written again once it has space', async () => {
    const folder = disk()
    const home = folder.file('home')
    writeFileSync(folder.file('ballast'), Buffer.alloc(2_000_000))
    const engine = await openTestEngine({ home, embedder: openToyEmbedder() })
    onTestFinished(() => engine.close())
    // With the first question a secret is made that signs cursors; later the disk would not take it.
    await engine.query({ text: 'fox' })
    const written: string[] = []
    const put = async (id: string) => {
      await engine.put({ entries: [{ id, content: textOf(id) }], wait: true })
      written.push(id)
    }
    const refused = await (async () => {
      for (let at = 0; at < 5_000; at++) await put(`e${at}`)
    })().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(QuerentError)
    expect(refused).toMatchObject({ code: 'io_failed', message: expect.stringContaining('full') })
    expect(written.length).toBeGreaterThan(20)

    const page = await engine.query({ text: 'quick fox', limit: 5, timeout_ms: 60_000 })
    expect(page.items).toHaveLength(5)
    expect((await engine.get({ id: written.at(-1) as string })).content).toContain('fox')
    await expect(put('no room')).rejects.toMatchObject({ code: 'io_failed' })

    rmSync(folder.file('ballast'))
    await put('room again')
    await engine.embedded()
    expect(idsOf(await engine.query({ text: 'room again', limit: 1, any: true }))).toEqual(['room again'])
    expect([...(await contentsOf(engine)).keys()].sort()).toEqual(written.toSorted())
    expect(await differences(engine, join(home, 'store.db'))).toEqual([])
    // That there is little room it says rightly.
    expect((await engine.doctor()).findings.filter(({ ok, check }) => !ok && check !== 'disk')).toEqual([])
  })

  it('without a byte left lets no home be made, and says so', async () => {
    const folder = disk()
    expect(() => writeFileSync(folder.file('ballast'), Buffer.alloc(7_000_000))).toThrow('ENOSPC')
    const refused = await openTestEngine({ home: folder.file('home') }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'io_failed' })
    const env = { QUERENT_HOME: folder.file('home') }
    const { status, stderr } = await querentHere(['init', '--home', folder.file('home')], { cwd: '/', env })
    expect([status, stderr.split('\n').length]).toEqual([1, 3])
  })

  it.each([true, false])('that is mounted for reading only can be asked (closed before: %s)', async closed => {
    const folder = disk()
    const home = folder.file('home')
    const writer = await openTestEngine({ home })
    await writer.put({ entries: [{ id: 'fox', content: 'the quick fox' }] })
    if (closed) await writer.close()
    const before = new Map(
      readdirSync(home).map(name => [name, name === 'index' ? '' : readFileSync(join(home, name))]),
    )
    if (!closed) {
      // As a killed process leaves it: its log lies beside the file, and no process has it open.
      const copy = folder.file('copy')
      mkdirSync(join(copy, 'index'), { recursive: true })
      for (const [name, bytes] of before) if (name !== 'index') writeFileSync(join(copy, name), bytes)
      await writer.close()
      rmSync(home, { recursive: true })
      execFileSync('mv', [copy, home])
    }
    execFileSync('mount', ['-o', 'remount,ro', folder.path])
    // Told at opening, or with the first write, which SQLite's own log makes possible to come to.
    const write = async () => {
      await using opened = await openTestEngine({ home })
      await opened.put({ entries: [{ content: 'x' }] })
    }
    await expect(write()).rejects.toMatchObject({ code: 'store_readonly' })
    await using reader = await openTestEngine({ home, readOnly: true })
    expect(idsOf(await reader.query({ text: 'quick fox' }))).toEqual(['fox'])
    await expect(reader.put({ entries: [{ content: 'x' }] })).rejects.toMatchObject({ code: 'store_readonly' })
    const put = await querentHere(['delete', 'fox'], { cwd: '/', env: { QUERENT_HOME: home } })
    expect(put).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^querent: .*read-?only/) })
    expect(put.stderr.trimEnd().split('\n')).toHaveLength(closed ? 3 : 2)
  })

  it('mounted for reading only is read by the command, which says so', async () => {
    const folder = disk()
    const home = folder.file('home')
    const env = { QUERENT_HOME: home, QUERENT_EMBEDDER: 'none' }
    const run = (...args: string[]) => querentHere(args, { cwd: '/', env })
    await using writer = await openTestEngine({ home })
    await writer.put({ entries: [{ id: 'fox', content: 'a quick fox' }] })
    await writer.close()
    execFileSync('mount', ['-o', 'remount,ro', folder.path])
    const elsewhere = tempFolder()
    onTestFinished(() => elsewhere[Symbol.dispose]())
    const commands = [
      ['status'],
      ['query', 'fox'],
      ['get', 'fox'],
      ['list'],
      ['export'],
      ['backup', elsewhere.file('copy.db')],
    ]
    for (const command of commands) {
      const { status, stdout, stderr } = await run(...command)
      expect([command[0], status, stderr.split('\n')[0]]).toEqual([
        command[0],
        0,
        expect.stringContaining('the home is read-only here'),
      ])
      expect(stdout).not.toBe('')
    }
    const { stdout } = await run('doctor')
    // There is hardly any room on a disk this small.
    expect([stdout.includes('ok   pages'), stdout.match(/^FAIL .*?:/gm)]).toEqual([true, ['FAIL disk:']])
    expect(await run('delete', 'fox')).toMatchObject({ status: 1, stdout: '' })
    const remembered = await run('remember', 'a lazy dog')
    expect(remembered).toMatchObject({ status: 1, stdout: '' })
    expect(remembered.stderr.split('\n')[0]).toBe(
      `querent: home: this user cannot write to ${join(home, 'store.db')}, so nothing is stored; --home names another store`,
    )
  })
})
