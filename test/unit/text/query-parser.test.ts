import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../src/model/errors.ts'
import { ENTRY_FIELDS } from '../../../src/model/filter.ts'
import type { ParsedQuery, QueryToken } from '../../../src/model/plan.ts'
import { lexQuery } from '../../../src/text/query-lexer.ts'
import { parseQuery, residualText } from '../../../src/text/query-parser.ts'
import { printQuery } from '../../support/print-query.ts'

const NOW = Date.parse('2026-03-10T15:00:00Z')
const DAY = 24 * 60 * 60 * 1000

/** The grammar alone, as the lens beliefs reads it; what the three syntaxes make of it: query-syntax.test.ts. */
function parse(text: string, allowEmpty = false): ParsedQuery {
  const fields = [...ENTRY_FIELDS, 'memory.strength']
  return parseQuery(text, { fields, now: NOW, allowEmpty, syntax: 'strict', allowsLoneSigns: true })
}

function failure(text: string): QuerentError {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof QuerentError) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}

function words(query: ParsedQuery): readonly string[] {
  return query.terms.map(term => term.text)
}

function texts(operands: readonly { readonly text: string }[]): readonly string[] {
  return operands.map(operand => operand.text)
}

describe('words and signs', () => {
  it('keeps plain words in order', () => {
    const query = parse('how does garbage collection work?')
    expect(words(query)).toEqual(['how', 'does', 'garbage', 'collection', 'work?'])
    expect(query.residual).toBe('how does garbage collection work?')
    expect([query.phrases, query.must, query.mustNot, query.fields]).toEqual([[], [], [], []])
    expect(query.filter).toBeNull()
  })

  it('takes signs at the start of a word as include and exclude', () => {
    const query = parse('+rust memory -garbage')
    expect(texts(query.must)).toEqual(['rust'])
    expect(texts(query.mustNot)).toEqual(['garbage'])
    expect(query.residual).toBe('rust memory')
    expect(words(query)).toEqual(['rust', 'memory'])
    expect(query.mustNot[0]).toMatchObject({ position: 13, length: 8 })
  })

  // BQ-032
  it.each([
    'state-of-the-art x - y',
    'a + b = c',
    'what does --verbose do',
    'i++ and ++i and --i',
    'a -> b => c <- d --> e',
    'x -= 1',
    'C++ vs C#',
    '+ -',
    '-- ++',
    '-… +! -)',
  ])('leaves the signs of %j as text', text => {
    const query = parse(text)
    expect([query.must, query.mustNot]).toEqual([[], []])
    expect(query.residual).toBe(text)
  })

  // BQ-033
  it('makes the character after a backslash literal', () => {
    const query = parse('\\-5 degrees 2\\^3')
    expect(query.residual).toBe('-5 degrees 2^3')
    expect([query.boosts, query.mustNot]).toEqual([[], []])
  })

  it('keeps a lone backslash at the end', () => {
    expect(parse('path C:\\').residual).toBe('path C:\\')
    expect(parse('one\\ word').terms).toHaveLength(1)
  })
})

