/** What every store must do with tables of aspects. A part of `store-suite.ts`, which opens and closes the stores. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { TableDeclaration } from '../../src/model/table.ts'
import type { Store } from '../../src/store/store.ts'
import { draftOf } from '../support/entries.ts'
import { LINK, MOOD } from '../support/play.ts'
import { NOW, shortForms } from '../support/store-short-forms.ts'

/** `opened` gives the store of the running test. */
export function tableSuite(opened: () => Store): void {
  let store: Store
  beforeEach(() => {
    store = opened()
  })
  const { put } = shortForms(opened)

  describe('tables', () => {
    const links = (...rows: readonly [string, number, string | null][]) =>
      store.write(NOW, writer => {
        for (const [source, rank, note] of rows) writer.table(LINK).put({ source, rank, weight: rank / 2, note })
      })

    it('are empty until written, and read in the order of the key', () => {
      expect(store.table(LINK).scan()).toEqual([])
      links(['b', 2, null], ['a', 10, 'x'], ['b', -1, 'x'], ['a', 9, null])
      const table = store.table(LINK)
      const keys = (rows: readonly { readonly [column: string]: unknown }[]) =>
        rows.map(row => `${row['source']}${row['rank']}`)
      expect(keys(table.scan())).toEqual(['a9', 'a10', 'b-1', 'b2'])
      expect(keys(table.scan({}, { limit: 2 }))).toEqual(['a9', 'a10'])
      expect(keys(table.scan({}, { after: { source: 'a', rank: 10 }, limit: 9 }))).toEqual(['b-1', 'b2'])
      expect(table.scan({}, { limit: 1, columns: ['rank'] })).toEqual([{ rank: 9 }])
      expect(keys(table.scan({ note: null }))).toEqual(['a9', 'b2'])
      expect(keys(table.scan({ source: 'b', note: 'x' }))).toEqual(['b-1'])
      expect([table.count(), table.count({ note: 'x' })]).toEqual([4, 2])
    })

    it('give, replace and delete rows', () => {
      links(['a', 1, 'old'], ['a', 1, 'new'], ['b', 1, null])
      const table = store.table(LINK)
      expect(table.get({ source: 'a', rank: 1 })).toEqual({ source: 'a', rank: 1, weight: 0.5, note: 'new' })
      expect(table.get({ source: 'c', rank: 1 })).toBeUndefined()
      expect(store.write(NOW, writer => writer.table(LINK).delete({ rank: 1 }))).toBe(2)
      expect(table.count()).toBe(0)
    })

    it('keep bytes and nulls', () => {
      const { key } = put(draftOf({ id: 'a' }))
      const picture = Uint8Array.of(0, 255)
      store.write(NOW, writer => writer.table(MOOD).put({ entry: key, level: 1, picture }))
      expect(store.table(MOOD).get({ entry: key })).toEqual({
        entry: key,
        level: 1,
        warmth: null,
        word: null,
        picture,
      })
    })

    it('give the rows of some entries', () => {
      const keys = ['a', 'b', 'c'].map(id => put(draftOf({ id })).key)
      const [a, b, c] = keys as [number, number, number]
      store.write(NOW, writer => {
        for (const entry of keys) writer.table(MOOD).put({ entry, level: entry === b ? 2 : 1, picture: null })
      })
      const of = (entries: readonly number[], where = {}) =>
        store.table(MOOD).scan(where, { entries, columns: ['entry'] })
      expect(of([c, a, 9999])).toEqual([{ entry: a }, { entry: c }])
      expect(of([a, b], { level: 2 })).toEqual([{ entry: b }])
      expect(of([])).toEqual([])
      expect(() => store.table(LINK).scan({}, { entries: [a] })).toThrow(/entry/)
    })

    it.each<[string, () => unknown]>([
      ['a missing value', () => store.write(NOW, w => w.table(LINK).put({ source: 'a', rank: 1 }))],
      ['a value of another type', () => links([1 as never, 1, null])],
      ['a fraction for an integer', () => links(['a', 1.5, null])],
      ['an unknown column', () => store.table(LINK).scan({ nope: 1 })],
      ['an unknown column to read', () => store.table(LINK).scan({}, { columns: ['nope'] })],
      ['half a key', () => store.table(LINK).get({ source: 'a' })],
      ['deleting without a condition', () => store.write(NOW, writer => writer.table(LINK).delete({}))],
      ['a row of an entry that is not there', () => store.write(NOW, w => w.table(MOOD).put({ entry: 999, level: 1 }))],
      [
        'a name that is not snake_case',
        () => store.write(NOW, w => w.table({ ...LINK, name: 'x; drop table entries' })),
      ],
    ])('refuse %s', (_, act) => {
      expect(act).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    })

    it('refuse another declaration under a name that is taken', () => {
      links(['a', 1, null])
      const other = { ...LINK, columns: LINK.columns.slice(0, 3), indexes: [] }
      expect(() => store.write(NOW, writer => writer.table(other))).toThrow(
        expect.objectContaining({ code: 'conflict' }),
      )
    })

    it('may grow nullable columns at the end', () => {
      links(['a', 1, null])
      const grown: TableDeclaration = {
        ...LINK,
        columns: [...LINK.columns, { name: 'remark', type: 'text', nullable: true }],
      }
      const before = store.table(grown)
      expect(before.get({ source: 'a', rank: 1 })).toMatchObject({ source: 'a', remark: null })
      expect(before.scan({ remark: null })).toHaveLength(1)
      store.write(NOW, writer => writer.table(grown).put({ source: 'b', rank: 2, weight: 0, remark: 'new' }))
      expect(before.scan({}, { columns: ['source', 'remark'] })).toEqual([
        { source: 'a', remark: null },
        { source: 'b', remark: 'new' },
      ])
      expect(store.table(grown).scan({ remark: 'new' })).toHaveLength(1)
      const demanding = { ...grown, columns: [...grown.columns, { name: 'more', type: 'text' as const }] }
      expect(() => store.table(demanding)).toThrow(expect.objectContaining({ code: 'conflict' }))
    })

    it('are named apart from the tables of the store', () => {
      const entries = { ...LINK, name: 'entries' }
      store.write(NOW, writer => writer.table(entries).put({ source: 'a', rank: 1, weight: 1 }))
      const { key } = put(draftOf({ id: 'a' }))
      expect(store.entry(key)?.id).toBe('a')
      expect(store.table(entries).count()).toBe(1)
    })
  })
}
