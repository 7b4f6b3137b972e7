/** What every store must do with chunks, vectors, the feed of changes and access states. A part of `store-suite.ts`, which opens and closes the stores. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryKey } from '../../src/model/entry.ts'
import { audience } from '../../src/model/partition.ts'
import type { Store } from '../../src/store/store.ts'
import { draftOf } from '../support/entries.ts'
import { MOOD } from '../support/play.ts'
import { NOW, OWNER_VIEWER, shortForms } from '../support/store-short-forms.ts'

/** `opened` gives the store of the running test. */
export function changeSuite(opened: () => Store): void {
  let store: Store
  beforeEach(() => {
    store = opened()
  })
  const { put, remove, all, feed } = shortForms(opened)

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

    it('begin with the first, for many entries at once', () => {
      const keys = ['one\ntwo', 'three\nfour'].map((content, at) => put(draftOf({ id: `${at}`, content })).key)
      const firsts = new Map(keys.map(key => [key, chunkKeys(key)[0]]))
      expect(store.firstChunks([...keys, 99].reverse())).toEqual(firsts)
    })

    it('are read by ordinal for many entries at once, without entries that are not there', () => {
      const keys = ['one\ntwo', 'three\nfour\nfive'].map((content, at) => put(draftOf({ id: `${at}`, content })).key)
      const all = new Map(keys.map(key => [key, store.chunksOf(key)]))
      expect(store.chunksOfEach([99, ...keys].reverse())).toEqual(all)
      expect(store.chunksOfEach([])).toEqual(new Map())
    })

    it('are given in the order asked for', () => {
      const { key } = put(draftOf({ id: 'a', content: 'one\ntwo\nthree' }))
      const [one, two, three] = chunkKeys(key) as [number, number, number]
      embed([three, one])
      expect(store.chunks([three, 99, one]).map(chunk => chunk.key)).toEqual([three, one])
      expect(store.vectors('m', [three, two, one]).map(row => row.chunk)).toEqual([three, one])
      const bare = [three, one].map(chunk => ({ chunk, vector: Float32Array.of(chunk, 0.5) }))
      expect(store.vectorsOnly('m', [three, two, one])).toEqual(bare)
      expect(store.vectorsOnly('other', [three])).toEqual([])
      const partition = store.entry(key)?.partition
      expect(store.scanVectors('m', 0, 9)).toEqual([
        { chunk: one, entry: key, partition, vector: Float32Array.of(one, 0.5) },
        { chunk: three, entry: key, partition, vector: Float32Array.of(three, 0.5) },
      ])
      expect(store.scanVectors('m', one, 9).map(row => row.chunk)).toEqual([three])
      expect(store.chunksWithoutVector('m', 9).map(chunk => chunk.key)).toEqual([two])
      expect(store.chunksWithoutVector('other', 2).map(chunk => chunk.key)).toEqual([one, two])
    })

    it('that are missing are found from any place, whatever was asked before', () => {
      const { key } = put(draftOf({ id: 'a', content: 'one\ntwo\nthree\nfour' }))
      const [one, two, three, four] = chunkKeys(key) as [number, number, number, number]
      embed([three])
      const missing = (limit: number, after?: number) =>
        store.chunksWithoutVector('m', limit, after).map(chunk => chunk.key)
      expect(missing(9, two)).toEqual([four])
      expect(missing(9, four)).toEqual([])
      expect(missing(9)).toEqual([one, two, four])
      embed([one, two])
      expect(missing(9)).toEqual([four])
      expect(missing(1, one)).toEqual([four])
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

    it('has a change of its own for each entry, so that no key is above the newest change', () => {
      const failing = (id: string) => () =>
        store.write(NOW, writer => {
          writer.put(draftOf({ id }), [])
          throw new Error('no')
        })
      store.write(NOW, writer => {
        for (const id of ['a', 'b']) writer.put(draftOf({ id }), [])
        expect(failing('c')).toThrow('no')
        expect(writer.put(draftOf({ id: 'd' }), []).key).toBeLessThanOrEqual(writer.lastSeq())
      })
      expect(failing('e')).toThrow('no')
      expect(put(draftOf({ id: 'f' })).key).toBeLessThanOrEqual(store.lastSeq())
      store.write(NOW, writer => writer.pruneChanges(99))
      expect(store.newestEntry()).toBeLessThanOrEqual(store.lastSeq())
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
      const touch = (id: string, now: number) => store.write(NOW, writer => writer.touch({ id }, [key, 999], now, 0.5))
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
}
