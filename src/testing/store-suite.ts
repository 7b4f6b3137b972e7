/** What every store must do, in examples. Random histories and filters stand in `store-agreement.ts`. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EntryDraft, EntryKey } from '../model/entry.ts'
import type { Filter } from '../model/filter.ts'
import { audience, OWNER } from '../model/partition.ts'
import type { Sight } from '../model/viewer.ts'
import type { Store } from '../store/store.ts'
import { brokenTexts } from './arbitraries.ts'
import { draftOf, lineChunks, wholeChunk } from './entries.ts'
import { LINK, MOOD } from './play.ts'

const OWNER_VIEWER = { id: OWNER }
const NOW = 5000

/** `open` gives an empty store; it is closed after each test. */
export function storeSuite(name: string, open: () => Store): void {
  describe(`${name}: the store contract`, () => {
    let store: Store
    beforeEach(() => {
      store = open()
    })
    afterEach(() => store.close())

    const put = (draft: EntryDraft, now = NOW) => store.write(now, writer => writer.put(draft, lineChunks(draft)))
    const remove = (key: EntryKey) => store.write(NOW, writer => writer.delete(key))
    const all = (): Sight => ({ viewer: OWNER_VIEWER, partitions: store.partitions().map(partition => partition.id) })
    const matching = (filter: Filter) => [...store.matching(all(), filter)]
    const feed = () => store.changesSince(0, 100).map(({ seq, entry, kind }) => `${seq} ${kind} ${entry}`)

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

      it('refuses text that it could not give back, wherever it stands', () => {
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
        expect(new Set([open, own, shared, of('6', 'shared', 'bob', ['x', 'y']), of('7', 'private', 'bob')]).size).toBe(
          5,
        )
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

    describe('chunks and vectors', () => {
      const embed = (chunks: readonly number[], model = 'm') =>
        store.write(NOW, writer =>
          writer.putVectors(
            model,
            chunks.map(chunk => ({ chunk, vector: Float32Array.of(chunk, 0.5) })),
          ),
        )
      const chunkKeys = (key: EntryKey) => store.chunksOf(key).map(chunk => chunk.key)

      it('keep key and vectors while what is embedded stays the same', () => {
        const { key } = put(draftOf({ id: 'a', content: 'one\ntwo\nsame\nsame' }))
        const [one, two, same, twin] = chunkKeys(key) as [number, number, number, number]
        embed([one, two, same, twin])
        put(draftOf({ id: 'a', content: 'new\nsame\none\nsame\nsame' }))
        const [fresh, ...rest] = chunkKeys(key)
        expect(rest).toEqual([same, one, twin, expect.any(Number)])
        expect([fresh, rest[3]].every(chunk => (chunk as number) > twin)).toBe(true)
        expect(store.vectors('m', [one, two, same]).map(row => row.chunk)).toEqual([one, same])
        expect(store.chunksOf(key).map(chunk => chunk.ordinal)).toEqual([0, 1, 2, 3, 4])
        expect(store.chunks([two])).toEqual([])
      })

      it('lose them when title or headings change, since they are embedded too', () => {
        const { key } = put(draftOf({ id: 'a', content: 'one' }))
        const before = chunkKeys(key)
        put(draftOf({ id: 'a', content: 'one', title: 'Title' }))
        const titled = chunkKeys(key)
        expect(titled).not.toEqual(before)
        put(draftOf({ id: 'a', content: 'one', title: 'Title', tags: ['x'] }))
        expect(chunkKeys(key)).toEqual(titled)
      })

      it('are given in the order asked for', () => {
        const { key } = put(draftOf({ id: 'a', content: 'one\ntwo\nthree' }))
        const [one, two, three] = chunkKeys(key) as [number, number, number]
        embed([three, one])
        expect(store.chunks([three, 99, one]).map(chunk => chunk.key)).toEqual([three, one])
        expect(store.vectors('m', [three, two, one]).map(row => row.chunk)).toEqual([three, one])
        const partition = store.entry(key)?.partition
        expect(store.scanVectors('m', 0, 9)).toEqual([
          { chunk: one, entry: key, partition, vector: Float32Array.of(one, 0.5) },
          { chunk: three, entry: key, partition, vector: Float32Array.of(three, 0.5) },
        ])
        expect(store.scanVectors('m', one, 9).map(row => row.chunk)).toEqual([three])
        expect(store.chunksWithoutVector('m', 9).map(chunk => chunk.key)).toEqual([two])
        expect(store.chunksWithoutVector('other', 2).map(chunk => chunk.key)).toEqual([one, two])
      })

      it('hand out vectors that are the caller’s own', () => {
        const { key } = put(draftOf({ id: 'a' }))
        const [chunk] = chunkKeys(key) as [number]
        const given = Float32Array.of(1, 2)
        store.write(NOW, writer => writer.putVectors('m', [{ chunk, vector: given }]))
        given.fill(9)
        store.vectors('m', [chunk])[0]?.vector.fill(8)
        expect(store.vectors('m', [chunk])[0]?.vector).toEqual(Float32Array.of(1, 2))
      })

      it('take a view into a larger buffer', () => {
        const { key } = put(draftOf({ id: 'a' }))
        const [chunk] = chunkKeys(key) as [number]
        const view = Float32Array.of(1, 2, 3, 4).subarray(1, 3)
        store.write(NOW, writer => writer.putVectors('m', [{ chunk, vector: view }]))
        expect(store.vectors('m', [chunk])[0]?.vector).toEqual(Float32Array.of(2, 3))
      })

      it('are counted by partition and model', () => {
        const ann = put(draftOf({ id: 'a', content: '1\n2\n3', audience: audience('private', 'ann') })).key
        const bob = put(draftOf({ id: 'b', content: '1\n2', audience: audience('private', 'bob') })).key
        embed([...chunkKeys(ann).slice(1), ...chunkKeys(bob)])
        const [first, second] = all().partitions as [number, number]
        expect([store.countChunks([first]), store.countChunks([second]), store.countChunks([])]).toEqual([3, 2, 0])
        expect([store.countVectors('m', [first]), store.countVectors('m', [first, second])]).toEqual([2, 4])
        expect(store.countVectors('other', [first, second])).toBe(0)
      })

      it('tell the feed once an entry, and pass over chunks that are gone', () => {
        const a = put(draftOf({ id: 'a', content: '1\n2' })).key
        const b = put(draftOf({ id: 'b' })).key
        embed([...chunkKeys(b), 999, ...chunkKeys(a)])
        expect(feed()).toEqual([`1 put ${a}`, `2 put ${b}`, `3 vectors ${a}`, `4 vectors ${b}`])
        embed([999])
        expect(store.lastSeq()).toBe(4)
      })

      it('are of one length a model', () => {
        const { key } = put(draftOf({ id: 'a' }))
        embed(chunkKeys(key))
        const vectors = [{ chunk: chunkKeys(key)[0] as number, vector: new Float32Array(3) }]
        expect(() => store.write(NOW, writer => writer.putVectors('m', vectors))).toThrow('expected 2 dimensions')
        store.write(NOW, writer => writer.putVectors('other', vectors))
        expect(store.countVectors('other', all().partitions)).toBe(1)
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

    describe('the feed', () => {
      it('says where an entry is, and where it was', () => {
        const { key } = put(draftOf({ id: 'a', audience: audience('private', 'ann') }), 10)
        put(draftOf({ id: 'a', audience: audience('public', 'ann') }), 20)
        put(draftOf({ id: 'a', audience: audience('public', 'ann'), title: 'x' }), 30)
        remove(key)
        const [own, open] = all().partitions as [number, number]
        expect(store.changesSince(0, 9)).toEqual([
          { seq: 1, entry: key, kind: 'put', partition: own, from: null, at: 10 },
          { seq: 2, entry: key, kind: 'put', partition: open, from: own, at: 20 },
          { seq: 3, entry: key, kind: 'put', partition: open, from: null, at: 30 },
          { seq: 4, entry: key, kind: 'delete', partition: open, from: null, at: NOW },
        ])
        expect(store.changesSince(1, 2).map(change => change.seq)).toEqual([2, 3])
      })

      it('stays silent about accesses and tables, until announced', () => {
        const { key } = put(draftOf({ id: 'a' }))
        store.write(NOW, writer => {
          writer.touch(OWNER_VIEWER, [key], NOW, 1)
          writer.table(MOOD).put({ entry: key, level: 1 })
        })
        expect(store.lastSeq()).toBe(1)
        store.write(NOW, writer => writer.announce(key))
        store.write(NOW, writer => writer.announce(999))
        expect(feed()).toEqual([`1 put ${key}`, `2 put ${key}`])
      })

      it('is pruned from its old end and keeps its newest', () => {
        expect([store.firstSeq(), store.lastSeq()]).toEqual([0, 0])
        for (const id of ['a', 'b', 'c']) put(draftOf({ id }))
        store.write(NOW, writer => writer.pruneChanges(1))
        expect([store.firstSeq(), store.lastSeq()]).toEqual([2, 3])
        store.write(NOW, writer => writer.pruneChanges(99))
        expect([store.firstSeq(), store.lastSeq()]).toEqual([3, 3])
        put(draftOf({ id: 'd' }))
        expect(store.changesSince(0, 9).map(change => change.seq)).toEqual([3, 4])
      })
    })

    describe('access state', () => {
      it('belongs to one viewer and entry, and never moves back in time', () => {
        const { key } = put(draftOf({ id: 'a' }))
        const touch = (id: string, now: number) =>
          store.write(NOW, writer => writer.touch({ id }, [key, 999], now, 0.5))
        touch('ann', 20)
        touch('ann', 10)
        touch('bob', 5)
        expect(store.access({ id: 'ann' }, [key, 999])).toEqual(
          new Map([[key, { lastAccessed: 20, count: 2, strength: 1 }]]),
        )
        expect(store.access({ id: 'bob' }, [key]).get(key)?.lastAccessed).toBe(5)
        expect(store.access({ id: 'cy' }, [key]).size).toBe(0)
        expect(store.accessViewers()).toEqual(['ann', 'bob'])
      })

      it('survives a replacement and can be set', () => {
        const { key } = put(draftOf({ id: 'a' }))
        const state = { lastAccessed: 7, count: 3, strength: 2.25 }
        store.write(NOW, writer => writer.setAccess(OWNER_VIEWER, key, state))
        put(draftOf({ id: 'a', content: 'other' }))
        expect(store.access(OWNER_VIEWER, [key]).get(key)).toEqual(state)
      })
    })

    describe('listing', () => {
      const list = (order: 'created' | 'updated' | 'accessed' | 'id', sight = all()) =>
        store.list({ sight, filter: null, order, limit: 10, after: null }).map(entry => entry.id)

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
        const page = store.list({ sight: all(), filter: null, order: 'created', limit: 5, after })
        expect(page.map(entry => entry.id)).toEqual(['c'])
      })

      it('counts and groups only what is visible', () => {
        put(draftOf({ id: 'a', collection: 'x', tags: ['t', 'u'], audience: audience('private', 'ann') }))
        put(draftOf({ id: 'b', collection: 'y', tags: ['t'], audience: audience('private', 'ann') }))
        put(draftOf({ id: 'c', collection: 'y', tags: ['v'], audience: audience('private', 'bob') }))
        const [ann] = all().partitions as [number]
        const sight = { viewer: { id: 'ann' }, partitions: [ann] }
        expect([store.count(sight, null), store.count(all(), null)]).toEqual([2, 3])
        expect(store.count(sight, { op: 'eq', field: 'collection', value: 'y' })).toBe(1)
        expect(store.facet(sight, 'tag', 9)).toEqual([
          { value: 't', count: 2 },
          { value: 'u', count: 1 },
        ])
        expect(store.facet(all(), 'collection', 1)).toEqual([{ value: 'y', count: 2 }])
        expect(list('id', sight)).toEqual(['a', 'b'])
      })

      it('gives identities and validities without contents', () => {
        const a = put(draftOf({ id: 'a', origin: 'o', validFrom: 1 })).key
        const b = put(draftOf({ id: 'b', validUntil: 2 })).key
        const c = put(draftOf({ id: 'c', audience: audience('public', 'ann') })).key
        expect(store.identities([c, 999, a])).toEqual([
          { key: c, id: 'c', holder: 'ann', collection: 'notes', origin: null },
          { key: a, id: 'a', holder: OWNER, collection: 'notes', origin: 'o' },
        ])
        const [first, second] = [
          { key: a, from: 1, until: null },
          { key: b, from: null, until: 2 },
        ]
        expect(store.validities(null)).toEqual([first, second])
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
        const parts = Array.from(
          { length: 2000 },
          (_, at): Filter => ({ op: 'eq', field: 'metadata.n', value: at / 10 }),
        )
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
        expect(() => matching({ op: 'in', field: 'id', values })).toThrow(
          expect.objectContaining({ code: 'too_large' }),
        )
        expect(() => matching({ op: 'eq', field: 'id', value: '\ud800' })).toThrow('well-formed Unicode')
      })
    })

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

      it.each<[string, () => unknown]>([
        ['a missing value', () => store.write(NOW, w => w.table(LINK).put({ source: 'a', rank: 1 }))],
        ['a value of another type', () => links([1 as never, 1, null])],
        ['a fraction for an integer', () => links(['a', 1.5, null])],
        ['an unknown column', () => store.table(LINK).scan({ nope: 1 })],
        ['half a key', () => store.table(LINK).get({ source: 'a' })],
        ['deleting without a condition', () => store.write(NOW, writer => writer.table(LINK).delete({}))],
        [
          'a row of an entry that is not there',
          () => store.write(NOW, w => w.table(MOOD).put({ entry: 999, level: 1 })),
        ],
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

      it('are named apart from the tables of the store', () => {
        const entries = { ...LINK, name: 'entries' }
        store.write(NOW, writer => writer.table(entries).put({ source: 'a', rank: 1, weight: 1 }))
        const { key } = put(draftOf({ id: 'a' }))
        expect(store.entry(key)?.id).toBe('a')
        expect(store.table(entries).count()).toBe(1)
      })
    })

    describe('transactions', () => {
      const ids = () => store.entries(store.scanEntries(0, 99)).map(entry => entry.id)

      it('leave nothing behind when they fail', () => {
        put(draftOf({ id: 'a' }))
        const version = store.version()
        const attempt = () =>
          store.write(NOW, writer => {
            writer.put(draftOf({ id: 'b', audience: audience('private', 'new') }), [])
            writer.setMeta('m', '1')
            writer.table(LINK).put({ source: 'a', rank: 1, weight: 1 })
            throw new Error('no')
          })
        expect(attempt).toThrow('no')
        expect([ids(), store.meta('m'), store.lastSeq(), store.partitions().length]).toEqual([['a'], undefined, 1, 1])
        expect(store.table(LINK).count()).toBe(0)
        expect(store.version()).toBe(version)
        put(draftOf({ id: 'c', audience: audience('private', 'new') }))
        expect(store.partitions().map(partition => partition.audience.holder)).toEqual([OWNER, 'new'])
      })

      it('undo only the inner one when that fails', () => {
        store.write(NOW, writer => {
          writer.put(draftOf({ id: 'a' }), [])
          expect(() =>
            store.write(NOW, inner => {
              inner.put(draftOf({ id: 'b' }), [])
              throw new Error('inner')
            }),
          ).toThrow('inner')
          store.write(NOW, inner => inner.put(draftOf({ id: 'c' }), []))
        })
        expect(ids()).toEqual(['a', 'c'])
      })

      it('see their own writes', () => {
        store.write(NOW, writer => {
          const { key } = writer.put(draftOf({ id: 'a' }), [])
          expect(writer.entry(key)?.id).toBe('a')
          expect(store.entry(key)?.id).toBe('a')
          expect(store.read(reader => reader.count(all(), null))).toBe(1)
        })
      })

      it('refuse to go on after they ended', () => {
        const escaped = store.write(NOW, writer => writer)
        expect(() => escaped.setMeta('a', 'b')).toThrow('only inside its transaction')
        expect(() => escaped.put(draftOf({ id: 'a' }), [])).toThrow('only inside its transaction')
      })

      it('refuse an asynchronous body and undo it', () => {
        const late = async () => undefined
        expect(() =>
          store.write(NOW, writer => {
            writer.setMeta('a', 'b')
            return late()
          }),
        ).toThrow('must be synchronous')
        expect(store.meta('a')).toBeUndefined()
      })

      it('of reading do not write', () => {
        expect(() => store.read(() => store.write(NOW, () => undefined))).toThrow('does not write')
        expect(store.read(reader => reader.lastSeq())).toBe(0)
      })

      it('move the version when they write', () => {
        const before = store.version()
        expect(store.version()).toBe(before)
        const { key } = put(draftOf({ id: 'a' }))
        const after = store.version()
        expect(after).not.toBe(before)
        store.entry(key)
        expect(store.version()).toBe(after)
        store.write(NOW, writer => writer.setMeta('a', 'b'))
        expect(store.version()).not.toBe(after)
      })
    })

    it('keeps texts of its own', () => {
      expect(store.meta('a')).toBeUndefined()
      store.write(NOW, writer => writer.setMeta('a', ''))
      expect(store.meta('a')).toBe('')
    })

    it('is sound', () => {
      put(draftOf({ id: 'a' }))
      store.write(NOW, writer => writer.put(draftOf({ id: 'b' }), wholeChunk(draftOf({ id: 'b' }))))
      expect(store.check()).toEqual([])
    })
  })
}
