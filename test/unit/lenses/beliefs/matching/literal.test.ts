import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldContent, hasPhrase, hasTokens, tokensOf } from '../../../../../src/lenses/beliefs/matching/literal.ts'

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
