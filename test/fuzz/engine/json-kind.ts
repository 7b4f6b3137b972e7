/**
 * JSON values: parts replaced by values of wrong types, awkward sizes and dangerous names, taken away, doubled, buried and
 * swapped. What JSON cannot say but a program can pass stands as a text (`UNSAYABLE`) until `said` puts it in.
 */
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import type { Chance } from './chance.ts'
import type { Kind } from './kind.ts'
import { NASTY_NUMBERS, NASTY_PIECES } from './nasty.ts'
import { changeText } from './text-kind.ts'

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

/** Values that begin as one of the seeds; `words` are put in where texts change. */
export function jsonKind(seeds: readonly Json[], words: readonly string[]): Kind<Json> {
  return {
    make: chance => chance.pick(seeds),
    change: (value, chance, other) => changeJson(value, chance, other, words),
    smaller: smallerJson,
    write: value => value,
    read: value => value,
  }
}

/** Deeper than any stack that walks it. */
const DEPTH = 50_000
const DEEP = '«deep»'

function deepList(): unknown {
  let deep: unknown = []
  for (let left = DEPTH; left > 0; left--) deep = [deep]
  return deep
}

/** As text on a wire, where depth can be written that nobody can print. */
export function wireText(value: Json): string {
  return JSON.stringify(value).replaceAll(JSON.stringify(DEEP), () => '['.repeat(DEPTH) + ']'.repeat(DEPTH))
}

/** The value with what JSON cannot say in its place. */
export function said(value: Json): unknown {
  if (typeof value === 'string')
    return value === DEEP ? deepList() : UNSAYABLE.has(value) ? UNSAYABLE.get(value) : value
  if (Array.isArray(value)) return value.map(said)
  if (!isObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) define(copy, key, said(inner))
  return copy
}

export function changeJson(value: Json, chance: Chance, other: Json = null, words: readonly string[] = []): Json {
  let changed = value
  for (let left = chance.size(3); left > 0; left--) changed = changeOnce(changed, chance, other, words)
  return isShallow(changed) && sizeOf(changed) <= MAX_SIZE ? changed : value
}

/** Goes down at random, and changes where it stops. */
function changeOnce(value: Json, chance: Chance, other: Json, words: readonly string[]): Json {
  const inside = childrenOf(value)
  if (inside.length > 0 && !chance.oneIn(4)) {
    const [key, child] = chance.pick(inside)
    return withChild(value, key, changeOnce(child, chance, childOf(other, key) ?? other, words))
  }
  if (chance.oneIn(6)) return part(other, chance)
  if (chance.oneIn(8)) return bury(value, chance)
  if (Array.isArray(value)) return changeList(value, chance, other)
  if (isObject(value)) return changeObject(value, chance, other)
  if (typeof value === 'string' && !chance.oneIn(4)) {
    return changeText(value, chance, typeof other === 'string' ? other : '', words).slice(0, 4000)
  }
  if (typeof value === 'number' && chance.oneIn(2)) return value + chance.pick([-1, 1, 0.5, 1e6])
  return anyValue(chance, words)
}

export function anyValue(chance: Chance, words: readonly string[] = []): Json {
  switch (chance.below(10)) {
    case 0:
      return null
    case 1:
      return chance.oneIn(2)
    case 2:
    case 3:
      return chance.pick(NASTY_NUMBERS)
    case 4:
      return chance.oneIn(4) ? DEEP : chance.pick([...UNSAYABLE.keys()])
    case 5:
      return chance.oneIn(2) ? [] : [anyValue(chance, words)]
    case 6:
      return chance.oneIn(2) ? {} : own([[chance.pick(NASTY_PIECES), anyValue(chance, words)]])
    case 7:
      return words.length > 0 ? chance.pick(words) : ''
    case 8:
      return chance.pick(NASTY_PIECES).repeat(chance.oneIn(3) ? 3000 : 1)
    default:
      return chance.pick(NASTY_PIECES)
  }
}

/** Of an input, in characters and members: thousands of inputs are kept. */
const MAX_SIZE = 5_000

/** Stops counting where it is too much. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length
  let size = 1
  for (const [key, child] of childrenOf(value)) {
    if (size > MAX_SIZE) break
    size += String(key).length + sizeOf(child)
  }
  return size
}

/** Levels that an input has at most: what is deeper must not end the fuzzer's own stack. */
const MAX_LEVELS = 600

