/** Whatever is asked: a correct answer, or an error that says what is wrong. Over both stores, with words and meaning. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { CURSOR_LIFETIME_MS } from '../../src/model/limits.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { NASTY_TEXTS } from '../support/arbitraries.ts'
import { idsOf, noteCodes, openTestEngine, TEST_NOW } from '../support/engines.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

const folder = tempFolder()
const clock = new SettableClock(TEST_NOW)
const engines = new Map<string, Engine>()

beforeAll(async () => {
  const embedder = () => openToyEmbedder()
  engines.set('memory', await openTestEngine({ embedder: embedder(), clock }))
  engines.set('SQLite', await openTestEngine({ home: folder.path, embedder: embedder(), clock }))
  const entries = [
    { id: 'fox', content: 'the quick fox jumps over a fence', tags: ['red'] },
    { id: 'car', content: 'a car waits on the road', metadata: { wheels: 4 } },
    { id: 'injected', content: "Robert'); drop table entries;--" },
    { id: '\ufffd', content: 'an entry with a strange name' },
  ]
  for (const engine of engines.values()) await engine.put({ entries, wait: true })
})
afterAll(async () => {
  for (const engine of engines.values()) await engine.close()
  folder[Symbol.dispose]()
})

/** What it rejects with: one of ours, in one line, never a bug. */
async function refusal(asked: Promise<unknown>): Promise<QuerentError> {
  const error = await asked.then(
    () => new Error('it answered'),
    (cause: unknown) => cause as Error,
  )
  expect(error).toBeInstanceOf(QuerentError)
  expect(error.message).not.toMatch(/\n|^\s+at /)
  expect(error.message.length).toBeLessThan(500)
  expect((error as QuerentError).code).not.toBe('internal')
  return error as QuerentError
}

