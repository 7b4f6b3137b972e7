/**
 * Second pass of a search: approximate scores of rows (encoded vectors) from their int8 components, with a bound on the error. A row is
 * kept if its score could be one of the k best given the error bounds, so the k best entries are certainly among the kept rows; exact f32
 * vectors then decide which they are.
 */
import { bar, closeBest, offer, openBest, size } from './best'
import { allows, entryOf, int8Of, scaleOf, width } from './layout'
import { product } from './product'

/** Address of the query's components rounded to i16. */
let query: usize = 0
/**
 * Constants of the query. The value (approximate cosine) of a row is factor × scale × integer product of row and query; its error is at
 * most slope × scale + offset, plus rounding.
 */
let factor: f64 = 0
let slope: f64 = 0
let offset: f64 = 0
let allow: usize = 0
let out: usize = 0
let kept: u32 = 0
/** Number of records of kept rows (those that may be among the best) that earlier calls of `entered` have examined. */
let counted: u32 = 0

/** Kept rows hold their approximate cosine as an f32. This is an upper bound on the relative error of rounding it to f32. */
const ROUNDING: f64 = 1.3e-7

export function setQuestion(at: usize, perProduct: f64, errorSlope: f64, errorOffset: f64): void {
  query = at
  factor = perProduct
  slope = errorSlope
  offset = errorOffset
}

/**
 * Factor on the bounds on the error of scores. 1: errors are taken into account. 0: approximate scores are treated as exact; then the
 * choice of rows does not depend on the errors of other rows, which may be hidden from the viewer.
 */
let doubt: f64 = 1

/**
 * Begins a pass that finds the k entries with the best approximate cosines, if at least `least`. Kept rows are written to `to` as records:
 * slot (place of the row in memory, u32), approximate cosine (f32), its upper bound (f64).
 */
export function openRank(
  k: u32,
  heap: usize,
  places: usize,
  bits: usize,
  to: usize,
  least: f64,
  exact: i32,
): void {
  doubt = exact ? 1 : 0
  openBest(heap, places, k, least)
  allow = bits
  out = to
  kept = 0
  counted = 0
}

export function rank(extents: usize, n: i32): void {
  for (let i = 0; i < n; i++) {
    const first = load<u32>(extents + (<usize>i << 3))
    const end = first + load<u32>(extents + (<usize>i << 3), 4)
    let p = int8Of(first)
    for (let slot = first; slot < end; slot++, p += width) weigh(slot, p)
  }
}

export function rankList(list: usize, n: i32): void {
  const end = list + (<usize>n << 2)
  while (list < end) {
    const stop = min(list + (BATCH << 2), end)
    touch(list, stop)
    for (; list < stop; list += 4) {
      const slot = load<u32>(list)
      weigh(slot, int8Of(slot))
    }
  }
}

/**
 * Number of rows that are read ahead into the cache before their products are computed: 24 kB at 384 components, which fits the first-level
 * caches.
 */
const BATCH: usize = 64
let touched: i32 = 0

/**
 * Reads one byte of each cache line of the listed rows, so that their products find them in the cache. Rows of a list are far apart in
 * memory; these independent reads run in parallel, while products would wait for one row after the other. This reduces the time to a third
 * (WebAssembly has no prefetch instruction).
 */
function touch(list: usize, end: usize): void {
  let bytes: i32 = 0
  for (; list < end; list += 4) {
    const row = int8Of(load<u32>(list))
    for (let at: usize = 0; at < width; at += 64) bytes ^= <i32>load<u8>(row + at)
  }
  touched = bytes
}

/**
 * Number of rows kept since the last call of this function, or since the pass began, that may still be among the best: their upper bound
 * reaches the k-th greatest lower bound of all entries. The number does not depend on the order of rows.
 */
export function entered(): u32 {
  const least = bar()
  let n: u32 = 0
  for (; counted < kept; counted++) n += <u32>(load<f64>(out + (<usize>counted << 4), 8) >= least)
  return n
}

/**
 * Ends the pass: drops the records of rows (encoded vectors) that cannot be among the best, because their upper bound is below the k-th
 * greatest lower bound of all entries. Returns how many records are left.
 */
export function closeRank(): u32 {
  const least = bar()
  let n: u32 = 0
  for (let i: u32 = 0; i < kept; i++) {
    const record = out + (<usize>i << 4)
    if (load<f64>(record, 8) < least) continue
    const to = out + (<usize>(n++) << 4)
    store<u64>(to, load<u64>(record))
    store<f64>(to, load<f64>(record, 8), 8)
  }
  closeBest()
  return n
}

/** Number of different entries among the best of the current or last pass; at most k. */
export function entriesFound(): u32 {
  return size
}

/**
 * For each listed row (encoded vector), computes its approximate cosine with the query and an upper bound on the error of this cosine.
 * Writes them as pairs of f64 to `to`.
 */
export function values(list: usize, n: i32, to: usize): void {
  for (let i = 0; i < n; i++, to += 16) {
    const slot = load<u32>(list + (<usize>i << 2))
    const scale = <f64>load<f32>(scaleOf(slot))
    const value = factor * scale * <f64>product(int8Of(slot), query)
    const error = slope * scale + offset + abs(value) * ROUNDING
    store<f64>(to, value)
    store<f64>(to, error, 8)
  }
}

// @ts-ignore: decorator
@inline
function weigh(slot: u32, row: usize): void {
  const scale = <f64>load<f32>(scaleOf(slot))
  const value = factor * scale * <f64>product(row, query)
  const error = doubt * (slope * scale + offset + abs(value) * ROUNDING)
  if (value + error >= bar()) stay(slot, value, error)
}

function stay(slot: u32, value: f64, error: f64): void {
  if (allow && !allows(allow, slot)) return
  store<u32>(out + (<usize>kept << 4), slot)
  store<f32>(out + (<usize>kept << 4), <f32>value, 4)
  store<f64>(out + (<usize>kept << 4), value + error, 8)
  kept++
  offer(load<u32>(entryOf(slot)), value - error)
}
