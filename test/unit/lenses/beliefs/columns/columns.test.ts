/** The columns hold, after any history and whoever wrote it, what a plain reading of the store tells. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { BeliefColumns, PartitionRows } from '../../../../../src/lenses/beliefs/columns/columns.ts'
import { DIMENSIONS } from '../../../../../src/lenses/beliefs/dimensions.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../../../../../src/lenses/beliefs/model.ts'
import { currentVersion } from '../../../../../src/lenses/beliefs/record/version.ts'
import { BELIEFS } from '../../../../../src/lenses/beliefs/tables.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { PATIENCE_MS } from '../../../../support/patience.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { makeWorld, NOW } from '../record/world.ts'
import { acts, play } from './any-history.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
let files = 0

/** What the columns tell, entry by entry, and by their lists of equal ids and contents. */
function reportedBy(columns: BeliefColumns): unknown {
  const { arrays } = columns
  const rows = [...arrays.entries.subarray(0, columns.rows).keys()].filter(row => arrays.entries[row] !== -1)
  expect(rows).toHaveLength(columns.size)
  expect(arrays.partitions.subarray(0, columns.rows).filter(partition => partition !== -1)).toHaveLength(columns.size)
  const listed = (first: number, next: (row: number) => number): readonly number[] => {
    const found: number[] = []
    for (let row = first; row !== -1; row = next(row)) found.push(arrays.entries[row] as number)
    return found.sort((a, b) => a - b)
  }
  return rows
    .map(row => ({
      entry: arrays.entries[row],
      row: columns.rowOf(arrays.entries[row] as number) === row,
      partition: arrays.partitions[row],
      id: columns.idOf(row),
      holder: columns.holderOf(row),
      domains: columns.domainsOf(row),
      confidence: [...arrays.confidences.subarray(row * 6, row * 6 + 6)],
      times: [arrays.created[row], arrays.validFrom[row], arrays.validUntil[row]],
      derivation: DERIVATION_TYPES[arrays.derivations[row] as number],
      visibility: VISIBILITIES[arrays.visibilities[row] as number],
      parents: parentsIn(columns, row),
      sameId: listed(columns.firstOfId(arrays.ids[row] as number), at => columns.nextOfId(at)),
      copies: listed(columns.firstCopy(row), at => columns.nextCopy(at)),
    }))
    .sort((a, b) => (a.entry as number) - (b.entry as number))
}

function parentsIn(columns: BeliefColumns, row: number): readonly string[] {
  const pairs = [...columns.parentsOf(row)]
  return pairs.flatMap((id, at) =>
    at % 2 === 0 ? [] : [`${columns.texts.holder(pairs[at - 1] as number)} ${columns.texts.id(id)}`],
  )
}

/** The same, read plainly. */
function reportedByStore(store: Store): unknown {
  const current = store.entries(store.scanEntries(0, 1e6)).flatMap(entry => {
    const row = store.table(BELIEFS).get({ entry: entry.key })
    return row === undefined ? [] : [{ entry, version: currentVersion(entry, row) }]
  })
  return current.map(({ entry, version }) => ({
    entry: entry.key,
    row: true,
    partition: entry.partition,
    id: entry.id,
    holder: version.holder,
    domains: version.domains,
    confidence: DIMENSIONS.map(name => version.confidence[name] ?? Number.NaN),
    times: [version.createdAt, version.validFrom, version.validUntil ?? Number.POSITIVE_INFINITY],
    derivation: version.derivation.type,
    visibility: version.visibility,
    parents: [
      ...new Set(
        version.derivation.sources
          .filter(source => source.contribution_type === 'primary' || source.contribution_type === 'supporting')
          .flatMap(({ holder, belief_id }) => (holder === null ? [] : [`${holder} ${belief_id}`])),
      ),
    ],
    sameId: current.filter(other => other.version.id === version.id).map(other => other.entry.key),
    copies: current.filter(other => other.version.contentHash === version.contentHash).map(other => other.entry.key),
  }))
}

