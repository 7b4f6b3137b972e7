/** Checks untrusted input against a schema, once, at the interface: what comes back is trusted inside. */
import type { z } from 'zod'
import { invalidArgument, QuerentError } from './errors.ts'

/** One thing that is wrong with a value, for the contract that reports it. */
export interface Fault {
  /** Keys and positions from the value that was checked; empty: the value itself. */
  readonly path: readonly (string | number)[]
  /** `unknown`: there is no such field. `missing`: it is required and undefined. `invalid`: it has another form. */
  readonly kind: 'unknown' | 'missing' | 'invalid'
  readonly value: unknown
  /** In words: `at least 1`. */
  readonly expected: string
  /** As zod reports it; of a union the issue of the one branch that is meant. */
  readonly issue: z.core.$ZodIssue
}

/**
 * The checked value. Throws `unknown_field` for a field that is not defined (nothing is silently ignored) and
 * `invalid_argument` for the first wrong value; `details.field` is its path. `root`, where the value is not the input of
 * a call, says where it stands (a file, a line of it, a setting), and so does the message. `cause` is the ZodError with all
 * that is wrong, for operations that report it all.
 */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, root?: string): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [fault] = result.error.issues.flatMap(issue => faultsOf(issue, value))
  const error = refused(fault as Fault, root)
  throw error.retold(error.message, error.details, result.error)
}

/** The checked value. Throws what `toError` makes of the faults; there is at least one. */
export function parseWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  toError: (faults: readonly Fault[]) => Error,
): z.output<T> {
  const { data, faults } = check(schema, value)
  if (faults.length > 0) throw toError(faults)
  return data as z.output<T>
}

/** The value as the schema makes it, or all that is wrong with it. */
export function check<T extends z.ZodType>(
  schema: T,
  value: unknown,
): { readonly data?: z.output<T>; readonly faults: readonly Fault[] } {
  const result = schema.safeParse(value)
  if (result.success) return { data: result.data, faults: [] }
  return { faults: result.error.issues.flatMap(issue => faultsOf(issue, value)) }
}

function faultsOf(raw: z.core.$ZodIssue, value: unknown): Fault[] {
  const issue = meant(raw)
  const path = issue.path.map(key => (typeof key === 'number' ? key : String(key)))
  const at = (keys: readonly (string | number)[]) =>
    keys.reduce<unknown>((found, key) => (found as Record<string, unknown> | null | undefined)?.[key], value)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const to = [...path, key]
      return { path: to, kind: 'unknown', value: at(to), expected: 'no such field', issue }
    })
  }
  const found = at(path)
  return [
    { path, kind: found === undefined ? 'missing' : 'invalid', value: found, expected: expectation(issue), issue },
  ]
}

/** Where all branches but one refuse the kind of value, what that one says of it. */
function meant(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const inner = issue.errors.filter(([first]) => first !== undefined && !isOfKind(first))
  const [branch] = inner
  if (inner.length !== 1 || branch?.[0] === undefined) return issue
  const found = meant(branch[0])
  return { ...found, path: [...issue.path, ...found.path] }
}

function isOfKind(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false
  if (issue.code === 'invalid_union') return issue.errors.every(([first]) => first !== undefined && isOfKind(first))
  return issue.code === 'invalid_type' || issue.code === 'invalid_value'
}

function refused({ path, kind, value, expected }: Fault, root: string | undefined): QuerentError {
  const field = path.join('.')
  if (kind === 'unknown')
    return placed(new QuerentError('unknown_field', `${field}: there is no such field`, { field }), root)
  if (path.length === 0) return invalidArgument(root ?? 'input', value, expected)
  return placed(invalidArgument(field, value, expected), root)
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
