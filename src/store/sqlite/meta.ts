/** Named texts of the store itself, and its revision. */
import { checkOf, damaged, isDamage, isWhole } from './rows.ts'
import type { SqlDatabase } from './sql-driver.ts'

/** Throws `store_corrupt` where it is damaged. */
export function readMeta(db: SqlDatabase, name: string): string | undefined {
  const row = db
    .prepareArrays<[string, string, number]>('select name, value, _check from meta where name = ?')
    .get(name)
  if (row === undefined) return undefined
  if (!isWhole(row) || row[0] !== name)
    throw damaged(`the store's own value ${JSON.stringify(name)}`, { table: 'meta', key: name })
  return row[1]
}

/** For values that can be made again: one that is damaged is taken for none. */
export function readSoundMeta(db: SqlDatabase, name: string): string | undefined {
  try {
    return readMeta(db, name)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

export function writeMeta(db: SqlDatabase, name: string, value: string): void {
  db.prepare(
    `insert into meta (name, value, _check) values (?, ?, ?)
     on conflict do update set value = excluded.value, _check = excluded._check`,
  ).run(name, value, checkOf([name, value]))
}

// How often the store was changed, kept in the file: by it a process tells that another one changed something, and did not
// only use it or renew a lease, which happens with every question.

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