describe('columns', () => {
  it.each<[string, () => readonly [Store, Store]]>([
    [
      'in memory',
      () => {
        const store = openMemoryStore()
        return [store, store]
      },
    ],
    [
      'in SQLite, written through one connection and read through another',
      () => {
        const file = folder.file(`${++files}.db`)
        return [openSqliteStore({ file }), openSqliteStore({ file })]
      },
    ],
  ])(
    'agree with the store after any history, %s (QUERENT_LONG: 3,000)',
    async (_, open) => {
      await fc.assert(
        fc.asyncProperty(fc.array(acts, { maxLength: 14 }), async history => {
          const [written, read] = open()
          const world = makeWorld(written)
          const followed = new BeliefColumns(read)
          try {
            for (const [at, act] of history.entries()) {
              await play(world, act, at)
              if (act.do !== 'look') continue
              followed.refresh()
              expect(reportedBy(followed)).toEqual(reportedByStore(read))
            }
            followed.refresh()
            const whole = new BeliefColumns(read)
            whole.refresh()
            expect(reportedBy(followed)).toEqual(reportedByStore(written))
            expect(reportedBy(whole)).toEqual(reportedBy(followed))
          } finally {
            if (read !== written) read.close()
            written.close()
          }
        }),
        { numRuns: process.env['QUERENT_LONG'] === '1' ? 3000 : 60 },
      )
    },
    PATIENCE_MS,
  )

  describe('that are read in steps', () => {
    const BELIEFS_IN_STORE = 600
    const filled = () => {
      const world = makeWorld()
      world.write('ann', () => undefined)
      for (let at = 0; at < BELIEFS_IN_STORE; at++) {
        world.put('ann', { id: `${at}`, content: `Fact ${at % 50}.`, domains: ['a'] })
      }
      return world
    }

    it('QE-019: take a step for every 250 beliefs, and hold what the store holds', () => {
      const world = filled()
      const columns = new BeliefColumns(world.store)
      const reading = columns.refreshInSteps()
      let steps = 0
      while (reading.next(false).done !== true) steps++
      expect(steps).toBeGreaterThanOrEqual(BELIEFS_IN_STORE / 250)
      expect(reportedBy(columns)).toEqual(reportedByStore(world.store))
      expect(columns.refreshInSteps().next(false).done).toBe(true)
    })

    it(
      'QE-019: hold in the end what the store holds then, whatever is written between the steps',
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(acts, { minLength: 1, maxLength: 14 }), async history => {
            const world = filled()
            const columns = new BeliefColumns(world.store)
            const steps = columns.refreshInSteps()
            const left = [...history.entries()]
            for (let more = true; more; ) {
              more = steps.next(false).done !== true
              for (const [at, act] of left.splice(0, 4)) await play(world, act, at)
            }
            columns.refresh()
            expect(reportedBy(columns)).toEqual(reportedByStore(world.store))
          }),
          { numRuns: 6 },
        )
      },
      PATIENCE_MS,
    )

    it('are read to the end by who cannot wait, and by several who wait only once', () => {
      const world = filled()
      const columns = new BeliefColumns(world.store)
      const [one, other] = [columns.refreshInSteps(), columns.refreshInSteps()]
      let steps = 0
      for (let open = [one, other]; open.length > 0; ) {
        open = open.filter(each => each.next(false).done !== true)
        steps += open.length
      }
      // One reads each page; the other finds out a step later that nothing is left.
      expect(steps).toBeLessThanOrEqual(BELIEFS_IN_STORE / 250 + 3)
      expect(reportedBy(columns)).toEqual(reportedByStore(world.store))

      const waiting = new BeliefColumns(world.store)
      const begun = waiting.refreshInSteps()
      begun.next(false)
      waiting.refresh()
      expect(reportedBy(waiting)).toEqual(reportedByStore(world.store))
      expect(begun.next(false).done).toBe(true)
      expect(reportedBy(waiting)).toEqual(reportedByStore(world.store))
    })
  })

  it('grow beyond their first size, and give free rows to the next', () => {
    const world = makeWorld()
    const columns = new BeliefColumns(world.store)
    world.write('ann', () => undefined)
    for (let at = 0; at < 300; at++) world.put('ann', { id: `${at}`, content: `Fact ${at}.`, domains: ['a'] })
    columns.refresh()
    const rows = columns.rows
    for (let at = 0; at < 300; at += 2) world.remove('ann', `${at}`)
    columns.refresh()
    expect(columns.size).toBe(150)
    for (let at = 0; at < 150; at++) world.put('bob', { id: `${at}`, content: `Fact ${at}.` })
    columns.refresh()
    expect([columns.size, columns.rows, rows]).toEqual([300, 300, 300])
    expect(reportedBy(columns)).toEqual(reportedByStore(world.store))
    expect(columns.texts.bounds.holders).toBe(2)
  })

  it('read all again when the feed no longer reaches back', () => {
    const world = makeWorld()
    world.put('ann', { id: 'a' })
    const columns = new BeliefColumns(world.store)
    columns.refresh()
    world.remove('ann', 'a')
    world.put('bob', { id: 'b' })
    world.put('bob', { id: 'c' })
    world.store.write(NOW, writer => writer.pruneChanges(writer.lastSeq()))
    columns.refresh()
    expect(columns.size).toBe(2)
    expect(reportedBy(columns)).toEqual(reportedByStore(world.store))
  })

  it('read nothing while nothing was committed, and not all when little was', () => {
    const world = makeWorld()
    for (let at = 0; at < 50; at++) world.put('ann', { id: `${at}` })
    const calls: string[] = []
    const watched = new Proxy(world.store, {
      get: (store, name) => {
        calls.push(String(name))
        const value: unknown = Reflect.get(store, name, store)
        if (name === 'entries') {
          return (keys: readonly number[]) => {
            calls.push(`${keys.length} entries`)
            return store.entries(keys)
          }
        }
        if (name === 'read') return (body: (reader: Store) => unknown) => store.read(() => body(watched))
        return typeof value === 'function' ? value.bind(store) : value
      },
    })
    const columns = new BeliefColumns(watched)
    columns.refresh()
    expect(calls).toContain('50 entries')
    calls.length = 0
    columns.refresh()
    expect(calls).toEqual(['version'])
    world.supersede('ann', '7', { content: 'It pours.' })
    columns.refresh()
    expect(calls.filter(call => call.endsWith(' entries'))).toEqual(['1 entries'])
    calls.length = 0
    world.store.write(NOW, writer => writer.setMeta('x', 'y'))
    columns.refresh()
    expect(calls.filter(call => call.endsWith(' entries'))).toEqual([])
  })
})

