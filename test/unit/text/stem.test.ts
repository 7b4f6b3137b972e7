import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginningOf, stem } from '../../../src/text/stem.ts'
import { LANGUAGES, stopWords } from '../../../src/text/stopwords.ts'

/** Endings that the stemmers know, folded; the ones that change more than they cut first. */
const ENDINGS =
  `ation ational ization iveness ousness biliti ility ical ational enci anci eli fulness y ies ying ed ing ement
  ication logie usion ence amment emment eux issement ite atrice anza enza ucion encia logia cion amiento amente idad
  yendo ieron aremos azione uzione amento mente iche acao ucoes logias idade heit keit ung isch lich`.split(/\s+/)

const word = fc
  .tuple(fc.stringMatching(/^[a-z]{1,12}$/), fc.array(fc.constantFrom(...ENDINGS), { minLength: 0, maxLength: 2 }))
  .map(([start, endings]) => start + endings.join(''))

describe('a stem', () => {
  it('begins as each of its words does, so that what begins otherwise need not be stemmed', () => {
    fc.assert(
      fc.property(word, fc.constantFrom(...LANGUAGES), (term, language) => {
        expect(term.startsWith(beginningOf(stem(term, language), language))).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it('does so for words that stemmers change most', () => {
    const stems = [stem('application', 'fr'), stem('they', 'en'), stem('frecuencia', 'es'), stem('cancion', 'es')]
    expect(stems.slice(0, 2)).toEqual(['appliqu', 'thei'])
    expect(stems.map((stem, at) => beginningOf(stem, (['fr', 'en', 'es', 'es'] as const)[at] as 'fr'))).toEqual([
      'appli',
      'th',
      'frecue',
      'canci',
    ])
    for (const language of LANGUAGES) {
      for (const term of stopWords(language))
        expect(term.startsWith(beginningOf(stem(term, language), language))).toBe(true)
    }
  })
})
