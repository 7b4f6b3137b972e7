/** Mends what the doctor found, where something says how it should be; looks again; and says what it did. */
import { chmodSync, copyFileSync, existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import { copyStore } from '../../store/care/copy-store.ts'
import { mendStore } from '../../store/care/store-care.ts'
import type { Examination } from '../engine.ts'
import { type Examined, examination } from './finding.ts'

/** Names of the copies made beside a store begin so. */
export const COPY_BEFORE_REPAIR = 'store.before-repair-'

export interface RepairInput {
  readonly examine: () => Promise<readonly Examined[]>
  readonly storeFile: string | null
  /** Copies the store before it is written to. */
  readonly backup: boolean
  readonly now: () => Instant
  /** After the store file was mended: what was derived from it is made anew, what it lacks again. */
  readonly follow: () => Promise<void>
}

export async function repair(input: RepairInput): Promise<Examination> {
  const before = await input.examine()
  const done = new Map<string, string[]>()
  const note = (check: string, what: string) => done.set(check, [...(done.get(check) ?? []), what])
  let backup: string | null = null
  if (input.storeFile !== null && before.some(({ mend }) => mend === 'store')) {
    if (input.backup) backup = await backupBeside(input.storeFile, input.now())
    for (const { check, done: what } of mendStore(input.storeFile, input.now())) note(check, what)
    await input.follow()
  }
  for (const { check, mend } of before) {
    if (typeof mend === 'function') note(check, await attempt(mend))
  }
  if (done.size === 0) return examination(before)
  const after = await input.examine()
  // A check that looked no further for damage tells more once that is mended.
  const gone = before.filter(({ check }) => done.has(check) && !after.some(one => one.check === check))
  const told = [...gone, ...after].map(one => ({ ...one, repaired: done.get(one.check)?.join('; ') ?? null }))
  return examination(told, backup)
}

/** What cannot be mended keeps nobody from mending the rest; the finding stays. */
async function attempt(mend: () => string | Promise<string>): Promise<string> {
  try {
    return await mend()
  } catch (error) {
    if (error instanceof QuerentError) return `not mended: ${error.message}`
    throw error
  }
}

async function backupBeside(storeFile: string, now: Instant): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  const to = join(dirname(storeFile), `${COPY_BEFORE_REPAIR}${stamp}.db`)
  try {
    const { path } = await copyStore({ from: storeFile, to, overwrite: true })
    return path
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'store_corrupt') throw error
    return copyOfDamaged(storeFile, to)
  }
}

/** Byte for byte, with its log: SQLite cannot read it. */
function copyOfDamaged(storeFile: string, to: string): string {
  for (const end of ['', '-wal']) {
    rmSync(to + end, { force: true })
    if (!existsSync(storeFile + end)) continue
    copyFileSync(storeFile + end, to + end)
    chmodSync(to + end, 0o600)
  }
  return to
}
