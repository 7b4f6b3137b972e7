/** What every store must do with listing and filters. A part of `store-suite.ts`, which opens and closes the stores. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Filter } from '../../src/model/filter.ts'
import { audience, OWNER } from '../../src/model/partition.ts'
import type { Store } from '../../src/store/store.ts'
import { draftOf } from '../support/entries.ts'
import { MOOD } from '../support/play.ts'
import { NOW, OWNER_VIEWER, shortForms } from '../support/store-short-forms.ts'

/** `opened` gives the store of the running test. */
export function findSuite(opened: () => Store): void {
  let store: Store
  beforeEach(() => {
    store = opened()
  })
  const { put, remove, all, matching } = shortForms(opened)

  describe('listing', () => {
    const list = (order: 'created' | 'updated' | 'accessed' | 'id', accessScope = all()) =>
      store.list({ accessScope: accessScope, filter: null, order, limit: 10, after: null }).map(entry => entry.id)

    it('orders newest first, ties by id in code points, never accessed last', () => {
      const astral = put(draftOf({ id: '\u{10000}', createdAt: 1, updatedAt: 9 })).key
      put(draftOf({ id: '\uffee', createdAt: 1, updatedAt: 9 }))
      put(draftOf({ id: 'b', createdAt: 3, updatedAt: 8 }))
      put(draftOf({ id: 'a', createdAt: 2, updatedAt: -7 }))
      store.write(NOW, writer => writer.touch(OWNER_VIEWER, [astral], -5, 1))
      expect(list('created')).toEqual(['b', 'a', '\uffee', '\u{10000}'])
      expect(list('updated')).toEqual(['\uffee', '\u{10000}', 'b', 'a'])
      expect(list('id')).toEqual(['a', 'b', '\uffee', '\u{10000}'])
      expect(list('accessed')).toEqual(['\u{10000}', 'a', 'b', '\uffee'])
      expect(list('accessed', { ...all(), viewer: { id: 'ann' } })).toEqual(['a', 'b', '\uffee', '\u{10000}'])
    })

    it('goes on behind a place, also one whose entry is gone', () => {
      const keys = ['a', 'b', 'c'].map(id => put(draftOf({ id, createdAt: 1 })).key)
      remove(keys[1] as number)
      const after = { at: 1, id: 'b', holder: OWNER }
      const page = store.list({ accessScope: all(), filter: null, order: 'created', limit: 5, after })
      expect(page.map(entry => entry.id)).toEqual(['c'])
    })

    it('counts and groups only what is visible', () => {
      put(draftOf({ id: 'a', collection: 'x', tags: ['t', 'u'], audience: audience('private', 'ann') }))
      put(draftOf({ id: 'b', collection: 'y', tags: ['t'], audience: audience('private', 'ann') }))
      put(draftOf({ id: 'c', collection: 'y', tags: ['v'], audience: audience('private', 'bob') }))
      const [ann] = all().partitions as [number]
      const accessScope = { viewer: { id: 'ann' }, partitions: [ann] }
      expect([store.count(accessScope, null), store.count(all(), null)]).toEqual([2, 3])
      expect(store.count(accessScope, { op: 'eq', field: 'collection', value: 'y' })).toBe(1)
      expect(store.facet(accessScope, 'tag', 9)).toEqual([
        { value: 't', count: 2 },
        { value: 'u', count: 1 },
      ])
      expect(store.facet(all(), 'collection', 1)).toEqual([{ value: 'y', count: 2 }])
      expect([store.collections(accessScope, 9), store.collections(all(), 9)]).toEqual([
        ['x', 'y'],
        ['x', 'y'],
      ])
      expect([store.collections(all(), 1), store.collections({ ...accessScope, partitions: [] }, 9)]).toEqual([
        ['x'],
        [],
      ])
      expect(list('id', accessScope)).toEqual(['a', 'b'])
    })

    it('obeys an access scope, whatever it names', () => {
      put(draftOf({ id: 'a', audience: audience('private', 'ann') }))
      put(draftOf({ id: 'b', audience: audience('private', 'bob') }))
      const [ann, bob] = all().partitions as [number, number]
      const seen = (...partitions: number[]) => list('id', { viewer: OWNER_VIEWER, partitions })
      expect([seen(ann, 999), seen(ann, ann), seen(bob), seen(ann, bob), seen()]).toEqual([
        ['a'],
        ['a'],
        ['b'],
        ['a', 'b'],
        [],
      ])
    })

    it('gives identities and validities without contents', () => {
      const a = put(draftOf({ id: 'a', origin: 'o', validFrom: 1 })).key
      const b = put(draftOf({ id: 'b', validUntil: 2 })).key
      const c = put(draftOf({ id: 'c', audience: audience('public', 'ann') })).key
      const partitionOf = (key: number) => store.entry(key)?.partition
      expect(store.identities([c, 999, a])).toEqual([
        { key: c, partition: partitionOf(c), id: 'c', holder: 'ann', collection: 'notes', origin: null },
        { key: a, partition: partitionOf(a), id: 'a', holder: OWNER, collection: 'notes', origin: 'o' },
      ])
      const [first, second] = [
        { key: a, from: 1, until: null },
        { key: b, from: null, until: 2 },
      ]
      expect(store.validities([a, b, c])).toEqual([first, second])
      expect(store.scanBounded(0, 10)).toEqual([a, b])
      expect(store.scanBounded(0, 1)).toEqual([a])
      expect(store.scanBounded(a, 10)).toEqual([b])
      expect(store.validities([c, b, a])).toEqual([second, first])
    })
  })

  describe('filters', () => {
    it('are strict by type and two-valued', () => {
      const a = put(draftOf({ id: 'a', metadata: { v: 1, w: ['x', 2, null] }, validFrom: 5 })).key
      const b = put(draftOf({ id: 'b', metadata: { v: '1' } })).key
      const c = put(draftOf({ id: 'c', metadata: { v: true } })).key
      const eq = (field: string, value: string | number | boolean): Filter => ({ op: 'eq', field, value })
      expect(matching(eq('metadata.v', 1))).toEqual([a])
      expect(matching(eq('metadata.v', '1'))).toEqual([b])
      expect(matching(eq('metadata.v', true))).toEqual([c])
      expect(matching({ op: 'gt', field: 'metadata.v', value: 0 })).toEqual([a])
      expect(matching({ op: 'not', of: eq('metadata.v', 1) })).toEqual([b, c])
      expect(matching({ op: 'not', of: { op: 'lt', field: 'valid_from', value: 9 } })).toEqual([b, c])
      expect(matching({ op: 'in', field: 'metadata.w', values: [2, 'y'] })).toEqual([a])
      expect(matching({ op: 'and', of: [eq('metadata.w', 'x'), eq('metadata.w', 2)] })).toEqual([a])
      expect(matching({ op: 'exists', field: 'metadata.w' })).toEqual([a])
      expect(matching({ op: 'and', of: [] })).toEqual([a, b, c])
      expect(matching({ op: 'or', of: [] })).toEqual([])
      expect(matching(eq('created', '1000'))).toEqual([])
      expect(matching(eq('unheard.of', 1))).toEqual([])
    })

    it('fold case for substrings only', () => {
      const a = put(draftOf({ id: 'a', title: '100% ÉCOLE', tags: ['Straße'] })).key
      put(draftOf({ id: 'b', title: '100 ecole' }))
      expect(matching({ op: 'contains', field: 'title', text: 'e\u0301Cole' })).toEqual([a])
      expect(matching({ op: 'contains', field: 'title', text: '0%' })).toEqual([a])
      expect(matching({ op: 'contains', field: 'tag', text: 'STRAß' })).toEqual([a])
      expect(matching({ op: 'eq', field: 'tag', value: 'straße' })).toEqual([])
    })

    it('see what this viewer accessed, and columns of aspects', () => {
      const a = put(draftOf({ id: 'a' })).key
      const b = put(draftOf({ id: 'b' })).key
      const accessed: Filter = { op: 'gte', field: 'accessed', value: 3 }
      const calm: Filter = { op: 'lt', field: 'mood.level', value: 2 }
      expect([matching(accessed), matching(calm)]).toEqual([[], []])
      store.write(NOW, writer => {
        writer.touch({ id: 'ann' }, [a], 3, 1)
        writer.touch(OWNER_VIEWER, [b], 4, 1)
        writer.table(MOOD).put({ entry: a, level: 1 })
        writer.table(MOOD).put({ entry: b, level: 2, word: 'glad' })
      })
      expect(matching(accessed)).toEqual([b])
      expect(matching(calm)).toEqual([a])
      expect(matching({ op: 'contains', field: 'mood.word', text: 'LA' })).toEqual([b])
      expect(matching({ op: 'not', of: { op: 'exists', field: 'mood.word' } })).toEqual([a])
    })

    it('take ten thousand values, and a thousand parts side by side', () => {
      const { key } = put(draftOf({ id: 'n4999', metadata: { n: 0.1 + 0.2 } }))
      const values = Array.from({ length: 5000 }, (_, at) => `n${at}`)
      const parts = Array.from({ length: 2000 }, (_, at): Filter => ({ op: 'eq', field: 'metadata.n', value: at / 10 }))
      expect(matching({ op: 'in', field: 'id', values })).toEqual([key])
      expect(matching({ op: 'or', of: parts })).toEqual([])
      expect(
        matching({ op: 'or', of: [...parts, { op: 'eq', field: 'metadata.n', value: 0.30000000000000004 }] }),
      ).toEqual([key])
    })

    it('are refused when too large, too deep or not well-formed', () => {
      const nested = (depth: number): Filter =>
        depth === 0 ? { op: 'and', of: [] } : { op: 'not', of: nested(depth - 1) }
      expect(() => matching(nested(32))).toThrow(expect.objectContaining({ code: 'too_large' }))
      expect(matching(nested(31))).toEqual([])
      const values = Array.from({ length: 10_001 }, (_, at) => at)
      expect(() => matching({ op: 'in', field: 'id', values })).toThrow(expect.objectContaining({ code: 'too_large' }))
      expect(() => matching({ op: 'eq', field: 'id', value: '\ud800' })).toThrow('well-formed Unicode')
    })
  })
}
