/**
 * Schemas of single values, and functions that make schemas of objects and lists. In all of them the error message says which values are
 * accepted; it becomes the `constraint` of a fault (`faults.ts`).
 */
import { z } from 'zod'
import type { Json } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { isRecord } from '../../../base/record.ts'
import { publicKeyOf } from '../../../identity/keys.ts'
import { QuerentError } from '../../../model/errors.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import { isFederationName } from '../../../model/partition.ts'
import type { QueryToken } from '../../../model/plan.ts'
import { cleanText, lexQuery } from '../../../text/query-lexer.ts'
import { residualText } from '../../../text/query-parser.ts'

/** Type of the values that a schema returns after checking, deeply readonly. */
export type Value<T extends z.ZodType> = ReadonlyDeep<z.output<T>>

/** Makes a schema of an object that allows no fields besides the given ones (BQ-025). */
export function object<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<z.util.Writeable<S>, z.core.$strict> {
  const names = Object.keys(shape).join(', ')
  const error = ({ code }: { readonly code?: string }) =>
    code === 'unrecognized_keys' ? `one of ${names}` : `an object with ${names}`
  return z.strictObject(shape, { error })
}

/** Makes a schema of a list. `max`: its maximum number of items (BQ-191). */
export function list<T extends z.ZodType>(item: T, max: number, what = 'items'): z.ZodArray<T> {
  return z.array(item, 'a list').max(max, `at most ${max} ${what}`)
}

/**
 * Makes a schema of an optional field. `fallback`: the field's default, which is only published in the schema; the code that reads the
 * field must apply it.
 */
export function field<T extends z.ZodType>(schema: T, description: string, fallback?: Json): z.ZodOptional<T> {
  return schema.optional().meta({ description, ...(fallback !== undefined && { default: fallback }) })
}

/**
 * A rule that compares several fields of one object, for use with `refine`. It is checked if the compared fields are valid, even if other
 * fields are not. `path`: the field to which a fault is attributed; by default the whole object.
 */
export function across<T>(
  fields: readonly string[],
  reason: string,
  constraint: string | ((value: T) => string),
  path: readonly string[] = [],
): Across {
  return {
    when: ({ value, issues }) =>
      isRecord(value) &&
      issues.every(({ path, code }) =>
        path?.length ? !fields.includes(String(path[0])) : code === 'unrecognized_keys',
      ),
    path: [...path],
    params: { reason },
    error: ({ input }) => (typeof constraint === 'string' ? constraint : constraint(input as T)),
  }
}

interface Across {
  when(payload: z.core.ParsePayload): boolean
  readonly path: PropertyKey[]
  readonly params: { readonly reason: string }
  error(issue: { readonly input?: unknown }): string
}

/**
 * Makes a schema that is published but accepts every value, for values that are refused later by an error other than a fault of the
 * request.
 */
export function unchecked<T extends z.ZodType>(schema: T): z.ZodCatch<T> {
  // The cast is intended: an invalid value is passed on unchanged.
  return schema.catch(({ value }) => value as z.output<T>)
}

export const flag: z.ZodBoolean = z.boolean('true or false')

/** Schema of a finite number between these bounds, both inclusive. */
export function numberIn(min: number, max: number = Number.POSITIVE_INFINITY): z.ZodNumber {
  const expected = `a number ${span(min, max)}`
  const number = z.number(expected).min(min, expected)
  return max === Number.POSITIVE_INFINITY ? number : number.max(max, expected)
}

export const share: z.ZodNumber = numberIn(0, 1)

/** Schema of an integer between these bounds, both inclusive. */
export function integerIn(min: number, max: number = Number.MAX_SAFE_INTEGER): z.ZodInt {
  const expected = `an integer ${span(min, max)}`
  return z.int(expected).min(min, expected).max(max, expected)
}

function span(min: number, max: number): string {
  return max >= Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
}

/** Schema of a text of 1 to `max` characters that can be stored, that is, without NUL characters and unpaired surrogates. */
export function textUpTo(max: number): z.ZodString {
  const expected = `text of 1 to ${max} characters, without NUL and lone surrogates`
  return z.string(expected).min(1, expected).max(max, expected).regex(STORABLE, expected)
}

