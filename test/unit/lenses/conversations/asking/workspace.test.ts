/** Memory that one question after another works in: what one leaves in it, the next does not see. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Workspace } from '../../../../../src/lenses/conversations/asking/bm25.ts'

const KINDS = ['float64', 'uint32', 'uint16', 'uint8'] as const

describe('the workspace', () => {
  it('gives arrays that are all 0 and apart from each other, question after question', () => {
    const array = fc.tuple(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 300 }))
    fc.assert(
      fc.property(fc.array(fc.array(array, { maxLength: 12 }), { maxLength: 6 }), questions => {
        const workspace = new Workspace()
        for (const wanted of questions) {
          workspace.clear()
          const given = wanted.map(([kind, length]) => workspace[kind](length))
          expect(given.map(({ length }) => length)).toEqual(wanted.map(([, length]) => length))
          for (const [at, each] of given.entries()) {
            expect(each.every(value => value === 0)).toBe(true)
            each.fill(at + 1)
          }
          for (const [at, each] of given.entries()) expect(each.every(value => value === at + 1)).toBe(true)
        }
      }),
    )
  })

  it('uses the same memory again, from the second question on', () => {
    const workspace = new Workspace()
    const memoryOf = () => {
      workspace.clear()
      // A kilobyte, which is what it keeps then: there is room for the last of it.
      return [workspace.float64(64).buffer, workspace.uint8(512).buffer]
    }
    memoryOf()
    const second = memoryOf()
    expect(second[0]).toBe(second[1])
    expect(memoryOf()).toEqual(second)
    expect(memoryOf()[0]).toBe(second[0])
  })

  it('keeps no more than its most, and gives what is beyond that all the same', () => {
    const workspace = new Workspace()
    const many = 3 * 1024 * 1024
    const kept = new Set<ArrayBufferLike>()
    for (let question = 0; question < 3; question++) {
      workspace.clear()
      const [one, other] = [workspace.float64(many), workspace.float64(10)]
      expect(one.every(value => value === 0)).toBe(true)
      one[0] = 1
      expect([...other]).toEqual(Array.from({ length: 10 }, () => 0))
      expect(other.buffer.byteLength).toBeLessThanOrEqual(16 * 1024 * 1024)
      if (question > 0) kept.add(other.buffer)
    }
    expect(kept.size).toBe(1)
  })
})
