/** The fuzzer itself: it finds what is planted, makes it small, and does the same again. */
import { expect, it } from 'vitest'
import { QuerentError } from '../../src/model/errors.ts'
import { bytesKind } from './engine/bytes-kind.ts'
import { Chance } from './engine/chance.ts'
import { placeOf, type Ran } from './engine/coverage.ts'
import { fuzz } from './engine/fuzz.ts'
import { anyValue, changeJson, said, smallerJson, wireText } from './engine/json-kind.ts'
import { fromSchema } from './engine/schema.ts'
import type { Target } from './engine/target.ts'
import { textKind } from './engine/text-kind.ts'
import { mustBeRefusal } from './oracles.ts'

/** Breaks at `q7x`, and tells how much of that it has met as coverage does. */
function lock(): { readonly target: Target<string>; take(): Ran } {
  let features: string[] = []
  const open = async () => ({
    try: (text: string) => {
      for (const beginning of ['q', 'q7', 'q7x']) if (text.includes(beginning)) features.push(beginning)
      if (text.includes('q7x')) throw new RangeError('opened')
    },
  })
  const take = (): Ran => {
    const ran = { features, work: features.length }
    features = []
    return ran
  }
  return { target: { name: 'lock', kind: textKind(), seeds: ['begin'], open }, take }
}

it('finds what lies behind several steps when coverage guides it, and not without', async () => {
  const run = async (guided: boolean) => {
    const { target, take } = lock()
    const options = { seed: 3, corpus: [], goesOn: (tried: number) => tried < 10_000 }
    return fuzz(target, { ...options, ...(guided && { coverage: { take } }) })
  }
  const [guided, blind] = [await run(true), await run(false)]
  expect(guided.findings.map(({ inputs }) => inputs)).toEqual([['q7x']])
  expect(guided.kept.length).toBeGreaterThanOrEqual(2)
  expect(blind.findings).toEqual([])
})

it('does the same again from the same seed', async () => {
  const run = async (seed: number) => {
    const tried: string[] = []
    const options = { seed, corpus: ['one', 'two'], goesOn: (count: number) => count < 200 }
    await fuzz(lock().target, { ...options, before: input => tried.push(input) })
    return tried
  }
  expect(await run(5)).toEqual(await run(5))
  expect(await run(5)).not.toEqual(await run(6))
})

it('tells a fault that needs several inputs with those alone, and each fault once', async () => {
  const open = async () => {
    let isSet = false
    return {
      try: (text: string) => {
        if (text.includes('!')) isSet = true
        if (isSet && text.includes('?')) throw new Error('both')
      },
    }
  }
  const kind = textKind({ words: ['!', '?'] })
  const target: Target<string> = { name: 'two', kind, seeds: ['a'], lifetime: 30, open }
  const { findings } = await fuzz(target, { seed: 2, corpus: [], goesOn: tried => tried < 2_000 })
  expect(findings).toHaveLength(1)
  expect([['!', '?'], ['!?'], ['?!']]).toContainEqual(findings[0]?.inputs)
})

it('keeps inputs as JSON that reads back the same', () => {
  const chance = new Chance(9)
  const texts = textKind()
  let [text, bytes] = ['', new Uint8Array()]
  for (let times = 0; times < 300; times++) {
    text = texts.change(text, chance, texts.make(chance)).slice(0, 500)
    bytes = bytesKind.change(bytes, chance, bytesKind.make(chance)).slice(0, 500)
    expect(texts.read(JSON.parse(JSON.stringify(texts.write(text))))).toBe(text)
    expect(bytesKind.read(bytesKind.write(bytes))).toEqual(bytes)
  }
})

it('makes JSON of every sort, smaller ones of it, and what only a program can say', () => {
  const chance = new Chance(4)
  const values = Array.from({ length: 400 }, () => changeJson({ a: [1, 'x'], b: anyValue(chance) }, chance))
  expect(values.some(value => Object.hasOwn(Object(value), '__proto__'))).toBe(true)
  let looked = 0
  for (const value of values) {
    const text = JSON.stringify(value)
    for (const less of smallerJson(value)) {
      expect(JSON.stringify(less)).not.toBe(text)
      if (++looked % 5 === 0) break
    }
  }
  expect(said({ n: '«NaN»', d: ['«date»', '«undefined»'] })).toEqual({ n: Number.NaN, d: [new Date(0), undefined] })
  expect(wireText(['«deep»', 1])).toMatch(/^\[\[{1000}/)
})

it('makes inputs that a schema wants, and others', () => {
  const chance = new Chance(8)
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1, maximum: 3 } }, required: ['n'] }
  const made = Array.from({ length: 300 }, () => fromSchema(schema, chance, new Map([['n', [2]]])))
  const wanted = made.filter(value => [1, 2, 3].includes((value as { readonly n?: number } | null)?.n ?? 0))
  expect(wanted.length).toBeGreaterThan(100)
  expect(wanted.length).toBeLessThan(300)
})

it('takes no error for a refusal that is not one', () => {
  const refused = new QuerentError('invalid_argument', 'limit: no', {})
  expect(mustBeRefusal(refused)).toBe(refused)
  const wrong = [
    new TypeError('x is not a function'),
    new QuerentError('internal', 'internal error', {}, new Error('inside')),
    new QuerentError('store_corrupt', 'damaged', {}),
    new QuerentError('invalid_argument', '', {}),
    new QuerentError('invalid_argument', 'Error: x\n    at file.ts:1:1', {}),
    'a text',
  ]
  for (const thrown of wrong) expect(() => mustBeRefusal(thrown)).toThrow()
})

it('says where in our source an error came from', () => {
  const error = new Error('x')
  const src = new URL('../../src/text/a.ts', import.meta.url).href
  error.stack = `Error: x\n    at node:internal/x:1:1\n    at Object.read (${src}:3:5)\n    at other (file:///y.ts:1:1)`
  expect(placeOf(error)).toBe('Object.read in text/a.ts')
})
