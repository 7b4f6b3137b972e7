/** Converts between the snake_case names of HTTP and the configuration file and the camelCase names of the library. */
import type { JsonObject } from '../base/canonical.ts'

export type CamelName<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : S

/** Converts a name to camelCase: `max_distance` becomes `maxDistance`. */
export function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Converts a name to snake_case: `defaultMaxDistance` becomes `default_max_distance`. */
export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

type Defined<T> = { readonly [Name in keyof T]: Exclude<T[Name], undefined> }
export type CamelCased<T> = { readonly [Name in keyof T as CamelName<Name>]: T[Name] }

/** Converts the keys of an object to camelCase, as the library uses them; properties that are undefined are left out. */
export function camelCased<T extends object>(given: T): CamelCased<Defined<T>> {
  return renamed(given, camelName) as CamelCased<Defined<T>>
}

/**
 * Converts the keys of an object to snake_case, as the configuration file and operations use them; properties that are undefined are left
 * out.
 */
export function snakeCased(given: object): JsonObject {
  return renamed(given, snakeName) as JsonObject
}

function renamed(given: object, rename: (name: string) => string): object {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [rename(name), value]))
}
