/** The lens's own API takes in camelCase what the wire has in snake_case (CQ-001): one schema checks both. */
import type { z } from 'zod'
import { type Fault, parseWith } from '../../model/parse-input.ts'
import { type CamelName, camelName } from '../camel-name.ts'
import { invalidInput, invalidParameter } from './errors.ts'

/** `{ max_distance: 5 }` as `{ maxDistance: 5 }`, of the top level only. */
export type Camel<T> = { [K in keyof T as CamelName<K>]: T[K] }

/** `default_max_distance` for `defaultMaxDistance`. */
export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

export function camelKeys<T extends object>(input: T): Camel<T> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [camelName(name), value])) as Camel<T>
}

/**
 * What a caller of the API gave, checked by the schema of the wire. Throws `invalid_parameter`: unknown names as they are
 * written (CQ-006), others in snake_case. `what`: what it is called where it is no object.
 */
export function checkCamel<T extends z.ZodObject>(schema: T, given: unknown, what: string): Camel<z.output<T>> {
  return camelKeys(checkToWire(schema, given, what))
}

/** As `checkCamel`, by the names of the wire. */
export function checkToWire<T extends z.ZodObject>(schema: T, given: unknown, what: string): z.output<T> {
  if (!isPlainObject(given)) throw invalidParameter(what, given, 'an object')
  const known = Object.keys(schema.shape)
  const wire = Object.entries(given).map(([name, value]) => {
    const snake = snakeName(name)
    if (known.includes(snake) && !name.includes('_')) return [snake, value] as const
    throw invalidParameter(name, value, `one of the options ${known.map(camelName).join(', ')}`)
  })
  return parseWith(schema, Object.fromEntries(wire), invalidInput)
}

/** One argument of the API by its schema. Throws `invalid_parameter` with the parameter's name on the wire. */
export function checkArgument<T extends z.ZodType>(name: string, schema: T, value: unknown): z.output<T> {
  const named = (fault: Fault): Fault =>
    typeof fault.path[0] === 'string' ? fault : { ...fault, path: [name, ...fault.path] }
  return parseWith(schema, value, faults => invalidInput(faults.map(named)))
}

/** A plain object of this realm: what JSON makes of `{…}`, and nothing that brings behaviour with it. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
