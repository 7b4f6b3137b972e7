/** Conversion between the snake_case names of HTTP and configuration and the camelCase names of the library. */
import type { JsonObject } from '../base/canonical.ts'

export type CamelName<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : S

/** The name in camelCase: `maxDistance` for `max_distance`. */
export function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The name in snake_case: `default_max_distance` for `defaultMaxDistance`. */
export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

type Defined<T> = { readonly [Name in keyof T]: Exclude<T[Name], undefined> }
export type CamelCased<T> = { readonly [Name in keyof T as CamelName<Name>]: T[Name] }

/** The object with its keys in camelCase, as in the library; undefined values are left out. */
export function camelCased<T extends object>(given: T): CamelCased<Defined<T>> {
  return renamed(given, camelName) as CamelCased<Defined<T>>
}

/** The object with its keys in snake_case, as in the configuration file and in operations; undefined values are left out. */
export function snakeCased(given: object): JsonObject {
  return renamed(given, snakeName) as JsonObject
}

function renamed(given: object, rename: (name: string) => string): object {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [rename(name), value]))
}
