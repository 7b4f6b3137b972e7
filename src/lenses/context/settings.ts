/** The lens's part of the configuration. */
import { isRecord } from '../../base/record.ts'
import { invalidArgument } from '../../model/errors.ts'

export interface ContextSettings {
  /** Semantic matches below this cosine are dropped (CX-021). */
  readonly least_score: number
  /** And those below this share of the best one. */
  readonly least_share: number
}

export const DEFAULTS: ContextSettings = { least_score: 0.2, least_share: 0.6 }

/** What each may be and means, for the reference. */
export const SETTING_TEXTS: Readonly<Record<string, { readonly values: string; readonly means: string }>> = {
  least_score: { values: 'number, 0 to 1', means: 'Matches by meaning below this cosine are dropped' },
  least_share: { values: 'number, 0 to 1', means: 'Matches by meaning below this share of the best one are dropped' },
}

/** Throws `invalid_argument` for unknown names and values out of range. */
export function checkSettings(given: unknown): ContextSettings {
  if (given === undefined || given === null) return DEFAULTS
  if (!isRecord(given)) throw invalidArgument('lenses.context', given, 'an object')
  for (const name of Object.keys(given)) {
    if (!(name in DEFAULTS)) throw invalidArgument(`lenses.context.${name}`, given[name], 'least_score or least_share')
  }
  const share = (name: keyof ContextSettings): number => {
    const value = given[name] ?? DEFAULTS[name]
    if (typeof value === 'number' && value >= 0 && value <= 1) return value
    throw invalidArgument(`lenses.context.${name}`, value, 'a number from 0 to 1')
  }
  return { least_score: share('least_score'), least_share: share('least_share') }
}
