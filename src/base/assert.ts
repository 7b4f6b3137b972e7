/** Invariant checks. A failed check is a bug in Querent, never an error of the caller: callers get a `QuerentError`. */

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}

/** Returns the value, which must not be null or undefined; `what` names it in the error. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`invariant broken: ${what} is missing`)
  return value
}

/** Ends an exhaustive `switch` in its default case: the compiler proves that all values are handled, so this call is never reached. */
export function unreachable(value: never): never {
  throw new Error(`invariant broken: unexpected ${JSON.stringify(value)}`)
}
