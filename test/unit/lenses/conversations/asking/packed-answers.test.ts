/** Answers as numbers: unpacked they make the score by which they were chosen. */
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import type { ConversationScores } from '../../../../../src/lenses/conversations/asking/conversation-scores.ts'
import { packed } from '../../../../../src/lenses/conversations/asking/packed-answers.ts'
import { amongOthers, PEOPLE } from '../../../../../src/lenses/conversations/asking/ranking.ts'
import { MESSAGE_SCORE } from '../../../../../src/lenses/conversations/asking/signals.ts'
import { scoreBy } from '../../../../../src/model/formula.ts'

/** One message that has half of what its words can score, where meaning speaks so much for it. */
function conversation(mostCosine: number): ConversationScores {
  const share = PEOPLE.words * 0.5 + PEOPLE.meaning * Math.max(0, mostCosine)
  return {
    moment: { said: [{ entry: 7 }], sessions: Int32Array.of(0), unitOrdinal: Int32Array.of(0) },
    ranks: { scores: Float64Array.of(0.6), fused: Float64Array.of(0.6), mostWords: 2, mostCosine, mostSmoothed: 0.6 },
    ...{ ingredients: PEOPLE, factors: [], words: Float64Array.of(2), blockOf: null, possible: 4, most: 1.3 },
    cosines: { values: Float64Array.of(mostCosine), least: mostCosine, listed: null },
    texts: { order: [1], partOf: () => 2 },
    ...{ unitOf: () => 0, weight: amongOthers(share) },
  } as unknown as ConversationScores
}

describe('packed answers', () => {
  it.each([0.5, 0, -0.2])('make the score again where the greatest cosine is %d', mostCosine => {
    const of = conversation(mostCosine)
    const score = (0.6 / of.most) * of.weight
    const { entry, piece, signals } = atOnce(packed([{ of, at: 0, score }], false))(0)
    expect({ entry, piece }).toEqual({ entry: 7, piece: 0 })
    expect(scoreBy(MESSAGE_SCORE, signals, {})).toBeCloseTo(score, 12)
    expect(signals['word 1']).toBe(2)
  })

  it('are told apart by their conversations', () => {
    const places = [0.5, -0.2, 0.5].map(cosine => ({ of: conversation(cosine), at: 0, score: 1 }))
    const answerOf = atOnce(packed([...places, ...places], false))
    const told = places.concat(places).map((_, place) => answerOf(place).signals['conversation_cosine'])
    expect(told).toEqual([0.5, 0, 0.5, 0.5, 0, 0.5])
  })
})
