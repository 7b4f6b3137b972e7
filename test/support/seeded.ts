/** Random numbers that are the same in every run: for data that tests and benchmarks make. */

/** Uniform in [0, 1), by the mulberry32 recurrence. */
export function seededUniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Standard normal numbers, by the polar method: two from about 1.27 pairs of uniform ones. */
export function seededNormal(seed: number): () => number {
  const uniform = seededUniform(seed)
  let spare: number | undefined
  return () => {
    if (spare !== undefined) {
      const kept = spare
      spare = undefined
      return kept
    }
    for (;;) {
      const x = 2 * uniform() - 1
      const y = 2 * uniform() - 1
      const square = x * x + y * y
      if (square === 0 || square >= 1) continue
      const stretch = Math.sqrt((-2 * Math.log(square)) / square)
      spare = y * stretch
      return x * stretch
    }
  }
}

/** Bytes for whatever takes its randomness from a context. */
export function seededBytes(seed: number): (length: number) => Uint8Array {
  const uniform = seededUniform(seed)
  return length => Uint8Array.from({ length }, () => Math.floor(256 * uniform()))
}
