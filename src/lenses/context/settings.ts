/** The lens's part of the configuration. */
import { z } from 'zod'
import { parseInput } from '../../model/parse-input.ts'

const share = z.number().min(0).max(1)
/** A day: timers hold no more than 24 of them. */
const MAX_WAIT = 86_400

export const settingsSchema = z.strictObject({
  // CX-021
  least_score: share.default(0.2).describe('Matches by meaning below this cosine are dropped. Default: 0.2'),
  least_share: share
    .default(0.6)
    .describe('Matches by meaning below this share of the best one are dropped. Default: 0.6'),
  // CX-075
  max_files: z
    .int()
    .min(1)
    .default(50_000)
    .describe('A run of `context.index` that finds more files reads none of them. Default: 50000'),
  max_wait: z
    .number()
    .min(0)
    .max(MAX_WAIT)
    .default(60)
    .describe(
      'Over HTTP and MCP `context.index` waits at most so many seconds for vectors, then answers and says that some are missing. Default: 60',
    ),
})
export type ContextSettings = Readonly<z.output<typeof settingsSchema>>

/** Throws `invalid_argument` and `unknown_field`, naming the setting. */
export function checkSettings(given: unknown): ContextSettings {
  return parseInput(settingsSchema, given ?? {}, 'lenses.context')
}
