/** Hamming distances between the sign codes of rows and of the query: the number of components in which their signs differ. */
import { codeBytes, codeOf } from './layout'

/** Address of the query's sign code, one bit per component. */
export let query: usize = 0

export function setCode(question: usize): void {
  query = question
}

/** The greatest possible Hamming distance between two sign codes: the number of bits in a code. */
export function farthest(): i32 {
  return <i32>(codeBytes << 3)
}

/**
 * Computes the Hamming distances between the query's sign code and those of all rows (encoded vectors) in the extents (runs of consecutive
 * rows), and writes them as u16 values. For benchmarks only, as the least time that any search by sign codes can take.
 */
export function distances(question: usize, extents: usize, n: i32, to: usize): void {
  setCode(question)
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

// @ts-ignore: decorator
@inline
export function distance384(p: usize, q0: u64, q1: u64, q2: u64, q3: u64, q4: u64, q5: u64): i32 {
  const a = popcnt(load<u64>(p) ^ q0) + popcnt(load<u64>(p, 8) ^ q1)
  const b = popcnt(load<u64>(p, 16) ^ q2) + popcnt(load<u64>(p, 24) ^ q3)
  const c = popcnt(load<u64>(p, 32) ^ q4) + popcnt(load<u64>(p, 40) ^ q5)
  return <i32>(a + b + c)
}

// @ts-ignore: decorator
@inline
export function distanceTo(p: usize): i32 {
  let sum: u64 = 0
  let q = query
  const end = p + codeBytes
  for (; p + 16 <= end; p += 16, q += 16) {
    sum += popcnt(load<u64>(p) ^ load<u64>(q)) + popcnt(load<u64>(p, 8) ^ load<u64>(q, 8))
  }
  if (p < end) sum += popcnt(load<u64>(p) ^ load<u64>(q))
  return <i32>sum
}
