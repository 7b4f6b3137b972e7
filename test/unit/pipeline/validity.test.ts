import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ValidityWatch } from '../../../src/pipeline/validity.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import { draftOf, wholeChunk } from '../../../src/testing/entries.ts'

const bound = fc.option(fc.integer({ min: 0, max: 6 }))
const act = fc.oneof(
  fc.record({ do: fc.constant('put' as const), id: fc.constantFrom('a', 'b', 'c', 'd'), from: bound, until: bound }),
  fc.record({ do: fc.constant('delete' as const), id: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ do: fc.constant('prune' as const) }),
  fc.record({ do: fc.constant('ask' as const), at: fc.integer({ min: -1, max: 7 }) }),
)

it('follows what holds when, along the feed and where the feed was cut', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), acts => {
      const store = openMemoryStore()
      const watch = new ValidityWatch()
      const keyOf = (id: string) =>
        store.find(
          id,
          store.partitions().map(partition => partition.id),
        )[0]
      for (const step of acts) {
        if (step.do === 'ask') {
          const wrong = store.entries(store.scanEntries(0, 100)).filter(({ validFrom, validUntil }) => {
            return (validFrom !== null && validFrom > step.at) || (validUntil !== null && validUntil <= step.at)
          })
          expect([...watch.invalid(store, step.at)]).toEqual(wrong.map(entry => entry.key))
          continue
        }
        store.write(1, writer => {
          if (step.do === 'put') {
            const draft = draftOf({ id: step.id, validFrom: step.from, validUntil: step.until })
            writer.put(draft, wholeChunk(draft))
          } else if (step.do === 'delete') {
            const key = keyOf(step.id)
            if (key !== undefined) writer.delete(key)
          } else {
            writer.pruneChanges(writer.lastSeq())
          }
        })
      }
    }),
    { numRuns: 300 },
  )
})

it('reads nothing again while no bound is crossed and nothing is written', () => {
  const store = openMemoryStore()
  store.write(1, writer => {
    const draft = draftOf({ id: 'a', validFrom: 10, validUntil: 20 })
    writer.put(draft, wholeChunk(draft))
  })
  let reads = 0
  const counting = Object.create(store, {
    validities: {
      value: (keys: readonly number[] | null) => {
        reads++
        return store.validities(keys)
      },
    },
  }) as typeof store
  const watch = new ValidityWatch()
  const sets = [12, 13, 19, 11].map(at => watch.invalid(counting, at))
  expect(new Set(sets).size).toBe(1)
  expect(watch.invalid(counting, 20)).not.toBe(sets[0])
  expect(reads).toBe(1)
})
