/** The type T with every member read-only, at any depth. */
export type ReadonlyDeep<T> = T extends readonly (infer U)[]
  ? number extends T['length']
    ? readonly ReadonlyDeep<U>[]
    : { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T
