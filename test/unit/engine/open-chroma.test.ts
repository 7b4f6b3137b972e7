/** Chroma on a file: several at once, settings from outside, what is put off, what is locked. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  ChromaError,
  ConfigurationError,
  DatabaseError,
  HashtagConflictError,
  PluginError,
  QueryError,
  QueryProfileError,
  StartupError,
  StorageError,
  UnknownHashtagError,
  ValidationError,
} from '../../../src/lenses/chroma/errors.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { openChroma } from '../../../src/openings/chroma.ts'
import { NEAR, openWorld, TAGS } from '../../support/open-chroma-world.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'querent-chroma-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

describe('an engine', () => {
  it('CQ-047, CQ-095: refuses options that there are not, naming them', async () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    for (const [name, value] of Object.entries({ sigma: 20, query_config: {}, gravityConfig: circle, now: 5 })) {
      const opened = openChroma({ store: 'memory', [name]: value })
      await expect(opened).rejects.toThrow(ConfigurationError)
      await expect(opened).rejects.toMatchObject({ code: 'invalid_configuration', details: { key: name } })
    }
    await expect(openChroma({ store: 'memory', queryConfig: { defaultK: 5n as never } })).rejects.toThrow(
      ConfigurationError,
    )
  })

  it('CQ-002, CQ-105: that is closed says so to whoever goes on asking', async () => {
    const { chroma } = await openWorld()
    const other = chroma.as({ id: 'ann' })
    await chroma.close()
    for (const ask of [() => chroma.query(TAGS), () => chroma.getNode('a'), () => other.query('a text')]) {
      await expect(ask()).rejects.toThrow(StorageError)
      await expect(ask()).rejects.toMatchObject({ code: 'store_closed' })
    }
    expect(() => chroma.listHashtags()).toThrow(StorageError)
    await chroma.close()
  })
})

describe('two engines on one store', () => {
  it('CQ-008, CQ-100: neither serves what the other has changed', async () => {
    await using one = await openWorld({ store: undefined, home })
    await using two = await openChroma({ home, background: false, now: () => one.now })
    const id = await one.node({ metadata: { year: 1 } })
    const ask = async () => (await two.query(TAGS, { metadataFilters: { year: { $gte: 1 } }, updateAccess: false }))[0]
    expect(await ask()).toMatchObject({ label: 'A node', metadata: { year: 1 }, access_count: 0 })
    await one.chroma.updateNode(id, { label: 'New', metadata: { year: 2 } })
    expect(await ask()).toMatchObject({ label: 'New', metadata: { year: 2 } })
    await one.chroma.query(TAGS)
    expect(await ask()).toMatchObject({ access_count: 1 })
    await one.chroma.migrateHashtag('m5', { anchorId: 6002 })
    expect(await ask()).toMatchObject({ color_L: one.chroma.computeNodeColor(TAGS)[0], distance: 0 })
    await one.chroma.markRotten(id)
    expect(await ask()).toBeUndefined()
    expect(await two.query(TAGS, { includeRotten: true })).toHaveLength(1)
    expect((await one.chroma.query(TAGS))[0]).toMatchObject({ access_count: 2 })
    await one.chroma.deleteNode(id)
    expect(await ask()).toBeUndefined()
  })

  it('CQ-033, CQ-128: everything is there after opening again', async () => {
    const document = await (async () => {
      await using world = await openWorld({ store: undefined, home })
      await world.node()
      await world.node({ hashtags: NEAR })
      await world.chroma.query(TAGS, { k: 1 })
      return world.chroma.exportNodes()
    })()
    await using again = await openChroma({ home, background: false, now: () => document.exported_at })
    expect(await again.exportNodes()).toEqual(document)
    expect(again.resolveHashtag('M0')?.anchor_id).toBe(1001)
  })

  it('CQ-106: a store that stays locked is a DatabaseError that can be tried again', async () => {
    await using world = await openWorld({ store: undefined, home })
    const lock = new DatabaseSync(join(home, 'store.db'))
    // The driver waits too; here it is the retries that are looked at.
    const host = world.chroma.engine.host('chroma')
    const write = vi.spyOn(host.store, 'write').mockImplementation(() => {
      throw new QuerentError('store_locked', 'locked')
    })
    const failed = await world.node().catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(DatabaseError)
    expect(failed).toMatchObject({ details: { retryable: true, attempts: 5 } })
    expect(write).toHaveBeenCalledTimes(5)
    write.mockRestore()
    lock.close()
    await expect(world.node()).resolves.toBeTypeOf('string')
  })
})

describe('queued accesses', () => {
  it('CQ-103: are written by flush and by close', async () => {
    const options = { store: undefined, home, accessUpdates: 'queued' } as const
    let id = ''
    {
      await using world = await openWorld(options)
      id = await world.node()
      await world.chroma.query(TAGS)
      expect((await world.chroma.getNode(id))?.access_count).toBe(0)
      await world.chroma.flush()
      expect((await world.chroma.getNode(id))?.access_count).toBe(1)
      await world.chroma.query(TAGS)
    }
    await using again = await openChroma({ home, background: false })
    expect((await again.getNode(id))?.access_count).toBe(2)
  })
})

describe('settings from outside', () => {
  it('CQ-096: configuration file, then environment, then constructor', async () => {
    writeFileSync(join(home, 'config.json'), JSON.stringify({ lenses: { chroma: { query: { default_k: 1 } } } }))
    const k = async (options = {}) => {
      await using world = await openWorld({ store: undefined, home, ...options })
      return (await world.chroma.queryDetailed(TAGS)).query.k
    }
    expect(await k()).toBe(1)
    vi.stubEnv('CHROMA_QUERY_DEFAULT_K', '7')
    expect(await k()).toBe(7)
    expect(await k({ queryConfig: { defaultK: 9 } })).toBe(9)
    vi.stubEnv('CHROMA_QUERY_DEFAULT_K', 'seven')
    await expect(k()).rejects.toBeInstanceOf(ConfigurationError)
  })

  it('CQ-097: a path of the store of its own, or memory', async () => {
    const dbPath = join(home, 'own.db')
    const storageConfig = { dbPath, cacheSizeMb: 8, walMode: false }
    {
      await using world = await openWorld({ store: undefined, storageConfig })
      await world.node()
    }
    const db = new DatabaseSync(dbPath, { readOnly: true })
    expect(db.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'delete' })
    expect(db.prepare('select count(*) as n from entries').get()).toEqual({ n: 1 })
    db.close()
    await using memory = await openWorld({ store: undefined, storageConfig: { dbPath: ':memory:' } })
    expect(await memory.chroma.query(TAGS)).toEqual([])
  })
})

describe('CQ-105: errors', () => {
  const tree: readonly [Error, readonly (abstract new (...args: never[]) => Error)[]][] = [
    [new ValidationError('x', 'x'), [ChromaError]],
    [new UnknownHashtagError(['#x']), [ValidationError, ChromaError]],
    [new HashtagConflictError('x', 'x'), [ValidationError, ChromaError]],
    [new QueryError('x', 'x'), [ChromaError]],
    [new QueryProfileError('x', 'x'), [QueryError, ChromaError]],
    [new StorageError('x', 'x'), [ChromaError]],
    [new DatabaseError('x', { retryable: true, attempts: 5 }), [StorageError, ChromaError]],
    [new PluginError('x', 'x'), [ChromaError]],
    [new StartupError('x', 'x'), [PluginError, ChromaError]],
    [new ConfigurationError('x', 'x'), [ChromaError]],
  ]

  it.each(tree)('%s is of its families, with name, code, message and details', (error, families) => {
    for (const family of [...families, QuerentError]) expect(error).toBeInstanceOf(family)
    expect(error.name).toBe(error.constructor.name)
    expect(error).toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) })
    expect(JSON.parse(JSON.stringify((error as QuerentError).details))).toEqual((error as QuerentError).details)
  })

  it('keep what caused them', () => {
    const cause = new TypeError('why')
    expect(new QueryProfileError('x', 'x', {}, cause).cause).toBe(cause)
  })
})
