/**
 * The first pass: Hamming distances of sign codes. One sweep keeps the rows within the distance at which enough are
 * found so far; that distance only falls, so what the last one admits was kept whatever the order of rows.
 */
import { allows, codeBytes, codeOf } from './layout'

let query: usize = 0
/** Rows kept at each distance (u32). */
let counts: usize = 0
let allow: usize = 0
let out: usize = 0
let kept: u32 = 0
/** Rows kept within the limit, and how many are wanted. */
let within: u32 = 0
let wanted: u32 = 0
/** The largest distance still of interest. */
let limit: i32 = 0

/** A new pass. `distances` is room for width + 1 u32; `bits` (0: all) says which entries count; records go to `to`. */
export function openCodes(question: usize, distances: usize, bits: usize, to: usize, enough: u32): void {
  query = question
  counts = distances
  allow = bits
  out = to
  kept = 0
  within = 0
  wanted = enough
  limit = <i32>(codeBytes << 3)
  memory.fill(distances, 0, <usize>(limit + 1) << 2)
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
  if (codeBytes == 48) return scanList384(list, end)
  let most = limit
  for (; list < end; list += 4) {
    const slot = load<u32>(list)
    const distance = distanceTo(codeOf(slot))
    if (distance <= most) most = keep(slot, distance)
  }
}

/** Ends the pass: turns records into a list of slots, those within the last limit, and returns their number. */
export function closeCodes(): u32 {
  let n: u32 = 0
  for (let i: u32 = 0; i < kept; i++) {
    const record = out + (<usize>i << 3)
    if (load<i32>(record, 4) <= limit) store<u32>(out + (<usize>(n++) << 2), load<u32>(record))
  }
  return n
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

/** The usual width, all of the question in registers. */
function scan384(first: u32, count: u32): void {
  const q0 = load<u64>(query)
  const q1 = load<u64>(query, 8)
  const q2 = load<u64>(query, 16)
  const q3 = load<u64>(query, 24)
  const q4 = load<u64>(query, 32)
  const q5 = load<u64>(query, 40)
  let most = limit
  let p = codeOf(first)
  for (let i: u32 = 0; i < count; i++, p += 48) {
    const distance = distance384(p, q0, q1, q2, q3, q4, q5)
    if (distance <= most) most = keep(first + i, distance)
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
  let most = limit
  let page: u32 = 0xffffffff
  let start: usize = 0
  for (; list < end; list += 4) {
    const slot = load<u32>(list)
    if (slot >> 12 != page) {
      page = slot >> 12
      start = codeOf(page << 12)
    }
    const distance = distance384(start + <usize>(slot & 4095) * 48, q0, q1, q2, q3, q4, q5)
    if (distance <= most) most = keep(slot, distance)
  }
}

function scanAny(first: u32, count: u32): void {
  let most = limit
  let p = codeOf(first)
  for (let i: u32 = 0; i < count; i++, p += codeBytes) {
    const distance = distanceTo(p)
    if (distance <= most) most = keep(first + i, distance)
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

/** Keeps a row within the limit, if its entry is allowed; returns the limit as it is then. */
function keep(slot: u32, distance: i32): i32 {
  if (allow && !allows(allow, slot)) return limit
  store<u32>(out + (<usize>kept << 3), slot)
  store<i32>(out + (<usize>kept << 3), distance, 4)
  kept++
  within++
  const count = counts + (<usize>distance << 2)
  store<u32>(count, load<u32>(count) + 1)
  let farthest = load<u32>(counts + (<usize>limit << 2))
  while (within - farthest >= wanted) {
    within -= farthest
    farthest = load<u32>(counts + (<usize>(--limit) << 2))
  }
  return limit
}
