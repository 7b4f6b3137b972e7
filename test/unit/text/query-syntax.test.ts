/** The three syntaxes: what each makes of the same text. QE-001. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../src/model/errors.ts'
import { ENTRY_FIELDS } from '../../../src/model/filter.ts'
import type { ParsedQuery } from '../../../src/model/plan.ts'
import type { Syntax } from '../../../src/model/query.ts'
import { parseQuery } from '../../../src/text/query-parser.ts'
import { tokenise } from '../../../src/text/tokenise.ts'

const NOW = Date.parse('2026-03-10T15:00:00Z')

function parse(text: string, syntax?: Syntax): ParsedQuery {
  return parseQuery(text, { fields: ENTRY_FIELDS, now: NOW, syntax })
}

function reasonOf(text: string): unknown {
  try {
    parse(text, 'strict')
    return null
  } catch (error) {
    if (error instanceof QuerentError) return error.details['reason'] ?? error.code
    throw error
  }
}

function texts(operands: readonly { readonly text: string }[]): readonly string[] {
  return operands.map(({ text }) => text)
}

/** Every word that a text holds. */
function wordsOf(text: string): readonly string[] {
  return tokenise(text).map(({ term }) => term)
}

describe('a minus in lenient syntax', () => {
  it.each([
    ['cats -dogs', ['dogs']],
    ['cats -dogs -birds', ['dogs', 'birds']],
    ['cats and -dogs', ['dogs']],
    ['rust memory -java', ['java']],
    ['+rust memory -java', ['java']],
    ['+rust memory -java -"reference counting"', ['java', 'reference counting']],
    ['-"reference counting" memory', ['reference counting']],
    ['memory -"go" routines', ['go']],
    ['apple -computer kind:note', ['computer']],
    ['apple -computer tag:fruit', ['computer']],
    ['"flat scan" -kernel tag:index', ['kernel']],
    ['jaguar -well-known', ['well-known']],
    ['python -c64', ['c64']],
    ["music -rock'n'roll", ["rock'n'roll"]],
    ['кошки -собаки', ['собаки']],
    ['dieren -één', ['één']],
    ['动物 -狗', ['狗']],
    ['what is a jaguar -car', ['car']],
    ['state-of-the-art search -google', ['google']],
    ['12:30 train -bus', ['bus']],
    ['AT&T history -bell', ['bell']],
    ['TCP/IP history -unix', ['unix']],
  ])('excludes at the end and in quotes: %s', (text, excluded) => {
    const query = parse(text)
    expect(texts(query.mustNot)).toEqual(excluded)
    expect(query.notes).toEqual([])
  })

  it.each([
    'error: cannot open -wal file',
    'cannot open -wal file',
    'the -wal file is missing',
    'what is -wal',
    'how do I use -wal',
    'what does git commit -amend do',
    'java -jar app.jar',
    'ls -la',
    'rm -rf /tmp/build',
    'tar -xzf backup.tar.gz',
    'docker run -it ubuntu bash',
    'git commit -m "fix the build"',
    'find . -name "*.ts" -type f',
    'gcc -O2 -Wall main.c -o main',
    'cmake --build build -target install',
    'grep -r pattern ./src -include',
    'cat access.log | grep -error',
    'export PATH=$PATH -append',
    'x = y -offset',
    'foo() -bar',
    'std::vector -allocator',
    'temperature below -5 degrees',
    'between -10 and -20',
    '-bash: foo: command not found',
    '-Xmx512m is too large for the heap',
    'Exception at main +0x3f',
    'value is -file.txt',
    'head -n5',
    '2026-03-01 12:30:01 WARN pool -exhausted',
    '- one\n- two -three',
    'first line -foo\nsecond line',
    'diff\n-import a\n+import b',
    'cats - dogs',
    'a -> b',
    'x -- y',
    'i-- and --i',
    '-dogs cats',
  ])('is text in ordinary text, commands and logs: %j', text => {
    const query = parse(text)
    expect([query.must, query.mustNot, query.filter]).toEqual([[], [], null])
    // Nothing is lost: every word of the text is searched.
    expect(wordsOf(query.terms.map(term => term.text).join(' '))).toEqual(expect.arrayContaining([...wordsOf(text)]))
  })

  it('is reported with its reason where it is text', () => {
    expect(parse('cannot open -wal file').notes).toEqual([
      {
        code: 'read_as_text',
        message: 'Searched as text: -wal (text follows it; to exclude it, write it at the end or in quotes).',
      },
    ])
    expect(parse('ls -la').notes[0]?.message).toContain('-la (the text looks like a command, a log or code)')
    expect(parse('cats - dogs').notes[0]?.message).toContain('- (the sign stands alone)')
  })
})

