/** Reading parameters by their schema. What is wrong with them is reported all at once, in the shape of the parameters. */
import type { z } from 'zod'
import { check, type Fault } from '../../model/parse-input.ts'
import type { StoreReader } from '../../store/store.ts'
import { type ErrorMap, errorAt, joined, Refusal } from './envelope.ts'
import { mustBeInitialised, type Part } from './parts.ts'

/** How a call wants its parameters read. */
export interface Reading<T extends z.ZodType = z.ZodType> {
  readonly params: T
  /** Parts that must be there. */
  readonly needs?: readonly Part[] | undefined
  /** Parameters whose faults are reported before a missing part (CX-013). */
  readonly first?: readonly string[] | undefined
}

/** The parameters as their schema makes them. Throws `Refusal`: for `first` ones, then for missing parts, then for the rest. */
export function readParams<T extends z.ZodType>(
  { params, needs = [], first = [] }: Reading<T>,
  store: StoreReader,
  given: unknown,
): z.output<T> {
  const { data, faults } = check(params, given)
  const early = faults.filter(({ path: [name] }) => first.includes(String(name)))
  if (early.length > 0) throw refused(early)
  mustBeInitialised(store, ...needs)
  if (faults.length > 0) throw refused(faults)
  return data as z.output<T>
}

/** The error map of the contract (CX-004): `required` for what is missing, null or blank, else `invalid`. */
function refused(faults: readonly Fault[]): Refusal {
  const errors = new Map<string, ErrorMap>()
  for (const fault of faults) {
    const { path, isItem } = placeOf(fault)
    const place = path.map(String)
    if (!errors.has(place.join('\n'))) errors.set(place.join('\n'), errorAt(place, ...detailOf(fault, isItem)))
  }
  return new Refusal(joined([...errors.values()]))
}

/** Of an item that is a plain value the list is at fault, of an object the item. */
function placeOf({ path, issue }: Fault): { readonly path: Fault['path']; readonly isItem: boolean } {
  const isItem = typeof path.at(-1) === 'number'
  const isObject = issue.code === 'invalid_type' && issue.expected === 'object'
  return { path: isItem && !isObject ? path.slice(0, -1) : path, isItem }
}

function detailOf({ path, issue, value }: Fault, isItem: boolean): [code: string, message: string] {
  const field = String(path.findLast(key => typeof key === 'string') ?? 'params')
  if (isItem) {
    const isObject = issue.code === 'invalid_type' && issue.expected === 'object'
    return ['invalid', isObject ? 'an item must be an object' : `${field} must be a list of texts`]
  }
  // A text that must hold something is a pattern.
  const isMissing = value === undefined || value === null || issue.code === 'invalid_format'
  if (isMissing && issue.code !== 'custom') return ['required', `${field} is required`]
  if (issue.code === 'custom') {
    return [issue.params?.['code'] === 'required' ? 'required' : 'invalid', `${field} ${issue.message}`]
  }
  return ['invalid', `${field} must be ${wanted(issue)}`]
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return `one of: ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `${issue.minimum} or more`
    default:
      return issue.message
  }
}
