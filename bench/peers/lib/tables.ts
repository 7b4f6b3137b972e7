/** Columns of a row, in one order for all peers that keep tables. */
import type { Fields, Item } from './item.ts'

export const FIELDS: readonly (keyof Fields)[] = ['bucket', 'half', 'twentieth', 'twohundredth']

export function valuesOf({ fields }: Item): number[] {
  return FIELDS.map(field => fields[field])
}

/** The bytes of a vector as most databases take them. */
export function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}
