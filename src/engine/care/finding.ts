/** What the doctor found out in one place, and how to mend it. */
import type { Finding } from '../engine.ts'

export interface Examined extends Finding {
  /** Null: there is nothing to mend, or nothing says how it should be. `store`: by mending the store file. */
  readonly mend: (() => string) | 'store' | null
}

export const REPAIR = 'Run `querent doctor --repair`.'

export function finding(
  check: string,
  ok: boolean,
  message: string,
  help: string | null = null,
  mend: Examined['mend'] = null,
): Examined {
  return { check, ok, message, help: ok ? null : help, repaired: null, mend }
}
