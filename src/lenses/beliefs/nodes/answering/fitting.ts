/** How much of what was found is told: no more than who asked reads of one answer, and always the best (BQ-118). */
import { mostAnswerBytes } from '../wire/protocol.ts'

/** Of an answer beside its items and vectors. */
const FRAME_BYTES = 65_536
/** Of one UTF-16 unit of JSON that is written as JSON once more. */
const MOST_BYTES_A_UNIT = 3

interface Part {
  /** JSON of an item. */
  readonly text: string
  readonly vector: Float32Array | undefined
}

/** `limit`: items that were asked for. */
export function fitting<T extends Part>(parts: readonly T[], limit: number): readonly T[] {
  const most = mostAnswerBytes(limit) - FRAME_BYTES
  const atMost = parts.reduce((sum, part) => sum + MOST_BYTES_A_UNIT * part.text.length + vectorBytes(part), 0)
  if (atMost <= most) return parts
  let left = most
  const end = parts.findIndex(part => {
    left -= Buffer.byteLength(JSON.stringify(part.text)) + vectorBytes(part)
    return left < 0
  })
  return end === -1 ? parts : parts.slice(0, end)
}

/** In base64. */
function vectorBytes({ vector }: Part): number {
  return vector === undefined ? 0 : Math.ceil(vector.byteLength / 3) * 4
}
