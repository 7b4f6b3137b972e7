/** Words counted in lists that grow, and what they score: against counting and scoring each text by itself. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import {
  type AskedTexts,
  countWords,
  scoreTexts,
  WordCounts,
  WordStems,
} from '../../../../../src/lenses/conversations/asking/bm25.ts'

const PARAMETERS = { k1: 0.9, b: 0.4 }
const WORDS = ['barn', 'kiln', 'casa', 'rain', 'goat'] as const

interface Text {
  readonly language: 'en' | 'es'
  readonly own: readonly string[]
  readonly around: readonly string[]
  /** The asked texts that it is part of; -1: none. */
  readonly in: readonly [number, number]
}

const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 })
const anyText: fc.Arbitrary<Text> = fc.record({
  language: fc.constantFrom('en', 'es'),
  ...{ own: words, around: words },
  in: fc.tuple(fc.integer({ min: -1, max: 4 }), fc.integer({ min: -1, max: 4 })),
})

function textsOf(given: readonly Text[], withAround: boolean): AskedTexts & { readonly words: string[][] } {
  const counts = new WordCounts()
  const count = Math.max(...given.flatMap(text => text.in), 0) + 1
  const whole: string[][] = Array.from({ length: count }, () => [])
  for (const { language, own, around, in: places } of given) {
    counts.add(countWords(own.join(' '), language), countWords(around.join(' '), language))
    for (const place of places) if (place >= 0) whole[place]?.push(...own, ...(withAround ? around : []))
  }
  const lengths = Float64Array.from(whole, ({ length }) => length)
  const mean = lengths.reduce((sum, length) => sum + length, 0) / count
  return {
    ...{ counts, withAround, lengths, words: whole },
    meanLength: mean > 0 ? mean : 1,
    textOf: Int32Array.from(given, text => text.in[0]),
    alsoTextOf: Int32Array.from(given, text => text.in[1]),
  }
}

function weightOf({ words: texts }: ReturnType<typeof textsOf>, word: string, boost: number): number {
  const having = texts.filter(text => text.includes(word)).length
  return boost * Math.log(1 + (texts.length - having + 0.5) / (having + 0.5))
}

/** What each word adds in a text. */
function plain(texts: ReturnType<typeof textsOf>, word: string, boost: number) {
  const weight = weightOf(texts, word, boost)
  return texts.words.map((text, at) => {
    const count = text.filter(other => other === word).length
    const length = (PARAMETERS.b * (texts.lengths[at] as number)) / texts.meanLength
    return (weight * count * (PARAMETERS.k1 + 1)) / (count + PARAMETERS.k1 * (1 - PARAMETERS.b + length))
  })
}

/** Some as great as others, so that words weigh the same. */
const boostOf = (place: number): number => 1 + (place % 2)
const askedOf = (asked: readonly string[]) =>
  asked.map((word, at) => ({ word, boost: boostOf(at), stems: new WordStems(word) }))

