/** What is kept by partition and by row, so that work depends on what is visible alone (BQ-195). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartitionRows } from '../../../../../src/lenses/beliefs/columns/partition-rows.ts'
import { TouchedRows } from '../../../../../src/lenses/beliefs/columns/touched-rows.ts'

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
          } else if (rows.delete(row)) lists.remove(row + 100, goneFrom(partition, row))
          else {
            rows.add(row)
            lists.add(partition, row, row + 100)
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
      else lists.add(round % 2, round, round)
      seen.add(lists.changesIn([0, 1]))
    }
    expect(seen.size).toBe(50)
  })
})

describe('changes of partitions', () => {
  it('are those since a mark in their order, or too many to remember', () => {
    const step = fc.record({ partition: fc.constantFrom(...PARTITIONS), times: fc.constantFrom(1, 1, 2, 9, 300) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.subarray(PARTITIONS), (steps, asked) => {
        const lists = new PartitionRows()
        const all: { readonly partition: number; readonly entry: number }[] = []
        const marks = [{ mark: lists.mark(asked), at: 0 }]
        for (const { partition, times } of steps) {
          for (let left = times; left > 0; left--) {
            const entry = all.push({ partition, entry: all.length }) - 1
            lists.add(partition, entry, entry)
          }
          marks.push({ mark: lists.mark(asked), at: all.length })
        }
        for (const { mark, at } of marks) {
          const since = asked.map(partition => all.slice(at).filter(one => one.partition === partition))
          const found = lists.since(mark, asked)
          if (since.every(({ length }) => length <= 256)) expect(found).not.toBeNull()
          if (since.some(({ length }) => length >= 512)) expect(found).toBeNull()
          if (found === null) continue
          const inOrder = all.slice(at).filter(({ partition }) => asked.includes(partition))
          expect(found.map(({ entry }) => entry)).toEqual(inOrder.map(({ entry }) => entry))
        }
      }),
    )
  })

  it('say what a row that went had said', () => {
    const lists = new PartitionRows()
    lists.add(3, 4, 5)
    const mark = lists.mark([3])
    lists.remove(5, goneFrom(3, 4))
    lists.add(3, 4, 6)
    expect(lists.since(mark, [3])).toEqual([
      { entry: 5, gone: goneFrom(3, 4), at: 1 },
      { entry: 6, gone: null, at: 2 },
    ])
    lists.forgetChanges()
    expect(lists.since(mark, [3])).toBeNull()
    expect(lists.since(lists.mark([3]), [3])).toEqual([])
    const later = lists.mark([3])
    lists.clear()
    expect(lists.since(later, [3])).toBeNull()
  })
})

function goneFrom(partition: number, row: number) {
  return { row, partition, holder: 1, marks: [row, partition] as const }
}

describe('rows that were touched', () => {
  it('are those since any earlier count, or all', () => {
    const touched = new TouchedRows()
    const all: number[] = []
    for (let row = 0; row < 10_000; row++) {
      touched.add(row)
      all.push(row)
      for (const back of [0, 1, 7, 2_000]) {
        const since = Math.max(0, all.length - back)
        expect(touched.since(since)).toEqual(all.slice(since))
      }
    }
    expect(touched.since(0)).toBeNull()
    const { count } = touched
    touched.clear()
    expect(touched.since(count)).toBeNull()
    expect(touched.since(touched.count)).toEqual([])
  })
})
