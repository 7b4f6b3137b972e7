/**
 * Inputs near to good ones, as arbitraries of fast-check: one of the good inputs, with a few edits. A failing input is made smaller by
 * leaving edits out and by making each edit smaller.
 */
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/base/canonical.ts'
import { NASTY_NUMBERS, NASTY_PIECES } from './nasty.ts'

/** Something under test: what it takes, and what must hold for that. */
export interface Target<Input> {
  readonly seeds: readonly Input[]
  near(good: readonly Input[]): fc.Arbitrary<Input>
  /** Inputs until it is opened again, where one input can change what the next one meets. Absent: never. */
  readonly lifetime?: number
  open(): Promise<Opened<Input>>
}

export interface Opened<Input> {
  /** Throws if a promise is broken. Errors of the code under test that it should not throw count as that too. */
  try(input: Input): void | Promise<void>
  close?(): void | Promise<void>
}

type Edit<Value> = (value: Value) => Value

/** A seed with up to `max` edits. */
export function edited<Value>(good: readonly Value[], edit: fc.Arbitrary<Edit<Value>>, max = 4): fc.Arbitrary<Value> {
  return fc
    .tuple(fc.constantFrom(...good), fc.array(edit, { maxLength: max }))
    .map(([seed, edits]) => edits.reduce((value, change) => change(value), seed))
}

/** A place in what is edited, as a share of its length. */
const share = fc.double({ min: 0, max: 1, noNaN: true })
/** Often once, sometimes so often that depth and size count. */
const times = fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.constantFrom(2, 8, 1000))
const MAX_REPEATED = 20_000

/** Units of the text from a place on are replaced by a word, by a piece that has broken readers before, or by a part of another text. */
export function textEdit(words: readonly string[] = [], others: readonly string[] = []): fc.Arbitrary<Edit<string>> {
  const put = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('', ...words) },
    { weight: 2, arbitrary: fc.constantFrom(...NASTY_PIECES) },
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.nat(0xffff).map(unit => String.fromCharCode(unit)),
    fc
      .tuple(fc.constantFrom('', ...others), share, fc.nat(200))
      .map(([other, at, length]) => partOf(other, at, length)),
  )
  const length = fc.oneof({ weight: 3, arbitrary: fc.nat(8) }, fc.nat(4000))
  return fc.tuple(share, length, put, times).map(([at, length, piece, count]) => (text: string) => {
    const start = Math.floor(at * text.length)
    const repeated = piece.repeat(Math.min(count, Math.ceil(MAX_REPEATED / (piece.length + 1))))
    return text.slice(0, start) + repeated + text.slice(start + length)
  })
}

function partOf(text: string, at: number, length: number): string {
  const start = Math.floor(at * text.length)
  return text.slice(start, start + length)
}

/** Texts of at most `longest` UTF-16 units. */
export function textsNear(good: readonly string[], words: readonly string[], longest: number): fc.Arbitrary<string> {
  return edited(good, textEdit(words, good)).map(text => text.slice(0, longest))
}

export interface NamedText {
  readonly name: string
  readonly text: string
}

/** Files: the name decides who reads it. */
export function filesNear(
  good: readonly NamedText[],
  names: readonly string[],
  words: readonly string[],
  longest: number,
): fc.Arbitrary<NamedText> {
  const change = textEdit(
    words,
    good.map(({ text }) => text),
  )
  return edited(
    good,
    fc.oneof(
      { weight: 9, arbitrary: change.map(edit => (file: NamedText) => ({ ...file, text: edit(file.text) })) },
      fc.constantFrom(...names).map(name => (file: NamedText) => ({ ...file, name })),
    ),
  ).map(({ name, text }) => ({ name, text: text.slice(0, longest) }))
}

/** Bits are flipped, numbers replaced by awkward ones, stretches cut, doubled and mixed. */
export function bytesNear(good: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const number = fc
    .constantFrom(0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff)
    .map(value => new Uint8Array(Uint32Array.of(value).buffer))
  const stretch = fc.tuple(fc.constantFrom(...good), share, fc.nat(64)).map(([other, at, length]) => {
    const start = Math.floor(at * other.length)
    return other.subarray(start, start + length)
  })
  const put = fc.oneof(fc.constant(new Uint8Array()), number, stretch, fc.uint8Array({ maxLength: 8 }))
  const replaced = fc.tuple(share, fc.nat(64), put).map(([at, length, piece]) => (bytes: Uint8Array) => {
    const start = Math.floor(at * bytes.length)
    return Uint8Array.of(...bytes.subarray(0, start), ...piece, ...bytes.subarray(start + length))
  })
  const overwritten = fc.tuple(share, number).map(([at, piece]) => (bytes: Uint8Array) => {
    const start = Math.floor(at * Math.max(0, bytes.length - piece.length))
    return bytes.map((byte, place) => piece[place - start] ?? byte)
  })
  const flipped = fc.tuple(share, fc.nat(7)).map(([at, bit]) => (bytes: Uint8Array) => {
    const place = Math.floor(at * (bytes.length - 1))
    return bytes.map((byte, other) => (other === place ? byte ^ (1 << bit) : byte))
  })
  return edited(good, fc.oneof(replaced, overwritten, flipped), 6)
}

