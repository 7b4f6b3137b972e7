/** Errors of SQLite in our words. */
import { QuerentError } from '../../model/errors.ts'

/** Primary result codes (https://sqlite.org/rescode.html); extended ones carry them in their low byte. */
const ERROR = 1
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const NOTADB = 26

/** The error as it may leave the store; anything that is not SQLite's passes unchanged. */
export function ofSqlite(error: unknown, file: string): unknown {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown }
  // Only numbers that JavaScript holds are ever written, so a larger one is damage.
  if (code === 'ERR_OUT_OF_RANGE') {
    return new QuerentError('store_corrupt', `${file}: damaged (a number is out of range)`, { file }, error)
  }
  if (typeof errcode !== 'number') return error
  const cause = String(message)
  // Statements are right for the tables of this version, so it is the list of tables that is damaged, or the header.
  if (
    (errcode & 255) === ERROR &&
    /^(no such (table|column|index)|malformed database schema|unsupported file format)/.test(cause)
  ) {
    return new QuerentError(
      'store_corrupt',
      `${file}: its header or its list of tables is damaged (${cause})`,
      { file },
      error,
    )
  }
  switch (errcode & 255) {
    case BUSY:
    case LOCKED:
      return new QuerentError('store_locked', `${file}: another process is writing; waited in vain`, { file }, error)
    case READONLY:
      return new QuerentError('store_readonly', `${file}: cannot be written (${cause})`, { file }, error)
    case CORRUPT:
    case NOTADB:
      return new QuerentError('store_corrupt', `${file}: damaged, or not a store (${cause})`, { file }, error)
    case IOERR:
    case FULL:
    case CANTOPEN:
      return new QuerentError('io_failed', `${file}: ${cause}`, { path: file, cause }, error)
    case TOOBIG:
      return new QuerentError('too_large', `a value is larger than the store can hold (${cause})`, { file }, error)
    default:
      return new QuerentError('internal', `${file}: SQLite refused (${cause})`, { errcode }, error)
  }
}
