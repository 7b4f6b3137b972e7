/** A process that has not looked yet finds the chunks that wait for a vector, wherever they are. */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

const vector = Float32Array.of(1, 0)
let files = 0

it('finds them, however few and old', () => {
  const chunk = fc.record({
    isEmbedded: fc.boolean(),
    isEmbeddedLater: fc.boolean(),
    isDeleted: fc.nat(5).map(n => n === 0),
  })
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 30 }), fc.nat(31), fc.nat(31), (chunks, limit, after) => {
      const file = folder.file(`${++files}.db`)
      const first = openSqliteStore({ file })
      const keys = first.write(1, writer =>
        chunks.map((_, at) => {
          const draft = draftOf({ id: `entry-${at}` })
          const { key } = writer.put(draft, wholeChunk(draft))
          return { entry: key, chunk: writer.chunksOf(key)[0]?.key ?? 0 }
        }),
      )
      const chosen = (is: 'isEmbedded' | 'isEmbeddedLater') =>
        keys.filter((_, at) => chunks[at]?.[is]).map(({ chunk }) => ({ chunk, vector }))
      first.write(1, writer => writer.putVectors('m', chosen('isEmbedded')))
      first.write(1, writer => {
        for (const [at, { entry }] of keys.entries()) if (chunks[at]?.isDeleted) writer.delete(entry)
      })
      first.close()
      const waiting = (is: (at: number) => boolean) =>
        keys.filter((_, at) => !chunks[at]?.isDeleted && !is(at)).map(({ chunk }) => chunk)
      using store = Object.assign(openSqliteStore({ file }), { [Symbol.dispose]: () => store.close() })
      const found = (from: number) => store.chunksWithoutVector('m', limit, from).map(({ key }) => key)
      const expected = waiting(at => chunks[at]?.isEmbedded === true)
      expect(found(after)).toEqual(expected.filter(key => key > after).slice(0, limit))
      expect(found(0)).toEqual(expected.slice(0, limit))
      store.write(1, writer => writer.putVectors('m', chosen('isEmbeddedLater')))
      const left = waiting(at => chunks[at]?.isEmbedded === true || chunks[at]?.isEmbeddedLater === true)
      expect(found(0)).toEqual(left.slice(0, limit))
    }),
    { numRuns: 150 },
  )
})
