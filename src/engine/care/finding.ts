/** What the doctor found out in one place, and how to mend it. */
import { QuerentError } from '../../model/errors.ts'
import { RESTORE_HELP, type StoreFinding } from '../../store/care/problem.ts'
import type { Examination, Finding } from '../engine.ts'

export interface Examined extends Finding {
  /** Null: there is nothing to mend, or nothing says how it should be. `store`: by mending the store file. */
  readonly mend: (() => string | Promise<string>) | 'store' | null
}

export function finding(
  check: string,
  ok: boolean,
  message: string,
  help: string | null = null,
  mend: Examined['mend'] = null,
): Examined {
  return { check, ok, message, help: ok ? null : help, repaired: null, mend }
}

/** What the store's own examination found. */
export function ofStore({ check, ok, message, help, isMendable }: StoreFinding): Examined {
  return finding(check, ok, message, help, isMendable ? 'store' : null)
}

/** As `looked`, for a look that pauses or waits. */
export async function lookedLong(
  check: string,
  look: () => Promise<readonly Examined[]>,
): Promise<readonly Examined[]> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'cancelled') throw error
    return looked(check, () => {
      throw error
    })
  }
}

/** One that cannot even look has found something too, and keeps nobody from the other findings. */
export function looked(check: string, look: () => readonly Examined[]): readonly Examined[] {
  try {
    return look()
  } catch (error) {
    if (error instanceof QuerentError) return [finding(check, false, error.message, helpOf(error))]
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return [finding(check, false, (error as Error).message, 'Check the path, its permissions and the free space.')]
  }
}

/** What to do about it: a damaged store is still here, and may be read in part. */
export function helpOf({ code, help }: QuerentError): string {
  return code === 'store_corrupt' ? RESTORE_HELP : help
}

/** All of them, without what only a repair needs. */
export function examination(findings: readonly Finding[], backup: string | null = null): Examination {
  const told = findings.map(({ check, ok, message, help, repaired }) => ({ check, ok, message, help, repaired }))
  return { ok: told.every(({ ok }) => ok), findings: told, backup }
}
