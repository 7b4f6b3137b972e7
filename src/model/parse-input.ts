/** Checks untrusted input against a schema, once, at the door: what comes back is trusted inside. */
import type { z } from 'zod'
import { invalidArgument, QuerentError } from './errors.ts'

/**
 * The checked value. Throws `unknown_field` for a field that is not defined (nothing is silently ignored) and
 * `invalid_argument` for the first wrong value; `details.field` is its path. `root`, where the value is not the input of
 * a call, says where it stands (a file, a line of it, a setting), and so does the message. `cause` is the ZodError with all
 * that is wrong, for operations that report it all.
 */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, root?: string): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const error =
    issue === undefined ? invalidArgument(root ?? 'input', value, 'something else') : refused(issue, value, root)
  throw error.retold(error.message, error.details, result.error)
}

function refused(issue: z.core.$ZodIssue, value: unknown, root: string | undefined): QuerentError {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const field = [...path, ...issue.keys.slice(0, 1)].join('.')
    return placed(new QuerentError('unknown_field', `${field}: there is no such field`, { field }), root)
  }
  const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value)
  if (path.length === 0) return invalidArgument(root ?? 'input', found, expectation(issue))
  return placed(invalidArgument(path.join('.'), found, expectation(issue)), root)
}

function placed(error: QuerentError, root: string | undefined): QuerentError {
  return root === undefined ? error : error.retold(`${root}: ${error.message}`)
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
    case 'invalid_union':
      return alternatives(issue.errors) ?? issue.message
    default:
      return issue.message
  }
}

/** What each branch of a union says of the value itself. */
function alternatives(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const said = branches.flatMap(([issue]) => (issue === undefined || issue.path.length > 0 ? [] : expectation(issue)))
  return said.length === 0 ? undefined : [...new Set(said)].join(' or ').replaceAll(' or a value of type ', ' or ')
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' || origin === 'set' ? ' items' : ''
}
