/** Computes the centre to which weighted points in a colour space draw each other; so a set of hashtags becomes one colour. */
import { assert } from '../base/assert.ts'

/** A point in the colour space Lab with a mass, which draws the centre towards itself. */
export interface Attractor {
  /** Id of the point, unique among the points; points are summed in ascending order of ids. */
  readonly anchor_id: number
  readonly L: number
  readonly a: number
  readonly b: number
  /** Mass of the point, above 0; a larger mass draws the centre closer. */
  readonly mass: number
}

/**
 * Number of times that the centre is computed again from the last one's distances to the points. Three by definition: with many more, the
 * centre would fall onto one of the points.
 */
const PASSES = 3
/** Added to the squared distance between centre and point, so that the weight of a point stays finite where the centre lies on it. */
const EPSILON = 0.1

/**
 * Starts with the mean of the points, and replaces it three times by the mean weighted by mass / (0.1 + distance²), where the distance is
 * that of the point from the last mean. Points are summed by ascending id, so that any order of the same points gives identical bits; the
 * result is not rounded or clamped. Example: two points of mass 1 at L 0 and L 100 give (50, 0, 0). Requires at least one point.
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