describe.each(['memory', 'SQLite'])('over %s', store => {
  const ask = (input: QueryInput) => (engines.get(store) as Engine).query({ touch: false, ...input })
  const found = async (text: string, more: Partial<QueryInput> = {}) => idsOf(await ask({ text, ...more }))

  describe('a question', () => {
    it.each<[string, string, string]>([
      ['that is empty', '', 'invalid_argument'],
      ['of blanks', ' \n\t\u3000', 'invalid_argument'],
      ['one character too long', 'x'.repeat(10_001), 'too_large'],
      ['of too many phrases', '"a" '.repeat(101), 'too_large'],
      ['with a quote that is not closed', '"quick fox', 'query_syntax'],
      ['with an empty phrase', 'fox ""', 'query_syntax'],
      ['that only shuts out', '-fox', 'query_syntax'],
      ['with a date that does not exist', 'fox created:>2026-02-31', 'query_syntax'],
      ['with a boost of nothing', 'fox^0', 'query_syntax'],
    ])('%s is refused in strict syntax', async (_, text, code) => {
      const error = await refusal(ask({ text, syntax: 'strict' }))
      expect(error.code).toBe(code)
      if (code === 'query_syntax') expect(error.details).toMatchObject({ position: expect.any(Number) })
    })

    it('of 10 MB is answered by its beginning, with a note', async () => {
      const page = await ask({ text: 'fox '.repeat(2_500_000) })
      expect(noteCodes(page)).toContain('text_cut')
      expect(page.items.length).toBeGreaterThan(0)
      expect((await refusal(ask({ text: 'fox '.repeat(2_500_000), syntax: 'strict' }))).code).toBe('too_large')
    })

    it.each<[string, string]>([
      ['control characters', 'quick\u0001 \u001b[31m fox\u0007'],
      ['NUL', 'quick fox\0'],
      ['half a surrogate pair', 'quick \ud83d fox \udc00'],
      ['a byte order mark', '\ufeffquick fox'],
      ['marks of direction', '\u202equick\u202c fox'],
      ['operators of a full-text engine', 'quick AND fox NOT (a OR b*)'],
      ['nine thousand accents', `quick fox a${'\u0301'.repeat(9_000)}`],
      ['a single quote', "fox's"],
      ['parentheses by the thousand', `${'('.repeat(5_000)}fox`],
      ['the same plus sign by the thousand', `${'+'.repeat(3_000)}fox`],
    ])('with %s is answered', async (_, text) => {
      expect((await found(text))[0]).toBe('fox')
    })

    it('that looks like SQL finds the text that looks like it', async () => {
      expect(await found("'; drop table entries; --")).toContain('injected')
      expect(await found('"drop table"')).toEqual(['injected'])
      expect(await found("nothing'; delete from entries; --", { any: true })).not.toEqual([])
      expect((await (engines.get(store) as Engine).status()).entries).toBe(4)
    })

    it.each(['__proto__', 'constructor', 'toString hasOwnProperty', '%', '_', '.*', '\\', '*', '((((', '\udc00'])(
      'of %j alone finds nothing by words',
      async text => {
        expect(await ask({ text, mode: 'words' })).toMatchObject({ items: [], verdict: 'nothing_relevant' })
      },
    )

    it('with a field that there is not is a question with a colon in it', async () => {
      expect((await found('colour:fox'))[0]).toBe('fox')
      expect(await found('__proto__:x', { mode: 'words' })).toEqual([])
      expect(await found('metadata.constructor:x')).toEqual([])
    })

    it('of anything at all', async () => {
      const unit = fc.oneof(
        fc.constantFrom(
          ...NASTY_TEXTS,
          'fox',
          '"',
          '+',
          '-',
          '^',
          ':',
          '>',
          '..',
          'tag:',
          'created:',
          '\\',
          '(',
          '2026',
        ),
        fc.string({ unit: 'binary', maxLength: 6 }),
        fc.constantFrom('\ud800', '\udfff', '\0', '\u001b', '\u2028'),
      )
      const text = fc.tuple(fc.array(unit, { maxLength: 12 }), fc.constantFrom('', ' ')).map(([a, gap]) => a.join(gap))
      const property = fc.asyncProperty(text, fc.boolean(), async (asked, any) => {
        const answer = await ask({ text: asked, any, explain: true }).catch((error: unknown) => error)
        if (!(answer instanceof Error)) return
        expect(answer).toBeInstanceOf(QuerentError)
        expect(['usage', 'limit']).toContain((answer as QuerentError).kind)
      })
      await fc.assert(property, { numRuns: 150 })
    })
  })

  describe('a field', () => {
    it.each<[string, Record<string, unknown>, string, string]>([
      ['limit 0', { limit: 0 }, 'invalid_argument', 'limit'],
      ['limit -1', { limit: -1 }, 'invalid_argument', 'limit'],
      ['limit 10^9', { limit: 1e9 }, 'invalid_argument', 'limit'],
      ['limit NaN', { limit: Number.NaN }, 'invalid_argument', 'limit'],
      ['limit Infinity', { limit: Number.POSITIVE_INFINITY }, 'invalid_argument', 'limit'],
      ['limit 2.5', { limit: 2.5 }, 'invalid_argument', 'limit'],
      ['limit "3"', { limit: '3' }, 'invalid_argument', 'limit'],
      ['limit 10n', { limit: 10n }, 'invalid_argument', 'limit'],
      ['text that is a number', { text: 3 }, 'invalid_argument', 'text'],
      ['one that there is not', { limt: 3 }, 'unknown_field', 'limt'],
      ['one of a filter that there is not', { filter: { tag: 'red' } }, 'unknown_field', 'filter.tag'],
      [
        'an operator that there is not',
        { filter: { metadata: { a: { like: 1 } } } },
        'unknown_field',
        'filter.metadata.a.like',
      ],
      [
        'a key that JavaScript keeps',
        { filter: { metadata: JSON.parse('{"__proto__":1}') } },
        'invalid_argument',
        'filter.metadata',
      ],
      ['a tag of half a character', { filter: { tags: ['\ud800'] } }, 'invalid_argument', 'filter'],
      ['a time that does not exist', { as_of: '2026-02-30' }, 'invalid_argument', 'as_of'],
      ['a time beyond time', { as_of: 9e15 }, 'invalid_argument', 'as_of'],
      [
        'a period that ends before it begins',
        { filter: { created: { after: '2026-02-01', before: '2026-01-01' } } },
        'invalid_argument',
        'filter.created',
      ],
      ['a weight beyond 1', { meaning_weight: 1.01 }, 'invalid_argument', 'meaning_weight'],
      ['no time at all', { timeout_ms: 0 }, 'invalid_argument', 'timeout_ms'],
      ['a lens that there is not', { lens: 'nope' }, 'unknown_lens', ''],
      ['a list of no ids', { filter: { ids: [] } }, 'invalid_argument', 'filter.ids'],
      ['a lens of JavaScript’s', { lens: '__proto__' }, 'unknown_lens', ''],
    ])('%s is refused by name', async (_, fields, code, field) => {
      const error = await refusal(ask({ text: 'fox', ...fields } as QueryInput))
      expect(error.code).toBe(code)
      if (field !== '') expect(error.details['field']).toBe(field)
    })

    it('of the widest range is answered', async () => {
      expect(await found('fox', { limit: 1000 })).toContain('fox')
      expect(await found('fox', { as_of: 8.64e15 })).toContain('fox')
      expect(await found('fox', { filter: { metadata: { 'a..b': 1, '': 2 } } })).toEqual([])
    })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'fox'],
    ['a list', []],
  ])('%s is no request', async (_, input) => {
    // Of a text the letters come as fields.
    expect((await refusal(ask(input as QueryInput))).code).toBe(input === 'fox' ? 'unknown_field' : 'invalid_argument')
  })

  describe('a cursor', () => {
    const question = { text: 'the a', any: true, limit: 1 } as const
    const first = async () => (await ask(question)).cursor as string

    it('goes on where its page ended', async () => {
      const page = await ask(question)
      const next = await ask({ ...question, cursor: page.cursor as string })
      expect(idsOf(next)).toHaveLength(1)
      expect(idsOf(next)).not.toEqual(idsOf(page))
    })

    it.each<[string, (cursor: string) => Partial<QueryInput>]>([
      ['that is no cursor', () => ({ cursor: 'page 2' })],
      ['that is empty', () => ({ cursor: '' })],
      ['with another end', cursor => ({ cursor: `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}` })],
      ['cut short', cursor => ({ cursor: cursor.slice(0, 20) })],
      ['with a part more', cursor => ({ cursor: `${cursor}.x` })],
      ['changed in the middle', cursor => ({ cursor: forged(cursor) })],
    ])('%s is invalid', async (_, twist) => {
      const error = await refusal(ask({ ...question, ...twist(await first()) }))
      expect(error.code).toBe('cursor_invalid')
    })

    it('of another question, filter, viewer or of a list is refused as another’s, without the reason', async () => {
      const engine = engines.get(store) as Engine
      const cursor = await first()
      const other = await refusal(ask({ ...question, cursor, text: 'the car' }))
      const filter = await refusal(ask({ ...question, cursor, filter: { tags: ['red'] } }))
      const ann = await refusal(engine.query({ ...question, cursor }, { viewer: { id: 'ann' } }))
      const list = await refusal(engine.list({ cursor }))
      const back = await refusal(ask({ ...question, cursor: (await engine.list({ limit: 1 })).cursor as string }))
      const reported = [other, filter, ann, list, back].map(error => JSON.stringify(error))
      expect(other.code).toBe('cursor_mismatch')
      expect(new Set(reported).size).toBe(1)
    })

    it('expires after a day, not before', async () => {
      const cursor = await first()
      const list = (await (engines.get(store) as Engine).list({ limit: 1 })).cursor as string
      try {
        clock.set(TEST_NOW + CURSOR_LIFETIME_MS - 1)
        await ask({ ...question, cursor })
        clock.set(TEST_NOW + CURSOR_LIFETIME_MS)
        expect((await refusal(ask({ ...question, cursor }))).code).toBe('cursor_expired')
        expect((await refusal((engines.get(store) as Engine).list({ limit: 1, cursor: list }))).code).toBe(
          'cursor_expired',
        )
      } finally {
        clock.set(TEST_NOW)
      }
    })

    it('beyond the longest is refused before it is looked at', async () => {
      expect((await refusal(ask({ ...question, cursor: 'x'.repeat(1e6) }))).code).toBe('invalid_argument')
    })
  })

  describe('an id', () => {
    it.each(['nothing', '\ud800', 'fox\0', '\0', 'FOX'])('%j names no entry', async id => {
      const engine = engines.get(store) as Engine
      for (const ask of [
        () => engine.get({ id }),
        () => engine.similar({ id }),
        () => engine.delete({ ids: [id] }),
        () => engine.explain({ query: { text: 'fox' }, id }),
        () => engine.explain({ query: { text: 'fox' }, id: 'fox', over: id }),
      ]) {
        expect((await refusal(ask())).code).toBe('not_found')
      }
      expect((await engine.get({ id: '\ufffd' })).content).toBe('an entry with a strange name')
    })

    it('that is empty, too long or no text is refused', async () => {
      for (const id of ['', 'x'.repeat(513), 3, null]) {
        expect((await refusal((engines.get(store) as Engine).get({ id: id as string }))).code).toBe('invalid_argument')
      }
    })
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['a name', 'ann'],
    ['nobody', {}],
    ['a number', { id: 3 }],
    ['an empty name', { id: '' }],
    ['a name of two words', { id: 'a b' }],
    ['half a character', { id: '\ud800' }],
    ['a control character', { id: 'a\0' }],
  ])('%s is no viewer', async (_, viewer) => {
    const engine = engines.get(store) as Engine
    const context = { viewer: viewer as { id: string } }
    for (const ask of [
      () => engine.query({ text: 'fox' }, context),
      () => engine.list({}, context),
      () => engine.status(context),
    ]) {
      expect(await refusal(ask())).toMatchObject({ code: 'invalid_argument', details: { field: 'viewer' } })
    }
  })

  it('a caller who has gone gets no answer', async () => {
    const signal = AbortSignal.abort()
    const error = await refusal((engines.get(store) as Engine).query({ text: 'fox' }, { signal }))
    expect(error.code).toBe('cancelled')
  })
})

/** One bit of it is another. */
function forged(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url')
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] as number) ^ 1
  return bytes.toString('base64url')
}
