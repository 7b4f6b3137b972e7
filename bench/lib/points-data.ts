/** Points as hashtags place them: three to six random anchors draw each to where their masses have their centre. */
import { type PointArrays, PointList } from '../../src/index/points/grid.ts'
import { seededUniform } from '../../test/support/seeded.ts'

export type Point = readonly [number, number, number]

const ANCHORS = 10_000
const PASSES = 3

/** A generator of such points; half of them lie where another one does already. */
export function colourPoints(seed: number): () => Point {
  const uniform = seededUniform(seed)
  const whole = (below: number) => Math.floor(uniform() * below)
  const anchors = Array.from({ length: ANCHORS }, (): Point => [whole(101), whole(256) - 128, whole(256) - 128])
  const places: Point[] = []
  return () => {
    if (places.length > 0 && uniform() < 0.5) return places[whole(places.length)] as Point
    const place = centreOf(Array.from({ length: 3 + whole(4) }, () => anchors[whole(ANCHORS)] as Point))
    places.push(place)
    return place
  }
}

/** Entries 1 to `count`, all in partition 1. */
export function columnsOf(count: number, next: () => Point): PointArrays {
  const columns = new PointList(count)
  for (let entry = 1; entry <= count; entry++) columns.push(entry, 1, next())
  return columns.arrays
}

function centreOf(anchors: readonly Point[]): Point {
  let centre = meanOf(anchors, () => 1)
  for (let pass = 0; pass < PASSES; pass++) {
    const [l, a, b] = centre
    centre = meanOf(anchors, p => 1 / (0.1 + (p[0] - l) ** 2 + (p[1] - a) ** 2 + (p[2] - b) ** 2))
  }
  return centre
}

function meanOf(anchors: readonly Point[], weight: (anchor: Point) => number): Point {
  const weights = anchors.map(weight)
  const sum = weights.reduce((total, one) => total + one, 0)
  const mean = (axis: number) =>
    anchors.reduce((total, p, at) => total + (weights[at] as number) * (p[axis] as number), 0) / sum
  return [mean(0), mean(1), mean(2)]
}
