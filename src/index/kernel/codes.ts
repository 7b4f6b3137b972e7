/**
 * First pass of a search: Hamming distances of sign codes. One sweep keeps the rows within a distance limit at which enough rows have been
 * found; the limit only falls, so every row within the final limit was kept, whatever the order of rows. This file has the state of the
 * pass; the loops are in `codes-scan.ts`.
 */
import { farthest, setCode } from './hamming'
import { allows, codeBytes, codeOf } from './layout'
import { reach, span } from './rotate'

/** Address of the counters: number of rows kept at each distance (u32). */
let counts: usize = 0
let out: usize = 0
/** Address of the end of the records written so far. */
export let to: usize = 0
/** Number of rows kept within the limit, and number of rows wanted. */
let within: u32 = 0
let wanted: u32 = 0
/** The largest distance that is still of interest. */
export let limit: i32 = 0

/** Number of rows after which the limit is lowered if possible. */
export const BATCH: u32 = 256
/** A batch has many near rows if more than one of this number of rows was kept. */
const MANY: u32 = 32
export let many = true

/** Starts a pass for `enough` rows. `distances`: space for width + 1 u32; records (slot u32, distance u32) are written to `records`. */
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

/** Counts the distances of records that were written without being counted. */
export function countFrom(record: usize, end: usize): void {
  for (; record < end; record += 8) {
    const count = counts + (<usize>load<u32>(record, 4) << 2)
    store<u32>(count, load<u32>(count) + 1)
  }
}

/** Adds new records, and lowers the limit as far as enough rows remain within it. */
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

/** Ends the pass: turns the records within the final limit into a list of slots, and returns their number. */
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
 * Ends a pass that collected more than `enough` rows so as to have enough whose entries are in the bit set. The result is that of
 * `closeCodes` for a pass over only those rows. If too few are in the bit set and farther rows may be, returns -1 minus the number found.
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

/** State of the last sort: number of sorted rows, and the level up to which rows have been handed out. */
let sorted: i32 = 0
let level: i32 = 0

/**
 * Sorts the listed rows by how well their sign codes agree with the components of the query (not only with its signs): best first, in
 * levels of equal agreement, within which rows keep their order. Returns the address of the sorted list, which is placed after the given
 * list; `room`: space of the same size for intermediate values.
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
  // Turns the counts into the start positions of the levels; filling the levels then turns these into end positions.
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
 * Smallest number of sorted rows that is at least `least` and ends at the border of a level; all rows if there are fewer. Successive calls
 * must pass increasing numbers.
 */
export function wholeLevels(least: i32): i32 {
  if (least >= sorted) return sorted
  while (<i32>load<u32>(counts + (<usize>level << 2)) < least) level++
  return load<u32>(counts + (<usize>level << 2))
}

/** Number of rows whose codes are prefetched before they are read, like the int8 rows in `rank.ts`. */
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

/** Address of the end of the records that the pass has written so far. */
export function codesEnd(): usize {
  return to
}

/**
 * Of the `near` nearest rows found so far (including ties with the last one), the share that was recorded from `mark` on; with a bit set,
 * only rows of its entries count. 1 if fewer than `near` were found. `table`: space like `distances` of `openCodes`.
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