describe('lenient syntax', () => {
  it.each([
    ['say "hello world', ['say', '"hello', 'world'], 'the quote is never closed'],
    ['"one" and "two', ['one', 'and', '"two'], 'the quote is never closed'],
    ['nothing in "" here', ['nothing', 'in', '""', 'here'], 'the phrase is empty'],
    ['-java -"reference counting"', ['-java', '-"reference', 'counting"'], 'nothing else to search for'],
    ['policy^11 x', ['policy^11', 'x'], 'a boost is above 0'],
    ['policy^0 x', ['policy^0', 'x'], 'a boost is above 0'],
    ['memory -java^2', ['memory', '-java^2'], 'cannot have a boost'],
    ['kind:(note document', ['kind:(note', 'document'], 'the list is never closed'],
    ['x kind:( )', ['x', 'kind:(', ')'], 'the list is empty'],
    ['x kind:""', ['x', 'kind:""'], 'the value is empty'],
    ['x kind:"note', ['x', 'kind:"note'], 'never closed'],
    ['created:soon x', ['created:soon', 'x'], 'is no time'],
    ['created:2026..2025 x', ['created:2026..2025', 'x'], 'the range ends before it begins'],
    ['x kind:>note', ['x', 'kind:>note'], 'has no order'],
    ['x "!!!"', ['x', '"!!!"'], 'it has no word'],
    ['x - y', ['x', '-', 'y'], 'the sign stands alone'],
    ['severity:high alarms', ['severity:high', 'alarms'], 'there is no field "severity"'],
    ['colection:docs', ['colection:docs'], 'did you mean "collection:"?'],
    ['Kind:note x', ['Kind:note', 'x'], 'did you mean "kind:"?'],
  ])('searches what it cannot read as text, with a note: %s', (text, words, note) => {
    const query = parse(text)
    expect(texts(query.terms)).toEqual(words)
    expect([query.must, query.mustNot, query.filter, query.boosts]).toEqual([[], [], null, []])
    expect(query.notes).toHaveLength(1)
    expect(query.notes[0]).toMatchObject({ code: 'read_as_text', message: expect.stringContaining(note) })
  })

  it.each([
    'std::vector',
    'http://example.org/a:b',
    'it was 12:30',
    'error: foo',
    'kind: note',
    'C:\\temp',
    '\\kind:note',
  ])('has no note for %s, which looks like no operator', text => expect(parse(text).notes).toEqual([]))

  it('keeps the backslashes of paths and patterns, and still takes its meaning from a sign', () => {
    expect(parse('C:\\Users\\new \\d+\\s').residual).toBe('C:\\Users\\new \\d+\\s')
    expect(parse('\\-5 degrees 2\\^3 \\"so to speak\\" kind\\:note').residual).toBe(
      '-5 degrees 2^3 "so to speak" kind:note',
    )
    expect(texts(parse('x "say \\"hi\\" now"').phrases)).toEqual(['say "hi" now'])
  })

  it('reads the operators that strict syntax reads', () => {
    for (const text of [
      '+rust memory -java -"a b"',
      'policy^2 "interest rates"^0.5',
      'kind:(note document) tag:rust x',
    ]) {
      expect(parse(text)).toEqual(parse(text, 'strict'))
    }
  })

  it('reads the first hundred operators and the first 10,000 characters, and says so', () => {
    const many = parse(`a ${'-bbb '.repeat(120)}`)
    expect(many.mustNot).toHaveLength(100)
    expect(many.notes[0]?.message).toContain('only 100 operators are read')
    const long = parse(`${'x'.repeat(9_999)}😀 tail`)
    expect(long.text).toHaveLength(10_000)
    expect(long.text.isWellFormed()).toBe(true)
    expect(long.notes).toEqual([
      { code: 'text_cut', message: 'The text has 10006 characters; the first 10000 were searched.' },
    ])
  })

  it('lists at most five parts, each cut, in its note', () => {
    const [note] = parse(Array.from({ length: 8 }, (_, at) => `field${at}:${'v'.repeat(60)}`).join(' ')).notes
    expect(note?.message).toContain('; and 3 more.')
    expect(note?.message.length).toBeLessThan(600)
  })

  it('refuses a blank text as every syntax does', () => {
    for (const syntax of ['plain', 'lenient', 'strict'] as const) {
      expect(() => parse(' \n', syntax)).toThrow('a question, or a filter to list by')
    }
  })
})