export const STORABLE: RegExp = /^[^\0\ud800-\udfff]*$/u

/** Schema of an id, which has no inner structure and is compared byte by byte (BQ-011). */
export const id: z.ZodString = textUpTo(MAX_ID_LENGTH)

export function oneOf<const T extends readonly string[]>(values: T): z.ZodEnum<z.core.util.ToEnum<T[number]>> {
  return z.enum(values, `one of ${values.join(', ')}`)
}

/** Schema that accepts one of the given words in upper or lower case; `anyCase` converts an accepted word to the given spelling. */
export function oneOfAnyCase<const T extends readonly string[]>(values: T): z.ZodType<T[number], T[number]> {
  const message = `one of ${values.join(', ')}`
  return z
    .custom<T[number]>()
    .check(({ value, issues }) => {
      if (typeof value === 'string' && values.includes(value.toLowerCase())) return
      const reason = typeof value === 'string' ? 'unknown_value' : 'type'
      issues.push({ code: 'custom', input: value, message, params: { reason } })
    })
    .meta({ type: 'string', enum: [...values] })
}

/** Converts a word accepted by `oneOfAnyCase` to its listed spelling, which is in lower case. */
export function anyCase<T extends string>(value: T): T {
  return value.toLowerCase() as T
}

/**
 * Schema of a subject area ("domain") as a client writes it, such as `Science:Biology`; `normaliseDomain` converts the accepted text to
 * `science/biology` (BQ-006).
 */
export const domain: z.ZodString = z
  .string(domainConstraint())
  .regex(/^[A-Za-z0-9_-]{1,32}([/:][A-Za-z0-9_-]{1,32}){0,4}$/, domainConstraint())

function domainConstraint(): string {
  return 'a domain such as code/rust: up to 5 segments of 1 to 32 characters from a-z, 0-9, _ and -, with / (or :) between'
}

/** Converts domains to normal form and removes duplicates. */
export function normalDomains(domains: readonly string[]): readonly string[] {
  // The cast is safe: every text accepted by the schema `domain` has a normal form.
  return [...new Set(domains.map(each => normaliseDomain(each) as string))]
}

const ZONED = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]*)?$/
const TIME = 'a time in ISO 8601 with its zone, such as 2026-03-01T12:00:00Z'

/** Schema of a time as a client writes it; `toInstant` converts the accepted text (BQ-009). */
export const time: z.ZodString = z
  .string(TIME)
  .refine(text => parseTime(text) !== null || WITHOUT_ZONE.test(text), { error: TIME, abort: true })
  .refine(text => !WITHOUT_ZONE.test(text), { error: TIME, params: { reason: 'zone_missing' } })
  .meta({ pattern: ZONED.source, examples: ['2026-03-01T12:00:00Z'] })

/** Converts a time accepted by the schema `time` to whole milliseconds; finer fractions are cut off. */
export function toInstant(text: string): Instant {
  return parseTime(text) as Instant
}

export function toInstantOrNull(text: string | null | undefined): Instant | null {
  return text === null || text === undefined ? null : toInstant(text)
}

function parseTime(text: string): Instant | null {
  const day = ZONED.exec(text)?.[1]
  if (day === undefined) return null
  // `Date.parse` reads 31 February as 3 March, so the parsed date is compared with the written one to refuse days that do not exist.
  const midnight = Date.parse(day)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return null
  const parsed = Date.parse(text)
  return Number.isNaN(parsed) ? null : parsed
}

const NAME = 'a name of 1 to 200 characters without blanks, colons and commas'

/** Schema of the name of a federation, or of the local name of another node. */
export const federationName: z.ZodString = z
  .string(NAME)
  .refine(isFederationName, NAME)
  .meta({ pattern: '^[^\\s:,\\p{Cc}\\p{Cs}]{1,200}$' })

const DID = 'a did:key of an Ed25519 key, such as did:key:z6Mk…'
const DID_PATTERN = /^did:key:z[1-9A-HJ-NP-Za-km-z]{1,191}$/

/** Schema of a text in the form of a did:key. Whether it contains a valid public key is checked by the code that uses it. */
export const didForm: z.ZodString = z.string(DID).regex(DID_PATTERN, DID)