/** What a program can pass and JSON cannot say is a text in an input, until `said` puts the value in its place. */
const UNSAYABLE: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['«NaN»', Number.NaN],
  ['«Infinity»', Number.POSITIVE_INFINITY],
  ['«-Infinity»', Number.NEGATIVE_INFINITY],
  ['«bigint»', 10n],
  ['«symbol»', Symbol.for('fuzz')],
  ['«function»', () => 7],
  ['«date»', new Date(0)],
  ['«bytes»', new Uint8Array(3)],
  ['«map»', new Map([['a', 1]])],
  ['«undefined»', undefined],
])

/** Deeper than any stack that walks it. */
const DEPTH = 50_000
const DEEP = '«deep»'

/** The value with what JSON cannot say in its place. */
export function said(value: Json): unknown {
  if (value === DEEP) return JSON.parse(wireText(value))
  if (typeof value === 'string') return UNSAYABLE.has(value) ? UNSAYABLE.get(value) : value
  if (Array.isArray(value)) return value.map(said)
  if (!isObject(value)) return value
  return own(Object.entries(value).map(([key, inner]) => [key, said(inner)]))
}

/** As text on a wire, where depth can be written that nobody can print. */
export function wireText(value: Json): string {
  return JSON.stringify(value).replaceAll(JSON.stringify(DEEP), () => '['.repeat(DEPTH) + ']'.repeat(DEPTH))
}

/** Any JSON, with numbers, names and values that have broken readers before. */
function anyJson(words: readonly string[]): fc.Arbitrary<Json> {
  const names = fc.constantFrom(...NASTY_PIECES, ...words)
  return fc.letrec<{ any: Json }>(any => ({
    any: fc.oneof(
      { maxDepth: 3 },
      { weight: 3, arbitrary: names },
      { weight: 2, arbitrary: fc.constantFrom(...NASTY_NUMBERS) },
      fc.constantFrom<Json>(null, true, false, [], {}, DEEP, 'x'.repeat(4000)),
      fc.constantFrom(...UNSAYABLE.keys()),
      fc.array(any('any'), { maxLength: 3 }),
      fc.array(fc.tuple(names, any('any')), { maxLength: 3 }).map(own),
    ),
  })).any
}

/** Undefined: it is taken away. */
type Change = (value: Json) => Json | undefined

/** One value inside is replaced, changed, taken away, repeated, buried, or has a member added. */
export function jsonEdit(words: readonly string[] = [], others: readonly Json[] = []): fc.Arbitrary<Edit<Json>> {
  const any = anyJson(words)
  const change: fc.Arbitrary<Change> = fc.oneof(
    any.map(other => () => other),
    textEdit(words).map(
      (edit): Change =>
        value =>
          typeof value === 'string' ? edit(value).slice(0, 4000) : value,
    ),
    fc.constantFrom(-1, 1, 0.5, 1e6).map(
      (by): Change =>
        value =>
          typeof value === 'number' ? value + by : value,
    ),
    fc.constant(() => undefined),
    fc.constantFrom(2, 12, 1200).map(
      (count): Change =>
        value =>
          Array.from({ length: count }, () => value),
    ),
    fc.constantFrom(1, 40, 300).map(levels => (value: Json) => {
      let buried = value
      for (let left = levels; left > 0; left--) buried = left % 2 === 0 ? [buried] : { a: buried }
      return buried
    }),
    fc.tuple(fc.constantFrom(...NASTY_PIECES, ...words), any).map(
      ([name, inner]): Change =>
        value =>
          isObject(value) ? own([...Object.entries(value), [name, inner]]) : [inner],
    ),
    fc.constantFrom<Json>(null, ...others).map(
      (other): Change =>
        value =>
          isObject(value) && isObject(other) ? own([...Object.entries(value), ...Object.entries(other)]) : other,
    ),
  )
  return fc.tuple(fc.array(fc.nat(30), { maxLength: 5 }), change).map(
    ([path, inner]) =>
      value =>
        changedAt(value, path, inner) ?? null,
  )
}

/** A larger value costs minutes and shows nothing that a smaller one does not. */
const MAX_SIZE = 60_000

