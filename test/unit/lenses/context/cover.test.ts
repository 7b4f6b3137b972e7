import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers, placesByWord } from '../../../../src/lenses/context/names.ts'
import { coversOf, tellingWords } from '../../../../src/lenses/context/query/words.ts'
import { idf } from '../../../../src/math/bm25.ts'

const word = fc.constantFrom('AUTH', 'AUTHENTICATION', 'USER', 'USERS', 'LOG', 'LOGIN', 'STORE', 'X')
const things = fc.array(
  fc.record({ words: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }), count: fc.integer({ min: 1, max: 3 }) }),
  { maxLength: 12 },
)

describe('words of a question among those of things', () => {
  it('weigh as much as they are rare, as counted one by one', () => {
    fc.assert(
      fc.property(things, fc.uniqueArray(word, { minLength: 1, maxLength: 5 }), (all, asked) => {
        const total = all.reduce((sum, { count }) => sum + count, 0)
        const byWord = placesByWord(all, thing => thing.words)
        const found = coversOf(asked, { byWord, length: all.length, total, countOf: at => all[at]?.count ?? 0 })
        const has = (words: readonly string[], wanted: string) => words.some(own => covers(wanted, own))
        const weights = asked.map(wanted => {
          return idf(
            total,
            all.reduce((sum, { words, count }) => sum + (has(words, wanted) ? count : 0), 0),
          )
        })
        const whole = weights.reduce((sum, weight) => sum + weight, 0)
        for (const [at, { words }] of all.entries()) {
          const own = weights.reduce((sum, weight, i) => sum + (has(words, asked[i] as string) ? weight : 0), 0)
          expect(found.shareOf(at)).toBeCloseTo(own / whole, 12)
          expect(found.wordsOf(at)).toBe(words.filter(mine => asked.some(wanted => covers(wanted, mine))).length)
        }
      }),
    )
  })

  it('are those that tell something, each once, up to a number', () => {
    expect(tellingWords('where is the userToken of a user?')).toEqual(['USER', 'TOKEN'])
    expect(tellingWords('of the')).toEqual(['OF', 'THE'])
    expect(tellingWords('…')).toEqual([])
    expect(tellingWords(Array.from({ length: 99 }, (_, i) => `word${i}`).join(' ')).length).toBe(20)
  })
})
