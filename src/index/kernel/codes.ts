/**
 * First pass of an approximate search: keeps the rows (encoded vectors) whose sign codes are within a limit on the Hamming distance to the
 * query's. When enough rows are within a lower limit, the limit is lowered. It never rises, so no row within the final limit is missed. The
 * loops are in `codes-scan.ts`.
 */
import { farthest, setCode } from './hamming'
import { allows, codeBytes, codeOf } from './layout'
import { reach, span } from './rotate'

/** Address of a table of counters: the number of kept rows at each Hamming distance (u32). */
let counts: usize = 0
let out: usize = 0
/** Address of the end of the records of kept rows (slot and distance) written so far. */
export let to: usize = 0
/**
 * `within`: number of rows (encoded vectors) kept so far whose distance is within the present limit. `wanted`: number of rows that the
 * search wants.
 */
let within: u32 = 0
let wanted: u32 = 0
/** The present limit: the largest Hamming distance at which a row is kept. */
export let limit: i32 = 0

/** Number of rows (encoded vectors) that are scanned between two attempts to lower the limit on the Hamming distance. */
export const BATCH: u32 = 256
/**
 * If more than one in `MANY` rows of the last batch was kept, `many` becomes true; the scanning loops then avoid branches, which would
 * often be mispredicted.
 */
const MANY: u32 = 32
export let many = true

/**
 * Begins a scan for the `enough` rows (encoded vectors) nearest to the query. `distances`: space for width + 1 counters (u32), one for each
 * Hamming distance. `records`: where the kept rows are written as pairs of slot (place in memory) and distance (u32 each).
 */
export function openCodes(question: usize, distances: usize, records: usize, enough: u32): void {
  setCode(question)
  counts = distances
  out = records
  to = records
  within = 0
  wanted = enough
  limit = farthest()
  many = true
  clearCounts()
}

/** Records a row within the limit; returns the end of the records. */
// @ts-ignore: decorator
@inline
export function keep(record: usize, slot: u32, distance: i32): usize {
  store<u32>(record, slot)
  store<i32>(record, distance, 4)
  const count = counts + (<usize>distance << 2)
  store<u32>(count, load<u32>(count) + 1)
  return record + 8
}

/** Adds records of kept rows to the table of counters by distance, for loops that write records without counting them. */
export function countFrom(record: usize, end: usize): void {
  for (; record < end; record += 8) {
    const count = counts + (<usize>load<u32>(record, 4) << 2)
    store<u32>(count, load<u32>(count) + 1)
  }
}

/**
 * Counts the records of kept rows up to the address `end`, then lowers the limit on the Hamming distance as far as possible with at least
 * the wanted number of rows still within it.
 */
export function tighten(end: usize): void {
  const fresh = <u32>((end - to) >> 3)
  many = fresh * MANY > BATCH
  within += fresh
  to = end
  let last = load<u32>(counts + (<usize>limit << 2))
  while (within - last >= wanted) {
    within -= last
    last = load<u32>(counts + (<usize>(--limit) << 2))
  }
}

/**
 * Ends the scan: replaces the records of kept rows by a list of the slots (places in memory) of those rows that are within the final limit
 * on the distance. Returns the number of rows in the list.
 */
export function closeCodes(): i32 {
  let list = out
  for (let record = out; record < to; record += 8) {
    const near = load<i32>(record, 4) <= limit
    store<u32>(list, load<u32>(record))
    list += <usize>near << 2
  }
  return <i32>((list - out) >> 2)
}

/**
 * Ends a scan that kept more rows (encoded vectors) than `enough`, and leaves the `enough` nearest ones (with ties) whose entries are in
 * the bit set `bits`. If too few were kept although rows beyond the final distance limit may also be in the set, returns -1 minus the
 * number found.
 */
export function closeCodesIn(bits: usize, enough: u32): i32 {
  dropFar()
  clearCounts()
  let end = out
  for (let record = out; record < to; record += 8) {
    const good = <u32>allows(bits, load<u32>(record))
    const count = counts + (<usize>load<u32>(record, 4) << 2)
    store<u32>(count, load<u32>(count) + good)
    store<u64>(end, load<u64>(record))
    end += <usize>good << 3
  }
  to = end
  const found = <u32>((end - out) >> 3)
  if (found < enough && limit < farthest()) return -1 - <i32>found
  let sum: u32 = 0
  for (let distance = 0; distance <= limit; distance++) {
    sum += load<u32>(counts + (<usize>distance << 2))
    if (sum >= enough) limit = distance
  }
  return closeCodes()
}

/**
 * State of the last sort of rows by inner product. `sorted`: number of sorted rows. `level`: the last group of rows with equal rank that
 * `wholeLevels` has included in its result.
 */
let sorted: i32 = 0
let level: i32 = 0

/**
 * Sorts the listed rows (encoded vectors) by the inner product of their sign codes (bits 0 and 1) with the query's components in 16 steps,
 * greatest first. Rows of equal rank form a level and keep their order. Returns the address of the sorted list, behind the given list.
 * `room`: space of the same size for the ranks.
 */
