/**
 * The first pass: Hamming distances of sign codes. One sweep keeps the rows within the distance at which enough are
 * found so far; that distance only falls, so what the last one admits was kept whatever the order of rows.
 */
import { allows, codeBytes, codeOf } from './layout'

let query: usize = 0
/** Rows kept at each distance (u32). */
let counts: usize = 0
let out: usize = 0
/** End of the records. */
let to: usize = 0
/** Rows kept within the limit, and how many are wanted. */
let within: u32 = 0
let wanted: u32 = 0
/** The largest distance still of interest. */
let limit: i32 = 0

/** A new pass for `enough` rows. `distances` is room for width + 1 u32; records (slot u32, distance u32) go to `records`. */
export function openCodes(question: usize, distances: usize, records: usize, enough: u32): void {
  query = question
  counts = distances
  out = records
  to = records
  within = 0
  wanted = enough
  limit = farthest()
  many = true
  clearCounts()
}

export function scanCodes(extents: usize, n: i32): void {
  for (let i = 0; i < n; i++) {
    const first = load<u32>(extents + (<usize>i << 3))
    const count = load<u32>(extents + (<usize>i << 3), 4)
    if (codeBytes == 48) scan384(first, count)
    else scanAny(first, count)
  }
}

export function scanCodesOf(list: usize, n: i32): void {
  const end = list + (<usize>n << 2)
  if (codeBytes == 48) scanList384(list, end)
  else scanListAny(list, end)
}

/** Ends the pass: turns records into a list of slots, those within the last limit, and returns their number. */
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
 * Ends a pass that took more than `enough` rows to have enough whose entries are in the bit set: as `closeCodes` had
 * the pass known no others. Returns -1 when there were too few among them, and farther ones may exist.
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
  if (<u32>((end - out) >> 3) < enough && limit < farthest()) return -1
  let sum: u32 = 0
  for (let distance = 0; distance <= limit; distance++) {
    sum += load<u32>(counts + (<usize>distance << 2))
    if (sum >= enough) limit = distance
  }
  return closeCodes()
}

/** Where the records end that the pass wrote so far. */
export function codesEnd(): usize {
  return to
}

/**
 * Which share of the `near` rows nearest so far (with all as near as the last) was recorded from `mark` on; of rows whose
 * entries are in the bit set, if there is one. 1 when so many were not found yet. `table` is as `distances` of `openCodes`.
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

/** All distances of the extents' rows as u16, one after the other: the floor that searches are measured by. */
export function distances(question: usize, extents: usize, n: i32, to: usize): void {
  query = question
  const q0 = load<u64>(query)
  const q1 = load<u64>(query, 8)
  const q2 = load<u64>(query, 16)
  const q3 = load<u64>(query, 24)
  const q4 = load<u64>(query, 32)
  const q5 = load<u64>(query, 40)
  for (let i = 0; i < n; i++) {
    const first = load<u32>(extents + (<usize>i << 3))
    const count = load<u32>(extents + (<usize>i << 3), 4)
    let p = codeOf(first)
    for (let j: u32 = 0; j < count; j++, p += codeBytes, to += 2) {
      store<u16>(to, <u16>(codeBytes == 48 ? distance384(p, q0, q1, q2, q3, q4, q5) : distanceTo(p)))
    }
  }
}

/**
 * The usual width, all of the question in registers. While many rows are near enough, each is written and the next
 * takes its place if it was not; a branch would be guessed wrong too often. Later few are, and the branch is cheap.
 */
function scan384(first: u32, count: u32): void {
  const q0 = load<u64>(query)
  const q1 = load<u64>(query, 8)
  const q2 = load<u64>(query, 16)
  const q3 = load<u64>(query, 24)
  const q4 = load<u64>(query, 32)
  const q5 = load<u64>(query, 40)
  const end = first + count
  let p = codeOf(first)
  let slot = first
  while (slot < end) {
    const stop = min(slot + BATCH, end)
    const most = limit
    let record = to
    if (many) {
      for (; slot < stop; slot++, p += 48) {
        const distance = distance384(p, q0, q1, q2, q3, q4, q5)
        store<u64>(record, <u64>slot | ((<u64>distance) << 32))
        record += <usize>(distance <= most) << 3
      }
      countFrom(to, record)
    } else {
      for (; slot < stop; slot++, p += 48) {
        const distance = distance384(p, q0, q1, q2, q3, q4, q5)
        if (distance <= most) record = keep(record, slot, distance)
      }
    }
    tighten(record)
  }
}

