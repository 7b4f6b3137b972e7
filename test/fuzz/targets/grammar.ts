/** The query grammar: what is read can be written and read again, and what is refused is refused at a place in the text. */
import { QuerentError } from '../../../src/model/errors.ts'
import type { FieldName } from '../../../src/model/filter.ts'
import type { ParsedQuery, QueryToken, Span } from '../../../src/model/plan.ts'
import { parseQuery } from '../../../src/text/query-parser.ts'
import { printQuery } from '../../support/print-query.ts'
import { type Target, textsNear } from '../inputs.ts'
import { assertAlike, assertEqual, assertRefusal, must } from '../oracles.ts'

const FIELDS: readonly FieldName[] = 'id collection kind holder tag title origin created updated'.split(' ')
const LENIENT = { fields: FIELDS, now: Date.UTC(2026, 2, 1) }
/** What is read in strict syntax can be printed and read again. */
const STRICT = { ...LENIENT, syntax: 'strict' } as const

const WORDS: readonly string[] = [
  ...'fox|"|""|"a b"|+|-|+-|^|^2|^0.5|^10|^1e3|^.5|\\|\\"|\\^|:|::|tag:|tags:|created:'.split('|'),
  ...'updated:|title:|metadata.|meta.a.b:|meta.:|colection:|kind:|:=|:~|:<|:<=|:>|:>=|:*|:(|('.split('|'),
  ...')|..|2026-01-01..2026-02-01|>7d|<1h|3w|today|yesterday|2026|2026-13|2026-02-29'.split('|'),
  ...'2026-01-01T10:00Z|true|false|1.5|-1|1e5|*'.split('|'),
]

const SEEDS: readonly string[] = [
  'quick fox',
  '+quick -slow "a phrase" other^2.5 "boosted phrase"^3',
  'tag:red -tag:blue tags:(a b "c d") kind:note title:~ale created:>2026-01-01 updated:<=7d',
  'created:2026-01-01..2026-02-01 meta.wheels:>=4 metadata.a.b:* meta.c:="x y" meta.n:1..5',
  'x^0.0000001 y^10 z^.5',
  'a\\:b \\-c \\"d "e"f (g)h ^ x^y 10:30 http://example.com/a?b=c',
]

export const grammar: Target<string> = {
  near: good => textsNear(good, WORDS, 11_000),
  seeds: SEEDS,
  open: async () => ({ try: tryQuestion }),
}

function tryQuestion(text: string): void {
  assertForgives(text)
  const first = parsed(text)
  const second = parsed(text)
  if (first instanceof QuerentError || second instanceof QuerentError) {
    must(first instanceof QuerentError && second instanceof QuerentError, 'refused only once')
    assertAlike(first, second)
    assertPointsInto(first, text)
    return
  }
  for (const span of [...first.tokens, ...first.terms, ...first.boosts]) assertLiesIn(span, text)
  must(first.text.length === text.length, 'the text changed its length')
  must(first.text.isWellFormed(), 'half a surrogate pair is left')
  if (first.tokens.length === 0) return
  const printed = printQuery(first.tokens)
  const again = parsed(printed)
  // A longer spelling may be too long.
  if (again instanceof QuerentError && again.code === 'too_large') return
  if (again instanceof QuerentError) throw again
  assertEqual(
    again.tokens.map(unplaced),
    first.tokens.map(unplaced),
    `printed as ${JSON.stringify(printed.slice(0, 100))}`,
  )
}

/** Lenient syntax refuses blank texts alone; control characters count as blanks. */
function assertForgives(text: string): void {
  try {
    const { text: read, tokens, terms, boosts } = parseQuery(text, LENIENT)
    for (const span of [...tokens, ...terms, ...boosts]) assertLiesIn(span, read)
  } catch (thrown) {
    must(
      assertRefusal(thrown).code === 'invalid_argument' && text.replace(/\p{Cc}/gu, ' ').trim() === '',
      'a text that is not blank is refused',
    )
  }
}

function parsed(text: string): ParsedQuery | QuerentError {
  try {
    return parseQuery(text, STRICT)
  } catch (thrown) {
    return assertRefusal(thrown)
  }
}

function assertPointsInto({ code, details }: QuerentError, text: string): void {
  if (code !== 'query_syntax') return
  const { position, length } = details
  must(typeof position === 'number' && typeof length === 'number', 'a syntax error without a place')
  assertLiesIn({ position, length }, text)
}

function assertLiesIn({ position, length }: Span, text: string): void {
  must(position >= 0 && length >= 0 && position + length <= text.length, `${position}+${length} is not in the text`)
}

/** Places are others in another spelling. */
function unplaced(token: QueryToken): unknown {
  const { position: _, length: __, ...rest } = token
  if (rest.kind !== 'field') return rest
  return { ...rest, operands: rest.operands.map(({ text, quoted }) => ({ text, quoted })) }
}
