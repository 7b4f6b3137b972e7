/** What is kept by partition and by row, so that work depends on what is visible alone (BQ-195). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartitionRows } from '../../../../../src/lenses/beliefs/columns/row-lists.ts'

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
