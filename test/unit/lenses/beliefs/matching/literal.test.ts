import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldContent, hasPhrase, hasTokens, tokensOf } from '../../../../../src/lenses/beliefs/matching/operators.ts'

const literal = (content: string, operand: string) => hasTokens(foldContent(content), tokensOf(operand))

/** The rule as it is written: tokens of both, and one list inside the other. */
function byRule(content: string, operand: string): boolean {
  const runs = (text: string) =>
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const [all, wanted] = [runs(content), runs(operand)]
  if (wanted.length === 0) return false
  return all.some((_, at) => wanted.every((token, i) => all[at + i] === token))
}

// BQ-038
describe('a literal occurrence', () => {
  it.each([
    ['a refinanced boat', 'finance', false],
    ['about finance.', 'finance', true],
    ['Deep\n learning, deeply', 'deep learning', true],
    ['deep (learning)', 'deep learning', true],
    ['deep and learning', 'deep learning', false],
    ['finances finance', 'finance', true],
    ['ＦＩＮＡＮＣＥ', 'finance', true],
    ['Straße', 'straße', true],
    ['naïve', 'naive', false],
    ['𝒳 is 𐐀', '𐐨', true],
    ['anything', '!!', false],
    ['İstanbul', 'İstanbul', true],
  ])('of %j: %j is %s', (content, operand, expected) => {
    expect(literal(content, operand)).toBe(expected)
  })

  it('is what the rule says, for any text', () => {
    const word = fc.constantFrom('a', 'ab', 'A', 'é', 'e\u0301', '１', '中', '𐐀', "don't", 'x_y', '-', ' ', '\n', '.')
    const text = fc.array(word, { maxLength: 12 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(text, text, (content, operand) => {
        expect(literal(content, operand)).toBe(byRule(content, operand))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a literal occurrence of many words (BQ-038, BQ-192)', () => {
  it('is what the rule says, where words come again and again', () => {
    const word = fc.constantFrom('a', 'b', 'aa', 'é')
    const text = (most: number) => fc.array(word, { minLength: 1, maxLength: most }).map(words => words.join(', '))
    fc.assert(
      fc.property(text(30), text(6), (content, operand) => {
        expect(literal(content, operand)).toBe(byRule(content, operand))
      }),
      { numRuns: 2000 },
    )
  })

  it('is looked for in one pass over the content', () => {
    const content = foldContent('a '.repeat(32_000))
    const most = 'a '.repeat(1_900)
    for (let at = 0; at < 40; at++) {
      expect(hasTokens(`${content}${at}`, tokensOf(`${most}b`))).toBe(false)
      expect(hasTokens(`${content}${at}`, tokensOf(`${most}${at}`))).toBe(true)
    }
  })
})

describe('a folded content', () => {
  const part = fc.constantFrom(
    'a',
    'ﬁ',
    'Å',
    '\u0301',
    '\u0316',
    '\u1100',
    '\u1161',
    '\u09c7',
    '\u09be',
    '😀',
    ' ',
    '\n',
  )
  const text = fc.array(part, { maxLength: 40 }).map(parts => parts.join(''))

  it('is in NFKC, lower case and with single blanks, also beside more marks than any word has', () => {
    const folded = (content: string) => content.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ')
    const marks = '\u0301'.repeat(1_000)
    fc.assert(
      fc.property(text, text, (before, after) => {
        const content = `${before} ${marks} ${after}`
        expect(foldContent(content)).toBe(folded(content))
      }),
    )
  })

  it('has its marks put in order some hundred at a time: all of very many at once take long', () => {
    const marks = '\u0301\u0316'.repeat(16_000)
    for (let at = 0; at < 40; at++) expect(foldContent(`${at}${marks}`)).toHaveLength(String(at).length + marks.length)
  })
})

// BQ-039
describe('a phrase', () => {
  it.each([
    ['In SAN\n FRANCISCO', 'san francisco', true],
    ['in san fran', 'san francisco', false],
    ['the san franciscan', 'San  Francisc', true],
  ])('of %j: %j is %s', (content, phrase, expected) => {
    expect(hasPhrase(foldContent(content), foldContent(phrase).trim())).toBe(expected)
  })
})
