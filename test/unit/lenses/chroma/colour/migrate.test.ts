import { describe, expect, it } from 'vitest'
import { Bindings } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { Coordinates, migrateHashtag, nodeIdOf } from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import { HashtagConflictError, UnknownHashtagError, ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import { MEMORY, NODES } from '../../../../../src/lenses/chroma/tables.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import type { EntryKey } from '../../../../../src/model/entry.ts'
import type { TableDeclaration } from '../../../../../src/model/table.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { addNode, assignIds, hostOf, NOW, thrownBy } from './colour-world.ts'

const PLUGIN: TableDeclaration = {
  name: 'chroma_test_plugin',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'note', type: 'text' },
  ],
}

const ANCHORS = [1, 1001, 1002, 1003, 1004, 1005, 1006, 7501]

interface World {
  readonly host: LensHost
  readonly bindings: Bindings
  readonly tags: readonly string[]
  /** Two of different holders with `tags`, one without `#t1006`. */
  readonly nodes: readonly [EntryKey, EntryKey, EntryKey]
}

function world(store: LensHost['store']): World {
  const host = hostOf(store)
  const bindings = new Bindings(host)
  const tags = assignIds(bindings, ANCHORS)
  const others = [...tags.filter(tag => tag !== '#t1006'), ...assignIds(bindings, [1500])]
  const nodes = [addNode(host, 'a', tags), addNode(host, 'b', tags, 'alice'), addNode(host, 'c', others)] as const
  host.store.write(NOW, writer => {
    for (const entry of nodes) {
      const memory = {
        last_accessed: 7,
        access_count: 2,
        strength_raw: 1.5,
        decay_health: 0.5,
        decayed_at: 6,
        version: 4,
      }
      writer.table(MEMORY).put({ viewer: 'owner', entry, ...memory, ascension: 0, rotten: 0 })
      writer.table(PLUGIN).put({ entry, note: 'mine' })
    }
  })
  return { host, bindings, tags, nodes }
}

function state({ host, bindings }: World): unknown {
  const { store } = host
  const tables = [NODES, MEMORY, PLUGIN].map(table => store.table(table).scan())
  const keys = store.scanEntries(0, 100)
  return [bindings.list(), tables, store.entries(keys), store.lastSeq()]
}

describe.each(['memory', 'sqlite'])('a migration, store: %s', kind => {
  const open = () => world(kind === 'memory' ? openMemoryStore() : openSqliteStore({ file: ':memory:' }))

  it('moves every node that carries the tag, and nothing else of it (CQ-031)', () => {
    const given = open()
    const { host, bindings, tags, nodes } = given
    const { store } = host
    const before = nodes.map(entry => store.table(NODES).get({ entry }))
    const entries = store.entries(nodes)
    const rest = [MEMORY, PLUGIN].map(table => store.table(table).scan())
    const seq = store.lastSeq()
    const cached = new Coordinates(bindings)
    cached.computeNodeColor(tags)

    const done = migrateHashtag(host, bindings, 'T1006', { anchorId: 1000 + 900 })
    expect(done).toEqual({ hashtag: '#t1006', from_anchor_id: 1006, to_anchor_id: 1900, nodes_updated: 2 })
    expect(bindings.resolve('t1006')).toMatchObject({ anchor_id: 1900 })
    expect(bindings.current.at(1006)).toBeNull()

    const [l, a, b] = cached.computeNodeColor(tags)
    for (const at of [0, 1]) {
      const row = store.table(NODES).get({ entry: nodes[at] ?? 0 })
      expect(row).toEqual({ ...before[at], l, a, b, node_id: nodeIdOf([l, a, b]), version: 4 })
      expect(row?.['l']).not.toBe(before[at]?.['l'])
    }
    expect(store.table(NODES).get({ entry: nodes[2] })).toEqual(before[2])
    expect(store.entries(nodes)).toEqual(entries)
    expect([MEMORY, PLUGIN].map(table => store.table(table).scan())).toEqual(rest)
    expect(store.changesSince(seq, 10).map(({ entry, kind }) => [entry, kind])).toEqual([
      [nodes[0], 'put'],
      [nodes[1], 'put'],
    ])
    store.close()
  })

  it('keeps the order by anchor, and takes the lowest free anchor of a zone (CQ-031)', () => {
    const { host, bindings, nodes } = open()
    bindings.assign('low', { anchorId: 1007 })
    // Three Mid tags more leave room for the rules.
    expect(migrateHashtag(host, bindings, 't1001', { anchorId: 7000 })).toMatchObject({ nodes_updated: 3 })
    const tags = JSON.parse(String(host.store.table(NODES).get({ entry: nodes[0] })?.['hashtags'])) as string[]
    expect(tags).toEqual(['#t1', '#t1002', '#t1003', '#t1004', '#t1005', '#t1006', '#t1001', '#t7501'])
    bindings.assign('other', { zone: 'Outer' })
    expect(migrateHashtag(host, bindings, 'other', { zone: 'mid' })).toEqual({
      hashtag: '#other',
      from_anchor_id: 7502,
      to_anchor_id: 1001,
      nodes_updated: 0,
    })
    host.store.close()
  })

  it('that would break a node is refused, naming it, and changes nothing (CQ-032)', () => {
    const given = open()
    const before = state(given)
    const error = thrownBy(() => migrateHashtag(given.host, given.bindings, 't1006', { zone: 'Outer' }))
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({ code: 'migration_invalid', details: { entry_ids: ['a', 'b'] } })
    const core = thrownBy(() => migrateHashtag(given.host, given.bindings, 't1', { zone: 'Mid' }))
    expect(core).toMatchObject({ details: { entry_ids: ['a', 'b', 'c'] } })
    expect(state(given)).toEqual(before)
    given.host.store.close()
  })

  it('to where the tag is does nothing (CQ-032)', () => {
    const given = open()
    const before = state(given)
    const version = given.host.store.version()
    for (const to of [{ anchorId: 1006 }, { zone: 'mid' }]) {
      const done = migrateHashtag(given.host, given.bindings, 't1006', to)
      expect(done).toEqual({ hashtag: '#t1006', from_anchor_id: 1006, to_anchor_id: 1006, nodes_updated: 0 })
    }
    expect(given.host.store.version()).toBe(version)
    expect(state(given)).toEqual(before)
    given.host.store.close()
  })

  it('needs a known tag and a free anchor (CQ-031)', () => {
    const given = open()
    const before = state(given)
    const migrate = (tag: string, to: object) => thrownBy(() => migrateHashtag(given.host, given.bindings, tag, to))
    expect(migrate('nope', { zone: 'Mid' })).toBeInstanceOf(UnknownHashtagError)
    expect(migrate('t1006', { anchorId: 1500 })).toBeInstanceOf(HashtagConflictError)
    expect(migrate('t1006', { anchorId: 0 })).toMatchObject({ code: 'invalid_parameter' })
    expect(migrate('t1006', {})).toMatchObject({ code: 'invalid_parameter' })
    expect(state(given)).toEqual(before)
    given.host.store.close()
  })
})
