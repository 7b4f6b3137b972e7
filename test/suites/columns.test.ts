/**
 * Whatever keeps values of entries in memory and follows the change feed, in one suite: after any writes, by any process, it
 * holds what a fresh read holds, for each viewer.
 */
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/base/canonical.ts'
import { MemoryColumns } from '../../src/lenses/chroma/memory/columns.ts'
import { FieldValues, nodesOf } from '../../src/lenses/chroma/nodes/stored.ts'
import { defaultMemory, logUses, NODES, readMemories, writeMemory } from '../../src/lenses/chroma/tables.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import { QuerentError } from '../../src/model/errors.ts'
import type { Filter } from '../../src/model/filter.ts'
import { audience } from '../../src/model/partition.ts'
import { lookAt } from '../../src/pipeline/access.ts'
import { entrySet, FeedFollower, TableRows } from '../../src/pipeline/columns.ts'
import { Memo, ValidityWatch } from '../../src/pipeline/memo.ts'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { onFile } from '../faults/care/damaged-store.ts'
import { draftOf, wholeChunk } from '../support/entries.ts'
import { isLong } from '../support/patience.ts'
import { tempFolder } from '../support/temp-folder.ts'

const VIEWERS = ['owner', 'ann', 'ben']
/** Nobody else's entries: 'owner' sees all. */
const partitionsOf = (store: Store, id: string) => lookAt(store, { id }).partitions
const keysIn = (store: Store) => store.scanEntries(-1, 1_000)

/** What it holds for each viewer, in a form that can be compared. */
type Contents = () => unknown

/** Opens it over a store; the store itself is what it reads from. */
const KINDS: readonly { readonly name: string; open(store: Store): Contents }[] = [
  {
    name: 'rows of a table by partition',
    open: store => {
      const rows = new TableRows(store, NODES, ['entry', 'mode_name'], ({ entry, mode_name }, partition) => ({
        entry: entry as EntryKey,
        partition,
        mode: mode_name,
      }))
      return () =>
        VIEWERS.map(id => {
          const seen = rows.visible(partitionsOf(store, id))
          expect([...entrySet(seen)]).toEqual(seen.map(({ entry }) => entry))
          return seen
        })
    },
  },
  {
    name: 'values of metadata fields',
    open: store => {
      const fields = new FieldValues(() => ({}))
      const conditions = [{ colour: 'red' }, { colour: { $exists: false } }, { size: { $gte: 2 }, colour: 'blue' }]
      return () => conditions.map(filters => [...fields.passing(store, filters)])
    },
  },
  {
    name: 'memories of nodes',
    open: store => {
      const all = VIEWERS.map(viewer => new MemoryColumns(store, viewer))
      return () =>
        all.map(columns => {
          columns.refresh()
          const nodes = keysIn(store).filter(key => columns.has(key))
          expect(columns.stored(store, nodes)).toEqual(readMemories(store, columns.viewer, nodes))
          return [contents(columns), columns.size]
        })
    },
  },
  {
    name: 'nodes read lately',
    open: store => {
      const nodes = nodesOf(() => ({}))
      return () => nodes.get(store, keysIn(store))
    },
  },
  {
    name: 'entries that fulfil a filter',
    open: store => {
      const memo = new Memo()
      const filters: readonly Filter[] = [
        { op: 'and', of: [] },
        { op: 'lt', field: 'metadata.size', value: 2 },
        { op: 'not', of: { op: 'eq', field: 'metadata.colour', value: 'red' } },
      ]
      return () => VIEWERS.map(id => filters.map(filter => [...memo.matching(store, lookAt(store, { id }), filter)]))
    },
  },
  {
    name: 'entries that do not hold',
    open: store => {
      const watch = new ValidityWatch()
      return () => [-1, 2, 7].map(at => [[...watch.invalid(store, at)], watch.nextBound(store, at, () => true)])
    },
  },
]

function contents(columns: MemoryColumns): readonly unknown[] {
  const all: unknown[] = []
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) all.push([entry, columns.memory(entry)])
  return [...all, columns.allow === null ? null : [...columns.allow]]
}