export const did: z.ZodString = z
  .string(DID)
  .refine(text => publicKeyOf(text) !== null, DID)
  .meta({ pattern: DID_PATTERN.source, examples: ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'] })

/** Schema of an agent's name: a local name for an agent of this node, or a did:key with a valid public key for an agent of another node. */
export const agentName: z.ZodString = id.refine(name => !name.startsWith('did:key:') || publicKeyOf(name) !== null, DID)

const MAX_DOMAINS = 50

/** Schema of an object with a number from 0 to 1 for each domain. Two spellings of one domain are refused. */
export const byDomain: z.ZodRecord<z.ZodString, z.ZodNumber> = z
  .record(domain, share, 'an object of numbers from 0 to 1 by domain')
  .superRefine((given, context) => {
    const fault = (path: string[], message: string, reason: string) =>
      context.addIssue({ code: 'custom', path, message, params: { reason } })
    const names = Object.keys(given)
    if (names.length > MAX_DOMAINS) fault([], `at most ${MAX_DOMAINS} domains`, 'too_complex')
    const seen = new Set<string>()
    for (const name of names) {
      const normal = normaliseDomain(name) ?? name
      if (seen.has(normal)) fault([name], `one number for ${normal}`, 'duplicate')
      seen.add(normal)
    }
  })
  .meta({ maxProperties: MAX_DOMAINS })

/** Converts an object of numbers by domain so that its keys are domains in normal form. */
export function normalByDomain(given: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [normaliseDomain(name) as string, value]))
}

const MAX_ADDRESS = 300
const ADDRESS = 'an address such as https://node.example:7411, without user name, path and query'

export const address: z.ZodString = textUpTo(MAX_ADDRESS)
  .refine(text => addressOf(text) !== null, ADDRESS)
  .meta({ pattern: '^[hH][tT][tT][pP][sS]?://[^/?#@]+/?$', examples: ['https://node.example:7411'] })

/**
 * The origin of an `http://` or `https://` address that consists only of a host and, optionally, a port; null: the text is no such address.
 */
