/** Named texts of the store itself, and its revision. */

import type { Forgotten } from '../store.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { checkOf, damaged, isDamage, isWhole } from './rows.ts'

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

const REVISION = 'revision'

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
  writeMeta(db, REVISION, String(before + 1))
  return [before, before + 1]
}

function revisionOf(db: SqlDatabase): number {
  return Number(readSoundMeta(db, REVISION) ?? 0)
}

// The mark that something was deleted or replaced: kept in the file, so that a crash does not lose what is still to erase.

const FORGOTTEN = 'forgotten'

interface Row {
  readonly count: number
  readonly seq: number
  readonly isErased: boolean
}

export class SqliteForgotten {
  readonly #db: SqlDatabase
  #noted = false

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  /** A transaction begins. */
  begin(): void {
    this.#noted = false
  }

  /** The transaction deletes or replaces something that somebody said. */
  note(): void {
    this.#noted = true
  }

  /** The transaction is about to be committed. `told`: the newest change of the feed if it is one of its own, else null. */
  save(told: number | null): void {
    if (!this.#noted) return
    const { count, seq } = this.#read() ?? { count: 0, seq: 0 }
    this.#write({ count: count + 1, seq: told ?? seq, isErased: false })
  }

  get(): Forgotten | null {
    const found = this.#read()
    return found === null ? null : { mark: String(found.count), seq: found.seq, isErased: found.isErased }
  }

  settle(mark: string): void {
    this.#db.write(() => {
      const found = this.#read()
      if (found !== null && String(found.count) === mark) this.#write({ ...found, isErased: true })
      advanceRevision(this.#db)
    })
  }

  #read(): Row | null {
    const text = readSoundMeta(this.#db, FORGOTTEN)
    return text === undefined ? null : (JSON.parse(text) as Row)
  }

  #write(row: Row): void {
    writeMeta(this.#db, FORGOTTEN, JSON.stringify(row))
  }
}
