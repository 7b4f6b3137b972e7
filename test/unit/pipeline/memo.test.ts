/** Sets of entries that fulfil a filter, remembered over writes. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Bitset } from '../../../src/base/bitset.ts'
import type { EntryKey } from '../../../src/model/entry.ts'
import type { Filter } from '../../../src/model/filter.ts'
import { audience } from '../../../src/model/partition.ts'
import type { Sight } from '../../../src/model/viewer.ts'
import { Memo } from '../../../src/pipeline/memo.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import type { Store, StoreReader } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../../src/testing/entries.ts'

const ANN = audience('private', 'ann')
const filters: readonly Filter[] = [
  { op: 'and', of: [] },
  { op: 'lt', field: 'metadata.rank', value: 2 },
  { op: 'not', of: { op: 'eq', field: 'tag', value: 'x' } },
  {
    op: 'or',
    of: [
      { op: 'contains', field: 'title', text: 'A' },
      { op: 'eq', field: 'collection', value: 'other' },
    ],
  },
]

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const act = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id,
      rank: fc.nat(3),
      isPublic: fc.boolean(),
      isTagged: fc.boolean(),
    }),
  },
  fc.record({ do: fc.constant('delete' as const), id }),
  fc.record({ do: fc.constant('vectors' as const), id }),
  fc.record({ do: fc.constant('prune' as const) }),
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('ask' as const), filter: fc.nat(filters.length - 1), sees: fc.nat(2) }),
  },
)

it('says what the store says, whatever was written since', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60, size: 'max' }), acts => {
      const store = openMemoryStore()
      const memo = new Memo()
      for (const step of acts) {
        if (step.do === 'ask') {
          const filter = filters[step.filter] as Filter
          const sight = sightOf(store, step.sees)
          expect([...memo.matching(store, sight, filter)]).toEqual([...store.matching(sight, filter)])
          continue
        }
        store.write(1, writer => {
          const key = step.do === 'prune' ? undefined : keyOf(store, step.id)
          if (step.do === 'put') {
            const draft = draftOf({
              id: step.id,
              title: step.rank === 0 ? 'an A' : 'none',
              collection: step.rank === 3 ? 'other' : 'notes',
              metadata: { rank: step.rank },
              tags: step.isTagged ? ['x'] : [],
              audience: step.isPublic ? audience('public', 'ann') : ANN,
            })
            writer.put(draft, wholeChunk(draft))
          } else if (step.do === 'prune') writer.pruneChanges(writer.lastSeq())
          else if (key === undefined) return
          else if (step.do === 'delete') writer.delete(key)
          else {
            const vectors = writer.chunksOf(key).map(chunk => ({ chunk: chunk.key, vector: Float32Array.of(1) }))
            writer.putVectors('any@1', vectors)
          }
        })
      }
    }),
    { numRuns: 500 },
  )
})

it('asks the store for all of them once, not after each write; what was handed out stays as it was', () => {
  const store = openMemoryStore()
  put(store, 'a', 1)
  const { reader, asked } = counting(store)
  const memo = new Memo()
  const filter = filters[1] as Filter
  const sight = sightOf(store, 2)
  const first = memo.matching(reader, sight, filter)
  put(store, 'b', 0)
  const second = memo.matching(reader, sight, filter)
  expect(members(second)).toHaveLength(2)
  expect(members(first)).toHaveLength(1)
  put(store, 'b', 3)
  expect(members(memo.matching(reader, sight, filter))).toEqual(members(first))
  expect(asked()).toBe(1)
  for (let at = 0; at < 300; at++) put(store, `many-${at}`, 1)
  expect(members(memo.matching(reader, sight, filter))).toHaveLength(301)
  expect(asked()).toBe(2)
})

function put(store: Store, id: string, rank: number): void {
  const draft = draftOf({ id, metadata: { rank }, audience: ANN })
  store.write(1, writer => writer.put(draft, wholeChunk(draft)))
}

function members(set: Bitset): readonly number[] {
  return [...set]
}

function keyOf(store: Store, id: string): EntryKey | undefined {
  const everywhere = store.partitions().map(partition => partition.id)
  return store.find(id, everywhere)[0]
}

/** What is public, what is Ann's, or both. */
function sightOf(store: Store, sees: number): Sight {
  const kinds = [['public'], ['private'], ['public', 'private']][sees] as readonly string[]
  const partitions = store.partitions().filter(({ audience }) => kinds.includes(audience.kind))
  return { viewer: { id: 'ann' }, partitions: partitions.map(({ id }) => id) }
}

function counting(store: Store): { reader: StoreReader; asked: () => number } {
  let asked = 0
  const reader: StoreReader = Object.create(store)
  reader.matching = (sight, filter) => {
    asked++
    return store.matching(sight, filter)
  }
  return { reader, asked: () => asked }
}
