/** BQ-173: the built-in detector, against statements that were labelled by hand. */

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HEURISTIC, MIN_SCORE, type Statement } from '../../../../../src/lenses/beliefs/contradiction/heuristic.ts'

interface Pair {
  readonly type: string
  readonly held_out?: boolean
  readonly a: string
  readonly b: string
}

const fixture = new URL('../../../../fixtures/beliefs/contradictions.json', import.meta.url)
const { pairs } = JSON.parse(readFileSync(fixture, 'utf8')) as { readonly pairs: readonly Pair[] }

const statement = (content: string): Statement => ({ content, validFrom: null, validUntil: null })

function found(a: string, b: string): string {
  const contradiction = HEURISTIC.detect(statement(a), statement(b))
  return contradiction === null || contradiction.score <= MIN_SCORE ? 'none' : contradiction.type
}

interface Figures {
  readonly pairs: number
  readonly precision: number
  readonly recall: number
  /** The share of the rightly found ones that have the right type. */
  readonly typed: number
}

function measure(of: readonly Pair[]): Figures {
  const judged = of.map(pair => ({ ...pair, detected: found(pair.a, pair.b) }))
  if (process.env['QUERENT_SHOW'] === '1') console.log(judged.filter(({ type, detected }) => type !== detected))
  const reported = judged.filter(pair => pair.detected !== 'none')
  const right = reported.filter(({ type }) => type !== 'none')
  return {
    pairs: of.length,
    precision: right.length / reported.length,
    recall: right.length / of.filter(({ type }) => type !== 'none').length,
    typed: right.filter(pair => pair.type === pair.detected).length / right.length,
  }
}

describe('the detector of contradictions', () => {
  it('finds what it was made for', () => {
    const { precision, recall, typed } = measure(pairs.filter(pair => !pair.held_out))
    expect({ precision, recall, typed }).toEqual({ precision: 1, recall: 1, typed: 1 })
  })

  it('finds part of what it was not made for, and errs seldom: what is said in other words escapes it', () => {
    const figures = measure(pairs.filter(pair => pair.held_out))
    if (process.env['QUERENT_SHOW'] === '1') console.log(figures)
    expect(figures.pairs).toBeGreaterThanOrEqual(25)
    expect(figures.precision).toBeGreaterThanOrEqual(0.8)
    expect(figures.recall).toBeGreaterThanOrEqual(0.5)
  })
  it('gives the same whichever comes first, and names both', () => {
    for (const { a, b } of pairs) {
      expect(HEURISTIC.detect(statement(b), statement(a))).toEqual(HEURISTIC.detect(statement(a), statement(b)))
    }
    const [{ a, b }] = pairs as [Pair]
    expect(HEURISTIC.detect(statement(a), statement(b))?.text).toBe(
      'One denies what the other says: "Coffee causes cancer." – "Coffee does not cause cancer."',
    )
  })

  it('takes what holds at different times for a change', () => {
    const early = { ...statement('The shop is open.'), validUntil: 5 }
    const late = { ...statement('The shop is closed.'), validFrom: 5 }
    expect(HEURISTIC.detect(early, late)?.type).toBe('temporal')
    expect(HEURISTIC.detect({ ...early, validUntil: 6 }, late)?.type).toBe('implied')
  })

  it('finds the sentences that oppose each other in longer texts, and takes any text', () => {
    expect(found('Tea is old. Coffee causes cancer! Rain.', 'Nice weather. Coffee does not cause cancer.')).toBe(
      'direct',
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        const { score = 0 } = HEURISTIC.detect(statement(a), statement(b)) ?? {}
        expect(score >= 0 && score <= 1).toBe(true)
        expect(found(a, a)).toBe('none')
      }),
    )
  })
})
