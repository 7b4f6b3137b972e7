/**
 * The vector kernel, written in AssemblyScript: `npm run kernel` compiles it to kernel.wasm, which is committed. It
 * works on one memory that the host lays out (`vectors-rows.ts`); it allocates nothing and has no state beyond one
 * search. Integer sums are exact, and floating-point operations are plain IEEE ones: equal on every machine.
 */
import { allows } from './layout'
export { configure } from './layout'
export { encode, encodeQuery, maxResidual, maxSquare, setMaxima } from './encode'
export { closeCodes, distances, openCodes, scanCodes, scanCodesOf } from './codes'
export { bounds, closeRank, entriesFound, openRank, rank, rankList, setQuestion } from './rank'

/** Lists the slots in the extents whose entry is in the bit set; returns how many. No branch depends on the bits. */
export function select(extents: usize, n: i32, bits: usize, to: usize): u32 {
  let count: u32 = 0
  for (let i = 0; i < n; i++) {
    const first = load<u32>(extents + (<usize>i << 3))
    const end = first + load<u32>(extents + (<usize>i << 3), 4)
    for (let slot = first; slot < end; slot++) {
      store<u32>(to + (<usize>count << 2), slot)
      count += <u32>allows(bits, slot)
    }
  }
  return count
}
