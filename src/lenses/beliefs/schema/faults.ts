/**
 * Converts the issues that zod (the schema library) finds in a request to faults of the beliefs lens (BQ-025, BQ-026, BQ-186). In the
 * lens's schemas, the error message says which values are accepted and becomes the fault's `constraint`; a custom rule gives its reason in
 * `params.reason`.
 */
import { z } from 'zod'
import { isRecord } from '../../../base/record.ts'
import { type Fault, faulty } from '../errors.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** Adds to a schema the limits on nesting and size that apply to every request (BQ-191); these are checked before the schema. */
export function request<T extends z.ZodType>(schema: T): z.ZodPreprocess<T> {
  return z.preprocess((value, context) => {
    const excess = excessIn(value)
    if (excess === null) return value
    context.issues.push({ ...excess, code: 'custom', input: value })
    return z.NEVER
  }, schema)
}

/**
 * Checks an input against a schema and returns the checked value. Throws INVALID_QUERY or INVALID_FILTERS with at most 20 faults, in the
 * order in which they occur in the input. `path`: position of the value in its request.
 *
 * @example
 * parseRequest(query, { semantic: 'bees', options: { limit: 0 } }) // throws: options.limit: expected an integer from 1 to 1000
 */
export function parseRequest<T extends z.ZodType>(schema: T, input: unknown, path: Path = []): z.output<T> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw faulty(faultsOf(result.error.issues, input, path))
}

/**
 * The faults of an input, at most one for each value, in the order in which they occur in the input. Faults for missing fields come after
 * those of the existing fields.
 */
export function faultsOf(issues: readonly Issue[], input: unknown, root: Path = []): [Fault, ...Fault[]] {
  const found = issues.flatMap(issue => faultsIn(issue, [], input, root))
  const ordered = found
    .map(each => ({ ...each, order: orderOf(each.path, input) }))
    .sort((a, b) => compareOrder(a.order, b.order))
  const byPath = new Map<string, Fault>()
  for (const { path, constraint, reason, value, isOfFilters } of ordered) {
    const at = pathText([...root, ...path]) || 'input'
    const code = isOfFilters ? 'INVALID_FILTERS' : 'INVALID_QUERY'
    if (!byPath.has(at)) byPath.set(at, { code, path: at, constraint, reason, value })
  }
  const [first, ...rest] = [...byPath.values()].slice(0, MAX_FAULTS)
  if (first === undefined) throw new Error('invariant broken: a refused input without an issue')
  return [first, ...rest]
}

const MAX_FAULTS = 20
/** Limits of a request: levels of nesting, and total number of characters. */
const MAX_LEVELS = 16
const MAX_CHARACTERS = 256 * 1024
/** Maximum number of characters of a faulty value that an error message shows. */
const MAX_SHOWN = 80

interface Found extends Pick<Fault, 'constraint' | 'reason' | 'value'> {
  readonly path: Path
  readonly isOfFilters: boolean
}

function faultsIn(issue: Issue, before: Path, input: unknown, root: Path): readonly Found[] {
  const path = [...before, ...issue.path]
  const [first, second] = [...root, ...path]
  const isOfFilters = (first === 'query' ? second : first) === 'filters'
  const value = path.reduce(memberOf, input)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const [reason, note] = (isOfFilters ? undefined : REFUSED.get(key)) ?? ['unknown_field', '']
      return { path: [...path, key], isOfFilters, constraint: `${issue.message}${note}`, reason, value: null }
    })
  }
  if (value === undefined && path.length > 0)
    return [{ path, isOfFilters, constraint: 'a value, which is missing', reason: 'required', value: null }]
  const branch =
    issue.code === 'invalid_union'
      ? issue.errors.find(errors => !errors.some(each => isOtherType(each, value)))
      : undefined
  if (branch !== undefined) return branch.flatMap(each => faultsIn(each, path, input, root))
  const reason = reasonOf(issue, value)
  const shown =
    reason === 'too_complex' ? countOf(value) : showValue(issue.code === 'invalid_key' ? path.at(-1) : value)
  return [{ path, isOfFilters, constraint: issue.message, reason, value: shown }]
}

/**
 * Whether an issue with one branch of a union only means that the value has another type than this branch accepts; the branch's issues are
 * then not reported.
 */
function isOtherType({ path, code }: Issue, value: unknown): boolean {
  return path.length === 0 && (code === 'invalid_type' || (code === 'invalid_value' && typeof value !== 'string'))
}

function reasonOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'custom':
      return String(issue.params?.['reason'] ?? 'malformed')
    case 'invalid_type':
      return typeof value === 'number' && ['number', 'int'].includes(issue.expected) ? 'range' : 'type'
    case 'too_big':
      return issue.origin === 'array' ? 'too_complex' : 'range'
    case 'too_small':
      return 'range'
    case 'invalid_value':
      return typeof value === 'string' ? 'unknown_value' : 'type'
    case 'invalid_union':
      return 'type'
    default:
      return 'malformed'
  }
}

