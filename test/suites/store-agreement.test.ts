/** SQLite and memory, given the same, say the same. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../src/store/memory-store.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { filters } from '../support/filter-arbitraries.ts'
import { histories, populations } from '../support/histories.ts'
import { type Act, MOOD_FIELDS, observe, play } from '../support/play.ts'
import { tempFolder } from '../support/temp-folder.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

let made = 0
function withBoth(acts: readonly Act[], look: (memory: Store, sqlite: Store) => void): void {
  const file = folder.file(`${++made}.db`)
  const memory = openMemoryStore({ storeId: 'same' })
  const sqlite = openSqliteStore({ file, storeId: 'same' })
  try {
    expect(play(sqlite, acts)).toEqual(play(memory, acts))
    look(memory, sqlite)
    expect(sqlite.check()).toEqual([])
  } finally {
    sqlite.close()
  }
}

const timeout = LONG ? 3_600_000 : 60_000

describe('stores agree (many more runs with QUERENT_LONG=1)', { timeout }, () => {
  it('after random histories, also when opened again', () => {
    fc.assert(
      fc.property(histories(LONG ? 30 : 8), acts => {
        withBoth(acts, (memory, sqlite) => {
          expect(observe(sqlite)).toEqual(observe(memory))
          const again = openSqliteStore({ file: folder.file(`${made}.db`), readOnly: true })
          expect(observe(again)).toEqual(observe(memory))
          again.close()
        })
      }),
      { numRuns: LONG ? 2000 : 60 },
    )
  })

  it('on random filters', () => {
    fc.assert(
      fc.property(populations(), fc.array(filters(MOOD_FIELDS), { minLength: 80, maxLength: 80 }), (acts, trees) => {
        withBoth(acts, (memory, sqlite) => {
          const partitions = memory.partitions().map(partition => partition.id)
          for (const [at, filter] of trees.entries()) {
            // Sometimes one partition is hidden.
            const accessScope = {
              viewer: { id: at % 2 ? 'ann' : 'owner' },
              partitions: partitions.slice(at % 3 ? 0 : 1),
            }
            const found = [...memory.matching(accessScope, filter)]
            expect([...sqlite.matching(accessScope, filter)], JSON.stringify(filter)).toEqual(found)
            expect(sqlite.count(accessScope, filter)).toBe(found.length)
            const request = { accessScope, filter, order: 'updated', limit: 3, after: null } as const
            expect(sqlite.list(request)).toEqual(memory.list(request))
          }
        })
      }),
      { numRuns: LONG ? 1000 : 25 },
    )
  })
})
