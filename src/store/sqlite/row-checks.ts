/**
 * A check sum in every row, so that damage of the file that SQLite does not notice is never read as data. Each table but
 * `identity`, `entry_tags` and `entry_values` (whose rows repeat what entries hold) has a column `_check`: the CRC-32 of
 * the row's other cells. It finds every burst of up to 32 bits and all but one in four thousand million others. It is no
 * defence against somebody who edits the file on purpose.
 */
import { crc32 } from 'node:zlib'
import type { JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import type { SqlValue } from './sql-driver.ts'

/** Declared columns begin with a letter, so no lens can have a column of this name. */
export const CHECK = '_check'

/** Longer texts are summed on their own instead of being copied into one text with the other cells. */
const LONG = 256

/**
 * Signed, 32 bits. Cells in the order of the table's columns, `_check` left out. A null counts as nothing, so that a
 * column that the table grows at its end leaves the check of older rows as it is. `from` and `to` (excluded) take a part.
 */
export function checkOf(cells: readonly SqlValue[], from = 0, to: number = cells.length): number {
  let short = ''
  let sum = 0
  for (let at = from; at < to; at++) {
    const cell = cells[at] as SqlValue
    if (cell === null) continue
    if (typeof cell === 'number') short += `n${at - from}:${cell}`
    else if (typeof cell === 'string' && cell.length <= LONG) short += `t${at - from}:${cell}`
    else {
      sum = crc32(cell, sum)
      short += `${typeof cell === 'string' ? 't' : 'b'}${at - from}:${cell.length}`
    }
  }
  return crc32(short, sum) | 0
}

/** Whether a row is as it was written; its check is its last cell. `from` and `to` (excluded) take a part. */
export function isWhole(row: readonly SqlValue[], from = 0, to: number = row.length): boolean {
  return row[to - 1] === checkOf(row, from, to - 1)
}

/** A row with its check, as it is written. */
export function checked(cells: readonly SqlValue[]): SqlValue[] {
  return [...cells, checkOf(cells)]
}

/** `what` names the place for a person, `details` for a program (`id`, or `table` and `key`). */
export function damaged(what: string, details: JsonObject, cause?: unknown): QuerentError {
  const message = `${what}: what is stored is damaged; delete it or write it again, or restore a backup`
  return new QuerentError('store_corrupt', message, details, cause)
}

export function isDamage(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.code === 'store_corrupt'
}

/**
 * What happens where a row is damaged: normally the read throws `store_corrupt`; inside `around` the row is left out and
 * reported. One for each connection.
 */
export class DamagePolicy {
  #report: ((damage: QuerentError) => void) | null = null

  get isAround(): boolean {
    return this.#report !== null
  }

  around<T>(report: (damage: QuerentError) => void, body: () => T): T {
    const outer = this.#report
    this.#report = report
    try {
      return body()
    } finally {
      this.#report = outer
    }
  }

  /** Throws the damage, or reports it. Anything that is no damage is always thrown. */
  met(error: unknown): void {
    if (this.#report === null || !isDamage(error)) throw error
    this.#report(error)
  }
}
