/**
 * The vector kernel, written in AssemblyScript: `npm run kernel` compiles it to kernel.wasm, which is committed. It works on one memory
 * that the JavaScript code lays out (`vectors/memory.ts`), and allocates nothing; between searches it keeps only the layout, the rotation
 * and two maxima of the encoded rows. Integer sums are exact and floating-point operations follow IEEE 754, so results are equal on every
 * machine.
 */
import { entryOf } from './layout'
export { configure } from './layout'
export { encode, maxResidual, maxSquare, setMaxima } from './encode'
export { encodeQuestion, prepareRotation } from './rotate'
export { closeCodes, closeCodesIn, codesEnd, openCodes, shareSince, sortCodes, wholeLevels } from './codes'
export { scanCodes, scanCodesOf } from './codes-scan'
export { distances } from './hamming'
export { assign, inverseLength, keyOf } from './cells'
export { closeRank, entered, entriesFound, openRank, rank, rankList, setQuestion, values } from './rank'

/**
 * Lists the slots (places in memory) of those rows in the extents (runs of consecutive rows) whose entry is in the bit set. Returns their
 * number. The code does not branch on the bits, because such a branch would often be mispredicted.
 */
export function select(extents: usize, n: i32, bits: usize, to: usize): u32 {
  const start = to
  for (let i = 0; i < n; i++) {
    let slot = load<u32>(extents + (<usize>i << 3))
    let p = entryOf(slot)
    const end = p + (<usize>load<u32>(extents + (<usize>i << 3), 4) << 2)
    for (; p < end; p += 4) {
      store<u32>(to, slot++)
      const entry = load<u32>(p)
      to += <usize>((load<u32>(bits + (<usize>(entry >> 5) << 2)) >> (entry & 31)) & 1) << 2
    }
  }
  return <u32>(to - start) >> 2
}
