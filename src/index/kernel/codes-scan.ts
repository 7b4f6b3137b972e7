/**
 * Loops that compute Hamming distances between the query's sign code (one bit per component) and those of rows (encoded vectors). There are
 * variants for vectors of 384 components and of other widths, and for runs of consecutive rows and for lists of rows.
 */
import { BATCH, countFrom, keep, limit, many, tighten, to } from './codes'
import { distance384, distanceTo, query } from './hamming'
import { codeBytes, codeOf } from './layout'

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

/**
 * Computes the distances of a run of rows (encoded vectors) with 384 components. While many rows are near enough to be kept, each row is
 * recorded without a branch, and the next record overwrites it if it was too far; a branch would often be mispredicted. Later few rows are
 * near, and a branch is cheap.
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

/**
 * Scans a list of rows with 384 components. Rows of one page follow one another in the list, so the page's address is computed only once
 * per page.
 */
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
