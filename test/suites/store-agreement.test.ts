/** A store agrees with itself: in a file and in memory, opened again, without what failed, and with plain readings of its entries. */

import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { compareText } from '../../src/base/compare.ts'
import type { Entry } from '../../src/model/entry.ts'
import { type Filter, matches } from '../../src/model/filter.ts'
import type { AccessScope } from '../../src/model/viewer.ts'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { ListRequest, Store } from '../../src/store/store.ts'
import { damageIn } from '../support/damage-in.ts'
import { filters } from '../support/filter-arbitraries.ts'
import { histories, populations } from '../support/histories.ts'
import { type Act, MOOD, MOOD_FIELDS, observe, play, type Step } from '../support/play.ts'
import { tempFolder } from '../support/temp-folder.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

/** What remains of a history when everything is left out that fails. */
function withoutFailures(acts: readonly Act[]): readonly Act[] {
  const kept = (steps: readonly Step[]): readonly Step[] =>
    steps.flatMap((step): readonly Step[] => {
      if (step.do !== 'nested') return [step]
      return step.fails ? [] : [{ ...step, steps: kept(step.steps) }]
    })
  return acts.filter(({ fails }) => !fails).map(act => ({ ...act, steps: kept(act.steps) }))
}

/** Visible entries that `matches` accepts, read one by one, in the order of a list. */
function plainList(store: Store, { viewer, partitions }: AccessScope, filter: Filter, order: ListRequest['order']) {
  const accessOf = (entry: Entry) => store.access(viewer, [entry.key]).get(entry.key) ?? null
  const subjectOf = (entry: Entry) => ({
    entry,
    access: accessOf(entry),
    aspect: (name: string, column: string) => {
      const cell = name === MOOD.aspect ? store.table(MOOD).get({ entry: entry.key })?.[column] : null
      return cell === undefined || cell instanceof Uint8Array ? null : cell
    },
  })
  const instantOf = (entry: Entry) =>
    ({
      created: entry.createdAt,
      updated: entry.updatedAt,
      accessed: accessOf(entry)?.lastAccessed ?? -Infinity,
      id: 0,
    })[order]
  return store
    .entries(store.scanEntries(0, 1e6))
    .filter(entry => partitions.includes(entry.partition) && matches(filter, subjectOf(entry)))
    .sort((a, b) => {
      const [x, y] = [instantOf(a), instantOf(b)]
      if (x !== y) return y > x ? 1 : -1
      return compareText(a.id, b.id) || compareText(a.audience.holder, b.audience.holder)
    })
}

const timeout = LONG ? 3_600_000 : 600_000

describe('a store agrees with itself (many more runs with QUERENT_LONG=1)', { timeout }, () => {
  it('holds after a random history what it holds in memory, opened again, and without what failed', async () => {
    let made = 0
    await fc.assert(
      fc.asyncProperty(histories(LONG ? 30 : 8), async acts => {
        const file = folder.file(`${++made}.db`)
        using stores = new DisposableStack()
        const open = (store: Store) => stores.adopt(store, opened => opened.close())
        const sqlite = open(openSqliteStore({ file, storeId: 'same' }))
        const memory = open(openMemoryStore('same'))
        const plain = open(openMemoryStore('same'))
        expect(play(sqlite, acts)).toEqual(play(memory, acts))
        play(plain, withoutFailures(acts))
        const seen = observe(sqlite)
        expect(seen).toEqual(observe(memory))
        expect(seen).toEqual(observe(plain))
        expect(observe(open(openSqliteStore({ file, readOnly: true })))).toEqual(seen)
        expect(await damageIn(sqlite)).toEqual([])
      }),
      { numRuns: LONG ? 2000 : 60 },
    )
  })

  it('finds, counts and lists by random filters what reading every entry finds', () => {
    fc.assert(
      fc.property(populations(), fc.array(filters(MOOD_FIELDS), { minLength: 80, maxLength: 80 }), (acts, trees) => {
        const store = openMemoryStore()
        play(store, acts)
        const partitions = store.partitions().map(partition => partition.id)
        const orders = ['updated', 'created', 'accessed', 'id'] as const
        for (const [at, filter] of trees.entries()) {
          // Sometimes one partition is hidden.
          const accessScope = { viewer: { id: at % 2 ? 'ann' : 'owner' }, partitions: partitions.slice(at % 3 ? 0 : 1) }
          const order = orders[at % orders.length] ?? 'id'
          const expected = plainList(store, accessScope, filter, order)
          const keys = expected.map(({ key }) => key).sort((a, b) => a - b)
          expect([...store.matching(accessScope, filter)], JSON.stringify(filter)).toEqual(keys)
          expect(store.count(accessScope, filter)).toBe(expected.length)
          expect(store.list({ accessScope, filter, order, limit: 3, after: null })).toEqual(expected.slice(0, 3))
        }
        store.close()
      }),
      { numRuns: LONG ? 1000 : 25 },
    )
  })
})
