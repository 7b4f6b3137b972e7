/** Values on their way into SQL and back. */
import type { SqlValue } from './sql-driver.ts'

/** Keys as one value, for `in (select value from json_each(?))`: one statement for lists of any length. */
export function keyList(keys: readonly number[]): string {
  return JSON.stringify(keys)
}

/** `limit ?` takes no infinity. */
export function limitOf(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}

/** What rows by key were asked for, in the order of the keys; those that are missing left out. */
export function inOrder<Row>(keys: readonly number[], rows: readonly Row[], keyOf: (row: Row) => number): Row[] {
  const byKey = new Map(rows.map(row => [keyOf(row), row]))
  return keys.flatMap(key => {
    const row = byKey.get(key)
    return row === undefined ? [] : [row]
  })
}

export function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** Every blob comes out of the driver as a fresh buffer of its own. */
export function vectorOf(blob: Uint8Array): Float32Array {
  return new Float32Array(blob.buffer, blob.byteOffset, blob.byteLength / Float32Array.BYTES_PER_ELEMENT)
}

/** How a truth value is stored where numbers and texts may stand too. */
export function truthValue(flag: boolean): SqlValue {
  return Uint8Array.of(Number(flag))
}
