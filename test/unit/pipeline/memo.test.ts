/** Sets of entries that fulfil a filter, remembered over writes. */
import { expect, it } from 'vitest'
import type { Bitset } from '../../../src/base/bitset.ts'
import type { Filter } from '../../../src/model/filter.ts'
import { audience } from '../../../src/model/partition.ts'
import { Memo } from '../../../src/pipeline/memo.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import type { Store, StoreReader } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'

const ANN = { id: 'ann' }
const FILTER: Filter = { op: 'lt', field: 'metadata.rank', value: 2 }

it('asks the store for all of them once, not after each write; what was handed out stays as it was', () => {
  const store = openMemoryStore()
  put(store, 'a', 1)
  const { reader, asked } = counting(store)
  const memo = new Memo()
  const accessScope = { viewer: ANN, partitions: store.partitions().map(({ id }) => id) }
  const first = memo.matching(reader, accessScope, FILTER)
  put(store, 'b', 0)
  const second = memo.matching(reader, accessScope, FILTER)
  expect(members(second)).toHaveLength(2)
  expect(members(first)).toHaveLength(1)
  put(store, 'b', 3)
  expect(members(memo.matching(reader, accessScope, FILTER))).toEqual(members(first))
  expect(asked()).toBe(1)
  for (let at = 0; at < 300; at++) put(store, `many-${at}`, 1)
  expect(members(memo.matching(reader, accessScope, FILTER))).toHaveLength(301)
  expect(asked()).toBe(2)
})

function put(store: Store, id: string, rank: number): void {
  const draft = draftOf({ id, metadata: { rank }, audience: audience('private', 'ann') })
  store.write(1, writer => writer.put(draft, wholeChunk(draft)))
}

function members(set: Bitset): readonly number[] {
  return [...set]
}

function counting(store: Store): { reader: StoreReader; asked: () => number } {
  let asked = 0
  const reader: StoreReader = Object.create(store)
  reader.matching = (accessScope, filter) => {
    asked++
    return store.matching(accessScope, filter)
  }
  return { reader, asked: () => asked }
}