/**
 * Fields that a client might expect to be supported. They are refused with a more helpful message than "unknown field" (BQ-067, BQ-115).
 */
const REFUSED: ReadonlyMap<string, readonly [reason: string, note: string]> = new Map<
  string,
  readonly [string, string]
>([
  ...['privacy', 'query_privacy', 'encrypted', 'differential_privacy', 'anonymized', 'anonymised'].map(
    name => [name, ['not_supported', '; private queries are not supported yet, so the query is not run']] as const,
  ),
  ...[
    'edges',
    'trust',
    'trust_edges',
    'trust_level',
    'trust_levels',
    'trust_score',
    'trust_scores',
    'domain_trust',
    'membership',
    'memberships',
    'federations',
    'reputation',
  ].map(name => [name, ['inline_trust', '; trust, reputation and membership come from the data of the node']] as const),
])

/**
 * Sort key of a path: its position in the input at each level of nesting. An issue that concerns a whole object comes after the issues of
 * the object's fields.
 */
function orderOf(path: Path, input: unknown): readonly number[] {
  let at: unknown = input
  return path.map(key => {
    const place = typeof key === 'number' ? key : isRecord(at) ? Object.keys(at).indexOf(String(key)) : -1
    at = memberOf(at, key)
    return place === -1 || at === undefined ? Number.POSITIVE_INFINITY : place
  })
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined
}

function compareOrder(a: readonly number[], b: readonly number[]): number {
  const level = a.findIndex((place, i) => place !== b[i])
  if (level === -1) return b.length > a.length ? 1 : 0
  const [one, other] = [a[level] as number, b[level] ?? Number.NEGATIVE_INFINITY]
  return one < other ? -1 : 1
}

/** A path as shown in messages, for example `options.scope.local`, `filters[1].valid_at`, or `domain_trust["a b"]`. */
function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    const name = String(key)
    if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${text}[${showValue(name)}]`
    return text === '' ? name : `${text}.${name}`
  }, '')
}

function countOf(value: unknown): string | null {
  return Array.isArray(value) ? String(value.length) : null
}

interface Excess {
  readonly path: PropertyKey[]
  readonly message: string
  readonly params: { readonly reason: string }
}

/**
 * Finds the first part of an input that exceeds the limits on nesting and size, or is not plain data; null: there is none. Terminates even
 * for objects that contain themselves.
 */
function excessIn(input: unknown): Excess | null {
  const lists = isRecord(input) && Array.isArray(input['beliefs']) ? input['beliefs'] : null
  // In a request with a list of beliefs, the limits apply to each belief separately, because the list may contain any number of beliefs.
  if (lists === null) return walk(input)
  const { beliefs: _, ...rest } = input as object & { readonly beliefs: unknown }
  const found = lists.map((belief, at) => ({ at, excess: walk(belief) })).find(({ excess }) => excess !== null)
  return found?.excess ? { ...found.excess, path: ['beliefs', found.at, ...found.excess.path] } : walk(rest)
}

function walk(input: unknown): Excess | null {
  let characters = 0
  const path: PropertyKey[] = []
  const excessOf = (value: unknown, levels: number): Excess | null => {
    characters += typeof value === 'string' || Array.isArray(value) ? value.length : 1
    if (characters > MAX_CHARACTERS) return tooComplex([], `a request of at most ${MAX_CHARACTERS} characters`)
    if (typeof value !== 'object' || value === null) return null
    if (levels === 0) return tooComplex([...path], `at most ${MAX_LEVELS} levels of nesting`)
    const isList = Array.isArray(value)
    if (!isList && !isPlain(value)) return { path: [...path], message: 'a plain object', params: { reason: 'type' } }
    for (const key of isList ? value.keys() : Object.keys(value)) {
      // Zod leaves out a field named `__proto__` when it parses a record, so the field's value would be lost without an error; the name is
      // refused instead.
      if (key === '__proto__')
        return { path: [...path, key], message: 'another name', params: { reason: 'unknown_field' } }
      if (typeof key === 'string') characters += key.length
      path.push(key)
      const excess = excessOf((value as Record<PropertyKey, unknown>)[key], levels - 1)
      path.pop()
      if (excess !== null) return excess
    }
    return null
  }
  return excessOf(input, MAX_LEVELS)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function tooComplex(path: PropertyKey[], message: string): Excess {
  return { path, message, params: { reason: 'too_complex' } }
}

/** A value as shown in error messages: as JSON where possible, shortened. Never throws; null: there is no value. */
function showValue(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? JSON.stringify(withoutSecrets(value).slice(0, MAX_SHOWN + 1)) : asJson(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : text
}

/** Replaces user names and passwords in URLs, so that no message shows them. */
function withoutSecrets(text: string): string {
  return text.replace(/:\/\/[^/]*@/, '://…@')
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? `a ${typeof value}`
  } catch {
    return `a ${typeof value} that is not JSON`
  }
}
