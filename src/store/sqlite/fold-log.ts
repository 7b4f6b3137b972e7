/** Folds a store's write-ahead log back into its file (what SQLite calls a checkpoint). */
import { must } from '../../base/assert.ts'
import type { Fold } from '../store.ts'
import type { SqlDatabase } from './node-sqlite.ts'

export interface FoldOrder {
  readonly how: Fold
  readonly waitMs: number
}

const MODES: Readonly<Record<Fold, string>> = { some: 'passive', all: 'restart', empty: 'truncate' }

/**
 * Folds the write-ahead log into the file; returns false where something is left to fold. From then on, the connection waits `waitMs` for
 * locks.
 */
export function foldLog(db: SqlDatabase, { how, waitMs }: FoldOrder): boolean {
  db.exec(`pragma busy_timeout = ${waitMs}`)
  // Most of the log is copied first in a way that blocks nobody; the blocking step then only copies the little that was added meanwhile.
  if (how !== 'some') checkpoint(db, 'passive')
  return checkpoint(db, MODES[how])
}

function checkpoint(db: SqlDatabase, mode: string): boolean {
  const row = db.prepareArrays<[busy: number, frames: number, folded: number]>(`pragma wal_checkpoint(${mode})`).get()
  const [busy, frames, folded] = must(row, 'what a checkpoint did')
  return busy === 0 && frames === folded
}
