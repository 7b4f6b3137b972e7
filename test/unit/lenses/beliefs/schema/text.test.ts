/** The operators of a text: what is embedded, demanded, shut out and leant towards. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CheckedText } from '../../../../../src/lenses/beliefs/schema/values.ts'
import { checkQuery } from './checks.ts'
import { reported } from './faults.ts'

function read(semantic: string): CheckedText | null {
  return checkQuery({ semantic, filters: 'recent' }, { id: 'me', trustGraph: null }).semantic
}

function parts(semantic: string): Omit<CheckedText, 'text'> {
  const { text: _, ...rest } = read(semantic) as CheckedText
  return rest
}

const PLAIN = { include: [], exclude: [], phrases: [], boosts: [] }

describe('operators', () => {
  it('of the examples of the specification (BQ-032, BQ-034, BQ-035, BQ-036)', () => {
    expect(parts('machine learning +medical -finance')).toEqual({
      ...PLAIN,
      base: 'machine learning medical',
      include: ['medical'],
      exclude: ['finance'],
    })
    expect(parts('"San Francisco" housing prices')).toEqual({
      ...PLAIN,
      base: 'San Francisco housing prices',
      phrases: ['San Francisco'],
    })
    expect(parts('climate change policy^2.0 economics')).toEqual({
      ...PLAIN,
      base: 'climate change policy economics',
      boosts: [{ text: 'policy', factor: 2 }],
    })
    expect(parts('policy^2.0 economics').boosts).toEqual([{ text: 'policy', factor: 2 }])
  })

  it.each(['state-of-the-art x - y', 'a + b', '1 -', 'C++ or C--', 'e = m*c', 'x->y', '+ - +'])(
    'are none inside words and before blanks: %s (BQ-032)',
    text => {
      expect(parts(text)).toEqual({ ...PLAIN, base: text })
    },
  )

  it.each<[string, Partial<CheckedText>]>([
    ['\\-5 degrees 2\\^3', { base: '-5 degrees 2^3' }],
    ['\\+more \\"quoted\\"', { base: '+more "quoted"' }],
    ['"a \\" b" x', { base: 'a " b x', phrases: ['a " b'] }],
    ['lone\\', { base: 'lone\\' }],
    ['\\', { base: '\\' }],
    ['\\\\x', { base: '\\x' }],
  ])('are text behind a backslash: %s (BQ-033)', (text, expected) => {
    expect(parts(text)).toEqual({ ...PLAIN, ...expected })
  })

  it.each<[string, Partial<CheckedText>]>([
    [
      '+"deep learning" -"stock market" trends',
      { base: 'deep learning trends', include: ['deep learning'], exclude: ['stock market'] },
    ],
    ['"new\t  york", cheap', { base: 'new york, cheap', phrases: ['new york'] }],
    ['"a b"^3 c', { base: 'a b c', phrases: ['a b'], boosts: [{ text: 'a b', factor: 3 }] }],
    ['+term^0.5', { base: 'term', include: ['term'], boosts: [{ text: 'term', factor: 0.5 }] }],
    ['"a"-b', { base: 'a-b', phrases: ['a'] }],
    ['yes +"!!!"', { base: 'yes +"!!!"' }],
    ['yes +!!!', { base: 'yes +!!!' }],
  ])('take quoted words as one: %s (BQ-034)', (text, expected) => {
    expect(parts(text)).toEqual({ ...PLAIN, ...expected })
  })

  it.each([
    ['say "cheese', 'unterminated_quote'],
    ['+"cheese', 'unterminated_quote'],
    ['""', 'empty_phrase'],
    ['x "  "', 'empty_phrase'],
    ['x^0', 'boost_out_of_range'],
    ['x^10.1', 'boost_out_of_range'],
    ['x -y^2', 'boost_on_exclusion'],
    ['x -"y z"^2', 'boost_on_exclusion'],
    ['-x', 'only_exclusions'],
    ['-x -"y z"', 'only_exclusions'],
    ['-x \\ ', 'only_exclusions'],
    ['\\ ^2', 'empty_query'],
  ])('refuses %s: %s (BQ-034, BQ-035, BQ-041)', (text, reason) => {
    expect(reported(() => read(text))).toEqual([`semantic: ${reason}`])
  })

  it.each([
    ['x^10', 10],
    ['x^.5', 0.5],
    ['x^1', null],
  ])('boosts are above 0 and at most 10: %s (BQ-035)', (text, factor) => {
    expect(parts(text).boosts).toEqual(factor === null ? [] : [{ text: 'x', factor }])
  })

  it.each(['x^', 'x^y', 'x^-1', 'x^1e3', '^2', 'x^2^y'])('a caret without a number is text: %s (BQ-035)', text => {
    expect(parts(text)).toEqual({ ...PLAIN, base: text })
  })
})

describe('no text', () => {
  it.each(['', '  ', '\n\t', '\u0001', '\\ ', ' \\\n'])('lists by filters: %j (BQ-041)', text => {
    const query = checkQuery({ semantic: text, filters: 'recent' }, { id: 'me', trustGraph: null })
    expect(query.semantic).toBeNull()
    expect(query.weights.semantic).toBe(0)
    expect(query.weights.trust).toBeCloseTo(0.3 / 0.65, 12)
  })

  it.each([
    undefined,
    {},
    [],
    [{}],
    { domains_include: [] },
    { min_confidence: { overall: null } },
    { valid_at: null },
  ])('and no filter is refused: %j (BQ-041)', filters => {
    const call = () => checkQuery({ semantic: ' ', filters }, { id: 'me', trustGraph: null })
    expect(reported(call)).toEqual(['semantic: empty_query'])
  })

  it.each([
    { holder_ids: [] },
    { valid_at: '2026-01-01T00:00:00Z' },
    { exclude_holders: ['x'] },
    { min_confidence: 0 },
  ])('is enough beside a filter: %j (BQ-041, BQ-050)', filters => {
    expect(checkQuery({ semantic: '', filters }, { id: 'me', trustGraph: null }).semantic).toBeNull()
  })

  it('is not told as missing where its filters are wrong (BQ-041, BQ-186)', () => {
    const faultsOf = (filters: unknown) =>
      reported(() => checkQuery({ semantic: '', filters }, { id: 'me', trustGraph: null }))
    expect(faultsOf('best')).toEqual(['filters: unknown_value'])
    expect(faultsOf(['best'])).toEqual(['filters[0]: unknown_value'])
    expect(faultsOf({ min_confidence: { overall: 2 } })).toEqual(['filters.min_confidence.overall: range'])
    expect(faultsOf({ domains_include: ['x y'] })).toEqual(['filters.domains_include[0]: malformed'])
  })
})

describe('any text of plain words', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)

  it('is embedded as it is (BQ-036)', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 10 }), words => {
        expect(parts(words.join(' '))).toEqual({ ...PLAIN, base: words.join(' ') })
      }),
    )
  })

  it('comes back from its operators (BQ-032, BQ-034, BQ-035, BQ-036)', () => {
    const operand = fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 3 }).map(words => words.join(' ')),
      sign: fc.constantFrom('', '+', '-'),
      factor: fc.constantFrom(1, 0.5, 2, 10),
    })
    fc.assert(
      fc.property(fc.array(operand, { maxLength: 10 }), operands => {
        const text = ['first', ...operands.map(written)].join(' ')
        const kept = operands.filter(({ sign }) => sign !== '-')
        const bySign = (sign: string) => operands.filter(({ sign: own }) => own === sign).map(({ words }) => words)
        expect(parts(text)).toEqual({
          base: ['first', ...kept.map(({ words }) => words)].join(' '),
          include: bySign('+'),
          exclude: bySign('-'),
          phrases: bySign(''),
          boosts: kept.filter(({ factor }) => factor !== 1).map(({ words, factor }) => ({ text: words, factor })),
        })
      }),
    )
  })

  it('is text throughout when every character has a backslash (BQ-033)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'+-"^\\a1.'), minLength: 1, maxLength: 20 }), text => {
        const escaped = Array.from(text, character => `\\${character}`).join('')
        expect(parts(escaped)).toEqual({ ...PLAIN, base: text })
      }),
    )
  })
})

/** What is shut out has no boost. */
function written({ words, sign, factor }: { words: string; sign: string; factor: number }): string {
  return `${sign}"${words}"${factor === 1 || sign === '-' ? '' : `^${factor}`}`
}
