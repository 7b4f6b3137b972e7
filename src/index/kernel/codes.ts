/**
 * First pass of an approximate search: selects rows by the Hamming distance of their sign codes to the query's. One scan keeps the rows
 * within a limit on the distance; as soon as enough rows are within a lower limit, the limit is lowered. It never rises, so every row
 * within the final limit was kept, whatever the order of rows. This file has the state of the pass; the loops are in `codes-scan.ts`.
 */
import { farthest, setCode } from './hamming'
import { allows, codeBytes, codeOf } from './layout'
import { reach, span } from './rotate'

/** Address of a table of counters: the number of kept rows at each Hamming distance (u32). */
let counts: usize = 0
let out: usize = 0
/** Address of the end of the records of kept rows (slot and distance) written so far. */
export let to: usize = 0
/** Number of rows kept within the present limit on the distance, and number of rows that the search wants. */
let within: u32 = 0
let wanted: u32 = 0
/** The present limit: the largest Hamming distance at which a row is kept. */
export let limit: i32 = 0

/** Number of rows scanned before the limit on the distance is lowered as far as possible. */
export const BATCH: u32 = 256
/** After a batch of `BATCH` rows, `many` is true if more than one in this number of them was kept; the loops then avoid branches. */
const MANY: u32 = 32
export let many = true

/**
 * Starts a scan for the `enough` nearest rows. `distances`: space for width + 1 counters (u32), one per Hamming distance; records (slot
 * u32, distance u32) of kept rows are written to `records`.
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

/** Accepts the records up to `end`, and lowers the limit on the distance as far as the wanted number of rows remains within the limit. */
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

/** Ends the scan: overwrites the records by a list of the slots of rows within the final limit, and returns their number. */
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
 * Ends a scan that was for more rows than `enough`, so that `enough` rows remain whose entries are in the bit set. The result is that of a
 * scan over only those rows. If too few rows are in the bit set and farther rows may be, returns -1 minus the number found.
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
 * State of the last sort of rows by inner product: the number of sorted rows, and the level (group of rows with equal rank) up to which
 * rows were handed out.
 */
let sorted: i32 = 0
let level: i32 = 0

/**
 * Sorts the listed rows by the inner product of their sign codes (bits 0 and 1) with the query's components in 16 steps, greatest first.
 * Rows with the same rank form a level, within which they keep their order. Returns the address of the sorted list, which is placed after
 * the given list; `room`: space of the same size for the ranks.
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
  // Turns the number of rows of each level into the position where the level begins in the sorted list; writing the rows then moves each
  // position to the end of its level.
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
 * Smallest number of sorted rows that is at least `least` and does not split rows of equal rank; all rows if there are fewer than `least`.
 * Successive calls must pass increasing numbers.
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
 * The share of the `near` nearest rows found so far (including ties with the last one) whose records were written from the address `mark`
 * on; with a bit set, only rows of its entries count. 1 if fewer than `near` rows were found. `table`: space for width + 1 counters (u32).
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
