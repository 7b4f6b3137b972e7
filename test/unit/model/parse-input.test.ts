/** Whatever is passed in, what comes out is a checked value or an error that names field, value and what was expected. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../../src/base/canonical.ts'
import { invalidArgument, QuerentError } from '../../../src/model/errors.ts'
import { toInstant } from '../../../src/model/instant.ts'
import { jsonObjectInput, parseInput } from '../../../src/model/parse-input.ts'
import { queryInput } from '../../../src/model/query-input.ts'

function refusal(schema: z.ZodType, value: unknown): { code: string; message: string } {
  try {
    parseInput(schema, value)
  } catch (error) {
    expect(error).toBeInstanceOf(QuerentError)
    return error as QuerentError
  }
  throw new Error('nothing was refused')
}

function nested(levels: number): Json {
  let value: Json = 1
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value }
  return value
}

it.each(['collections', 'kinds', 'tags', 'any_tags', 'not_tags', 'ids'])('an empty list of %s is refused', name => {
  expect(refusal(queryInput, { text: 'a', filter: { [name]: [] } })).toMatchObject({
    code: 'invalid_argument',
    message: `filter.${name}: expected at least 1 item, got []`,
  })
})

describe('a value that is no JSON', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['itself'] = cyclic

  it.each<[string, unknown]>([
    ['a bigint', 10n],
    ['a symbol', Symbol('x')],
    ['a function', () => 1],
    ['an object that holds itself', cyclic],
    ['lists in lists without end', nested(100_000)],
  ])('is refused like any other: %s', (_, value) => {
    expect(refusal(queryInput, { text: 'a', limit: value })).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^limit: expected a value of type number, got \S/),
    })
  })

  it('is reported without the half of a character', () => {
    expect(invalidArgument('a', '🦊'.repeat(60), 'less').message.isWellFormed()).toBe(true)
  })
})

describe('what was expected', () => {
  it('names every kind that would do', () => {
    expect(refusal(queryInput, { text: 'a', known_at: Number.NaN }).message).toBe(
      'known_at: expected a value of type string or number, got NaN',
    )
    expect(refusal(z.union([z.literal('a'), z.literal('b')]), 'c').message).toBe(
      'input: expected one of a or one of b, got "c"',
    )
  })
})

describe('a JSON object', () => {
  it('may have any key, be 32 levels deep, and is not changed', () => {
    const object = JSON.parse('{"__proto__": {"constructor": [null, true, -1.5]}, "": "x"}')
    expect(parseInput(jsonObjectInput, object)).toBe(object)
    expect(parseInput(jsonObjectInput, { a: nested(31) })).toMatchObject({ a: expect.anything() })
  })

  it.each<[string, unknown]>([
    ['a list', []],
    ['null', null],
    ['a date', new Date(0)],
    ['a number that is none', { a: Number.NaN }],
    ['a gap', { a: undefined }],
    ['a map', { a: new Map() }],
    ['33 levels', { a: nested(32) }],
    ['very many levels', { a: nested(100_000) }],
  ])('is not %s', (_, value) => {
    expect(refusal(jsonObjectInput, value)).toMatchObject({ code: 'invalid_argument' })
  })
})

it('a metadata condition that cannot be asked is refused, not left out', () => {
  const filter = { metadata: JSON.parse('{"__proto__": 1}') }
  expect(refusal(queryInput, { text: 'a', filter })).toMatchObject({
    code: 'invalid_argument',
    details: { field: 'filter.metadata' },
  })
})

describe('a moment', () => {
  it.each([
    ...['2026-02-31', '2026-02-29', '2026-04-31T12:00:00Z', '2026-13-01', '2026-00-10'],
    ...['2026-03-01T', '2026-03-01 5:00 PM', '2026-03-01T12:00:00 EST', '2026-03-01T12:00:00Z or so'],
  ])('is not %s', text => {
    expect(() => toInstant(text, 'as_of')).toThrow(/^as_of: expected a date/)
  })

  it.each(['UTC', 'America/New_York', 'Asia/Kolkata'])('without a zone is the same in %s', zone => {
    const there = process.env['TZ']
    process.env['TZ'] = zone
    try {
      // An hour that New York skips, and others do not.
      const skipped = Date.UTC(2026, 2, 8, 2, 30)
      for (const text of ['2026-03-08T02:30:00', '2026-03-08T02:30', '2026-03-08 02:30:00.000', '2026-03-08T02:30Z']) {
        expect(toInstant(text, 'as_of')).toBe(skipped)
      }
    } finally {
      if (there === undefined) delete process.env['TZ']
      else process.env['TZ'] = there
    }
  })

  it.each([
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2026-02-28T23:30:00-01:00', Date.UTC(2026, 2, 1, 0, 30)],
    ['0001-01-01', new Date('0001-01-01').getTime()],
  ])('may be %s', (text, instant) => {
    expect(toInstant(text, 'as_of')).toBe(instant)
  })
})

it('a value outside of the input of a call is reported with its place', () => {
  const schema = z.strictObject({ entry: z.strictObject({ id: z.string() }) })
  const refused = (value: unknown) => () => parseInput(schema, value, 'line 3')
  expect(refused({ entry: { id: 7 } })).toThrow('line 3: entry.id: expected a value of type string, got 7')
  expect(refused({ entry: { id: 'a', size: 1 } })).toThrow('line 3: entry.size: there is no such field')
  expect(refused('text')).toThrow('line 3: expected a value of type object, got "text"')
  expect(refusal(schema, 'text').message).toBe('input: expected a value of type object, got "text"')
})
