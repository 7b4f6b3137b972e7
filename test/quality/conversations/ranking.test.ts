/** The arithmetic of the conversation reference on a small example that was worked out by hand, and the measures. */
import { describe, expect, it } from 'vitest'
import { measuresOf } from '../../../bench/lib/conversations/measures.ts'
import {
  ASSISTANT,
  finalScores,
  fuse,
  PEOPLE,
  type Scored,
  smooth,
  withPrior,
} from '../../../bench/lib/conversations/ranking.ts'

/** "When did Mira move the kiln?": m1, m3 and m5 are Mira's, only m3 has a time expression. */
const BM25 = [0, 2.1, 6.4, 1, 3.2, 0]
const COSINES = [0.1, 0.42, 0.55, 0.18, 0.38, 0.05]
const BLOCKS = [5, 5, 5, 5, 2, 2]
const KILN: readonly Scored[] = BM25.map((bm25, at) => ({
  session: 's1',
  bm25,
  cosine: COSINES[at] ?? 0,
  block: BLOCKS[at] ?? 0,
  named: at % 2 === 0,
  timed: at === 2,
  user: false,
}))
const thousandths = (scores: readonly number[]) => scores.map(score => Math.round(score * 1000))

describe('the conversation reference', () => {
  const fused = fuse(KILN, PEOPLE.vectors)
  const smoothed = smooth(KILN, fused)

  it('fuses words and meaning', () => {
    expect(thousandths(fused)).toEqual([40, 493, 1000, 198, 564, 0])
  })

  it('smooths over neighbours', () => {
    expect(thousandths(smoothed)).toEqual([239, 721, 1199, 560, 704, 133])
  })

  it('takes no neighbour from another session', () => {
    const apart = KILN.map((message, at) => ({ ...message, session: `s${at}` }))
    expect(smooth(apart, fused)).toEqual(fused)
  })

  it('adds the block prior', () => {
    expect(thousandths(withPrior(KILN, smoothed, PEOPLE.block))).toEqual([499, 901, 1300, 767, 707, 231])
  })

  it('weighs the named speaker and the time expression', () => {
    expect(thousandths(finalScores(KILN, PEOPLE))).toEqual([599, 901, 2028, 767, 848, 231])
  })

  it('doubles what the user of an assistant chat said, without blocks and speakers', () => {
    const chat = KILN.map((message, at) => ({ ...message, user: at === 1 }))
    const expected = smoothed.map((score, at) => (at === 1 ? score * 2 : score))
    expect(thousandths(finalScores(chat, ASSISTANT))).toEqual(thousandths(expected))
  })

  it('gives zeros, not NaN, where nothing matches', () => {
    const none = KILN.map(message => ({ ...message, bm25: 0, cosine: 0, block: 0 }))
    expect(finalScores(none, PEOPLE)).toEqual([0, 0, 0, 0, 0, 0])
  })
})

describe('the measures', () => {
  const ranked = Array.from({ length: 12 }, (_, at) => ({ id: `m${at + 1}`, text: 'x'.repeat(960) }))

  it('count gold in the first ten, its first rank, and what fits 2,000 tokens', () => {
    // 250 tokens a message: eight fit exactly.
    expect(measuresOf(ranked, new Set(['m4', 'm8', 'm9', 'm11']))).toEqual({
      recallAt10: 0.75,
      hitAt10: 1,
      reciprocalRank: 0.25,
      recallInBudget: 0.5,
    })
  })

  it('are zero where nothing is found', () => {
    const zero = { recallAt10: 0, hitAt10: 0, reciprocalRank: 0, recallInBudget: 0 }
    expect(measuresOf(ranked, new Set(['m99']))).toEqual(zero)
  })
})
