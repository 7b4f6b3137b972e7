/** A problem in a store file: what can be done about it, and how its JSON is read. */
import type { Instant } from '../../base/clock.ts'
import type { SqlDatabase } from '../sqlite/node-sqlite.ts'

export interface Problem {
  /** What is wrong, with the number of cases and some examples. */
  readonly what: string
  /** What to do where the problem cannot be repaired from the store's own data. */
  readonly help: string
  /** Repairs the problem inside a write transaction; returns what was done. Null: nothing in the store tells the correct value. */
  readonly repair: ((db: SqlDatabase, now: Instant) => string) | null
}

/** Finding about one part of a store file. */
export interface StoreFinding {
  readonly check: string
  readonly ok: boolean
  readonly message: string
  readonly help: string | null
  /** Whether `repairStore` can repair this. */
  readonly isRepairable: boolean
}

export function sound(check: string, message: string): StoreFinding {
  return { check, ok: true, message, help: null, isRepairable: false }
}

/** One check of the store by SQL; only reads. */
export interface Check {
  readonly name: string
  /** Message when nothing is wrong. */
  readonly sound: string
  look(db: SqlDatabase): readonly Problem[]
}

export const REPAIR_HELP = 'Run `querent doctor --repair`.'
export const RESTORE_HELP =
  'Restore a backup, or take what can be read into a new store: `querent export --skip-damaged`.'

/** Number of examples shown for one kind of problem. */
const EXAMPLES = 5

/** Makes a problem such as `3 vectors of a wrong length (chunks 5, 8, 9)`; null when there are no cases. */
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

/** A number with its noun: `1 row`, `2 rows`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Parsed JSON; undefined: the text is no JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
