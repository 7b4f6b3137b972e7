/** What every store must do with transactions. A part of `store-suite.ts`, which opens and closes the stores. */
import { beforeEach, describe, expect, it } from 'vitest'
import { audience, OWNER } from '../../src/model/partition.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { draftOf, lineChunks } from '../support/entries.ts'
import { LINK } from '../support/play.ts'
import { NOW, shortForms } from '../support/store-short-forms.ts'

/** `opened` gives the store of the running test. */
export function transactionSuite(opened: () => Store): void {
  let store: Store
  beforeEach(() => {
    store = opened()
  })
  const { put, all } = shortForms(opened)

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

    it('forget what was found out inside when they fail', () => {
      const draft = draftOf({ id: 'a', audience: audience('private', 'new') })
      const attempt = (fails: boolean) =>
        store.write(NOW, writer => {
          const { key } = writer.put(draft, lineChunks(draft))
          if (!fails) return
          const chunk = writer.chunksOf(key)[0]?.key as number
          writer.putVectors('m', [{ chunk, vector: Float32Array.of(1) }])
          writer.table(LINK).put({ source: 'a', rank: 1, weight: 1 })
          expect([writer.chunksWithoutVector('m', 9), writer.table(LINK).count()]).toEqual([[], 1])
          throw new Error('no')
        })
      expect(() => attempt(true)).toThrow('no')
      attempt(false)
      expect(store.chunksWithoutVector('m', 9)).toHaveLength(1)
      expect(store.countVectors('m', all().partitions)).toBe(0)
      expect(store.table(LINK).count()).toBe(0)
      expect(store.partitions()).toHaveLength(1)
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

    it('move the version of a table when they write to it', () => {
      const link = { source: 'a', rank: 1, weight: 1 }
      const versions = [store.version(LINK)]
      const put = (writer: StoreWriter) => writer.table(LINK).put(link)
      const acts = [put, put, (writer: StoreWriter) => writer.table(LINK).delete({ source: 'a' })]
      for (const act of acts) {
        store.write(NOW, writer => act(writer))
        versions.push(store.version(LINK))
      }
      expect(new Set(versions).size).toBe(4)
      store.write(NOW, writer => [writer.setMeta('a', 'b'), writer.table(LINK).count()])
      const failing = (writer: StoreWriter) => {
        writer.table(LINK).put(link)
        throw new Error('no')
      }
      expect(() => store.write(NOW, failing)).toThrow('no')
      expect(store.version(LINK)).toBe(versions.at(-1))
      store.write(NOW, writer => writer.setMeta('a', 'c'))
      expect(store.version(LINK)).toBe(versions.at(-1))
    })
  })
}
