/**
 * Divides rows (encoded vectors) into cells: each row belongs to the pivot, one of the rows, with the greatest cosine to it. All arithmetic
 * is on int8 integers, except for one product with the pivot's inverse length, so that equal rows are divided equally on every machine.
 */
import { int8Of, width } from './layout'
import { product } from './product'

/** A 53-bit hash of the row's int8 components. The hash decides whether a row is a pivot (centre of a cell), and identifies the pivot. */
export function keyOf(slot: u32): f64 {
  let p = int8Of(slot)
  const end = p + width
  let hash: u64 = 0x9e3779b97f4a7c15
  for (; p < end; p += 8) {
    hash = (hash ^ load<u64>(p)) * 0xff51afd7ed558ccd
    hash ^= hash >> 32
  }
  hash *= 0xc4ceb9fe1a85ec53
  return <f64>((hash ^ (hash >> 29)) >> 11)
}

/** The inverse length of a row, computed from its int8 components: 1 / √(sum of their squares). */
export function inverseLength(slot: u32): f64 {
  let p = int8Of(slot)
  const end = p + width
  let square: i64 = 0
  for (; p < end; p++) square += <i64>load<i8>(p) * <i64>load<i8>(p)
  return 1 / sqrt(<f64>square)
}

/**
 * For each of the `n` listed rows (encoded vectors), finds the pivot with the greatest cosine to it, the first one on ties. A pivot is the
 * row at the centre of a cell. `inverses`: 1 / length of each pivot (f64). `room`: space for one row as i16. Writes each pivot's position
 * in the list of pivots (u32) to `to`.
 */
export function assign(list: usize, n: i32, pivots: usize, inverses: usize, m: i32, room: usize, to: usize): void {
  for (let i = 0; i < n; i++) {
    widen(int8Of(load<u32>(list + (<usize>i << 2))), room)
    let most = -Infinity
    let nearest = 0
    for (let j = 0; j < m; j++) {
      const inverse = load<f64>(inverses + (<usize>j << 3))
      const value = <f64>product(int8Of(load<u32>(pivots + (<usize>j << 2))), room) * inverse
      if (value > most) {
        most = value
        nearest = j
      }
    }
    store<u32>(to + (<usize>i << 2), nearest)
  }
}

function widen(p: usize, to: usize): void {
  for (const end = p + width; p < end; p += 8, to += 16) v128.store(to, v128.load_ext<i8>(p))
}
