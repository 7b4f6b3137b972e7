/** What a problem in a store file is, and how it can be repaired; and helpers for checks. */
import type { Instant } from '../../base/clock.ts'
import type { SqlDatabase } from '../sqlite/node-sqlite.ts'

export interface Problem {
  /** What is wrong, with the number of cases and some examples. */
  readonly what: string
  /** Advice for the user: how the problem is repaired, or what to do where it cannot be repaired from the store's own data. */
  readonly help: string
  /**
   * Repairs the problem inside a write transaction, and returns a text on what was done. Null: it cannot be repaired, since nothing in the
   * store contains the correct value.
   */
  readonly repair: ((db: SqlDatabase, now: Instant) => string) | null
}

/** Result of a check of one part of a store file, for the report. */
export interface StoreFinding {
  readonly check: string
  readonly ok: boolean
  readonly message: string
  readonly help: string | null
  /** Whether `repairStore` can repair the problems of this finding. */
  readonly isRepairable: boolean
}

export function sound(check: string, message: string): StoreFinding {
  return { check, ok: true, message, help: null, isRepairable: false }
}

/** A check of the store by SQL; it only reads. */
export interface Check {
  readonly name: string
  /** Message of the check when it finds nothing wrong. */
  readonly sound: string
  look(db: SqlDatabase): readonly Problem[]
}

export const REPAIR_HELP = 'Run `querent doctor --repair`.'
export const RESTORE_HELP =
  'Restore a backup, or take what can be read into a new store: `querent export --skip-damaged`.'

/** Number of examples shown for one kind of problem, besides its number of cases. */
const EXAMPLES = 5

/**
 * Describes a problem with its number of cases and examples, such as `3 vectors of a wrong length (chunks 5, 8, 9)`; null when there are no
 * cases.
 */
export function problemOf(
  found: readonly (string | number)[],
  one: string,
  many: string,
  rest: Pick<Problem, 'help' | 'repair'>,
): Problem | null {
  if (found.length === 0) return null
  const shown = found.slice(0, EXAMPLES).join(', ')
  const more = found.length > EXAMPLES ? ', …' : ''
  return { what: `${counted(found.length, one, many)} (${shown}${more})`, ...rest }
}

export function those(problems: readonly (Problem | null)[]): readonly Problem[] {
  return problems.filter(problem => problem !== null)
}

/** A number with its noun in the right form: `1 row`, `2 rows`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Parses JSON; undefined where the text is no valid JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
