/**
 * Divides rows (encoded vectors) into cells: each row belongs to the pivot, one of the rows, with the greatest cosine to it. All arithmetic
 * is on int8 integers, except for one product with the pivot's inverse length, so that equal rows are divided equally on every machine.
 */
import { int8Of, width } from './layout'

/** Number of rows that `assign` compares with a pivot at once; `ASSIGNED_ROWS` in the host. */
const TOGETHER = 4

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
 * row at the centre of a cell. `inverses`: 1 / length of each pivot (f64). Writes each pivot's position in the list of pivots (u32) to `to`.
 * The pivots do not fit into the processor's first cache, so each is read once for `TOGETHER` rows, which do. `room`: space for so many
 * rows as i16 and their greatest cosines (f64).
 */
export function assign(list: usize, n: i32, pivots: usize, inverses: usize, m: i32, room: usize, to: usize): void {
  const greatest = room + width * 2 * TOGETHER
  for (let i = 0; i < n; i += TOGETHER) {
    // The last group repeats its last row.
    const b = min(i + 1, n - 1)
    const c = min(i + 2, n - 1)
    const d = min(i + 3, n - 1)
    begin(rowOf(list, i), room, greatest, 0)
    begin(rowOf(list, b), room, greatest, 1)
    begin(rowOf(list, c), room, greatest, 2)
    begin(rowOf(list, d), room, greatest, 3)
    for (let j = 0; j < m; j++) {
      const sums = products(rowOf(pivots, j), room)
      const inverse = load<f64>(inverses + (<usize>j << 3))
      keep(<f64>i32x4.extract_lane(sums, 0) * inverse, greatest, to + (<usize>i << 2), j)
      keep(<f64>i32x4.extract_lane(sums, 1) * inverse, greatest + 8, to + (<usize>b << 2), j)
      keep(<f64>i32x4.extract_lane(sums, 2) * inverse, greatest + 16, to + (<usize>c << 2), j)
      keep(<f64>i32x4.extract_lane(sums, 3) * inverse, greatest + 24, to + (<usize>d << 2), j)
    }
  }
}

function begin(row: usize, room: usize, greatest: usize, which: usize): void {
  widen(row, room + which * width * 2)
  store<f64>(greatest + (which << 3), -Infinity)
}

// @ts-ignore: decorator
@inline
function keep(value: f64, greatest: usize, to: usize, pivot: i32): void {
  if (value > load<f64>(greatest)) {
    store<f64>(greatest, value)
    store<u32>(to, pivot)
  }
}

/** The integer products of the int8 components at `p` with each of the four rows of i16 components that follow one another from `q` on. */
// @ts-ignore: decorator
@inline
function products(p: usize, q: usize): v128 {
  let a = i32x4.splat(0)
  let b = i32x4.splat(0)
  let c = i32x4.splat(0)
  let d = i32x4.splat(0)
  const qb = q + width * 2
  const qc = q + width * 4
  const qd = q + width * 6
  for (let at: usize = 0; at < width; at += 16) {
    let part = v128.load_ext<i8>(p + at)
    const low = at << 1
    a = i32x4.add(a, i32x4.dot_i16x8_s(part, v128.load(q + low)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(part, v128.load(qb + low)))
    c = i32x4.add(c, i32x4.dot_i16x8_s(part, v128.load(qc + low)))
    d = i32x4.add(d, i32x4.dot_i16x8_s(part, v128.load(qd + low)))
    part = v128.load_ext<i8>(p + at, 8)
    a = i32x4.add(a, i32x4.dot_i16x8_s(part, v128.load(q + low, 16)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(part, v128.load(qb + low, 16)))
    c = i32x4.add(c, i32x4.dot_i16x8_s(part, v128.load(qc + low, 16)))
    d = i32x4.add(d, i32x4.dot_i16x8_s(part, v128.load(qd + low, 16)))
  }
  // Transposed, so that one addition per step sums the lanes of all four.
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7))
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7))
  return i32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7))
}

// @ts-ignore: decorator
@inline
function rowOf(list: usize, i: i32): usize {
  return int8Of(load<u32>(list + (<usize>i << 2)))
}

function widen(p: usize, to: usize): void {
  for (const end = p + width; p < end; p += 8, to += 16) v128.store(to, v128.load_ext<i8>(p))
}
