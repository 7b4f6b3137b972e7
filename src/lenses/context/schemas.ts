/** Schemas that calls of the lens have in common. What is null counts as absent, and unknown parameters are ignored. */
import { z } from 'zod'
import { isStorable } from '../../base/storable.ts'

/** A text that says something, of what is only looked for: any text at all. */
export const question = z.string().regex(/\S/)
/** As `question`, of what is kept. */
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

/** For a refinement that finds one of several parameters missing. */
export const REQUIRED = { params: { code: 'required' } } as const

/** A number that is cut to a whole one, then to the range. */
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
  type: z.string().describe('What it is, such as Function, Class, Module or a word of the caller'),
}
export const concept = z.strictObject(conceptRef)

export const placeFields = {
  url: z.string().nullable().describe('URL of the file it stands in; null: none'),
  start_line: z.int().min(1).nullable().describe('First line, from 1; null: unknown'),
  end_line: z.int().min(1).nullable().describe('Last line, included; null: unknown'),
}

export const total = z.int().min(0)

export const deleted = z.lazy(() =>
  z.strictObject({ id: id.describe('Number of what was deleted'), deleted: z.literal(true).describe('It is gone') }),
)
