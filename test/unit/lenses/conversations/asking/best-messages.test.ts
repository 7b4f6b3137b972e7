/** What is left out on the way to the best messages changes nothing about them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import {
  bestOf,
  type ConversationScores,
  type Weighed,
} from '../../../../../src/lenses/conversations/asking/conversation-scores.ts'

interface Made {
  readonly weight: number
  /** As shares of what a message can score. */
  readonly scores: readonly number[]
}

const MOST = 1.3

function weighed(conversations: readonly Made[], scored: number[]): readonly Weighed[] {
  return conversations.map(({ weight, scores }, number) => ({
    bound: weight,
    cosine: 0,
    coverage: 0,
    held: 0,
    nearest: undefined,
    holds: () => false,
    *scores() {
      scored.push(number)
      yield
      return {
        moment: { said: scores.map((_, at) => ({ entry: entryOf(number, at) })) },
        places: Uint32Array.from(scores.keys()),
        ranks: { scores: Float64Array.from(scores, score => score * MOST) },
        ...{ most: MOST, weight },
      } as unknown as ConversationScores
    },
  }))
}

const entryOf = (conversation: number, at: number) => conversation * 100 + at + 1

/** Plainly: all of them, in order. */
function allOf(conversations: readonly Made[], isAnswer: (entry: number) => boolean) {
  return conversations
    .flatMap(({ weight, scores }, number) =>
      scores.map((score, at) => ({
        entry: entryOf(number, at),
        isFound: score > 0,
        score: ((score * MOST) / MOST) * weight,
      })),
    )
    .filter(({ entry, isFound }) => isFound && isAnswer(entry))
    .sort((a, b) => b.score - a.score)
}

describe('the best messages of several conversations', () => {
  const share = fc.oneof(fc.constant(0), fc.constantFrom(0.25, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }))
  const conversation = fc.record({ weight: share, scores: fc.array(share, { maxLength: 12 }) })

  it('are the best of all, with those that are as good as the last', () => {
    fc.assert(
      fc.property(
        fc.array(conversation, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 15 }),
        fc.boolean(),
        (conversations, depth, isHalf) => {
          const isAnswer = (entry: number) => !isHalf || entry % 2 === 0
          const { best, isCut } = atOnce(bestOf(weighed(conversations, []), depth, isAnswer))
          const all = allOf(conversations, isAnswer)
          const least = all[depth - 1]?.score ?? 0
          const expected = all.filter(({ score }) => score >= least).map(({ entry }) => entry)
          const found = best.map(({ of, at }) => of.moment.said[at]?.entry as number)
          expect(found.sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b))
          if (expected.length < all.length) expect(isCut).toBe(true)
          if (all.length < depth) expect(isCut).toBe(false)
        },
      ),
    )
  })

  it('are looked for only where they can be', () => {
    const scored: number[] = []
    const conversations = [
      { weight: 0.1, scores: [1, 1, 1] },
      { weight: 1, scores: [1, 0.5, 0.4] },
      { weight: 0.4, scores: [1] },
    ]
    expect(atOnce(bestOf(weighed(conversations, scored), 3, () => true)).best.map(({ score }) => score)).toEqual([
      1, 0.5, 0.4, 0.4,
    ])
    expect(scored).toEqual([1, 2])
  })
})