const PARTITIONS = [0, 1, 2, 7]

describe('rows by partition (BQ-195)', () => {
  it('are those that were added and not removed, ascending, whatever the history', () => {
    const step = fc.record({ partition: fc.constantFrom(...PARTITIONS), row: fc.nat(60), clear: fc.nat(40) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const lists = new PartitionRows()
        const model = new Map(PARTITIONS.map(partition => [partition, new Set<number>()]))
        for (const { partition, row, clear } of steps) {
          const before = PARTITIONS.map(each => lists.changesIn([each]))
          const rows = model.get(partition) as Set<number>
          if (clear === 0) {
            lists.clear()
            for (const each of model.values()) each.clear()
          } else if (rows.delete(row)) lists.remove(partition, row)
          else {
            rows.add(row)
            lists.add(partition, row)
          }
          for (const [at, each] of PARTITIONS.entries()) {
            const isSame = lists.changesIn([each]) === before[at]
            expect(isSame).toBe(clear !== 0 && each !== partition)
            expect([...lists.of(each)]).toEqual([...(model.get(each) as Set<number>)].sort((a, b) => a - b))
          }
        }
      }),
    )
  })

  it('change by a number that never comes twice for the same partitions', () => {
    const lists = new PartitionRows()
    const seen = new Set<number>()
    for (let round = 0; round < 50; round++) {
      if (round % 7 === 6) lists.clear()
      else lists.add(round % 2, round)
      seen.add(lists.changesIn([0, 1]))
    }
    expect(seen.size).toBe(50)
  })
})