describe('phrases', () => {
  it('is a condition, and its words are ranked by', () => {
    const query = parse('trends in "deep  learning" today')
    expect(query.phrases).toEqual([{ text: 'deep learning', phrase: true, position: 10, length: 16 }])
    expect(words(query)).toEqual(['trends', 'in', 'deep', 'learning', 'today'])
    expect(query.residual).toBe('trends in deep learning today')
  })

  // BQ-034
  it('is one operand after a sign', () => {
    const query = parse('+"deep learning" -"stock market" trends')
    expect(query.residual).toBe('deep learning trends')
    expect(texts(query.must)).toEqual(['deep learning'])
    expect(texts(query.mustNot)).toEqual(['stock market'])
    expect(query.phrases).toEqual([])
  })

  it.each([
    ['+"!!!" x', '+"!!!" x'],
    ['x -"? !"', 'x -"? !"'],
    ['x +"!  !",y z', 'x +"! !",y z'],
    ['x +"\\"" y', 'x +""" y'],
  ])('is text with its sign where it has no letter or digit, as a word is: %s', (text, residual) => {
    const query = parse(text)
    expect(query.residual).toBe(residual)
    expect([query.must, query.mustNot, query.phrases, query.boosts]).toEqual([[], [], [], []])
  })

  it('is weighed where it is text, and refused where it is empty or has no end', () => {
    expect(parse('x +"!!!"^2').boosts).toMatchObject([{ text: '+"!!!"', boost: 2 }])
    expect(parse('x +!!!^2').boosts).toMatchObject([{ text: '+!!!', boost: 2 }])
    expect([parse('x +!!!').must, parse('x -!!!').mustNot]).toEqual([[], []])
    for (const text of ['+"" x', '+"  " x']) expect(() => parse(text)).toThrow('the phrase is empty')
    expect(() => parse('x +"!!!')).toThrow('never closed')
    expect(texts(parse('+"!a!" x').must)).toEqual(['!a!'])
    expect(texts(parse('"!!!" x').phrases)).toEqual(['!!!'])
  })

  it('leaves text glued to the closing quote as text', () => {
    expect(parse('"deep learning", -trends').residual).toBe('deep learning,')
    expect(parse('"a"-b^3 c').residual).toBe('a-b^3 c')
    expect(parse('x -"a", b').residual).toBe('x , b')
    expect(parse('"a""b"').residual).toBe('a"b"')
  })

  it('takes quotes inside a word as text', () => {
    expect(parse('print("hello")').phrases).toEqual([])
    expect(parse('a 5" disk').residual).toBe('a 5" disk')
    expect(texts(parse('"say \\"hi\\" \\\\ now"').phrases)).toEqual(['say "hi" \\ now'])
  })
})

describe('boosts', () => {
  // BQ-035
  it('takes a number after the last caret', () => {
    const query = parse('policy^2.0 economics')
    expect(query.boosts).toEqual([{ text: 'policy', boost: 2, position: 0, length: 10 }])
    expect(query.terms[0]).toMatchObject({ text: 'policy', boost: 2 })
    expect(query.residual).toBe('policy economics')
  })

  it('weighs phrases and included words', () => {
    const query = parse('"deep learning"^3 +rust^.5')
    expect(query.terms.map(term => [term.text, term.boost])).toEqual([
      ['deep', 3],
      ['learning', 3],
      ['rust', 0.5],
    ])
    expect(query.boosts.map(boost => [boost.text, boost.boost])).toEqual([
      ['deep learning', 3],
      ['rust', 0.5],
    ])
  })

  it.each(['a^b', 'a^', '^2', 'a^2x', 'a^1e3', 'a^-1', 'a^2,', 'a^\\2', 'a^1.', '^'])('has none in %j', text => {
    expect(parse(text).boosts).toEqual([])
  })
})