/** Slots of one page follow each other, so its address is worked out once. */
function scanList384(list: usize, end: usize): void {
  const q0 = load<u64>(query)
  const q1 = load<u64>(query, 8)
  const q2 = load<u64>(query, 16)
  const q3 = load<u64>(query, 24)
  const q4 = load<u64>(query, 32)
  const q5 = load<u64>(query, 40)
  let page: u32 = 0xffffffff
  let start: usize = 0
  while (list < end) {
    const stop = min(list + (BATCH << 2), end)
    const most = limit
    let record = to
    for (; list < stop; list += 4) {
      const slot = load<u32>(list)
      if (slot >> 12 != page) {
        page = slot >> 12
        start = codeOf(page << 12)
      }
      const distance = distance384(start + <usize>(slot & 4095) * 48, q0, q1, q2, q3, q4, q5)
      if (distance <= most) record = keep(record, slot, distance)
    }
    tighten(record)
  }
}

function scanAny(first: u32, count: u32): void {
  const end = first + count
  let p = codeOf(first)
  let slot = first
  while (slot < end) {
    const stop = min(slot + BATCH, end)
    let record = to
    for (; slot < stop; slot++, p += codeBytes) {
      const distance = distanceTo(p)
      if (distance <= limit) record = keep(record, slot, distance)
    }
    tighten(record)
  }
}

function scanListAny(list: usize, end: usize): void {
  while (list < end) {
    const stop = min(list + (BATCH << 2), end)
    let record = to
    for (; list < stop; list += 4) {
      const slot = load<u32>(list)
      const distance = distanceTo(codeOf(slot))
      if (distance <= limit) record = keep(record, slot, distance)
    }
    tighten(record)
  }
}

// @ts-ignore: decorator
@inline
function distance384(p: usize, q0: u64, q1: u64, q2: u64, q3: u64, q4: u64, q5: u64): i32 {
  const a = popcnt(load<u64>(p) ^ q0) + popcnt(load<u64>(p, 8) ^ q1)
  const b = popcnt(load<u64>(p, 16) ^ q2) + popcnt(load<u64>(p, 24) ^ q3)
  const c = popcnt(load<u64>(p, 32) ^ q4) + popcnt(load<u64>(p, 40) ^ q5)
  return <i32>(a + b + c)
}

// @ts-ignore: decorator
@inline
function distanceTo(p: usize): i32 {
  let sum: u64 = 0
  let q = query
  const end = p + codeBytes
  for (; p + 16 <= end; p += 16, q += 16) {
    sum += popcnt(load<u64>(p) ^ load<u64>(q)) + popcnt(load<u64>(p, 8) ^ load<u64>(q, 8))
  }
  if (p < end) sum += popcnt(load<u64>(p) ^ load<u64>(q))
  return <i32>sum
}

/** No distance is greater. */
function farthest(): i32 {
  return <i32>(codeBytes << 3)
}

function clearCounts(): void {
  memory.fill(counts, 0, <usize>(farthest() + 1) << 2)
}

/** Rows between two looks at whether the limit can fall. */
const BATCH: u32 = 256
/** More than one row in so many was kept of the last batch. */
const MANY: u32 = 32
let many = true

/** Records a row within the limit; returns the end of the records. */
// @ts-ignore: decorator
@inline
function keep(record: usize, slot: u32, distance: i32): usize {
  store<u32>(record, slot)
  store<i32>(record, distance, 4)
  const count = counts + (<usize>distance << 2)
  store<u32>(count, load<u32>(count) + 1)
  return record + 8
}

/** Counts records that were written without. */
function countFrom(record: usize, end: usize): void {
  for (; record < end; record += 8) {
    const count = counts + (<usize>load<u32>(record, 4) << 2)
    store<u32>(count, load<u32>(count) + 1)
  }
}

/** Takes over new records, and lowers the limit as far as enough rows remain within it. */
function tighten(end: usize): void {
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
