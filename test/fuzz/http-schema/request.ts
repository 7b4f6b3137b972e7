/** Requests made from what the document says of an operation, and changed into such as nobody should send. */
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import { bearer } from '../../support/tokens.ts'
import { ASKER } from '../calls/call.ts'
import type { Chance } from '../engine/chance.ts'
import { anyValue, changeJson, isObject, smallerJson, wireText } from '../engine/json-kind.ts'
import type { Kind } from '../engine/kind.ts'
import { NASTY_PIECES } from '../engine/nasty.ts'
import { type FieldValues, fromSchema } from '../engine/schema.ts'
import { changeText } from '../engine/text-kind.ts'
import type { Described } from './described.ts'

export interface Asked {
  readonly method: string
  /** As in the document. */
  readonly path: string
  readonly params: JsonObject
  readonly query: JsonObject
  readonly headers: JsonObject
  /** Null: none is sent. */
  readonly body: Json
  /** Sent as it is in place of the body; null: the body is. */
  readonly raw: string | null
}

const ASKERS: readonly JsonObject[] = [
  { ...bearer('owner') },
  { ...bearer('owner') },
  { ...bearer(ASKER) },
  { ...bearer('owner'), 'querent-viewer': ASKER },
  {},
  { ...bearer('owner'), 'querent-viewer': 'stranger' },
  { authorization: 'Bearer wrong' },
  { ...bearer(ASKER), 'querent-viewer': 'ben' },
  { ...bearer('owner'), 'querent-viewer': 'no name' },
]
const TYPES = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'a/b; c=d',
  '',
]
const ACCEPTS = ['application/json', '*/*', 'text/event-stream', 'application/x-ndjson', 'text/html', 'q=0', '']
const CODINGS = ['gzip', 'identity', 'br, gzip', '']
const RAW = [
  '',
  'null',
  '[]',
  '0',
  '"text"',
  '{',
  '{"a":',
  'NaN',
  '{"__proto__":1}',
  '\ufeff{}',
  `${'['.repeat(9_000)}`,
]

export function askedKind(all: readonly Described[], known: FieldValues): Kind<Asked> {
  const byAddress = new Map(all.map(one => [`${one.method} ${one.path}`, one]))
  return {
    make: chance => askedFor(chance.pick(all), chance, known),
    change: (asked, chance, other) => {
      const described = byAddress.get(`${asked.method} ${asked.path}`)
      // Any operation, as often as a change of this one.
      if (described === undefined || chance.oneIn(2)) return askedFor(chance.pick(all), chance, known)
      return changed(asked, described, chance, other, known)
    },
    *smaller(asked) {
      if (asked.raw !== null) for (const raw of smallerJson(asked.raw)) yield { ...asked, raw: raw as string | null }
      for (const field of ['headers', 'query'] as const) {
        for (const name of Object.keys(asked[field])) yield { ...asked, [field]: without(asked[field], name) }
      }
      for (const body of smallerJson(asked.body)) yield { ...asked, body }
    },
    write: asked => ({ ...asked }),
    read: written => written as object as Asked,
  }
}

export function askedFor({ method, path, parameters, body }: Described, chance: Chance, known: FieldValues): Asked {
  const made = (place: string): JsonObject =>
    Object.fromEntries(
      parameters
        .filter(one => one.in === place && (one.required || chance.oneIn(3)))
        .map(({ name, schema }) => [name, fromSchema(schema, chance, known, name)]),
    )
  return {
    method,
    path,
    params: made('path'),
    query: made('query'),
    headers: { ...chance.pick(ASKERS.slice(0, 4)), ...(body !== null && { 'content-type': 'application/json' }) },
    body: body === null ? null : fromSchema(body, chance, known),
    raw: null,
  }
}

function changed(asked: Asked, described: Described, chance: Chance, other: Asked, known: FieldValues): Asked {
  switch (chance.below(9)) {
    case 0:
      return { ...asked, headers: { ...asked.headers, ...chance.pick(ASKERS) } }
    case 1:
      return { ...asked, headers: { ...asked.headers, accept: chance.pick(ACCEPTS) } }
    case 2:
      if (chance.oneIn(5)) return { ...asked, headers: { ...asked.headers, 'content-encoding': chance.pick(CODINGS) } }
      return { ...asked, headers: { ...asked.headers, 'content-type': chance.pick(TYPES) } }
    case 3:
      return { ...asked, query: { ...asked.query, [chance.pick(namesIn(described, chance))]: anyValue(chance) } }
    case 4:
      return {
        ...asked,
        params: Object.fromEntries(Object.keys(asked.params).map(name => [name, chance.pick(NASTY_PIECES)])),
      }
    case 5:
      if (asked.body === null) return askedFor(described, chance, known)
      return { ...asked, raw: chance.oneIn(2) ? chance.pick(RAW) : changeText(wireText(asked.body), chance) }
    default:
      if (asked.body === null) return { ...asked, query: changedObject(asked.query, chance, other.query) }
      return { ...asked, body: changeJson(asked.body, chance, other.body) }
  }
}

function namesIn({ parameters }: Described, chance: Chance): readonly string[] {
  return [...parameters.filter(one => one.in === 'query').map(one => one.name), chance.pick(NASTY_PIECES)]
}

function changedObject(value: JsonObject, chance: Chance, other: Json): JsonObject {
  const next = changeJson(value, chance, other)
  return isObject(next) ? next : value
}

function without(object: JsonObject, gone: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== gone))
}