describe('fields', () => {
  it('makes a condition and takes it out of the text', () => {
    const query = parse('kind:note how does it work')
    expect(query.filter).toEqual({ op: 'eq', field: 'kind', value: 'note' })
    expect(query.residual).toBe('how does it work')
    expect(query.fields).toMatchObject([{ field: 'kind', position: 0, length: 9 }])
  })

  it.each([
    ['kind:note', { op: 'eq', field: 'kind', value: 'note' }],
    ['tag:"two words"', { op: 'eq', field: 'tag', value: 'two words' }],
    ['tags:rust', { op: 'eq', field: 'tag', value: 'rust' }],
    ['-kind:note x', { op: 'not', of: { op: 'eq', field: 'kind', value: 'note' } }],
    ['+kind:note', { op: 'eq', field: 'kind', value: 'note' }],
    ['title:cache', { op: 'contains', field: 'title', text: 'cache' }],
    ['title:="Cache lines"', { op: 'eq', field: 'title', value: 'Cache lines' }],
    ['collection:~doc', { op: 'contains', field: 'collection', text: 'doc' }],
    ['origin:../a..b', { op: 'contains', field: 'origin', text: '../a..b' }],
    ['origin:*', { op: 'exists', field: 'origin' }],
    ['metadata.author:*', { op: 'exists', field: 'metadata.author' }],
    ['metadata.author:Ann', { op: 'eq', field: 'metadata.author', value: 'Ann' }],
    ['meta.a.b:x', { op: 'eq', field: 'metadata.a.b', value: 'x' }],
    ['metadata.year:2024', { op: 'in', field: 'metadata.year', values: ['2024', 2024] }],
    ['metadata.year:"2024"', { op: 'eq', field: 'metadata.year', value: '2024' }],
    ['metadata.done:true', { op: 'in', field: 'metadata.done', values: ['true', true] }],
    ['metadata.year:>=2020', { op: 'gte', field: 'metadata.year', value: 2020 }],
    ['metadata.name:<m', { op: 'lt', field: 'metadata.name', value: 'm' }],
    ['metadata.name:~ann', { op: 'contains', field: 'metadata.name', text: 'ann' }],
    ['memory.strength:>0.5', { op: 'gt', field: 'memory.strength', value: 0.5 }],
    [
      'metadata.t:-5..5.5',
      {
        op: 'and',
        of: [
          { op: 'gte', field: 'metadata.t', value: -5 },
          { op: 'lte', field: 'metadata.t', value: 5.5 },
        ],
      },
    ],
    ['metadata.t:5..', { op: 'gte', field: 'metadata.t', value: 5 }],
    ['metadata.t:..b', { op: 'lte', field: 'metadata.t', value: 'b' }],
    ['metadata.diff:a...b', { op: 'eq', field: 'metadata.diff', value: 'a...b' }],
    [
      'kind:(note "long document")',
      {
        op: 'or',
        of: [
          { op: 'eq', field: 'kind', value: 'note' },
          { op: 'eq', field: 'kind', value: 'long document' },
        ],
      },
    ],
    ['kind:(note)', { op: 'eq', field: 'kind', value: 'note' }],
  ])('reads %s', (text, filter) => {
    expect(parse(text).filter).toEqual(filter)
  })

  it('joins conditions with and', () => {
    expect(parse('kind:note tag:a').filter).toEqual({
      op: 'and',
      of: [
        { op: 'eq', field: 'kind', value: 'note' },
        { op: 'eq', field: 'tag', value: 'a' },
      ],
    })
  })

  it.each([
    'std::vector',
    'http://example.org/a:b',
    'it was 12:30',
    'error: foo',
    'kind: note',
    'kind::note',
    'kind:= note',
    'id:> x',
    'foo:bar',
    '{"kind":"note"}',
    'a.kind:note',
    '\\kind:note',
    'kind\\:note',
    'C:\\\\temp',
    'metadata:x metadata.:x meta..a:x',
    '#tag',
  ])('leaves %s as text', text => {
    const query = parse(text)
    expect(query.fields).toEqual([])
    expect(query.notes).toEqual([])
  })
})

