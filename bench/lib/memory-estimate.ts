/** What an index over beliefs takes in memory (BQ-181). */

interface EstimateInput {
  readonly dimensions: number
  /** 4 for f32, 1 for int8. */
  readonly bytesPerComponent: number
  /** Neighbours kept a belief, as a graph index has; 0 for a scan. A base layer keeps twice its M. */
  readonly links?: number | undefined
  /** Bytes of all else that is kept with a vector: keys, columns, text. */
  readonly payload?: number | undefined
  /** Number of beliefs. */
  readonly count: number
}

interface Estimate {
  readonly vectorBytes: number
  readonly linkBytes: number
  readonly payloadBytes: number
  readonly bytesPerBelief: number
  readonly totalBytes: number
}

const BYTES_A_LINK = 4

export function estimateMemory(input: EstimateInput): Estimate {
  const { dimensions, bytesPerComponent, links = 0, payload = 0, count } = input
  for (const [name, value] of Object.entries({ dimensions, bytesPerComponent, links, payload, count })) {
    if (!(Number.isFinite(value) && value >= 0)) throw new RangeError(`${name}: expected a number of at least 0`)
  }
  const vectorBytes = dimensions * bytesPerComponent
  const linkBytes = links * BYTES_A_LINK
  const bytesPerBelief = vectorBytes + linkBytes + payload
  return { vectorBytes, linkBytes, payloadBytes: payload, bytesPerBelief, totalBytes: bytesPerBelief * count }
}