export function addressOf(text: string): string | null {
  if (text.length > MAX_ADDRESS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const { origin, username, password, pathname, search, hash } = new URL(text)
  const isBare = username === '' && password === '' && pathname === '/' && search === '' && hash === ''
  return isBare && !/[?#]/.test(text) ? origin : null
}

export interface CheckedText {
  /** The query's text as given, except that unpaired surrogates are replaced and control characters turned into blanks. */
  readonly text: string
  /**
   * The text that is embedded: without operator signs and excluded words, with required words and phrases at their places in the text
   * (BQ-036). Never blank.
   */
  readonly base: string
  /** Terms that a result must contain or mean; each is one word, or the words of a quoted text. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Phrases that a result must literally contain, with white space reduced to single blanks. */
  readonly phrases: readonly string[]
  /** Words or phrases that count more or less in the comparison by meaning, with their factors: above 0, at most 10, never 1. */
  readonly boosts: readonly { readonly text: string; readonly factor: number }[]
}

/** Why the text of a query is invalid: the reason code, and what would be accepted. */
interface TextFault {
  readonly reason: string
  readonly constraint: string
}

const MAX_CODE_POINTS = 4_096
const MAX_OPERATORS = 32
const SEMANTIC = 'a text to search by, or "" with filters'
const TOO_LONG = `a text of at most ${MAX_CODE_POINTS} characters`

export const semantic = z
  .string(SEMANTIC)
  .superRefine((text, context) => {
    const read = text.length > 2 * MAX_CODE_POINTS ? { reason: 'too_complex', constraint: TOO_LONG } : readText(text)
    if (read !== null && 'reason' in read)
      context.addIssue({ code: 'custom', message: read.constraint, params: { reason: read.reason } })
  })
  .meta({ maxLength: MAX_CODE_POINTS })
  .describe(
    'What to search for, at most 4,096 characters; +word requires, -word excludes, "a phrase" must occur, word^2 counts double, \\ makes the next sign plain text. Empty with filters: lists all that match them',
  )

/**
 * Parses the text of a query. Null: the text is blank, so the query only filters and lists. If the text is invalid, the first fault is
 * returned.
 */
export function readText(text: string): CheckedText | TextFault | null {
  if (text.length > MAX_CODE_POINTS && Array.from(text).length > MAX_CODE_POINTS)
    return { reason: 'too_complex', constraint: TOO_LONG }
  if (isBlankText(text)) return null
  const clean = cleanText(text)
  try {
    return textOf(clean, lexQuery(clean))
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'query_syntax') throw error
    return { reason: String(error.details['reason']), constraint: `a text without this: ${error.message}` }
  }
}

/** Whether a text contains nothing but white space; white space after a backslash counts as white space too. */
export function isBlankText(text: string): boolean {
  return cleanText(text).replace(/\\\s/g, ' ').trim() === ''
}

function textOf(clean: string, tokens: readonly QueryToken[]): CheckedText | TextFault {
  const operators = tokens.reduce((sum, token) => sum + operatorsOf(token), 0)
  if (operators > MAX_OPERATORS) return { reason: 'too_complex', constraint: `at most ${MAX_OPERATORS} operators` }
  const base = residualText(tokens)
  if (base.trim() === '') {
    const reason = tokens.some(token => token.sign === '-') ? 'only_exclusions' : 'empty_query'
    return {
      reason,
      constraint: 'something to search for; exclusions alone are not enough, and \\- is a plain minus sign',
    }
  }
  const texts = (kind: QueryToken['kind'] | null, sign: QueryToken['sign']) =>
    tokens.flatMap(token => {
      if (token.kind === 'field' || token.sign !== sign || (kind !== null && token.kind !== kind)) return []
      return [token.text]
    })
  return {
    text: clean,
    base,
    include: texts(null, '+'),
    exclude: texts(null, '-'),
    phrases: texts('phrase', null),
    boosts: tokens.flatMap(token => {
      if (token.kind === 'field' || token.boost === 1) return []
      return [{ text: token.text, factor: token.boost }]
    }),
  }
}

function operatorsOf(token: QueryToken): number {
  if (token.kind === 'field') return 1
  const sign = token.sign !== null || token.kind === 'phrase' ? 1 : 0
  return sign + (token.boost === 1 ? 0 : 1)
}

// Domains of knowledge: paths of up to five segments, where a longer path lies below the paths that begin it (BQ-006, BQ-048, BQ-063).

const MAX_DOMAIN_SEGMENTS = 5

/** Converts a domain to normal form: `Code:Rust` becomes `code/rust`. Null: the text is not a valid domain. */
export function normaliseDomain(text: string): string | null {
  // The text is checked before it is converted to lower case, because some non-Latin letters become Latin letters in lower case.
  if (text.length > LONGEST || !/^[\w:/-]+$/.test(text)) return null
  const segments = text.toLowerCase().split(/[:/]/)
  const fits = segments.length <= MAX_DOMAIN_SEGMENTS && segments.every(segment => SEGMENT.test(segment))
  return fits ? segments.join('/') : null
}

/**
 * Whether a domain is equal to `ancestor` or lies below it; both must be in normal form. `tech/ai` is within `tech`, `technology` is not.
 */
export function isWithin(domain: string, ancestor: string): boolean {
  return domain.startsWith(ancestor) && (domain.length === ancestor.length || domain[ancestor.length] === '/')
}

/**
 * The map's entry that applies to a domain: that of the domain itself, otherwise that of its nearest ancestor; undefined: there is neither.
 */
export function nearestEntry<T>(entries: ReadonlyMap<string, T>, domain: string): T | undefined {
  for (let path = domain; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const entry = entries.get(path)
    if (entry !== undefined || !path.includes('/')) return entry
  }
}

/**
 * Mean of the numbers that apply to these domains, each being the entry of the domain or of its nearest ancestor; domains to which no entry
 * applies are ignored. Null: no entry applies to any of them (BQ-062, BQ-081).
 */
export function meanEntry(entries: ReadonlyMap<string, number>, domains: readonly string[]): number | null {
  let [sum, count] = [0, 0]
  for (const domain of domains) {
    const entry = nearestEntry(entries, domain)
    if (entry === undefined) continue
    sum += entry
    count++
  }
  return count === 0 ? null : sum / count
}

export function depthOfDomain(domain: string): number {
  return domain.split('/').length
}

const SEGMENT = /^[a-z0-9_-]{1,32}$/
const LONGEST = 5 * 32 + 4