function bury(value: Json, chance: Chance): Json {
  if (!isShallow(value, MAX_LEVELS / 2)) return value
  let buried = value
  for (let left = chance.oneIn(6) ? MAX_LEVELS / 2 : chance.size(40); left > 0; left--) {
    buried = chance.oneIn(2) ? [buried] : { a: buried }
  }
  return buried
}

/** Whether it can be walked and printed. */
export function isShallow(value: Json, levels: number = MAX_LEVELS): boolean {
  return levels > 0 && childrenOf(value).every(([, child]) => isShallow(child, levels - 1))
}

function changeList(list: readonly Json[], chance: Chance, other: Json): Json {
  const at = chance.below(list.length + 1)
  switch (chance.below(4)) {
    case 0:
      return list.toSpliced(at, 1)
    case 1:
      return list.toSpliced(at, 0, ...list)
    case 2:
      return list.toSpliced(at, 0, anyValue(chance))
    default:
      return list.length === 0
        ? [part(other, chance)]
        : Array.from({ length: chance.oneIn(4) ? 1200 : 12 }, () => list[0] as Json)
  }
}

function changeObject(value: JsonObject, chance: Chance, other: Json): Json {
  const members = Object.entries(value)
  const at = chance.below(members.length + 1)
  switch (chance.below(4)) {
    case 0:
      return own(members.toSpliced(at, 1))
    case 1:
      return own([...members, [chance.pick(NASTY_PIECES), anyValue(chance)]])
    case 2: // a member of another of the corpus
      return own([...members, ...(isObject(other) ? Object.entries(other).slice(0, 1 + chance.below(4)) : [])])
    default: // one under the name of another
      return members.length < 2 ? own([]) : own(members.with(0, [chance.pick(members)[0], chance.pick(members)[1]]))
  }
}

/** Smaller first: nothing of it, parts of it, it without a part, it with a part made smaller. */
export function* smallerJson(value: Json): Iterable<Json> {
  if (value === null) return
  yield null
  if (typeof value === 'string') {
    for (let size = value.length; size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at + size <= value.length; at += size) yield value.slice(0, at) + value.slice(at + size)
    }
    return
  }
  if (typeof value === 'number') {
    if (value !== 0) yield 0
    return
  }
  const inside = childrenOf(value)
  for (const [, child] of inside.slice(0, 20)) yield child
  if (inside.length > 8) {
    const half = Math.floor(inside.length / 2)
    yield withoutChildren(value, inside.slice(half))
    yield withoutChildren(value, inside.slice(0, half))
  }
  for (const one of inside.slice(0, 200)) yield withoutChildren(value, [one])
  for (const [key, child] of inside.slice(0, 50)) {
    for (const less of smallerJson(child)) yield withChild(value, key, less)
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Child = readonly [key: string | number, value: Json]

function childrenOf(value: Json): readonly Child[] {
  if (Array.isArray(value)) return value.map((item, at): Child => [at, item])
  return isObject(value) ? Object.entries(value) : []
}

function childOf(value: Json, key: string | number): Json | undefined {
  return childrenOf(value).find(([name]) => name === key)?.[1]
}

function withChild(value: Json, key: string | number, child: Json): Json {
  if (Array.isArray(value)) return value.with(key as number, child)
  return own(Object.entries(value as JsonObject).map(([name, old]) => [name, name === key ? child : old]))
}

function withoutChildren(value: Json, gone: readonly Child[]): Json {
  const names = new Set(gone.map(([key]) => key))
  if (Array.isArray(value)) return value.filter((_, at) => !names.has(at))
  return own(Object.entries(value as JsonObject).filter(([name]) => !names.has(name)))
}

function part(value: Json, chance: Chance): Json {
  const inside = childrenOf(value)
  return inside.length === 0 || chance.oneIn(3) ? value : part(chance.pick(inside)[1], chance)
}

/** `__proto__` is a member like others. */
function own(members: readonly (readonly [string, Json])[]): JsonObject {
  const object: Record<string, Json> = {}
  for (const [key, value] of members) define(object, key, value)
  return object
}

function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}