interface Put {
  readonly do: 'put'
  readonly id: string
  readonly holder: string
  readonly isPublic: boolean
  readonly metadata: JsonObject
  readonly mode: string | null
  readonly bounds: readonly [number | null, number | null]
}
type Act =
  | Put
  | { readonly do: 'delete' | 'vectors'; readonly id: string }
  | { readonly do: 'use'; readonly id: string; readonly viewer: string; readonly isRotten: boolean }
  | { readonly do: 'prune' }
  | { readonly do: 'forget uses' }
  | { readonly do: 'many' }
type Step = Act | { readonly do: 'look'; readonly who: number }

const bound = fc.option(fc.integer({ min: 0, max: 6 }))
const id = fc.constantFrom('a', 'b', 'c', 'd')
const put: fc.Arbitrary<Put> = fc.record({
  do: fc.constant('put'),
  id,
  holder: fc.constantFrom('ann', 'ben'),
  isPublic: fc.boolean(),
  metadata: fc.constantFrom<JsonObject>(
    {},
    { colour: 'red' },
    { colour: 'blue', size: 3 },
    { colour: ['red', 'blue'], size: 1 },
  ),
  mode: fc.constantFrom(null, 'Adaptive', 'Sparse', 'no mode'),
  bounds: fc.tuple(bound, bound),
})
const act: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: put },
  fc.record({ do: fc.constantFrom('delete' as const, 'vectors' as const), id }),
  fc.record({ do: fc.constant('use' as const), id, viewer: fc.constantFrom(...VIEWERS), isRotten: fc.boolean() }),
  fc.record({ do: fc.constantFrom('prune' as const, 'forget uses' as const, 'many' as const) }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant('look' as const), who: fc.nat(1) }) },
)
let texts = 0

function perform(writer: StoreWriter, one: Act): void {
  if (one.do === 'prune') writer.pruneChanges(writer.lastSeq())
  else if (one.do === 'forget uses') logUses(writer, 'ann', null)
  else if (one.do === 'put') putOne(writer, one)
  // More changes than a step takes, and than a cache follows that reads on demand.
  else if (one.do === 'many') for (let at = 0; at < 600; at++) putOne(writer, { ...PLAIN, id: `many ${at % 3}` })
  else
    for (const key of writer.find(one.id, lookAt(writer, { id: 'owner' }).partitions)) {
      if (one.do === 'delete') writer.delete(key)
      else if (one.do === 'use') {
        writeMemory(writer, one.viewer, key, { ...defaultMemory(5), strength_raw: texts++, rotten: one.isRotten })
        logUses(writer, one.viewer, [key])
      } else {
        const vectors = writer.chunksOf(key).map(chunk => ({ chunk: chunk.key, vector: Float32Array.of(1) }))
        writer.putVectors('any@1', vectors)
      }
    }
}

function putOne(writer: StoreWriter, { id, metadata, mode, holder, isPublic, bounds }: Put): void {
  const [validFrom, validUntil] = bounds
  const of = audience(isPublic ? 'public' : 'private', holder)
  const draft = draftOf({ id, content: `${texts++}`, audience: of, metadata, validFrom, validUntil })
  const { key } = writer.put(draft, wholeChunk(draft))
  if (mode === null) writer.table(NODES).delete({ entry: key })
  else writer.table(NODES).put({ ...NODE, entry: key, mode_name: mode })
  writer.announce(key)
}

const PLAIN: Put = {
  do: 'put',
  id: 'a',
  holder: 'ann',
  isPublic: true,
  metadata: {},
  mode: 'Sparse',
  bounds: [null, 4],
}
const NODE = {
  ...{ l: 50, a: 0, b: 0, node_id: 'n', hashtags: '[]', decay_enabled: 1, has_metadata: 1, created_at: 5, version: 0 },
}