describe('strict syntax', () => {
  it.each([
    ['say "hello', 'unterminated_quote'],
    ['cats - dogs', 'lone_sign'],
    ['1 + 2', 'lone_sign'],
    ['severity:high alarms', 'unknown_field'],
    ['colection:docs', 'unknown_field'],
    ['-java', 'only_exclusions'],
    ['policy^11', 'boost_out_of_range'],
    ['created:soon', 'invalid_value'],
    ['x'.repeat(10_001), 'too_large'],
  ])('refuses %j: %s', (text, reason) => {
    expect(reasonOf(text)).toBe(reason)
  })

  it.each(['cats \\- dogs', 'severity\\:high', 'http://example.org', 'std::vector', '12:30', 'a -> b', 'i++'])(
    'takes %j, whose signs are plain or escaped',
    text => expect(reasonOf(text)).toBeNull(),
  )

  it('excludes wherever a minus is before a word', () => {
    expect(texts(parse('cannot open -wal file', 'strict').mustNot)).toEqual(['wal'])
  })
})

describe('plain syntax', () => {
  it('reads no operator at all', () => {
    const text = '+rust -java "a b"^2 kind:note \\"x say "hello'
    const query = parse(text, 'plain')
    expect(texts(query.terms)).toEqual(text.split(' '))
    expect(query.residual).toBe(text)
    expect([query.phrases, query.must, query.mustNot, query.fields, query.boosts, query.notes]).toEqual([
      [],
      [],
      [],
      [],
      [],
      [],
    ])
  })
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        ...[
          '"',
          '\\',
          '+',
          '-',
          '^',
          ':',
          '(',
          ')',
          '*',
          '..',
          '>=',
          '~',
          ' ',
          '\n',
          '2',
          '7d',
          'a',
          'é',
          '漢',
          'שלום',
        ],
        ...[
          'kind',
          'created',
          'metadata.x',
          '\ud83d',
          '👩‍💻',
          '\u202e',
          '\u0000',
          ' -abc',
          ' +',
          ' "',
          '" ',
          'kind:',
          'tag:(',
        ],
      ),
      { maxLength: 30 },
    )
    .map(parts => parts.join('')),
)

describe('any text', () => {
  it('is read in lenient and in plain syntax, and no word of it is lost but those of conditions', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom<Syntax>('lenient', 'plain'), (text, syntax) => {
        const query = parseQuery(text, { fields: ENTRY_FIELDS, now: NOW, syntax, allowEmpty: true })
        let rest = query.text
        for (const { position, length } of query.tokens) {
          expect(position + length).toBeLessThanOrEqual(text.length)
          rest = rest.slice(0, position) + ' '.repeat(length) + rest.slice(position + length)
        }
        expect(rest.trim()).toBe('')
        if (syntax === 'plain') expect(query.terms).toHaveLength(query.tokens.length)
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    '"',
    '\\',
    '(',
    'kind:(',
    'kind:( ',
    '^',
    '-',
    '- ',
    ' -abc',
    '+"',
    '+"! ',
    ' "a',
    ':',
    'a:b ',
    '" ',
    '\\"',
  ])('stays near linear on 10,000 characters of %j (vitest would time out)', piece => {
    const text = piece.repeat(Math.floor(10_000 / piece.length))
    for (let round = 0; round < 5; round++) parse(text)
  })
})
