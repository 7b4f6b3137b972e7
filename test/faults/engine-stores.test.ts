/** Stores that cannot be opened, written or trusted, as the engine and the command tell of them: one clear line. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { QuerentError } from '../../src/model/errors.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { idsOf, openTestEngine } from '../support/engines.ts'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { Child } from './child.ts'

let folder: TempFolder
let home: string
let file: string
beforeEach(async () => {
  folder = tempFolder()
  home = folder.file('home')
  file = join(home, 'store.db')
  const engine = await openTestEngine({ home })
  const entries = Array.from({ length: 30 }, (_, at) => ({
    id: `e${at}`,
    content: `a filler of ${at} words `.repeat(30),
  }))
  await engine.put({ entries: [...entries, { id: 'fox', content: 'the quick fox jumps' }] })
  await engine.close()
})
afterEach(() => folder[Symbol.dispose]())

const run = (...args: string[]) => querentHere(args, { cwd: folder.path, env: { QUERENT_HOME: home } })

describe('a store that cannot be trusted', () => {
  const truncate = (share: number) => () => truncateSync(file, Math.floor(statSync(file).size * share))
  const setVersion = () => {
    const db = new DatabaseSync(file)
    db.exec('pragma user_version = 99')
    db.close()
  }

  it.each<[string, () => void, string, RegExp]>([
    ['cut short', truncate(0.5), 'store_corrupt', /^querent: .*store\.db: damaged, or not a store/],
    ['cut to its head', truncate(0.01), 'store_corrupt', /^querent: .*store\.db: damaged, or not a store/],
    ['that is a text', () => writeFileSync(file, '# Notes\n'.repeat(99)), 'store_corrupt', /^querent: .*not a store/],
    ['of a newer version', setVersion, 'store_newer', /^querent: .*99[\s\S]*Update querent/],
  ])('%s is refused, by every command and in one line', async (_, harm, code, message) => {
    harm()
    const before = readFileSync(file)
    for (const readOnly of [false, true]) {
      const error = await openTestEngine({ home, readOnly }).catch((cause: unknown) => cause)
      expect(error).toBeInstanceOf(QuerentError)
      expect((error as QuerentError).code).toBe(code)
    }
    const [asked, examined] = await Promise.all([run('query', 'fox'), run('doctor', '--json')])
    expect(asked).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(message) })
    expect(asked.stderr.trimEnd().split('\n')).toHaveLength(2)
    expect(examined).toMatchObject({ status: 1, stderr: '' })
    const { ok, findings } = JSON.parse(examined.stdout)
    expect(ok).toBe(false)
    expect(findings[0]).toMatchObject({ check: 'opening', ok: false, help: expect.any(String) })
    expect(findings[1]).toMatchObject({ check: 'file', ok: false, help: expect.any(String) })
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('because of any one page gives the right answer or says that it is damaged', async () => {
    const sound = readFileSync(file)
    const ask = async () => {
      const engine = await openTestEngine({ home, readOnly: true })
      try {
        const page = await engine.query({ text: 'quick fox', touch: false })
        const list = await engine.list({ limit: 100, order: 'id' })
        return JSON.stringify([page, list, await engine.get({ id: 'fox' })])
      } finally {
        await engine.close()
      }
    }
    const right = await ask()
    const outcomes = new Set<string>()
    for (let page = 0; page < sound.length / 4096; page++) {
      const damaged = Buffer.from(sound)
      damaged.fill(0xa5, page * 4096, (page + 1) * 4096)
      writeFileSync(file, damaged)
      const outcome = await ask().catch((error: unknown) => (error as QuerentError).code ?? String(error))
      outcomes.add(outcome === right ? 'right' : outcome)
    }
    expect([...outcomes].sort()).toEqual(['right', 'store_corrupt'])
  })
})

describe('a store that this user cannot write', () => {
  const asNobody = async () => {
    await using child = new Child('engine-child.ts', import.meta.url, ['ask-as-nobody', home])
    await child.end()
    return child.lines
  }

  it.each([0o555, 0o755])('can be asked by a reader (mode of the folder %i)', async mode => {
    chmodSync(folder.path, 0o755)
    chmodSync(file, 0o444)
    chmodSync(home, mode)
    expect(await asNobody()).toEqual(['writer got store_readonly', 'reader found fox', 'reader closed'])
  })
})

describe('a home that has lost its store', () => {
  it.each(['gone', 'empty'])('is not begun again over its snapshots (%s)', async how => {
    const lost = folder.file(`lost-${how}`)
    mkdirSync(join(lost, 'index'), { recursive: true })
    writeFileSync(join(lost, 'index', 'words.snapshot'), 'something')
    if (how === 'empty') writeFileSync(join(lost, 'store.db'), '')
    await expect(openTestEngine({ home: lost })).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringMatching(new RegExp(`store.db is ${how} .* Put a backup there .* or remove the folder`)),
    })
    expect(existsSync(join(lost, 'store.db'))).toBe(how === 'empty')
    const { status, stderr } = await querentHere(['status'], { cwd: '/', env: { QUERENT_HOME: lost } })
    expect([status, stderr]).toEqual([1, expect.stringContaining(`store.db is ${how}`)])
    rmSync(join(lost, 'index'), { recursive: true })
    await using engine = await openTestEngine({ home: lost })
    expect((await engine.status()).entries).toBe(0)
  })
})

it('a disk that is full keeps nobody from asking', async () => {
  const inner = openSqliteStore({ file })
  const write = () => {
    throw new QuerentError('io_failed', 'store.db: database or disk is full')
  }
  const store = new Proxy(inner, {
    get: (_, name) => {
      const value = name === 'write' || name === 'writeWhenFree' ? write : Reflect.get(inner, name, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
  const engine = await openTestEngine({ store })
  expect(idsOf(await engine.query({ text: 'quick fox', limit: 1 }))).toEqual(['fox'])
  expect((await engine.list({ limit: 1 })).cursor).not.toBeNull()
  await expect(engine.put({ entries: [{ content: 'x' }] })).rejects.toMatchObject({ code: 'io_failed' })
  await engine.close()
})

describe('a store that another process keeps locked', () => {
  const openLocked = () =>
    openTestEngine({ store: openSqliteStore({ file, timeoutMs: 30 }), embedder: openToyEmbedder() })

  it('is still asked; what writes says that it is locked, and works when tried again', async () => {
    await using child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
    await child.says('holding')
    const engine = await openLocked()
    expect(idsOf(await engine.query({ text: 'quick fox' }))[0]).toBe('fox')
    expect((await engine.list({})).total).toBe(31)
    expect((await engine.get({ id: 'fox' })).access).toBeNull()
    expect((await engine.status()).entries).toBe(31)
    const writes: readonly (() => Promise<unknown>)[] = [
      () => engine.put({ entries: [{ id: 'new', content: 'new' }] }),
      () => engine.delete({ ids: ['fox'] }),
      () => engine.embedded(),
    ]
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'store_locked', retryable: true })
    child.tell('release')
    await child.says('released')
    await engine.embedded()
    for (const write of writes) await write()
    expect(await engine.status()).toMatchObject({ entries: 31, chunks: 31 })
    await engine.close()
  })

  it('lets an engine go', async () => {
    const engine = await openLocked()
    await engine.put({ entries: Array.from({ length: 600 }, (_, at) => ({ id: `n${at}`, content: `new ${at}` })) })
    await using child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
    await child.says('holding')
    await engine.close()
  })

  it('by the command: asking answers, adding ends with 1 and one line', async () => {
    await using child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
    await child.says('holding')
    const [asked, put] = await Promise.all([run('query', 'quick', 'fox', '--json'), run('delete', 'fox')])
    expect(asked).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(asked.stdout).items[0].id).toBe('fox')
    expect(put).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^querent: .*another process/) })
  })
})
