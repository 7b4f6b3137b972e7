/** The mark that something was deleted or replaced: kept in the file, so that a crash does not lose what is still to erase. */

import type { Forgotten } from '../upkeep.ts'
import { advanceRevision, readSoundMeta, writeMeta } from './meta.ts'
import type { SqlDatabase } from './sql-driver.ts'

const NAME = 'forgotten'

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
    const text = readSoundMeta(this.#db, NAME)
    return text === undefined ? null : (JSON.parse(text) as Row)
  }

  #write(row: Row): void {
    writeMeta(this.#db, NAME, JSON.stringify(row))
  }
}
