import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { type Choice, choose as chooseInSteps } from '../../../src/math/mmr.ts'

const choose = (choice: Choice) => atOnce(chooseInSteps(choice))

const scores = [0.9, 0.8, 0.7, 0.6]
/** Items 0 and 1 are twins, the others are unlike everything. */
const likeness = (a: number, b: number) => (a + b === 1 ? 1 : 0)
const plain = { count: 4, limit: 4, score: (item: number) => scores[item] as number, likeness }

/** By the definition: at each place every item that is left is compared with every one chosen before. */
function chooseByAll({ count, limit, lambda, score, likeness, tier = () => 0, groups = () => [] }: Choice): number[] {
  const chosen: number[] = []
  const left = new Set(Array.from({ length: count }, (_, item) => item))
  while (chosen.length < limit && left.size > 0) {
    const lowest = Math.min(...[...left].map(tier))
    let best = { item: -1, worth: Number.NEGATIVE_INFINITY }
    for (const item of left) {
      if (tier(item) !== lowest) continue
      const like = Math.max(...chosen.map(other => likeness(other, item)))
      const marginal = lambda * score(item) - (1 - lambda) * (chosen.length === 0 ? 0 : like)
      if (marginal > best.worth) best = { item, worth: marginal }
    }
    left.delete(best.item)
    const isFull = groups(best.item).some(({ name, cap }) => {
      return chosen.filter(other => groups(other)[0]?.name === name).length >= cap
    })
    if (!isFull) chosen.push(best.item)
  }
  return chosen
}

describe('choosing', () => {
  it('keeps the order when only relevance counts, and never asks for likeness', () => {
    const never = () => {
      throw new Error('asked')
    }
    expect(choose({ ...plain, lambda: 1, likeness: never })).toEqual([0, 1, 2, 3])
  })

  it('passes over the twin of what it has taken', () => {
    // 0.5·0.8 − 0.5·1 is less than 0.5·0.7 and 0.5·0.6.
    expect(choose({ ...plain, lambda: 0.5 })).toEqual([0, 2, 3, 1])
  })

  it('prefers what is opposite to what it has taken', () => {
    const opposite = (a: number, b: number) => (a + b === 3 ? -1 : 0.1)
    expect(choose({ ...plain, lambda: 0.5, likeness: opposite })[1]).toBe(3)
  })

  it('chooses from lower tiers first, and looks at no higher one before it must', () => {
    const twins = (a: number, b: number) => {
      if (Math.max(a, b) > 2) throw new Error('asked')
      return likeness(a, b)
    }
    const tier = (item: number) => (item < 3 ? 0 : 1)
    expect(choose({ ...plain, lambda: 0.5, tier })).toEqual([0, 2, 1, 3])
    expect(choose({ ...plain, lambda: 0.5, tier, limit: 3, likeness: twins })).toEqual([0, 2, 1])
  })

  it('takes the rest as it comes when time is up', () => {
    const never = () => {
      throw new Error('asked')
    }
    expect(choose({ ...plain, lambda: 0.5, likeness: never, isOver: () => true })).toEqual([0, 1, 2, 3])
  })

  it('takes no more of a group than its cap, whatever the order', () => {
    const groups = (item: number) => [{ name: item < 3 ? 'one' : 'two', cap: 2 }]
    expect(choose({ ...plain, lambda: 1, groups })).toEqual([0, 1, 3])
    expect(choose({ ...plain, lambda: 0.5, groups })).toEqual([0, 2, 3])
  })

  it('chooses each item once and no more than asked for', () => {
    const item = fc.record({ score: fc.double({ min: -1, max: 1, noNaN: true }), angle: fc.double({ min: 0, max: 6 }) })
    fc.assert(
      fc.property(fc.array(item), fc.nat(40), fc.double({ min: 0, max: 1, noNaN: true }), (items, limit, lambda) => {
        const chosen = choose({
          count: items.length,
          limit,
          lambda,
          score: at => items[at]?.score ?? 0,
          likeness: (a, b) => Math.cos((items[a]?.angle ?? 0) - (items[b]?.angle ?? 0)),
        })
        expect(chosen.length).toBe(Math.min(limit, items.length))
        expect(new Set(chosen).size).toBe(chosen.length)
      }),
    )
  })

  it('chooses what comparing every item with everything chosen would, in fewer comparisons', () => {
    const item = fc.record({ score: fc.constantFrom(0, 0.2, 0.5, 0.9), angle: fc.constantFrom(0, 0.1, 1, 2, 3, 4) })
    const items = fc.array(item, { minLength: 1, maxLength: 25 })
    fc.assert(
      fc.property(items, fc.nat(25), fc.constantFrom(0, 0.3, 0.7), fc.nat(3), (all, limit, lambda, tiers) => {
        let compared = 0
        const likeness = (a: number, b: number) => {
          compared++
          return Math.cos((all[a]?.angle ?? 0) - (all[b]?.angle ?? 0))
        }
        const choice: Choice = {
          ...{ count: all.length, limit, lambda, likeness },
          score: at => all[at]?.score ?? 0,
          tier: at => Math.floor((at * tiers) / all.length),
          groups: at => [{ name: String(all[at]?.angle), cap: 4 }],
        }
        const chosen = choose(choice)
        const inSteps = compared
        compared = 0
        expect(chosen).toEqual(chooseByAll(choice))
        expect(inSteps).toBeLessThanOrEqual(compared)
      }),
    )
  })

  it('gives a longer choice the same beginning', () => {
    const items = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
    fc.assert(
      fc.property(items, fc.nat(12), (values, limit) => {
        const make = (most: number) =>
          choose({
            count: values.length,
            limit: most,
            lambda: 0.6,
            score: at => values[at] as number,
            likeness: (a, b) => Math.cos(9 * ((values[a] as number) - (values[b] as number))),
          })
        expect(make(values.length).slice(0, limit)).toEqual(make(limit))
      }),
    )
  })
})
