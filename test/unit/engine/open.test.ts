/** Opening and closing: homes, settings, what is refused, and that engines have nothing in common. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Embedder } from '../../../src/embed/embedder.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { EngineOptions } from '../../../src/engine/options.ts'
import type { Lens } from '../../../src/lenses/lens.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { idsOf, openTestEngine } from '../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

let folder: TempFolder
beforeEach(() => {
  folder = tempFolder()
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
})
afterEach(() => {
  vi.unstubAllEnvs()
  folder[Symbol.dispose]()
})

/** Opens and closes; the code and message it failed with, or `opened`. */
async function opening(options: EngineOptions): Promise<string> {
  try {
    await (await openEngine({ background: false, ...options })).close()
    return 'opened'
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return `${code}: ${message}`
  }
}

describe('the home', () => {
  it('is made where it is named', async () => {
    expect(await opening({ home: folder.file('new') })).toBe('opened')
    expect(readdirSync(folder.file('new')).sort()).toEqual(['.gitignore', 'index', 'store.db'])
  })

  it('is for its user alone and out of version control; a folder that was there stays as it is', async () => {
    await opening({ home: folder.file('deep/new') })
    expect(statSync(folder.file('deep/new')).mode & 0o777).toBe(0o700)
    expect(readFileSync(folder.file('deep/new/.gitignore'), 'utf8')).toBe('*\n')
    mkdirSync(folder.file('mine'), { mode: 0o755 })
    await opening({ home: folder.file('mine') })
    expect(statSync(folder.file('mine')).mode & 0o077).not.toBe(0)
    expect(existsSync(folder.file('mine/.gitignore'))).toBe(false)
  })

  it('is not made by a reader, nor against a wish', async () => {
    const home = folder.file('typo')
    expect(await opening({ home, readOnly: true })).toMatch(/^store_missing: .*typo/)
    expect(await opening({ home, create: false })).toMatch(/^store_missing: /)
    expect(existsSync(home)).toBe(false)
  })

  it('that QUERENT_HOME names must be there', async () => {
    vi.stubEnv('QUERENT_HOME', folder.file('gone'))
    expect(await opening({})).toMatch(/^store_missing: home: no store in .*gone; run `querent init --home /)
    await opening({ home: folder.file('gone') })
    expect(await opening({})).toBe('opened')
  })

  it('cannot be a file', async () => {
    writeFileSync(folder.file('file'), '')
    expect(await opening({ home: folder.file('file') })).toMatch(/^io_failed: home: cannot make .*file/)
  })
})

describe('the settings', () => {
  const withFile = async (text: string, options: EngineOptions = {}) => {
    mkdirSync(folder.file('home'), { recursive: true })
    writeFileSync(folder.file('home/config.json'), text)
    return opening({ home: folder.file('home'), ...options })
  }

  it.each<[string, string, RegExp]>([
    ['is no JSON', '{"embedder":', /^invalid_json: config\.json: /],
    ['is empty', '', /^invalid_json: config\.json: /],
    ['is a list', '[]', /^invalid_argument: config\.json: expected a value of type object/],
    ['has an unknown key', '{"embeder": {"provider": "none"}}', /^unknown_field: config\.json: embeder: /],
    [
      'has an unknown provider',
      '{"embedder": {"provider": "magic"}}',
      /^invalid_argument: config\.json: embedder\.provider: /,
    ],
    [
      'has an unknown key deeper',
      '{"embedder": {"provider": "none", "x": 1}}',
      /^unknown_field: config\.json: embedder\.x: /,
    ],
    [
      'wants another durability',
      '{"durability": "maximal"}',
      /^invalid_argument: config\.json: durability: expected one of normal, full/,
    ],
    ['names a lens that there is not', '{"default_lens": "nope"}', /^unknown_lens: /],
    [
      'names a key that is not set',
      '{"embedder": {"provider": "openai", "model": "m", "apiKeyEnv": "NO_KEY"}}',
      /^invalid_argument: apiKeyEnv: /,
    ],
  ])('are refused when config.json %s', async (_, text, message) => {
    vi.stubEnv('QUERENT_EMBEDDER', undefined)
    expect(await withFile(text)).toMatch(message)
  })

  it('leave a store unharmed when they are refused, and take effect when they are repaired', async () => {
    const home = folder.file('home')
    await using first = await openTestEngine({ home })
    await first.put({ entries: [{ id: 'kept', content: 'kept' }] })
    await first.close()
    expect(await withFile('{"default_lens": "nope"}')).toMatch(/^unknown_lens/)
    expect(await withFile('{"default_lens": "default"}')).toBe('opened')
    await using again = await openTestEngine({ home })
    expect((await again.get({ id: 'kept' })).content).toBe('kept')
  })

  it.each<[string, string, RegExp]>([
    ['QUERENT_EMBEDDER', 'magic', /^invalid_argument: QUERENT_EMBEDDER: provider: /],
    ['QUERENT_DURABILITY', 'maximal', /^invalid_argument: QUERENT_DURABILITY: /],
    ['QUERENT_LENS', 'nope', /^unknown_lens: /],
  ])('are refused when %s is %s', async (name, value, message) => {
    vi.stubEnv(name, value)
    expect(await opening({ home: folder.path })).toMatch(message)
  })

  it.each(['QUERENT_EMBEDDER', 'QUERENT_DURABILITY', 'QUERENT_LENS', 'QUERENT_HOME'])(
    'are as without it when %s is empty',
    async name => {
      await opening({ home: folder.file('.querent') })
      vi.spyOn(process, 'cwd').mockReturnValue(folder.path)
      vi.stubEnv(name, '')
      expect(await opening({ create: false })).toBe('opened')
      vi.restoreAllMocks()
    },
  )

  it('of the caller are checked too', async () => {
    expect(await opening({ home: folder.path, embedder: { provider: 'magic' } as never })).toMatch(
      /^invalid_argument: /,
    )
    expect(await opening({ home: folder.path, defaultLens: 'nope' })).toMatch(/^unknown_lens: /)
  })

  it('that refuse an engine close what was opened for it', async () => {
    const closed: string[] = []
    const embedder: Embedder = {
      ...openToyEmbedder(),
      close: async () => {
        closed.push('embedder')
      },
    }
    const inner = openMemoryStore()
    const store = Object.assign(Object.create(inner), { close: () => closed.push('store') })
    expect(await opening({ store, embedder, defaultLens: 'nope' })).toMatch(/^unknown_lens: /)
    expect(closed.sort()).toEqual(['embedder', 'store'])
  })
})

describe('two engines in one process', () => {
  it('share nothing', async () => {
    await using one = await openTestEngine({ home: folder.file('one') })
    await using two = await openTestEngine({ home: folder.file('two') })
    await one.put({ entries: [{ id: 'a', content: 'a fox' }] })
    await two.put({ entries: [{ id: 'b', content: 'b fox' }] })
    expect(idsOf(await one.query({ text: 'fox' }))).toEqual(['a'])
    expect(idsOf(await two.query({ text: 'fox' }))).toEqual(['b'])
    const cursor = (await one.list({ limit: 1 })).cursor
    expect(cursor).toBeNull()
    await one.close()
    expect(idsOf(await two.query({ text: 'fox' }))).toEqual(['b'])
  })

  it('in memory neither, and one’s cursor is nothing to the other', async () => {
    const random = (bytes: number) => new Uint8Array(bytes).fill(7)
    await using one = await openTestEngine()
    await using two = await openTestEngine({ random })
    for (const engine of [one, two]) {
      await engine.put({ entries: ['a', 'b'].map(id => ({ id, content: `${id} fox` })) })
    }
    const { cursor } = await one.query({ text: 'fox', limit: 1 })
    await expect(two.query({ text: 'fox', limit: 1, cursor: cursor as string })).rejects.toMatchObject({
      code: 'cursor_invalid',
    })
    await one.delete({ ids: ['a'] })
    expect((await two.list({})).total).toBe(2)
  })
})

describe('a closed engine', () => {
  it('refuses everything, and may be closed again', async () => {
    const engine = await openTestEngine({ embedder: openToyEmbedder() })
    await engine.put({ entries: [{ id: 'a', content: 'a fox' }] })
    const host = engine.host('default')
    await engine.close()
    await engine.close()
    const drain = async () => {
      for await (const line of engine.export()) throw new Error(`a line: ${line.type}`)
    }
    const calls: readonly (() => unknown)[] = [
      () => engine.query({ text: 'fox' }),
      () => engine.query(undefined as never),
      () => engine.explain({ query: { text: 'fox' }, id: 'a' }),
      () => engine.similar({ id: 'a' }),
      () => engine.get({ id: 'a' }),
      () => engine.list({}),
      () => engine.put({ entries: [{ content: 'b' }] }),
      () => engine.add({ paths: [folder.path] }),
      () => engine.delete({ ids: ['a'] }),
      () => engine.status(),
      () => engine.doctor(),
      () => engine.import(lines()),
      () => engine.embedded(),
      drain,
      () => host.query({ text: 'fox' }, { viewer: { id: 'owner' }, signal: new AbortController().signal }),
      () => host.accessScope({ id: 'owner' }),
      () => host.index('words'),
      () => engine.host('default'),
    ]
    for (const [at, call] of calls.entries()) {
      const refused = (async () => call())()
      await expect(refused, `call ${at}`).rejects.toMatchObject({ message: 'engine: it is closed; open it again' })
    }
  })

  it('does not leave a question without an answer', async () => {
    const embedder = openToyEmbedder()
    let answer: (() => void) | undefined
    const slow: Embedder = {
      ...embedder,
      embed: async (texts, kind, signal) => {
        await new Promise<void>(resolve => {
          answer = resolve
        })
        return embedder.embed(texts, kind, signal)
      },
    }
    const engine = await openTestEngine({ home: folder.path, embedder: slow })
    const asked = engine.query({ text: 'fox' })
    await engine.close()
    answer?.()
    await expect(asked).rejects.toMatchObject({ message: 'engine: it is closed; open it again' })
  })
})

async function* lines(): AsyncGenerator<unknown> {
  yield { type: 'querent', version: 1 }
}

describe('a lens', () => {
  it('that comes twice, or has a bad name, is refused', async () => {
    const lens = (name: string): Lens => ({ name, summary: 'a lens' })
    expect(await opening({ store: 'memory', lenses: [lens('toy'), lens('toy')] })).toMatch(/^\w+: .*toy/)
    expect(await opening({ store: 'memory', lenses: [lens('default')] })).toMatch(/^\w+: .*default/)
    expect(await opening({ store: 'memory', lenses: [lens('Toy lens')] })).toMatch(/^\w+: .*Toy lens/)
  })
})

describe('a reader', () => {
  it('answers and writes nothing', async () => {
    const home = folder.file('home')
    await using writer = await openTestEngine({ home })
    await writer.put({
      entries: [
        { id: 'a', content: 'the quick fox' },
        { id: 'b', content: 'a slow fox' },
      ],
    })
    await writer.close()
    const before = contents(home)
    const reader = await openTestEngine({ home, readOnly: true, background: true, embedder: openToyEmbedder() })
    const page = await reader.query({ text: 'quick fox', limit: 1 })
    expect(idsOf(page)).toEqual(['a'])
    expect(idsOf(await reader.query({ text: 'quick fox', limit: 1, cursor: page.cursor as string }))).toEqual(['b'])
    expect((await reader.list({})).total).toBe(2)
    expect((await reader.similar({ id: 'a' })).items.length).toBe(1)
    expect((await reader.status()).entries).toBe(2)
    expect((await reader.get({ id: 'a' })).access).toBeNull()
    for (const write of [() => reader.put({ entries: [{ content: 'x' }] }), () => reader.delete({ ids: ['a'] })]) {
      await expect(write()).rejects.toMatchObject({ code: 'store_readonly' })
    }
    await reader.embedded()
    await reader.close()
    expect(contents(home)).toEqual(before)
  })
})

/** But SQLite's own locks, which a reader writes too. */
function contents(home: string): unknown {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter(file => file.isFile() && !/-(wal|shm)$/.test(file.name))
    .map(file => [file.name, readFileSync(join(file.parentPath, file.name)).toString('base64')])
    .sort()
}
