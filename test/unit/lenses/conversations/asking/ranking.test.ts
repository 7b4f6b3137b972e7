/** The arithmetic of the ranking: the invented example that was worked out by hand, and a plain implementation. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ASSISTANT,
  type Evidence,
  type Ingredients,
  PEOPLE,
  rank,
} from '../../../../../src/lenses/conversations/asking/ranking.ts'
import * as plain from '../../../../support/plain-ranking.ts'

function evidenceOf(messages: readonly plain.Scored[], by: Ingredients): Evidence {
  const hasBlocks = by.block > 0
  const sessions = [...new Set(messages.map(({ session }) => session))]
  return {
    sessions: Int32Array.from(messages, ({ session }) => sessions.indexOf(session)),
    words: Float64Array.from(messages, ({ bm25 }) => bm25),
    cosines: Float64Array.from(messages, ({ cosine }) => cosine),
    minCosine: Math.min(...messages.map(({ cosine }) => cosine)),
    places: Uint32Array.from(messages.keys()),
    blockOf: hasBlocks ? at => (messages[at] as plain.Scored).block : null,
    factors: [
      { name: 'speaker', by: by.speaker, holds: at => messages[at]?.named === true },
      { name: 'when', by: by.when, holds: at => messages[at]?.timed === true },
      { name: 'user', by: by.user, holds: at => messages[at]?.user === true },
    ],
  }
}

/** "When did Mira move the kiln?": m1, m3 and m5 are Mira's, only m3 says a time. */
const KILN: readonly plain.Scored[] = [0, 2.1, 6.4, 1, 3.2, 0].map((bm25, at) => ({
  ...{ session: 's1', bm25, named: at % 2 === 0, timed: at === 2, user: false },
  cosine: [0.1, 0.42, 0.55, 0.18, 0.38, 0.05][at] as number,
  block: at < 4 ? 5 : 2,
}))
const thousandths = (scores: Float64Array) => [...scores].map(score => Math.round(score * 1000))

describe('the ranking of one conversation', () => {
  it('gives the numbers of the invented example', () => {
    const { fused, smoothed, scores } = rank(evidenceOf(KILN, PEOPLE), PEOPLE)
    expect(thousandths(fused)).toEqual([40, 493, 1000, 198, 564, 0])
    expect(thousandths(smoothed)).toEqual([239, 721, 1199, 560, 704, 133])
    expect(thousandths(scores)).toEqual([599, 901, 2028, 767, 848, 231])
  })

  const message = fc.record({
    session: fc.constantFrom('a', 'b', 'c'),
    bm25: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 20, noNaN: true })),
    cosine: fc.double({ min: -0.2, max: 1, noNaN: true }),
    block: fc.double({ min: 0, max: 20, noNaN: true }),
    ...{ named: fc.boolean(), timed: fc.boolean(), user: fc.boolean() },
  })

  it.each([
    ['people', PEOPLE, plain.PEOPLE],
    ['assistants', ASSISTANT, plain.ASSISTANT],
  ] as const)('of %s is that of the plain implementation', (_, ours, theirs) => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 30 }), messages => {
        const { scores } = rank(evidenceOf(messages, ours), ours)
        const expected = plain.finalScores(messages, theirs)
        for (const [at, score] of scores.entries()) expect(score).toBeCloseTo(expected[at] as number, 9)
      }),
    )
  })

  it('gives zeros where nothing matches, and no meaning to what has no vector', () => {
    const none = KILN.map(each => ({ ...each, bm25: 0, cosine: Number.NaN, block: 0 }))
    const { scores } = rank({ ...evidenceOf(none, PEOPLE), minCosine: 0 }, PEOPLE)
    expect([...scores]).toEqual([0, 0, 0, 0, 0, 0])
  })
})