describe('times', () => {
  const day = Date.parse('2026-03-01')
  it.each([
    ['created:2026-03-01', day, day + DAY],
    ['created:2026-02', Date.parse('2026-02-01'), Date.parse('2026-03-01')],
    ['created:2025-12', Date.parse('2025-12-01'), Date.parse('2026-01-01')],
    ['created:2025', Date.parse('2025-01-01'), Date.parse('2026-01-01')],
    ['created:today', Date.parse('2026-03-10'), Date.parse('2026-03-11')],
    ['created:yesterday', Date.parse('2026-03-09'), Date.parse('2026-03-10')],
    ['created:2026-02..2026-03-01', Date.parse('2026-02-01'), day + DAY],
  ])('reads %s as a span', (text, start, end) => {
    expect(parse(text).filter).toEqual({
      op: 'and',
      of: [
        { op: 'gte', field: 'created', value: start },
        { op: 'lt', field: 'created', value: end },
      ],
    })
  })

  it.each([
    ['created:>=2026-03-01', 'gte', day],
    ['created:>2026-03-01', 'gte', day + DAY],
    ['created:<2026-03-01', 'lt', day],
    ['created:<=2026-03-01', 'lt', day + DAY],
    ['updated:>=7d', 'gte', NOW - 7 * DAY],
    ['updated:<24h', 'lt', NOW - DAY],
    ['updated:7d..', 'gte', NOW - 7 * DAY],
    ['updated:..yesterday', 'lt', Date.parse('2026-03-10')],
    ['known:<=2026-03-01T12:00:00Z', 'lte', Date.parse('2026-03-01T12:00:00Z')],
    ['known:>2026-03-01T12:00:00+01:00', 'gt', Date.parse('2026-03-01T11:00:00Z')],
    ['known:2026-03-01T12:00Z', 'eq', Date.parse('2026-03-01T12:00:00Z')],
  ])('reads %s', (text, op, value) => {
    const field = text.slice(0, text.indexOf(':'))
    expect(parse(text).filter).toEqual({ op, field, value })
  })

  it('takes an age alone as "since then"', () => {
    expect(parse('created:7d').filter).toEqual({
      op: 'and',
      of: [
        { op: 'gte', field: 'created', value: NOW - 7 * DAY },
        { op: 'lte', field: 'created', value: NOW },
      ],
    })
  })
})

describe('errors', () => {
  it.each([
    ['say "hello', 'unterminated_quote', 4, 1],
    ['-"hello', 'unterminated_quote', 1, 1],
    ['a "" b', 'empty_phrase', 2, 2],
    ['a "  " b', 'empty_phrase', 2, 4],
    ['-cats', 'only_exclusions', 0, 5],
    ['-cats -"two dogs"', 'only_exclusions', 0, 5],
    ['-kind:note', 'only_exclusions', 0, 10],
    ['x^11', 'boost_out_of_range', 0, 4],
    ['y x^0', 'boost_out_of_range', 2, 3],
    ['"a b"^10.1', 'boost_out_of_range', 0, 10],
    ['a -x^2', 'boost_on_exclusion', 2, 4],
    ['kind:(a b', 'unterminated_list', 5, 1],
    ['kind:( )', 'empty_list', 5, 3],
    ['kind:"note', 'unterminated_quote', 5, 1],
    ['x kind:""', 'empty_value', 2, 7],
    ['created:soon', 'invalid_value', 0, 12],
    ['created:2026-02-30', 'invalid_value', 0, 18],
    ['created:2026-13', 'invalid_value', 0, 15],
    ['created:2026-03-01T12:00', 'invalid_value', 0, 24],
    ['created:~2026', 'invalid_value', 0, 13],
    ['created:2026..2025', 'invalid_value', 0, 18],
    ['metadata.n:5..4', 'invalid_value', 0, 15],
    ['metadata.n:b..a', 'invalid_value', 0, 15],
    ['kind:>note', 'invalid_value', 0, 10],
  ])('refuses %j: %s', (text, reason, position, length) => {
    const error = failure(text)
    expect(error.code).toBe('query_syntax')
    expect(error.details).toMatchObject({ reason, position, length })
    expect(error.details['hint']).toEqual(expect.any(String))
    expect(error.message).toContain(`at position ${position}`)
  })

  it('refuses a blank text unless there are filters elsewhere', () => {
    expect(failure('').code).toBe('invalid_argument')
    expect(failure(' \n\u0000\u00a0').code).toBe('invalid_argument')
    expect(parse('', true)).toMatchObject({ terms: [], residual: '', filter: null })
  })

  it('refuses long texts and many conditions', () => {
    expect(failure('x'.repeat(10_001)).details).toEqual({ field: 'text', value: 10_001, limit: 10_000 })
    expect(parse('x'.repeat(10_000)).terms).toHaveLength(1)
    expect(failure('a '.repeat(1) + '-b '.repeat(101)).code).toBe('too_large')
    expect(parse(`a ${'-b '.repeat(100)}`).mustNot).toHaveLength(100)
  })
})

