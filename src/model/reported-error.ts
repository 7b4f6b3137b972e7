/** Reduces an error to the part that an interface may report to a viewer other than the owner. */
import type { Json } from '../base/canonical.ts'
import { isRecord } from '../base/record.ts'
import { type ErrorKind, QuerentError } from './errors.ts'
import { isOwner, type Viewer } from './viewer.ts'

/**
 * Kinds of errors that concern the machine (its files, models or services). Viewers other than the owner learn the kind of problem, but not
 * which file or service.
 */
const OF_MACHINE: ReadonlySet<ErrorKind> = new Set(['busy', 'broken', 'unavailable'])
const PLAIN: Readonly<Partial<Record<string, string>>> = {
  internal: 'internal error',
  store_locked: 'another process is writing to the store',
  store_readonly: 'the store cannot be written',
  store_corrupt: 'the store is damaged',
  store_newer: 'the store was written by a newer version',
}
/** Names of error details that hold paths on this machine. */
const PLACES = ['file', 'path', 'home'] as const

/**
 * Converts any thrown value to a `QuerentError`. An error of another class is a bug in this program, whose text appears only in the
 * server's log.
 */
export function asQuerentError(thrown: unknown): QuerentError {
  return thrown instanceof QuerentError ? thrown : new QuerentError('internal', 'internal error', {}, thrown)
}

/** Function that gives the name of an operation in the interface in use, such as `POST /v1/query` for `query` over HTTP. */
type NamesOperation = (operation: string) => string

/**
 * Where an error's message names an operation (`details.see`) by its library name, replaces this by the name that the interface in use has
 * for it.
 */
export function worded(error: QuerentError, named: NamesOperation): QuerentError {
  const see = error.details['see']
  if (!isRecord(see)) return error
  return error.retold(error.message.replaceAll(String(see['library']), named(String(see['operation']))))
}

/**
 * The error in the form that the viewer may read; null: the requester is not authenticated. The local owner gets everything except the
 * internals of bugs.
 */
export function reportedError(thrown: unknown, viewer: Viewer | null, named?: NamesOperation): QuerentError {
  const error = readable(thrown, viewer)
  return named === undefined ? error : worded(error, named)
}

function readable(thrown: unknown, viewer: Viewer | null): QuerentError {
  const error = asQuerentError(thrown)
  if (error.isOpen || (viewer !== null && isOwner(viewer))) return error
  if (OF_MACHINE.has(error.kind)) {
    // The lens reports a damaged store under an error code of its own, with the reason `store_corrupt`.
    const isDamage = error.details['reason'] === 'store_corrupt'
    const plain = PLAIN[isDamage ? 'store_corrupt' : error.code] ?? 'the service is not able to do this now'
    return error.retold(plain, isDamage ? { reason: 'store_corrupt' } : {}, error)
  }
  const details: Record<string, Json> = { ...error.details }
  let { message } = error
  for (const name of PLACES) {
    const place = details[name]
    if (typeof place === 'string' && place !== '')
      message = message.replaceAll(`${place}: `, '').replaceAll(place, name)
    delete details[name]
  }
  return error.retold(message, details, error)
}
