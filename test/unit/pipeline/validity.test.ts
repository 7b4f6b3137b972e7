import { expect, it } from 'vitest'
import type { Steps } from '../../../src/base/turns.ts'
import { ValidityWatch } from '../../../src/pipeline/memo.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'

it('reads nothing again while no bound is crossed and nothing is written', () => {
  const store = openMemoryStore()
  store.write(1, writer => {
    const draft = draftOf({ id: 'a', validFrom: 10, validUntil: 20 })
    writer.put(draft, wholeChunk(draft))
  })
  let reads = 0
  const counting = Object.create(store, {
    validities: {
      value: (keys: readonly number[]) => {
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

const PAGE = 500

function stepsIn(steps: Steps<void>): number {
  let count = 0
  while (steps.next(false).done !== true) count++
  return count
}

/** So many entries with bounds, each other one over at 10. */
function filled(count: number): ReturnType<typeof openMemoryStore> {
  const store = openMemoryStore()
  store.write(1, writer => {
    for (let at = 0; at < count; at++) {
      const draft = draftOf({ id: `e${at}`, validUntil: at % 2 === 0 ? 10 : 30 })
      writer.put(draft, wholeChunk(draft))
    }
  })
  return store
}

it('QE-019: is read in a step for every 500 entries, and along the feed in one for every 500 changes', () => {
  const store = filled(3 * PAGE + 1)
  const watch = new ValidityWatch()
  expect(stepsIn(watch.followInSteps(store))).toBeGreaterThanOrEqual(4)
  expect(stepsIn(watch.followInSteps(store))).toBe(0)
  store.write(2, writer => {
    for (const key of store.scanEntries(0, 2 * PAGE + 1)) writer.delete(key)
  })
  expect(stepsIn(watch.followInSteps(store))).toBeGreaterThanOrEqual(2)
  expect(watch.invalid(store, 20).size).toBe(PAGE / 2)
})
