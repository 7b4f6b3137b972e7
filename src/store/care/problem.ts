/** One thing that is wrong with a store file, what can be done about it, and how its JSON is read. */
import type { Instant } from '../../base/clock.ts'
import type { SqlDatabase } from '../sqlite/node-sqlite.ts'

export interface Problem {
  /** How much of what, with a few examples. */
  readonly what: string
  /** What to do where it cannot be repaired from what is there. */
  readonly help: string
  /** Inside a write transaction; says what was done. Null: nothing in the store says how it should be. */
  readonly repair: ((db: SqlDatabase, now: Instant) => string) | null
}

/** What was found in one place of a store file. */
export interface StoreFinding {
  readonly check: string
  readonly ok: boolean
  readonly message: string
  readonly help: string | null
  /** Whether `repairStore` knows how this should be. */
  readonly isRepairable: boolean
}

export function sound(check: string, message: string): StoreFinding {
  return { check, ok: true, message, help: null, isRepairable: false }
}

/** Something to look at, in SQL; reads only. */
export interface Check {
  readonly name: string
  /** The message when nothing is wrong. */
  readonly sound: string
  look(db: SqlDatabase): readonly Problem[]
}

export const REPAIR_HELP = 'Run `querent doctor --repair`.'
export const RESTORE_HELP =
  'Restore a backup, or take what can be read into a new store: `querent export --skip-damaged`.'

/** Examples shown of a kind of problem. */
const EXAMPLES = 5

/** `3 vectors of a wrong length (chunks 5, 8, 9)`; null when there are none. */
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

/** `1 row`, `2 rows`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Undefined: it is no JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
