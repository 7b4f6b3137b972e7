import type { Json, JsonObject } from './canonical.ts'

/** The type with every member read-only, at any depth. Lists and tuples stay what they are, free JSON too. */
export type ReadonlyDeep<T> = [Json] extends [T]
  ? T
  : T extends object
    ? string extends keyof T
      ? JsonObject extends T
        ? T
        : { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
      : { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T
