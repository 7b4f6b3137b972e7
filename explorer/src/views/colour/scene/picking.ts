/** Which of many points lies under the pointer. Looks at all of them: some milliseconds for 100,000. */
import { type Camera, Matrix4 } from 'three'

export interface Aim {
  readonly camera: Camera
  /** Pixels of the page, from the upper left corner of the picture. */
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** How far off still counts, in pixels. */
  readonly reach: number
}

const matrix = new Matrix4()

/** Of those in reach, the one that stands before the others; -1: none is. */
export function pointAt(positions: Float32Array, count: number, aim: Aim): number {
  const { camera, x, y, width, height, reach } = aim
  const m = matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements as readonly number[]
  const along = (row: number, at: number): number =>
    (m[row] ?? 0) * (positions[at] ?? 0) +
    (m[row + 4] ?? 0) * (positions[at + 1] ?? 0) +
    (m[row + 8] ?? 0) * (positions[at + 2] ?? 0) +
    (m[row + 12] ?? 0)
  let found = -1
  let nearest = Number.POSITIVE_INFINITY
  for (let index = 0; index < count; index++) {
    const depth = along(3, index * 3)
    if (depth <= 0 || depth >= nearest) continue
    const acrossBy = ((along(0, index * 3) / depth + 1) / 2) * width - x
    const downBy = ((1 - along(1, index * 3) / depth) / 2) * height - y
    if (acrossBy * acrossBy + downBy * downBy > reach * reach) continue
    found = index
    nearest = depth
  }
  return found
}
