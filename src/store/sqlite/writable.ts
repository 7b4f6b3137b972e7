/** Whether a connection that is to write can. */
import { accessSync, constants, existsSync } from 'node:fs'
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase } from './sql-driver.ts'

/**
 * Throws `io_failed` where the file may be written, and the connection cannot write it. When a file cannot be opened for
 * writing, SQLite opens it for reading instead and says nothing. That is as it should be with a file that is read-only;
 * but where opening failed for a passing reason (too many open files, say), the connection would refuse every write for
 * as long as it lives.
 */
export function checkWritable(db: SqlDatabase): void {
  try {
    // Changes nothing, and `begin immediate` alone does nothing on a file that was opened for reading. Not to wait for
    // another writer: where there is one, it is the turn that is missing, not the right.
    db.write(() => db.exec('update identity set id = id where false'), 0)
  } catch (error) {
    const code = error instanceof QuerentError ? error.code : ''
    if (code === 'store_locked') return
    if (code !== 'store_readonly') throw error
    if (mayWrite(db.file)) throw openedForReading(db.file, error)
  }
}

/** Why a store could not be opened for writing; where its file lies is not to be written, that is why, whatever failed first. */
export function orReadOnly(error: unknown, file: string): unknown {
  if (!(error instanceof QuerentError) || error.code !== 'io_failed' || !existsSync(file) || mayWrite(file))
    return error
  return new QuerentError('store_readonly', `${file}: cannot be written (it or its disk is read-only)`, { file }, error)
}

/**
 * Whether a reader failed for want of locks only. Even a reader writes them beside the file; where it cannot, it needs
 * none if nobody else has the file open.
 */
export function isLockless(error: unknown, file: string): boolean {
  const code = error instanceof QuerentError ? error.code : ''
  return (code === 'store_readonly' || code === 'io_failed') && !existsSync(`${file}-wal`)
}

function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function openedForReading(file: string, error: unknown): QuerentError {
  const cause = 'it could be opened for reading only, though it may be written'
  return new QuerentError('io_failed', `${file}: ${cause}; try again`, { path: file, cause }, error)
}
