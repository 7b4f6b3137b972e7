/** What callers give, of any type: checks that name the parameter. */
import { invalidParameter } from './errors.ts'

export function checkBoolean(name: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw invalidParameter(name, value, 'true or false')
}

export function checkText(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw invalidParameter(name, value, 'a text')
}

/** CQ-006. `expected`: what to say of a field that is not known. */
export function refuseUnknown(
  given: object,
  known: readonly string[],
  expected: string = `one of the options ${known.join(', ')}`,
): void {
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) throw invalidParameter(name, value, expected)
  }
}