describe.each(KINDS)('$name', ({ open }) => {
  it('are what a fresh read says, for each viewer, after any writes', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40, size: 'max' }), acts => {
        const store = openMemoryStore()
        const kept = [open(store), open(store)] as const
        for (const one of acts) {
          if (one.do === 'look') expect(kept[one.who as 0]()).toEqual(open(store)())
          else store.write(1, writer => perform(writer, one))
        }
        for (const contentsOf of kept) expect(contentsOf()).toEqual(open(store)())
      }),
      { numRuns: isLong ? 1000 : 30 },
    )
  })

  it('know nothing of what they could not read, and read it at the next time', () => {
    const store = openMemoryStore()
    for (const at of ['a', 'b']) store.write(1, writer => perform(writer, { ...PLAIN, id: at }))
    let isBroken = true
    const failing = (of: Store): Store =>
      new Proxy(of, {
        get: (target, name) => {
          const value = Reflect.get(target, name)
          if (name === 'read') return (body: (reader: Store) => unknown) => target.read(() => body(broken))
          if (typeof value !== 'function') return value
          return (...given: unknown[]) => {
            const reads = ['table', 'scanBounded', 'validities', 'matching', 'entries']
            if (isBroken && reads.includes(String(name))) throw new QuerentError('io_failed', 'disk I/O error')
            return value.apply(target, given)
          }
        },
      })
    const broken = failing(store)
    const contentsOf = open(broken)
    expect(contentsOf).toThrow(expect.objectContaining({ code: 'io_failed' }))
    isBroken = false
    const fresh = () => open(store)()
    expect(contentsOf()).toEqual(fresh())
    store.write(1, writer => perform(writer, { ...PLAIN, id: 'c' }))
    isBroken = true
    expect(contentsOf).toThrow(expect.objectContaining({ code: 'io_failed' }))
    isBroken = false
    expect(contentsOf()).toEqual(fresh())
  })
})

describe('rows of a table by partition', () => {
  it('are the same list until a row that the viewer sees changes', () => {
    const store = openMemoryStore()
    const write = (fields: object) => store.write(1, writer => perform(writer, { ...PLAIN, id: 'a', ...fields }))
    write({})
    const rows = new TableRows(store, NODES, ['entry'], ({ entry }, partition) => ({
      entry: entry as EntryKey,
      partition,
    }))
    const seen = () => rows.visible(partitionsOf(store, 'ann'))
    const before = seen()
    write({ id: 'hidden', holder: 'ben', isPublic: false })
    expect(seen()).toBe(before)
    write({ id: 'b', isPublic: false })
    expect(seen().map(({ entry }) => entry)).toHaveLength(2)
  })
})

it('leaves out a damaged row, when all is read and when the feed is followed, and keeps the others', () => {
  using folder = tempFolder()
  const file = folder.file('store.db')
  const damage = (entry: number) =>
    onFile(file, db => db.exec(`update declared_${NODES.name} set node_id = 'other' where entry = ${entry}`))
  const written = openSqliteStore({ file })
  const keys = ['a', 'b', 'c'].map(id => {
    written.write(1, writer => putOne(writer, { ...PLAIN, id }))
    return written.newestEntry()
  })
  written.close()
  damage(keys[0] as number)
  const store = openSqliteStore({ file })
  onTestFinished(() => store.close())
  const rows = new TableRows(store, NODES, ['entry', 'node_id'], ({ entry }, partition) => ({
    entry: entry as EntryKey,
    partition,
  }))
  const memory = new MemoryColumns(store, 'owner')
  const held = () => {
    memory.refresh()
    return [rows.visible(partitionsOf(store, 'owner')).map(({ entry }) => entry), memory.size]
  }
  expect(held()).toEqual([keys.slice(1), 2])
  store.write(1, writer => writer.announce(keys[1] as number))
  damage(keys[1] as number)
  expect(held()).toEqual([keys.slice(2), 1])
})

describe('a follower of the feed', () => {
  it('goes a page a step, and takes in what was written between the steps', () => {
    const store = openMemoryStore()
    const calls: string[] = []
    const feed = new FeedFollower({
      clear: () => undefined,
      *pages() {
        calls.push('first page')
        yield
        calls.push('last page')
      },
      take: (_, changed) => calls.push(`${changed.size} changed`),
      most: () => 1_000,
    })
    const steps = feed.refreshInSteps(store)
    expect(steps.next(false).done).toBe(false)
    store.write(1, writer => perform(writer, { ...PLAIN, id: 'late' }))
    while (steps.next(true).done !== true);
    expect(calls).toEqual(['first page', 'last page', '1 changed'])
    expect([feed.position, countOf(feed.refreshInSteps(store))]).toEqual([store.lastSeq(), 0])
    store.write(1, writer => perform(writer, { do: 'many' }))
    expect(countOf(feed.refreshInSteps(store))).toBeGreaterThanOrEqual(2)
  })
})

function countOf(steps: Iterator<unknown>): number {
  let count = 0
  while (steps.next().done !== true) count++
  return count
}
