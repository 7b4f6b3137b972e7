/** The nodes of the space as they come, page by page, with what a graphics card wants of them. */

import { hexOf } from '../../../../src/lenses/chroma/lab-color.ts'
import type { NodePoint } from '../../../../src/lenses/chroma/nodes/points.ts'
import { PAGE, pointsFrom } from './lens.ts'
import { placeOf } from './scene/place.ts'

/** More would need more memory than a page should take; some 1 kB each. */
const MOST_DRAWN = 200_000

export interface Cloud {
  /** Unix seconds: the moment that the first page tells of. */
  readonly now: number
  /** Nodes that the viewer sees, drawn or not. */
  readonly total: number
  readonly points: readonly NodePoint[]
  /** Three numbers a point; longer than the points are while more are to come. */
  readonly positions: Float32Array
  readonly colours: Float32Array
  readonly isWhole: boolean
}

/** Each is the one before with a page more. */
export async function* cloudsOf(signal: AbortSignal): AsyncGenerator<Cloud> {
  const { now, total, points: first } = await pointsFrom(0, signal)
  const room = Math.min(total, MOST_DRAWN)
  const [positions, colours] = [new Float32Array(room * 3), new Float32Array(room * 3)]
  const points: NodePoint[] = []
  let page = first
  for (let offset = 0; ; ) {
    for (const point of page.slice(0, room - points.length)) {
      positions.set(placeOf(point.color), points.length * 3)
      colours.set(screenColour(point.color), points.length * 3)
      points.push(point)
    }
    offset += PAGE
    const isWhole = offset >= room
    yield { now, total, points: [...points], positions, colours, isWhole }
    if (isWhole) return
    page = (await pointsFrom(offset, signal)).points
  }
}

/** Red, green and blue, 0 to 1. */
export function screenColour(color: readonly [number, number, number]): readonly [number, number, number] {
  const bits = Number.parseInt(hexOf(color).slice(1), 16)
  return [((bits >> 16) & 255) / 255, ((bits >> 8) & 255) / 255, (bits & 255) / 255]
}