export function jsonNear(good: readonly Json[], words: readonly string[]): fc.Arbitrary<Json> {
  return edited(good, jsonEdit(words, good), 3).filter(value => JSON.stringify(value).length <= MAX_SIZE)
}

/** Lists of JSON values, such as the lines of an export: lines are changed, taken away, added and moved. */
export function linesNear(
  good: readonly (readonly Json[])[],
  lines: readonly Json[],
  words: readonly string[],
): fc.Arbitrary<readonly Json[]> {
  type Lines = readonly Json[]
  const edit: fc.Arbitrary<Edit<Lines>> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(share, jsonEdit(words, lines)).map(([at, change]) => (list: Lines) => {
        const place = Math.floor(at * (list.length - 1))
        return list.map((line, other) => (other === place ? change(line) : line))
      }),
    },
    share.map(at => (list: Lines) => list.toSpliced(Math.floor(at * list.length), 1)),
    share.map(at => (list: Lines) => [...list.slice(at * list.length), ...list.slice(0, at * list.length)]),
    fc.tuple(share, fc.constantFrom(...lines)).map(
      ([at, line]) =>
        (list: Lines) =>
          list.toSpliced(Math.floor(at * list.length), 0, line),
    ),
  )
  return edited(good, edit)
}

/** Values by the name of the field that they were found under. */
function fieldValues(from: readonly Json[]): ReadonlyMap<string, Json[]> {
  const found = new Map<string, Json[]>()
  const visit = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isObject(value)) return
    for (const [name, inner] of Object.entries(value)) {
      found.set(name, [...(found.get(name) ?? []), inner])
      visit(inner)
    }
  }
  from.forEach(visit)
  return found
}

/** Arbitraries for JSON Schemas: mostly what a schema wants, with values that `examples` have in fields of the same name. */
export function schemaArbitraries(examples: readonly Json[]): (schema: Json | undefined) => fc.Arbitrary<Json> {
  const known = fieldValues(examples)
  const any = anyJson([])
  const of = (schema: Json | undefined, name = ''): fc.Arbitrary<Json> => {
    const seen = known.get(name) ?? []
    const wanted = isObject(schema) ? wantedBy(schema, name) : any
    if (seen.length === 0) return fc.oneof({ weight: 30, arbitrary: wanted }, any)
    return fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...seen) }, { weight: 10, arbitrary: wanted }, any)
  }
  const wantedBy = (schema: JsonObject, name: string): fc.Arbitrary<Json> => {
    const { anyOf, enum: values, type, properties, required, items, minimum, maximum } = schema
    if (Array.isArray(values)) return fc.constantFrom(...values)
    if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(one => of(one, name)))
    if (Array.isArray(type)) return fc.oneof(...type.map(one => wantedBy({ ...schema, type: one }, name)))
    if (type === 'object' && isObject(properties)) {
      const members = Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, of(inner, key)]))
      const requiredKeys = Array.isArray(required) ? required.map(String).filter(key => key in members) : []
      return fc.record(members, { requiredKeys })
    }
    if (type === 'array') return fc.array(of(items, name), { maxLength: 3 })
    if (type === 'string') return fc.constantFrom('a', 'fox', 'quick fox', 'x'.repeat(201), '2026-01-01', 'b1', '')
    if (type === 'boolean') return fc.boolean()
    if (type === 'null') return fc.constant(null)
    if (type !== 'integer' && type !== 'number') return any
    const [least, most] = [Number(minimum ?? 0), Number(maximum ?? 100)]
    const between = fc.nat(1000).map(step => Math.min(most, least + step))
    return fc.oneof(between, fc.constantFrom(least, most, least - 1, most + 1, least + 0.25))
  }
  return of
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined: nothing is left. A path leads down as far as there is something inside; its steps count modulo the members. */
function changedAt(value: Json, path: readonly number[], change: (value: Json) => Json | undefined): Json | undefined {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  const [step, ...rest] = path
  if (step === undefined || keys.length === 0) return change(value)
  const key = keys[step % keys.length] as string
  if (Array.isArray(value)) {
    const inner = changedAt(value[Number(key)] as Json, rest, change)
    return value.toSpliced(Number(key), 1, ...(inner === undefined ? [] : [inner]))
  }
  return own(
    Object.entries(value as JsonObject).flatMap(([name, old]): [string, Json][] => {
      const inner = name === key ? changedAt(old, rest, change) : old
      return inner === undefined ? [] : [[name, inner]]
    }),
  )
}

/** `__proto__` is a member like others. */
function own<Value>(members: readonly (readonly [string, Value])[]): Record<string, Value> {
  const object: Record<string, Value> = {}
  for (const [key, value] of members) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return object
}
