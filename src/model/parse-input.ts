/** Checks untrusted input against a schema, once, at the door: what comes back is trusted inside. */
import type { z } from 'zod'
import { invalidArgument, QuerentError } from './errors.ts'

/**
 * The checked value. Throws `unknown_field` for a field that is not defined (nothing is silently ignored) and
 * `invalid_argument` for the first wrong value; `details.field` is its path.
 */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, root = 'input'): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  if (issue === undefined) throw new QuerentError('invalid_argument', `${root}: not valid`, { field: root })
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const field = [...path, ...issue.keys.slice(0, 1)].join('.')
    throw new QuerentError('unknown_field', `${field}: there is no such field`, { field })
  }
  const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value)
  throw invalidArgument(path.join('.') || root, found, expectation(issue))
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `a value of type ${issue.expected}`
    case 'too_small':
      return `at least ${issue.minimum}${unit(issue.origin)}`
    case 'too_big':
      return `at most ${issue.maximum}${unit(issue.origin)}`
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`
    default:
      return issue.message
  }
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' || origin === 'set' ? ' items' : ''
}
