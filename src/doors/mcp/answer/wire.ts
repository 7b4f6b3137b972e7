import type { JsonObject } from '../../../base/canonical.ts'

/** As JSON: every operation's result is an object, and members that are undefined go. */
export function wire(result: unknown): JsonObject {
  return JSON.parse(JSON.stringify(result)) as JsonObject
}
