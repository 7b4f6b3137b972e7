/** What every store must do with entries, their partitions, and what deleting takes along. Part of `store-suite.ts`, which opens and closes the stores. */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryDraft } from '../../src/model/entry.ts'
import { audience } from '../../src/model/partition.ts'
import type { Store } from '../../src/store/store.ts'
import { brokenTexts } from '../support/arbitraries.ts'
import { draftOf } from '../support/entries.ts'
import { MOOD } from '../support/play.ts'
import { NOW, OWNER_VIEWER, shortForms } from '../support/store-short-forms.ts'

/** `opened` gives the store of the running test. */
export function entrySuite(opened: () => Store): void {
  let store: Store
  beforeEach(() => {
    store = opened()
  })
  const { put, remove, all, matching, feed } = shortForms(opened)

  describe('entries', () => {
    it('gives back what was put', () => {
      const draft = draftOf({
        id: 'full',
        collection: 'code',
        kind: 'document',
        title: 'Tïtle "x"',
        content: 'first 🦊\nsecond\u0001',
        tags: ['b', 'a'],
        metadata: { list: [1, 'x', { deep: null }], flag: true },
        audience: audience('shared', 'ann', ['lab', 'guild']),
        origin: 'file:///a.md',
        createdAt: 1,
        updatedAt: 2,
        validFrom: -3,
        validUntil: 8.64e15,
        knownAt: 4,
      })
      const { key, created, changed } = put(draft)
      expect({ created, changed }).toEqual({ created: true, changed: true })
      const entry = store.entry(key)
      expect(entry).toMatchObject({ ...draft, audience: audience('shared', 'ann', ['guild', 'lab']), key })
      expect(entry?.contentHash).toBe('2841fa800c7e84ef1757ebc13a4b34e84a07393dfe2cb416e4569e4a805839ca')
      expect(store.chunksOf(key).map(chunk => [chunk.ordinal, chunk.start, chunk.end])).toEqual([
        [0, 0, 8],
        [1, 9, 16],
      ])
    })

    it('keeps each tag once, in the order given', () => {
      const { key } = put(draftOf({ id: 'a', tags: ['x', 'b', 'x', 'B', 'b'] }))
      expect(store.entry(key)?.tags).toEqual(['x', 'b', 'B'])
    })

    it('replaces the entry that has the holder and id, and only that', () => {
      const first = put(draftOf({ id: 'a', audience: audience('private', 'ann') }))
      const other = put(draftOf({ id: 'a', audience: audience('private', 'bob') }))
      const again = put(draftOf({ id: 'a', audience: audience('public', 'ann'), title: 'new' }))
      expect(again).toEqual({ key: first.key, created: false, changed: true })
      expect(other.key).not.toBe(first.key)
      expect(store.entry(first.key)?.title).toBe('new')
      expect(store.entry(other.key)?.title).toBe('')
    })

    it('writes nothing when all is as it was', () => {
      const draft = draftOf({ id: 'a', tags: ['x'], metadata: { b: 1, a: [2] }, content: 'one\ntwo' })
      const { key } = put(draft)
      expect(put({ ...draft, metadata: { a: [2], b: 1 } })).toEqual({ key, created: false, changed: false })
      expect(feed()).toEqual([`1 put ${key}`])
      expect(put({ ...draft, knownAt: 7 }).changed).toBe(true)
    })

    it('never gives a key twice', () => {
      const first = put(draftOf({ id: 'a' }))
      remove(first.key)
      expect(put(draftOf({ id: 'a' })).key).toBeGreaterThan(first.key)
    })

    it('gives entries in the order asked for, passing over those that are gone', () => {
      const [a, b, c] = ['a', 'b', 'c'].map(id => put(draftOf({ id })).key) as [number, number, number]
      remove(b)
      expect(store.entries([c, b, a, c, 999]).map(entry => entry.id)).toEqual(['c', 'a', 'c'])
      expect(store.entry(b)).toBeUndefined()
      expect(store.scanEntries(a, 10)).toEqual([c])
      expect(store.scanEntries(0, 1)).toEqual([a])
    })

    it('knows its newest entry, which the next one is newer than', () => {
      expect(store.newestEntry()).toBe(0)
      const [a, b] = ['a', 'b'].map(id => put(draftOf({ id })).key) as [number, number]
      put(draftOf({ id: 'a', content: 'changed' }))
      expect(store.newestEntry()).toBe(b)
      remove(b)
      expect(store.newestEntry()).toBe(a)
      expect(put(draftOf({ id: 'b' })).key).toBeGreaterThan(b)
    })

    it('gives metadata alone', () => {
      const [a, b] = [{ deep: { x: [1, null] } }, {}].map(
        (metadata, at) => put(draftOf({ id: `m${at}`, metadata })).key,
      )
      expect(store.metadata([b as number, 9999, a as number])).toEqual([
        { key: b, metadata: {} },
        { key: a, metadata: { deep: { x: [1, null] } } },
      ])
    })

    it('finds an id in the partitions named, by holder', () => {
      const bob = put(draftOf({ id: 'a', audience: audience('private', 'bob') })).key
      const ann = put(draftOf({ id: 'a', audience: audience('private', 'ann') })).key
      put(draftOf({ id: 'A', audience: audience('private', 'ann') }))
      expect(store.find('a', all().partitions)).toEqual([ann, bob])
      expect(store.find('a', [store.entry(bob)?.partition as number])).toEqual([bob])
      expect(store.find('a', [])).toEqual([])
    })

    it.each<[string, Partial<EntryDraft>]>([
      ['an empty id', { id: '' }],
      ['an id that is too long', { id: 'x'.repeat(513) }],
      ['a time that is no whole number', { updatedAt: 1.5 }],
      ['NaN as a time', { validFrom: Number.NaN }],
      ['NaN in the metadata', { metadata: { a: [Number.NaN] } }],
      ['a holder with a blank', { audience: { kind: 'private', holder: 'a b' } }],
    ])('refuses %s', (_, fields) => {
      const draft = draftOf({ id: 'bad', ...fields })
      expect(() => put(draft)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
      expect(store.scanEntries(0, 10)).toEqual([])
    })

    it('refuses text that it could not give back, in whatever field', () => {
      const places = (text: string): readonly Partial<EntryDraft>[] => [
        ...['id', 'collection', 'kind', 'title', 'content', 'origin'].map(field => ({ [field]: text })),
        { tags: ['x', text] },
        { metadata: { [text]: 1 } },
        { metadata: { a: [{ b: text }] } },
        { audience: { kind: 'private', holder: text } },
        { audience: { kind: 'shared', holder: 'ann', federations: [text] } },
      ]
      fc.assert(
        fc.property(brokenTexts(), text => {
          for (const fields of places(text)) {
            const refused = expect.objectContaining({ code: 'invalid_argument' })
            expect(() => put(draftOf({ id: 'bad', content: '', ...fields }))).toThrow(refused)
          }
        }),
        { numRuns: 20 },
      )
      expect(store.scanEntries(0, 10)).toEqual([])
    })

    it('refuses a chunk outside the content', () => {
      const draft = draftOf({ id: 'a', content: 'abc' })
      const chunk = { start: 0, end: 4, startLine: 1, endLine: 1, headings: [] }
      expect(() => store.write(NOW, writer => writer.put(draft, [chunk]))).toThrow('expected a span')
    })
  })

  describe('partitions', () => {
    it('are one for all public entries, and one a holder and set of federations', () => {
      const of = (id: string, ...args: Parameters<typeof audience>) => {
        const { key } = put(draftOf({ id, audience: audience(...args) }))
        return store.entry(key)?.partition
      }
      const open = of('1', 'public', 'ann')
      expect(of('2', 'public', 'bob')).toBe(open)
      const own = of('3', 'private', 'ann')
      const shared = of('4', 'shared', 'ann', ['x', 'y'])
      expect(of('5', 'shared', 'ann', ['y', 'x'])).toBe(shared)
      expect(new Set([open, own, shared, of('6', 'shared', 'bob', ['x', 'y']), of('7', 'private', 'bob')]).size).toBe(5)
      expect(store.partitions().slice(0, 3)).toEqual([
        { id: open, audience: { kind: 'public', holder: 'owner' } },
        { id: own, audience: { kind: 'private', holder: 'ann' } },
        { id: shared, audience: { kind: 'shared', holder: 'ann', federations: ['x', 'y'] } },
      ])
    })

    it('keep a public entry its own holder', () => {
      const { key } = put(draftOf({ id: 'a', audience: audience('public', 'ann') }))
      expect(store.entry(key)?.audience).toEqual({ kind: 'public', holder: 'ann' })
    })

    it('can be interned before they hold anything', () => {
      const id = store.write(NOW, writer => writer.intern(audience('private', 'ann')))
      expect(store.write(NOW, writer => writer.intern(audience('private', 'ann')))).toBe(id)
      expect(store.partitions()).toEqual([{ id, audience: { kind: 'private', holder: 'ann' } }])
    })
  })

  describe('delete', () => {
    it('takes chunks, vectors, access state and aspect rows along', () => {
      const { key } = put(draftOf({ id: 'a' }))
      const chunk = store.chunksOf(key)[0]?.key as number
      store.write(NOW, writer => {
        writer.putVectors('m', [{ chunk, vector: Float32Array.of(1) }])
        writer.touch(OWNER_VIEWER, [key], NOW, 1)
        writer.table(MOOD).put({ entry: key, level: 1 })
      })
      expect(remove(key)).toBe(true)
      expect(store.entry(key)).toBeUndefined()
      expect([store.chunksOf(key), store.chunks([chunk]), store.vectors('m', [chunk])]).toEqual([[], [], []])
      expect(store.access(OWNER_VIEWER, [key]).size).toBe(0)
      expect(store.accessViewers()).toEqual([])
      expect(store.table(MOOD).scan()).toEqual([])
      expect(matching({ op: 'exists', field: 'id' })).toEqual([])
      expect(feed().at(-1)).toBe(`3 delete ${key}`)
      expect(remove(key)).toBe(false)
      expect(store.lastSeq()).toBe(3)
    })
  })
}
