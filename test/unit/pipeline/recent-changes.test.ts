/** The newest part of the feed that is kept in memory equals the feed, from any position. */
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { RecentChanges } from '../../../src/pipeline/recent-changes.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Change } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

it('follows two writers, and reports what was pruned as unknown', () => {
  let files = 0
  const act = fc.oneof(
    fc.record({ do: fc.constant('put' as const), id: fc.constantFrom('a', 'b'), by: fc.nat({ max: 1 }) }),
    fc.record({ do: fc.constant('embed' as const), id: fc.constantFrom('a', 'b'), by: fc.nat({ max: 1 }) }),
    fc.record({ do: fc.constant('prune' as const), back: fc.nat({ max: 3 }) }),
    fc.record({ do: fc.constant('look' as const), isBackward: fc.boolean() }),
  )
  fc.assert(
    fc.property(
      fc.nat({ max: 3 }),
      fc.integer({ min: 1, max: 8 }),
      fc.array(act, { maxLength: 15 }),
      (before, maxKept, acts) => {
        const file = join(folder.path, `${++files}.db`)
        const stores = [openSqliteStore({ file }), openSqliteStore({ file })] as const
        let texts = 0
        const put = (id: string, by: number) => {
          const draft = draftOf({ id, content: `text ${++texts}` })
          stores[by as 0].write(1, writer => writer.put(draft, wholeChunk(draft)))
        }
        const embed = (id: string, by: number) => {
          const store = stores[by as 0]
          const entries = store.find(
            id,
            store.partitions().map(({ id: partition }) => partition),
          )
          const chunks = entries
            .flatMap(entry => store.chunksOf(entry))
            .map(({ key }) => ({ chunk: key, vector: new Float32Array([1]) }))
          store.write(1, writer => writer.putVectors('m@1', chunks))
        }
        for (let at = 0; at < before; at++) put('a', 0)
        const recent = new RecentChanges(stores[0], maxKept)
        for (const step of [...acts, { do: 'look' as const, isBackward: false }]) {
          if (step.do === 'put') put(step.id, step.by)
          else if (step.do === 'embed') embed(step.id, step.by)
          else if (step.do === 'prune') stores[0].write(1, writer => writer.pruneChanges(writer.lastSeq() - step.back))
          if (step.do !== 'look') continue
          const [last, first] = [stores[0].lastSeq(), stores[0].firstSeq()]
          expect(recent.position()).toBe(last)
          for (let at = 0; at <= last + 1; at++) {
            const from = step.isBackward ? last + 1 - at : at
            const reported = recent.since(from)
            if (from <= last && first <= from + 1) expect(reported).toEqual(plain(stores[0].changesSince(from, 1000)))
            else if (from > last) expect(reported).toBe(null)
            // What was cut from the feed may still be known.
            else if (reported !== null) expect(reported.length).toBeLessThanOrEqual(last - from)
          }
        }
        for (const store of stores) store.close()
      },
    ),
    { numRuns: 50 },
  )
})

/** Without changes that only add vectors to an entry that was put before, after the same position. */
function plain(changes: readonly Change[]): readonly Change[] {
  const isPut = (entry: number, before: number) =>
    changes.some(one => one.kind === 'put' && one.entry === entry && one.seq < before)
  return changes.filter(({ kind, entry, seq }) => kind !== 'vectors' || !isPut(entry, seq))
}