export function sortCodes(list: usize, n: i32, planes: usize, room: usize): usize {
  let shift = 0
  while (span >> shift > farthest()) shift++
  const bytes = <usize>n << 2
  clearCounts()
  for (let at: usize = 0; at < bytes; ) {
    const stop = min(at + (TOUCHED << 2), bytes)
    touch(list + at, list + stop)
    for (; at < stop; at += 4) {
      const rank = (reach - agreement(codeOf(load<u32>(list + at)), planes)) >> shift
      store<i32>(room + at, rank)
      const count = counts + (<usize>rank << 2)
      store<u32>(count, load<u32>(count) + 1)
    }
  }
  // A level is a group of rows with equal rank. Here the number of rows of each level is replaced by the position in the sorted list where
  // the level begins. Writing the rows then advances each position to the end of its level.
  let place: u32 = 0
  for (let rank = 0; rank <= farthest(); rank++) {
    const count = counts + (<usize>rank << 2)
    const size = load<u32>(count)
    store<u32>(count, place)
    place += size
  }
  const to = list + bytes
  for (let at: usize = 0; at < bytes; at += 4) {
    const count = counts + (<usize>load<u32>(room + at) << 2)
    const next = load<u32>(count)
    store<u32>(to + (<usize>next << 2), load<u32>(list + at))
    store<u32>(count, next + 1)
  }
  sorted = n
  level = 0
  return to
}

/**
 * Smallest number of rows, counted from the start of the sorted list, that is at least `least` and does not separate rows of equal rank;
 * all rows if there are fewer than `least`. In successive calls `least` must increase.
 */
export function wholeLevels(least: i32): i32 {
  if (least >= sorted) return sorted
  while (<i32>load<u32>(counts + (<usize>level << 2)) < least) level++
  return load<u32>(counts + (<usize>level << 2))
}

/** Number of rows whose sign codes are read ahead into the cache before they are used; rows of a list are far apart in memory. */
const TOUCHED: usize = 128
let touched: i32 = 0

function touch(list: usize, end: usize): void {
  let bytes: i32 = 0
  for (; list < end; list += 4) {
    const code = codeOf(load<u32>(list))
    bytes ^= <i32>load<u8>(code) ^ <i32>load<u8>(code + codeBytes - 1)
  }
  touched = bytes
}

/** Sum of the question's steps (`encodeQuestion`) where the code at `p` has a 1: 2·Σ 2^i·|code ∧ plane i| - 15·|code|. */
// @ts-ignore: decorator
@inline
function agreement(p: usize, planes: usize): i32 {
  let ones: u64 = 0
  let a: u64 = 0
  let b: u64 = 0
  let c: u64 = 0
  let d: u64 = 0
  const end = p + codeBytes
  for (let q = planes; p < end; p += 8, q += 8) {
    const code = load<u64>(p)
    ones += popcnt(code)
    a += popcnt(code & load<u64>(q))
    b += popcnt(code & load<u64>(q + codeBytes))
    c += popcnt(code & load<u64>(q + 2 * codeBytes))
    d += popcnt(code & load<u64>(q + 3 * codeBytes))
  }
  return <i32>(2 * (a + 2 * b + 4 * c + 8 * d)) - 15 * <i32>ones
}

/** Address of the end of the records of kept rows that the scan has written so far. */
export function codesEnd(): usize {
  return to
}

/**
 * Of the `near` nearest rows found so far (with ties), the share that was recorded since the record address was `mark`; 1 if fewer than
 * `near` rows were found. If `bits` is not 0, only rows whose entries are in this bit set count. `table`: space for width + 1 counters
 * (u32).
 */
export function shareSince(mark: usize, near: u32, bits: usize, table: usize): f64 {
  memory.fill(table, 0, <usize>(farthest() + 1) << 2)
  for (let record = out; record < to; record += 8) {
    if (load<i32>(record, 4) > limit || (bits != 0 && !allows(bits, load<u32>(record)))) continue
    const count = table + (<usize>load<u32>(record, 4) << 2)
    store<u32>(count, load<u32>(count) + 1)
  }
  let sum: u32 = 0
  let last = -1
  while (sum < near && last < limit) sum += load<u32>(table + (<usize>++last << 2))
  if (sum < near) return 1
  let late: u32 = 0
  for (let record = mark; record < to; record += 8) {
    late += <u32>(load<i32>(record, 4) <= last && (bits == 0 || allows(bits, load<u32>(record))))
  }
  return <f64>late / <f64>sum
}

function dropFar(): void {
  let end = out
  for (let record = out; record < to; record += 8) {
    store<u64>(end, load<u64>(record))
    end += <usize>(load<i32>(record, 4) <= limit) << 3
  }
  to = end
}

function clearCounts(): void {
  memory.fill(counts, 0, <usize>(farthest() + 1) << 2)
}
