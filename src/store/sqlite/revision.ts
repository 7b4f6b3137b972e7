/**
 * How often the store was changed, kept in the file: by it a process tells that another one changed something, and did not
 * only use it or renew a lease, which happens with every question.
 */
import { readSoundMeta, writeMeta } from './meta.ts'
import type { SqlDatabase } from './sql-driver.ts'

const NAME = 'revision'

export class Revision {
  readonly #db: SqlDatabase
  /** The last one that is known here; undefined: none was looked at. */
  #known: number | undefined
  /** What it is when the running transaction is committed; undefined: others have changed something meanwhile. */
  #next: number | undefined

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  /** Whether others have changed something since this was asked last. */
  hasMoved(): boolean {
    const now = revisionOf(this.#db)
    const moved = now !== this.#known
    this.#known = now
    return moved
  }

  /** The running transaction changes something, and is about to be committed. */
  advance(): void {
    const [before, after] = advanceRevision(this.#db)
    this.#next = before === this.#known ? after : undefined
  }

  /** It was committed. What others did remains to be noticed. */
  committed(): void {
    this.#known = this.#next ?? this.#known
    this.#next = undefined
  }
}

/** For whoever writes past a store, within the transaction. */
export function advanceRevision(db: SqlDatabase): readonly [before: number, after: number] {
  const before = revisionOf(db)
  writeMeta(db, NAME, String(before + 1))
  return [before, before + 1]
}

function revisionOf(db: SqlDatabase): number {
  return Number(readSoundMeta(db, NAME) ?? 0)
}
