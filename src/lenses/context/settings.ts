/** The lens's part of the configuration. */
import { isRecord } from '../../base/record.ts'
import { invalidArgument } from '../../model/errors.ts'

/** A day: timers hold no more than 24 of them. */
const MAX_WAIT = 86_400

export interface ContextSettings {
  /** Semantic matches below this cosine are dropped (CX-021). */
  readonly least_score: number
  /** And those below this share of the best one. */
  readonly least_share: number
  /** A run that finds more files than this reads none of them (CX-075). */
  readonly max_files: number
  /** Longest wait of an operation for vectors, in seconds. */
  readonly max_wait: number
}

export const DEFAULTS: ContextSettings = { least_score: 0.2, least_share: 0.6, max_files: 50_000, max_wait: 60 }

/** What each may be and means, for the reference. */
export const SETTING_TEXTS: Readonly<Record<string, { readonly values: string; readonly means: string }>> = {
  least_score: { values: 'number, 0 to 1', means: 'Matches by meaning below this cosine are dropped' },
  least_share: { values: 'number, 0 to 1', means: 'Matches by meaning below this share of the best one are dropped' },
  max_files: {
    values: 'integer, 1 or more',
    means: 'A run of `context.index` that finds more files reads none of them',
  },
  max_wait: {
    values: 'number of seconds, 0 or more',
    means:
      'Over HTTP and MCP `context.index` waits at most so long for vectors, then answers and says that some are missing',
  },
}

/** Throws `invalid_argument` for unknown names and values out of range. */
export function checkSettings(given: unknown): ContextSettings {
  if (given === undefined || given === null) return DEFAULTS
  if (!isRecord(given)) throw invalidArgument('lenses.context', given, 'an object')
  for (const name of Object.keys(given)) {
    if (!(name in DEFAULTS)) {
      throw invalidArgument(
        `lenses.context.${name}`,
        given[name],
        Object.keys(DEFAULTS)
          .join(', ')
          .replace(/, (?=\w+$)/, ' or '),
      )
    }
  }
  const number = (name: keyof ContextSettings, isValid: (value: number) => boolean, wanted: string): number => {
    const value = given[name] ?? DEFAULTS[name]
    if (typeof value === 'number' && isValid(value)) return value
    throw invalidArgument(`lenses.context.${name}`, value, wanted)
  }
  const share = (name: keyof ContextSettings) => number(name, value => value >= 0 && value <= 1, 'a number from 0 to 1')
  return {
    least_score: share('least_score'),
    least_share: share('least_share'),
    max_files: number('max_files', value => Number.isSafeInteger(value) && value >= 1, 'a whole number from 1'),
    max_wait: number('max_wait', value => value >= 0 && value <= MAX_WAIT, `a number of seconds from 0 to ${MAX_WAIT}`),
  }
}
