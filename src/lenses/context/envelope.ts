/** The envelope in which every call of the lens `context` returns its result or errors, and the error by which a handler refuses a call. */
import { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'
import { isStorable } from '../../base/storable.ts'
import { anyJson } from '../../model/parse-input.ts'

const errorDetail = z.lazy(() =>
  z.strictObject({
    code: z.string().describe('In snake_case, such as required, invalid or not_found'),
    message: z.string().describe('A sentence for people'),
    meta: anyJson.optional().describe('Object that it is about, such as the URL of a file'),
  }),
)
export type ErrorDetail = ReadonlyDeep<z.infer<typeof errorDetail>>

/** Errors in a map with the shape of the parameters: keys are names of parameters, or positions in lists. */
export interface ErrorMap {
  readonly [field: string]: readonly ErrorDetail[] | ErrorMap
}
const errorMap: z.ZodType<ErrorMap> = z.lazy(() => z.record(z.string(), z.union([z.array(errorDetail), errorMap])))

const meta = z.lazy(() =>
  z.strictObject({
    path: z.string().describe('The path that was called'),
    timestamp: z.string().describe('When it ended, ISO 8601 in UTC'),
    duration_ms: z.number().min(0).describe('How long it took, milliseconds with three decimals'),
    warnings: z.array(z.string()).optional().describe('Problems that are not errors'),
    verdict: z
      .enum(['answered', 'weak', 'nothing_relevant'])
      .optional()
      .describe('Only of /context/query with rank relevance or explain: whether something here answers the query'),
    reason: z.string().optional().describe('Why, if the verdict is not answered'),
  }),
)

/** Makes the schema of the envelope from the schema of the call's result. */
export function envelopeOf(result: z.ZodType): z.ZodType {
  return z.lazy(() =>
    z.strictObject({
      status: z.enum(['success', 'error']).describe('error: nothing was done, and errors says why'),
      result: result.nullable().describe('Result; null after an error'),
      errors: errorMap
        .nullable()
        .describe('Problems, in the shape of the parameters, with list positions as keys; null: none'),
      meta: meta.describe('The call itself'),
    }),
  )
}

export interface Envelope<Result = JsonObject> {
  readonly status: 'success' | 'error'
  readonly result: Result | null
  readonly errors: ErrorMap | null
  readonly meta: JsonObject & z.infer<typeof meta>
}

/** What a handler returns: the result, and optional errors and further data for the envelope. */
export interface Outcome<Result = JsonObject> {
  readonly result: Result
  /** Errors of a call that succeeded only in part. */
  readonly errors?: ErrorMap | undefined
  readonly meta?: JsonObject | undefined
}

/** Error by which a handler refuses a call: the envelope gets its error map, and the handler's transaction is rolled back. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
  readonly errors: ErrorMap

  constructor(errors: ErrorMap) {
    super(JSON.stringify(errors))
    this.errors = errors
  }
}

export function refusal(field: string, code: string, message: string): Refusal {
  return new Refusal(errorAt([field], code, message))
}

/** Makes an error map with one error at a place in the parameters, such as `['concepts', '0', 'name']`. */
export function errorAt(place: readonly string[], code: string, message: string, meta?: JsonObject): ErrorMap {
  const [field = 'handler', ...rest] = place
  const detail = meta === undefined ? { code, message } : { code, message, meta }
  return { [field]: rest.length === 0 ? [detail] : errorAt(rest, code, message, meta) }
}

/** Joins several error maps into one; no two of them may have an error at one place. */
export function joined(maps: readonly ErrorMap[]): ErrorMap {
  const all: Record<string, readonly ErrorDetail[] | ErrorMap> = {}
  for (const map of maps) {
    for (const [field, found] of Object.entries(map)) {
      const known = all[field]
      if (known === undefined) all[field] = found
      else if (isDetails(known) && isDetails(found)) all[field] = [...known, ...found]
      else if (!isDetails(known) && !isDetails(found)) all[field] = joined([known, found])
    }
  }
  return all
}

function isDetails(value: readonly ErrorDetail[] | ErrorMap): value is readonly ErrorDetail[] {
  return Array.isArray(value)
}

// Schemas of parameters that several calls share. Null counts as absent, and unknown parameters are ignored.

/** Schema of a text that is only searched for: any text that is not blank. */
export const question = z.string().regex(/\S/)
/** Schema of a text that will be stored: not blank, and well-formed Unicode (no lone surrogates). */
export const text = question.refine(isStorable, 'must be well-formed text')
export const texts = z.array(z.string()).nullish()
export const id = z.int().min(1)
export const weight = z.number().min(0).nullish()
export const fileUrl = text
  .refine(url => url.trim() === '' || url.startsWith('file://'), 'must begin with file://')
  .describe('URL of a registered file, such as file:///home/ana/app/src/login.ts')

export const flag = z
  .boolean()
  .nullish()
  .transform(value => value ?? false)

/**
 * Options for a custom check (zod refinement) that give its error the code `required`. For cases where one of several alternative
 * parameters must be given.
 */
export const REQUIRED = { params: { code: 'required' } } as const

/** Schema of a number that is truncated to an integer and then limited to the range from `min` to `max`. */
export function clamped(what: string, fallback: number, min: number, max: number) {
  return z
    .number()
    .nullish()
    .transform(value => clamp(value ?? fallback, min, max))
    .describe(`${what}, ${min} to ${max}; others are cut to that range. Default: ${fallback}`)
}

export function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.trunc(value)))
}

export const conceptRef = {
  id: z.int().min(1).describe('Number of the concept, for calls that take an id'),
  name: z.string().describe('As the code has it, such as LoginService.login, or the path of a module'),
  type: z.string().describe("Type, such as Function, Class, Module or one of the caller's own"),
}
export const concept = z.strictObject(conceptRef)

export const placeFields = {
  url: z.string().nullable().describe('URL of its file; null: none'),
  start_line: z.int().min(1).nullable().describe('First line, from 1; null: unknown'),
  end_line: z.int().min(1).nullable().describe('Last line, included; null: unknown'),
}

export const placedConcept = concept.extend(placeFields)
export type PlacedConcept = z.infer<typeof placedConcept>

export const total = z.int().min(0)

export const deleted = z.lazy(() =>
  z.strictObject({
    id: id.describe('Number of deleted items'),
    deleted: z.literal(true).describe('The item was deleted'),
  }),
)