describe('odd characters', () => {
  it('takes control characters as blanks and keeps positions', () => {
    const query = parse('a\u0000b\u001fc\td')
    expect(words(query)).toEqual(['a', 'b', 'c', 'd'])
    expect(query.terms[3]?.position).toBe(6)
  })

  it.each([
    "'; DROP TABLE entries; SELECT * FROM files WHERE 1=1 OR ''=''",
    'NEAR(a b, 5) AND title OR NOT (x*) {a b}: c',
    'entries MATCH a* ^b',
    '%_% LIKE ?1 @x $y #z',
    '<script>alert(1)</script> ../../etc/passwd %00',
  ])('takes the language of databases for text: %j', text => {
    const query = parse(text)
    expect(query.residual).toBe(text.replaceAll(/\s+/g, ' '))
    expect([query.filter, query.phrases, query.must, query.mustNot, query.boosts]).toEqual([null, [], [], [], []])
  })

  it('replaces unpaired surrogates', () => {
    expect(parse('a\ud800b 😀').text).toBe('a\ufffdb 😀')
    expect(words(parse('x 😀'))).toEqual(['x', '😀'])
  })
})

describe('lexer without fields', () => {
  it('leaves names with colons as text, for lenses that have no fields', () => {
    const tokens = lexQuery('kind:note +"a b"^2 -c')
    expect(tokens.map(token => [token.kind, token.sign])).toEqual([
      ['word', null],
      ['phrase', '+'],
      ['word', '-'],
    ])
    expect(residualText(tokens)).toBe('kind:note a b')
  })
})

/** Texts made of the signs that mean something, beside anything at all. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        ...['"', '\\', '+', '-', '^', ':', '(', ')', '*', '..', '>=', '<', '=', '~', ' ', '\n', '2', '7d', 'a', 'é'],
        ...[
          'kind',
          'created',
          'metadata.x',
          '2026-03',
          '\ud83d',
          '漢',
          '^2',
          ' -',
          ' +',
          ' "',
          '" ',
          'kind:',
          'title:(',
        ],
      ),
      { maxLength: 24 },
    )
    .map(parts => parts.join('')),
)

function bare(tokens: readonly QueryToken[]): unknown {
  return JSON.parse(
    JSON.stringify(tokens, (key, value) => (key === 'position' || key === 'length' ? undefined : value)),
  )
}

describe('any text', () => {
  it.each([' +^2\\2', '+\\^2', '-\\\\^2 x', 'x +\\^^2'])('takes a caret behind a backslash for text: %j', text => {
    const { tokens } = parse(text)
    expect(bare(parse(printQuery(tokens)).tokens)).toEqual(bare(tokens))
  })

  it('reads its own printing alike', () => {
    fc.assert(
      fc.property(anyText, text => {
        let query: ParsedQuery
        try {
          query = parse(text)
        } catch {
          return
        }
        const printed = printQuery(query.tokens)
        const again = parse(printed)
        expect(bare(again.tokens)).toEqual(bare(query.tokens))
        expect(printQuery(again.tokens)).toBe(printed)
        expect([again.residual, again.filter]).toEqual([query.residual, query.filter])
      }),
      { numRuns: 1000 },
    )
  })

  it('covers every character that is no blank with a token', () => {
    fc.assert(
      fc.property(anyText, text => {
        let query: ParsedQuery
        try {
          query = parse(text)
        } catch {
          return
        }
        let rest = query.text
        for (const { position, length } of query.tokens) {
          rest = rest.slice(0, position) + ' '.repeat(length) + rest.slice(position + length)
        }
        expect(rest.trim()).toBe('')
      }),
    )
  })

  it.each(['"', '\\', '(', 'kind:(', '^', '-', '+"', '+"!', '+"! ', '..', '^2', ':', 'kind:', '-a', '" ', '\\"', '𝒳'])(
    'stays linear on 10,000 characters of %j (vitest would time out)',
    piece => {
      const text = piece.repeat(Math.floor(10_000 / piece.length))
      for (let round = 0; round < 20; round++) {
        try {
          parse(text)
        } catch (error) {
          expect(error).toBeInstanceOf(QuerentError)
        }
      }
    },
  )
})