describe('BM25 of messages', () => {
  it('scores texts as counting each by itself would', () => {
    fc.assert(
      fc.property(
        fc.array(anyText, { minLength: 1, maxLength: 40 }),
        fc.uniqueArray(fc.constantFrom(...WORDS), { minLength: 1 }),
        fc.boolean(),
        (given, asked, withAround) => {
          const texts = textsOf(given, withAround)
          const { scores, found, order, possible, partOf } = atOnce(scoreTexts(texts, askedOf(asked), PARAMETERS))
          const parts = asked.map((word, at) => plain(texts, word, boostOf(at)))
          for (let text = 0; text < texts.lengths.length; text++) {
            const sum = parts.reduce((all, part) => all + (part[text] as number), 0)
            expect(scores[text]).toBeCloseTo(sum, 12)
            expect(possible).toBeGreaterThanOrEqual(sum)
            const own = order.map((place, at) => [parts[place]?.[text] as number, partOf(at, text)] as const)
            for (const [part, share] of own) {
              if (part === 0) expect(share).toBeNaN()
              else expect(share).toBeCloseTo(part, 12)
            }
            // Added up in that order they make the score to the last digit: explanations rest on it.
            expect(own.reduce((all, [, share]) => (Number.isNaN(share) ? all : all + share), 0)).toBe(scores[text])
          }
          expect([...found].sort((a, b) => a - b)).toEqual([...scores.keys()].filter(at => (scores[at] as number) > 0))
        },
      ),
    )
  })

  it('adds up heaviest first, and of equally heavy words in the order of their letters', () => {
    const expectInOrder = (given: readonly Text[], asked: readonly string[]): void => {
      const texts = textsOf(given, true)
      const weights = asked.map((word, at) => weightOf(texts, word, boostOf(at)))
      const { order } = atOnce(scoreTexts(texts, askedOf(asked), PARAMETERS))
      const heaviestFirst = (a: number, b: number) => (weights[b] as number) - (weights[a] as number)
      const byLetters = (a: number, b: number) => ((asked[a] as string) < (asked[b] as string) ? -1 : 1)
      expect(order).toEqual([...asked.keys()].sort((a, b) => heaviestFirst(a, b) || byLetters(a, b)))
    }
    const texts = fc.array(anyText, { minLength: 1, maxLength: 20 })
    fc.assert(fc.property(texts, fc.shuffledSubarray([...WORDS], { minLength: 1 }), expectInOrder))
    // A question as long as questions may be has thousands of words.
    const none = Array.from({ length: 2_000 }, (_, at) => `q${(at * 7) % 2_000}`)
    const text: Text = { language: 'en', own: ['kiln', 'rain'], around: ['barn'], in: [0, -1] }
    for (const count of [60, 61, 62, 2_000]) expectInOrder([text], [...none.slice(0, count), ...WORDS])
  })

  it('scores a thousand texts as it does a few, and a text of many parts with all that they have of a word', () => {
    const barns = (count: number) => Array.from({ length: count }, () => 'barn')
    const many = Array.from({ length: 1_000 }, (_, at): Text => {
      const [own, around] = [barns(1 + (at % 3)), barns(1 + (at % 4))]
      return { language: 'en', own: [...own, 'goat'], around: [...around, 'rain'], in: [at, -1] }
    })
    const long: Text = { language: 'en', own: barns(200), around: [], in: [0, 1] }
    for (const given of [many, [long, long, { ...long, in: [1, 2] as const }]]) {
      const texts = textsOf(given, true)
      const asked = ['barn', 'goat', 'rain']
      const parts = asked.map((word, at) => plain(texts, word, boostOf(at)))
      const { scores, found } = atOnce(scoreTexts(texts, askedOf(asked), PARAMETERS))
      for (const [text, score] of scores.entries()) {
        const sum = parts.reduce((all, part) => all + (part[text] as number), 0)
        expect(score).toBeCloseTo(sum, 12)
      }
      expect(new Set(found).size).toBe(scores.length)
    }
  })

  it('counts a word no more than 255 times a text, whatever is around it', () => {
    const counts = new WordCounts()
    const many = countWords('barn '.repeat(200), 'en')
    counts.add(many, many)
    counts.add(countWords('barn '.repeat(300), 'en'))
    counts.add(countWords('goat', 'en'), countWords('barn '.repeat(300), 'en'))
    const counted = (withAround: boolean): number[] => {
      const found: number[] = []
      counts.each(new WordStems('barn'), withAround, {
        visit: (text, count) => {
          found[text] = count
        },
      })
      return found
    }
    expect(counted(false)).toEqual([200, 255])
    expect(counted(true)).toEqual([255, 255, 255])
    expect([counts.lengthOf(0, false), counts.lengthOf(0, true)]).toEqual([200, 400])
  })

  it('knows nothing of stop words, each in its language', () => {
    const counts = new WordCounts()
    counts.add(countWords('the barn', 'en'))
    counts.add(countWords('the barn', 'es'))
    const texts: number[] = []
    counts.each(new WordStems('the'), true, { visit: text => texts.push(text) })
    expect(texts).toEqual([1])
  })
})
