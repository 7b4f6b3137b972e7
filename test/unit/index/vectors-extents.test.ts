import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExtentPool } from '../../../src/index/vectors/rows.ts'

describe('ExtentPool', () => {
  it('never hands out a slot twice, keeps extents within pages, and makes whole pages of what comes back', () => {
    const sizes = fc.constantFrom(16, 32, 64, 256, 1024, 4096)
    const steps = fc.array(fc.record({ size: sizes, giveBack: fc.boolean(), which: fc.nat() }), { maxLength: 120 })
    fc.assert(
      fc.property(steps, all => {
        let pages = 0
        const pool = new ExtentPool(() => pages++)
        const taken: { first: number; size: number }[] = []
        for (const { size, giveBack, which } of all) {
          if (giveBack && taken.length > 0) {
            const [back] = taken.splice(which % taken.length, 1) as [{ first: number; size: number }]
            pool.give(back.first, back.size)
            continue
          }
          const first = pool.take(size)
          expect(first % size).toBe(0)
          expect(Math.floor(first / 4096)).toBe(Math.floor((first + size - 1) / 4096))
          for (const other of taken) {
            expect(first + size <= other.first || other.first + other.size <= first).toBe(true)
          }
          taken.push({ first, size })
        }
        for (const { first, size } of taken) pool.give(first, size)
        const before = pages
        for (let page = 0; page < before; page++) pool.take(4096)
        expect(pages).toBe(before)
      }),
    )
  })
})
