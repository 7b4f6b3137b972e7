/** The centre to which weighted points draw each other: how a set of hashtags becomes one colour. */
import { assert } from '../base/assert.ts'

/** A point with a mass that attracts the centre. */
export interface Attractor {
  /** Unique id among the points; sums are taken in its order. */
  readonly anchor_id: number
  readonly L: number
  readonly a: number
  readonly b: number
  /** Weight of the point, above 0. */
  readonly mass: number
}

/** Number of passes. Three by definition: with more passes the centre falls onto one of the points. */
const PASSES = 3
/** Added to the squared distance, which keeps the attraction finite where the centre lies on a point. */
const EPSILON = 0.1

/**
 * The mean of the points, replaced three times by their mean weighted by mass / (0.1 + distance²). Neither rounded nor clamped; always
 * finite. Points are summed by ascending id, so that any order of the same set gives identical bits. Two points of mass 1 at L 0 and L 100
 * give (50, 0, 0). Requires at least one point.
 */
export function centreOfGravity(attractors: readonly Attractor[]): readonly [number, number, number] {
  assert(attractors.length > 0, 'something pulls')
  const ordered = attractors.toSorted((one, other) => one.anchor_id - other.anchor_id)
  let centre = weightedMean(ordered, () => 1)
  for (let pass = 0; pass < PASSES; pass++) {
    const [L, a, b] = centre
    centre = weightedMean(ordered, point => {
      const squared = (point.L - L) ** 2 + (point.a - a) ** 2 + (point.b - b) ** 2
      return point.mass / (EPSILON + squared)
    })
  }
  return centre
}

function weightedMean(
  points: readonly Attractor[],
  weightOf: (point: Attractor) => number,
): readonly [number, number, number] {
  let [L, a, b, total] = [0, 0, 0, 0]
  for (const point of points) {
    const weight = weightOf(point)
    L += weight * point.L
    a += weight * point.a
    b += weight * point.b
    total += weight
  }
  return [L / total, a / total, b / total]
}
