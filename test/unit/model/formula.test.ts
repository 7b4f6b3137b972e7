import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recompute } from '../../../src/model/explanation.ts'
import {
  boundsBy,
  componentsOf,
  constant,
  crossings,
  evaluate,
  exactly,
  explain,
  type Formula,
  lift,
  max,
  type Numbers,
  number,
  product,
  quotient,
  type Range,
  reasonsFor,
  scoreBy,
  sum,
} from '../../../src/model/formula.ts'

const NAMES = ['a', 'b', 'c', 'd']
/** In thousandths: quotients of numbers that are nearly nothing overflow. */
const value = fc.integer({ min: -4_000, max: 4_000 }).map(thousandths => thousandths / 1_000)
const row = fc.dictionary(fc.constantFrom(...NAMES), value, { noNullPrototype: true })

/** Terms without a name of their own: what a component is made of. */
const { term } = fc.letrec<{ term: Formula }>(tie => {
  const terms = fc.array(tie('term'), { minLength: 1, maxLength: 3 })
  return {
    term: fc.oneof(
      { maxDepth: 3 },
      fc
        .tuple(fc.constantFrom(...NAMES), fc.constantFrom('when', 'unless', 'always'), fc.boolean())
        .map(([name, present, negative]) =>
          number(name, name, { negative, ...(present !== 'always' && { [present]: name === 'a' ? 'b' : 'a' }) }),
        ),
      value.map(each => constant('constant', each)),
      terms.map(of => sum('sum', of)),
      terms.map(of => product('product', of)),
      terms.map(of => max('max', of)),
      fc.tuple(tie('term'), tie('term')).map(of => lift('lift', of)),
      fc.tuple(tie('term'), tie('term')).map(([dividend, divisor]) => quotient('quotient', dividend, divisor)),
    ),
  }
})

/** Formulas of which each term is in a component. */
const { whole } = fc.letrec<{ whole: Formula }>(tie => ({
  whole: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(term, fc.constantFrom('x', 'y', 'z')).map(([of, component]) => sum('part', [of], { component })),
    fc.array(tie('whole'), { minLength: 1, maxLength: 3 }).map(of => sum('sum', of)),
    fc.array(tie('whole'), { minLength: 1, maxLength: 3 }).map(of => max('max', of)),
    fc.tuple(tie('whole'), term).map(of => product('product', of)),
    fc.tuple(tie('whole'), term).map(([base, factor]) => lift('lift', [base, sum('f', [factor], { component: 'f' })])),
    fc.tuple(tie('whole'), term).map(([dividend, divisor]) => quotient('quotient', dividend, divisor)),
  ),
}))

const isClose = (one: number, other: number) =>
  one === other || Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one), Math.abs(other))

/** Quotients of nearly nothing lose all digits, or overflow. */
const isTame = (score: number) => Number.isFinite(score) && Math.abs(score) < 1e6

