/** The newest part of the feed in memory says exactly what the feed says, from any position. */
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { RecentChanges } from '../../../src/pipeline/recent-changes.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

it('follows two writers, and admits what was cut', () => {
  let files = 0
  const act = fc.oneof(
    fc.record({ do: fc.constant('put' as const), id: fc.constantFrom('a', 'b'), by: fc.nat({ max: 1 }) }),
    fc.record({ do: fc.constant('prune' as const), back: fc.nat({ max: 3 }) }),
    fc.constant({ do: 'look' as const }),
  )
  fc.assert(
    fc.property(fc.nat({ max: 3 }), fc.array(act, { maxLength: 15 }), (before, acts) => {
      const file = join(folder.path, `${++files}.db`)
      const stores = [openSqliteStore({ file }), openSqliteStore({ file })] as const
      let texts = 0
      const put = (id: string, by: number) => {
        const draft = draftOf({ id, content: `text ${++texts}` })
        stores[by as 0].write(1, writer => writer.put(draft, wholeChunk(draft)))
      }
      for (let at = 0; at < before; at++) put('a', 0)
      const recent = new RecentChanges(stores[0])
      for (const step of acts) {
        if (step.do === 'put') put(step.id, step.by)
        else if (step.do === 'prune') stores[0].write(1, writer => writer.pruneChanges(writer.lastSeq() - step.back))
        const [last, first] = [stores[0].lastSeq(), stores[0].firstSeq()]
        expect(recent.position()).toBe(last)
        for (let from = 0; from <= last + 1; from++) {
          const reported = recent.since(from)
          if (from <= last && first <= from + 1) expect(reported).toEqual(stores[0].changesSince(from, 1000))
          else if (from > last) expect(reported).toBe(null)
          // What was cut from the feed may still be known.
          else if (reported !== null) expect(reported.map(({ seq }) => seq)).toEqual(range(from + 1, last))
        }
      }
      for (const store of stores) store.close()
    }),
    { numRuns: 50 },
  )
})

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}
