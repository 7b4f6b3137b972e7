/** Writing beliefs: versions, tombstones, links, ids (BQ-001 to BQ-005, BQ-011, BQ-013, BQ-031). */
import { afterAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../../../../src/base/canonical.ts'
import { showBelief, sourceOfSeen } from '../../../../../src/lenses/beliefs/access/show.ts'
import type { Belief } from '../../../../../src/lenses/beliefs/model.ts'
import { currentOf, historyOf, versionOfId } from '../../../../../src/lenses/beliefs/record/read.ts'
import { BELIEFS_TABLES, VERSIONS } from '../../../../../src/lenses/beliefs/tables.ts'
import { embeddedText } from '../../../../../src/model/entry.ts'
import { audience } from '../../../../../src/model/partition.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { contentsOf } from '../../../../support/contents.ts'
import { draftOf, wholeChunk } from '../../../../support/entries.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { openToyEmbedder, TOY_KEY, toyVector } from '../../../../support/toy-embedder.ts'
import { makeWorld, NOW, type World } from './world.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
let files = 0

const STORES: readonly [string, () => Store][] = [
  ['memory', openMemoryStore],
  ['SQLite', () => openSqliteStore({ file: folder.file(`${++files}.db`) })],
]

function shown(world: World, requester: string, id: string, past = false): Belief | undefined {
  return world.look(requester, view => {
    const seen = versionOfId(view, id, past)
    const source = seen && sourceOfSeen(view, seen)
    return seen && source ? showBelief(view, seen, source) : undefined
  })
}

function history(world: World, requester: string, holder: string, chain: string): readonly string[] {
  return world.look(requester, view => historyOf(view, holder, chain).map(({ version }) => version.id))
}

function allOf(store: Store): unknown {
  return contentsOf(store, [TOY_KEY], BELIEFS_TABLES, ['beliefs.secret'])
}

describe.each(STORES)('in %s', (_, open) => {
  it('BQ-001, BQ-013: a belief has every field of the record', () => {
    const world = makeWorld(open())
    world.put('ann', { id: 'a', content: 'Tea is hot.', domains: ['Food:Tea'] })
    expect(shown(world, 'ann', 'a')).toEqual({
      id: 'a',
      version: 1,
      content: 'Tea is hot.',
      content_hash: sha256('Tea is hot.'),
      confidence: {
        source_reliability: 0.5,
        method_quality: 0.5,
        internal_consistency: 1,
        temporal_freshness: 1,
        corroboration: 0.1,
        domain_applicability: 0.8,
      },
      valid_from: '2026-01-15T12:00:01.000Z',
      valid_until: null,
      derivation: { type: 'assumption', sources: [], method_description: null, confidence_rationale: null, note: null },
      domains: ['food/tea'],
      visibility: 'private',
      federation_ids: [],
      holder_id: 'ann',
      created_at: '2026-01-15T12:00:01.000Z',
      supersedes: null,
      superseded_by: null,
      embedding_model: null,
      deleted_at: null,
    })
  })

  it('BQ-002: what is refused leaves nothing behind', () => {
    const world = makeWorld(open())
    world.put('ann', { id: 'a' })
    const before = allOf(world.store)
    const wrong = [{ content: '' }, { id: 'a' }, { domains: ['no domain!'] }, { content_hash: 'f'.repeat(64) }]
    for (const draft of wrong) expect(() => world.put('ann', draft)).toThrow('expected')
    expect(() => world.put('ann', { visibility: 'federated', federation_ids: ['a:b'] })).toThrow('federation_ids[0]')
    expect(allOf(world.store)).toEqual(before)
  })

  it('BQ-003: an edit appends a version, and changes the one before in nothing but its successor', () => {
    const world = makeWorld(open())
    world.put('ann', { id: 'a', content: 'Tea is hot.', visibility: 'public' })
    const first = shown(world, 'ann', 'a')
    world.supersede('ann', 'a', { id: 'b', confidence: { corroboration: 0.9 } })
    expect(shown(world, 'ann', 'b')).toMatchObject({
      ...{ version: 2, supersedes: 'a', superseded_by: null, content: 'Tea is hot.', visibility: 'public' },
      confidence: { ...first?.confidence, corroboration: 0.9 },
    })
    expect(shown(world, 'ann', 'a')).toBeUndefined()
    expect(shown(world, 'ann', 'a', true)).toEqual({ ...first, superseded_by: 'b' })
    expect(() => world.supersede('ann', 'a', { content: 'x' })).toThrow('the version that follows, b')
  })

  it('BQ-003, BQ-004: deleting appends a tombstone, which nobody is shown but its holder', () => {
    const world = makeWorld(open())
    world.put('ann', { id: 'a', visibility: 'public' })
    const tombstone = world.remove('ann', 'a')
    expect(tombstone).toMatchObject({ version: 2, content: '', supersedes: 'a', supersededBy: null })
    expect(history(world, 'ann', 'ann', 'a')).toEqual([tombstone.id, 'a'])
    expect(shown(world, 'ann', tombstone.id, true)).toMatchObject({
      ...{ content: '', content_hash: sha256(''), deleted_at: '2026-01-15T12:00:02.000Z', superseded_by: null },
    })
    expect(shown(world, 'ann', 'a', true)).toMatchObject({ superseded_by: tombstone.id, content: 'It rains.' })
    for (const id of ['a', tombstone.id]) {
      expect(shown(world, 'bob', id, true)).toBeUndefined()
      expect(shown(world, 'ann', id)).toBeUndefined()
    }
    expect(() => world.remove('ann', 'a')).toThrow('the version that follows')
    expect(() => world.remove('ann', tombstone.id)).toThrow('a belief that is not deleted')
    expect(world.store.scanEntries(0, 10)).toEqual([])
  })

  it('BQ-004, BQ-005: what was narrowed cannot be read through its past', () => {
    const world = makeWorld(open())
    world.put('ann', { id: '1', visibility: 'public' })
    world.supersede('ann', '1', { id: '2', content: 'It pours.' })
    expect(history(world, 'bob', 'ann', '1')).toEqual(['2', '1'])
    world.supersede('ann', '2', { id: '3', visibility: 'private' })
    expect(history(world, 'bob', 'ann', '1')).toEqual([])
    expect(history(world, 'ann', 'ann', '1')).toEqual(['3', '2', '1'])
    world.supersede('ann', '3', { id: '4', visibility: 'public' })
    // The one before is hidden, so what lies behind it is too, and no link tells that there is anything.
    expect(history(world, 'bob', 'ann', '1')).toEqual(['4'])
    expect(shown(world, 'bob', '4')).toMatchObject({ version: 1, supersedes: null })
    expect(shown(world, 'ann', '4')).toMatchObject({ supersedes: '3' })
    expect(shown(world, 'bob', '1', true)).toBeUndefined()
  })

  it('an entry that was taken away in another way leaves its past to its holder', () => {
    const world = makeWorld(open())
    world.put('ann', { id: '1', visibility: 'public' })
    world.supersede('ann', '1', { id: '2' })
    const [entry] = world.store.scanEntries(0, 1)
    world.store.write(NOW, writer => writer.delete(entry as number))
    expect(history(world, 'bob', 'ann', '1')).toEqual([])
    expect(history(world, 'ann', 'ann', '1')).toEqual(['1'])
  })

  it('BQ-011: ids are any text, compared as it is', () => {
    const world = makeWorld(open())
    const ids = ['belief 1', 'BELIEF 1', 'é', 'e\u0301', '9b2e...', '💡']
    for (const id of ids) world.put('ann', { id, content: `I am ${id}` })
    for (const id of ids) expect(shown(world, 'ann', id)?.content).toBe(`I am ${id}`)
    expect(shown(world, 'ann', 'Belief 1')).toBeUndefined()
  })

  it('a taken id is reported to its holder alone, whatever has it', () => {
    const world = makeWorld(open())
    world.put('ann', { id: 'a' })
    world.supersede('ann', 'a', { id: 'b' })
    for (const id of ['a', 'b']) expect(() => world.put('ann', { id })).toThrow('an id that you have not used before')
    expect(() => world.supersede('ann', 'b', { id: 'b' })).toThrow('an id that you have not used before')
    expect(world.put('bob', { id: 'a' })).toMatchObject({ id: 'a', holder: 'bob' })
    const note = draftOf({ id: 'n', audience: audience('private', 'ann') })
    world.store.write(NOW, writer => writer.put(note, wholeChunk(note)))
    const before = allOf(world.store)
    expect(() => world.put('ann', { id: 'n' })).toThrow('an id that you have not used before')
    expect(() => world.supersede('ann', 'b', { id: 'n' })).toThrow('an id that you have not used before')
    expect(allOf(world.store)).toEqual(before)
  })

  it('only the holder changes a belief; to others it is as if it were not there', () => {
    const world = makeWorld(open())
    world.put('ann', { id: 'a', visibility: 'public' })
    const errorOf = (act: () => unknown): unknown => {
      try {
        return act()
      } catch (error) {
        return (error as { toJSON(): unknown }).toJSON()
      }
    }
    const before = allOf(world.store)
    expect(errorOf(() => world.supersede('bob', 'a', { content: 'x' }))).toEqual(
      errorOf(() => world.supersede('bob', 'none', { content: 'x' })),
    )
    expect(errorOf(() => world.remove('owner', 'a'))).toEqual(errorOf(() => world.remove('owner', 'none')))
    expect(allOf(world.store)).toEqual(before)
  })

  it('BQ-031: one vector of domains and content; kept while both stay, and with the version that had it', () => {
    const world = makeWorld(open(), openToyEmbedder())
    world.put('ann', { id: 'a', content: 'Tea is hot.', domains: ['food/tea', 'heat'] })
    const chunkOf = (id: string) => {
      const current = currentOf(world.store, 'ann', id)
      const chunks = world.store.chunksOf(current?.entry.key ?? -1)
      expect(chunks).toHaveLength(1)
      return { entry: current?.entry, chunk: chunks[0] } as {
        entry: NonNullable<typeof current>['entry']
        chunk: (typeof chunks)[number]
      }
    }
    const { entry, chunk } = chunkOf('a')
    expect(embeddedText(entry, chunk)).toBe('food/tea, heat\nTea is hot.')
    const vector = toyVector(embeddedText(entry, chunk))
    world.store.write(NOW, writer => writer.putVectors(TOY_KEY, [{ chunk: chunk.key, vector }]))
    expect(shown(world, 'ann', 'a')?.embedding_model).toBe(TOY_KEY)

    world.supersede('ann', 'a', { id: 'b', visibility: 'public' })
    expect(world.store.vectorsOnly(TOY_KEY, [chunkOf('b').chunk.key])[0]?.vector).toEqual(vector)
    world.supersede('ann', 'b', { id: 'c', content: 'Tea was hot.' })
    expect(shown(world, 'ann', 'c')?.embedding_model).toBeNull()
    expect(shown(world, 'ann', 'b', true)?.embedding_model).toBe(TOY_KEY)
    const row = world.store.table(VERSIONS).get({ holder: 'ann', id: 'b' })
    const bytes = row?.['embedding'] as Uint8Array
    expect(new DataView(bytes.buffer, bytes.byteOffset).getFloat32(4, true)).toBe(vector[1])
    world.supersede('ann', 'c', { id: 'd', domains: [] })
    expect(embeddedText(chunkOf('d').entry, chunkOf('d').chunk)).toBe('Tea was hot.')
  })

  it('BQ-199: a crash between any two writes leaves no half-made version link', () => {
    const world = makeWorld(open(), openToyEmbedder())
    world.put('ann', { id: 'a', visibility: 'public' })
    world.put('ann', { id: 'x' })
    let before = allOf(world.store)
    const acts: readonly ((world: World) => unknown)[] = [
      other => other.put('ann', { id: 'n' }),
      other => other.supersede('ann', 'a', { id: 'b', visibility: 'private' }),
      other => other.remove('ann', 'x'),
    ]
    for (const act of acts) {
      let writes = 0
      for (; crashes(world.store, writes, act); writes++) expect(allOf(world.store)).toEqual(before)
      // The entry, its aspect, and the row of the past: at least two writes each.
      expect(writes).toBeGreaterThan(2)
      expect(allOf(world.store)).not.toEqual(before)
      before = allOf(world.store)
    }
  })
})

/** Whether the act dies when its store does so after so many writes; else it was done. */
function crashes(store: Store, writes: number, act: (world: World) => unknown): boolean {
  try {
    act(makeWorld(crashingStore(store, writes), openToyEmbedder()))
    return false
  } catch (error) {
    expect(String(error)).toBe('Error: crash')
    return true
  }
}

/** The store, dying after so many writes of one transaction; the last time just before it is committed. */
function crashingStore(store: Store, writes: number): Store {
  const writing = new Set<string | symbol>(['put', 'delete', 'putVectors', 'setMeta', 'announce'])
  let done = 0
  const count = () => {
    if (done++ === writes) throw new Error('crash')
  }
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const method: unknown = Reflect.get(target, name, target)
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          if (writing.has(name)) count()
          const result: unknown = method.apply(target, args)
          return name === 'table' ? counted(result as object) : result
        }
      },
    })
  const write: Store['write'] = (now, body, waitMs) =>
    store.write(
      now,
      writer => {
        const result = body(counted(writer))
        count()
        return result
      },
      waitMs,
    )
  return new Proxy(store, {
    get: (_, name) => {
      if (name === 'write') return write
      const value: unknown = Reflect.get(store, name, store)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
}