describe('a formula', () => {
  it('gives an explanation whose leaves make the score again', () => {
    fc.assert(
      fc.property(term, row, row, (formula, numbers, query) => {
        const score = scoreBy(formula, numbers, query)
        fc.pre(isTame(score))
        const tree = explain(evaluate(formula, numbers, query))
        expect(tree.value === score).toBe(true)
        expect(isClose(recompute(tree), score)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('gives components that add up to the score', () => {
    fc.assert(
      fc.property(whole, row, row, (formula, numbers, query) => {
        const score = scoreBy(formula, numbers, query)
        const parts = Object.values(componentsOf(evaluate(formula, numbers, query)))
        fc.pre(isTame(score) && parts.every(isTame))
        expect(
          isClose(
            parts.reduce((all, part) => all + part, 0),
            score,
          ),
        ).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('has bounds that no row within the ranges leaves', () => {
    const widths = fc.dictionary(
      fc.constantFrom(...NAMES),
      fc.tuple(fc.double({ min: 0, max: 3, noNaN: true }), fc.double({ min: 0, max: 3, noNaN: true })),
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(term, row, widths, (formula, numbers, around) => {
        const score = scoreBy(formula, numbers, {})
        fc.pre(Number.isFinite(score))
        const ranges = Object.fromEntries(
          Object.entries(numbers).map(([name, at]): [string, Range] => {
            const [below, above] = around[name] ?? [0, 0]
            return [name, [at - below, at + above]]
          }),
        )
        const [least, most] = boundsBy(formula, ranges)
        expect(least).toBeLessThanOrEqual(score)
        expect(most).toBeGreaterThanOrEqual(score)
      }),
      { numRuns: 2000 },
    )
  })

  it('is bounded by its score alone where every number is known', () => {
    const formula = lift('score', [
      sum('relevance', [product('words', [number('w', 'w'), number('bm', 'bm')]), number('c', 'c')]),
      sum('boost', [constant('base', 1), number('memory', 'memory')]),
    ])
    const numbers = { w: 0.3, bm: 2, c: 0.5, memory: 0.1 }
    const score = scoreBy(formula, numbers, {})
    expect(boundsBy(formula, exactly(numbers))).toEqual([score, score])
  })

  it('shows what a number is made of, where that makes it, and leaves out what changes nothing', () => {
    const formula = product('score', [
      number('BM25', 'bm'),
      sum('boost', [constant('base', 1), number('memory', 'memory')], { shown: ({ memory = 0 }) => memory > 0 }),
    ])
    const made = { label: 'words', value: 2, formula: 'sum', children: [{ label: 'fox', value: 2 }] } as const
    expect(explain(evaluate(formula, { bm: 2 }, {}), { bm: made })).toEqual({ ...made, label: 'score' })
    expect(explain(evaluate(formula, { bm: 3 }, {}), { bm: made })).toEqual({ label: 'score', value: 3 })
  })

  it('gives the reasons from the greatest, factors last', () => {
    const formula = lift('score', [
      sum('relevance', [
        number('words', 'words', { component: 'words', detail: () => 'fox, den' }),
        number('meaning', 'meaning', { component: 'meaning' }),
        number('none', 'none', { component: 'none' }),
      ]),
      number('phrase', 'phrase', { component: 'phrase', when: 'phrase' }),
      number('speaker', 'speaker', { when: 'speaker' }),
    ])
    expect(reasonsFor(evaluate(formula, { words: 0.2, meaning: 0.5 }, {}))).toBe('meaning 0.50 + words 0.20 (fox, den)')
    expect(reasonsFor(evaluate(formula, { words: 0.2, phrase: 1.5, speaker: 2 }, {}))).toBe(
      'words 0.20 (fox, den), × phrase 1.50, × speaker 2.00',
    )
    expect(reasonsFor(evaluate(formula, {}, {}))).toBe('there is little evidence for it')
  })
})

describe('shares at which two rows change places', () => {
  const formula = lift('score', [
    sum('relevance', [
      product('words', [number('weight', 'weight_words'), number('words', 'words')]),
      product('meaning', [number('weight', 'weight_meaning'), number('cosine', 'cosine')]),
    ]),
    sum('boost', [constant('base', 1), number('memory', 'memory')]),
  ])
  const at = (share: number): Numbers => ({ weight_words: 1 - share, weight_meaning: share })
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const cosine = fc.double({ min: -0.3, max: 1, noNaN: true })
  const result = fc.record({ words: share, cosine, memory: fc.double({ min: 0, max: 0.1, noNaN: true }) })
  const isFirst = (a: Numbers, b: Numbers, x: number) => scoreBy(formula, a, at(x)) > scoreBy(formula, b, at(x))
  /** Of 200 steps, the one nearest to the share now at which the other one is first. */
  const nearestByScan = (a: Numbers, b: Numbers, from: number): number | null => {
    const now = isFirst(a, b, from)
    const steps = Array.from({ length: 201 }, (_, step) => step / 200).filter(x => isFirst(a, b, x) !== now)
    return steps.length === 0 ? null : steps.reduce((x, y) => (Math.abs(y - from) < Math.abs(x - from) ? y : x))
  }
  const firstCrossing = (a: Numbers, b: Numbers, from: number): number | null => {
    for (const x of crossings({ formula, numbers: at(from) }, [a, b], at, from))
      if (isFirst(a, b, x) !== isFirst(a, b, from)) return x
    return null
  }

  it('are found nearest first, as a scan of all shares finds them', () => {
    fc.assert(
      fc.property(result, result, fc.integer({ min: 0, max: 1_000_000 }), (a, b, millionths) => {
        const from = millionths / 1e6
        fc.pre(Math.abs(scoreBy(formula, a, at(from)) - scoreBy(formula, b, at(from))) > 1e-6)
        const found = firstCrossing(a, b, from)
        const scanned = nearestByScan(a, b, from)
        if (scanned === null) return
        expect(found).not.toBeNull()
        expect(Math.abs((found as number) - from)).toBeLessThanOrEqual(Math.abs(scanned - from) + 1e-9)
      }),
      { numRuns: 60 },
    )
  })
})
