/**
 * The semantic stack: 10,000 anchors in colour space, the same in every store for ever. Computed when first looked at
 * (some 20 ms) instead of carried along as data; a test holds it to the published hash.
 */
import { sha256 } from '../../../base/canonical.ts'
import type { Anchor, Zone } from '../model.ts'

export interface Stack {
  /** By ascending id. */
  readonly anchors: readonly Anchor[]
  /** Undefined unless `id` is a whole number from 1 to 10,000. */
  anchor(id: number): Anchor | undefined
}

export const ANCHORS = 10_000

/** The ids of each zone, both ends included, and the mass at its inner and its outer edge. */
export const ZONE_BOUNDS: Readonly<
  Record<Zone, { readonly first: number; readonly last: number; readonly inner: number; readonly outer: number }>
> = {
  Core: { first: 1, last: 1000, inner: 0.2, outer: 0.5 },
  Mid: { first: 1001, last: 7500, inner: 1.5, outer: 2.5 },
  Outer: { first: 7501, last: ANCHORS, inner: 0.6, outer: 1 },
}

/** Of `stackText`, as published. */
export const STACK_HASH = '565caa409393756a60451f4469777078e6f45f8894706946ed889ca44b2dc9e3'

let made: readonly Anchor[] | undefined

export const STACK: Stack = {
  get anchors() {
    made ??= makeAnchors()
    return made
  },
  anchor: id => STACK.anchors[id - 1],
}

/** One line an anchor, `1,Core,54,-4,1,0.20`, joined by single line feeds. */
export function stackText(anchors: readonly Anchor[]): string {
  return anchors.map(({ id, zone, L, a, b, mass }) => `${id},${zone},${L},${a},${b},${mass.toFixed(2)}`).join('\n')
}

export function hashOfStack(anchors: readonly Anchor[]): string {
  return sha256(stackText(anchors))
}

interface Point {
  readonly L: number
  readonly a: number
  readonly b: number
  /** From the middle of the space. */
  readonly distance: number
}

/** Points of a Halton sequence by their distance from (50, 0, 0); all distances differ. */
function makeAnchors(): readonly Anchor[] {
  const points = Array.from({ length: ANCHORS }, (_, at) => pointOf(at + 1))
  points.sort((one, other) => one.distance - other.distance)
  return (Object.keys(ZONE_BOUNDS) as Zone[]).flatMap(zone => {
    const { first, last } = ZONE_BOUNDS[zone]
    return anchorsOf(zone, points.slice(first - 1, last))
  })
}

function pointOf(index: number): Point {
  const L = radicalInverse(index, 2) * 100
  const a = radicalInverse(index, 3) * 255 - 128
  const b = radicalInverse(index, 5) * 255 - 128
  return { L, a, b, distance: Math.sqrt((L - 50) ** 2 + a ** 2 + b ** 2) }
}

/** The digits of `index` in this base, mirrored at the point: 6 = 110₂ gives 0.011₂ = 0.375. */
function radicalInverse(index: number, base: number): number {
  let inverse = 0
  let place = 1
  for (let rest = index; rest > 0; rest = Math.floor(rest / base)) {
    place /= base
    inverse += place * (rest % base)
  }
  return inverse
}

/** Coordinates are rounded only now, and mass grows evenly with distance from the zone's first to its last point. */
function anchorsOf(zone: Zone, points: readonly Point[]): readonly Anchor[] {
  const { first, inner, outer } = ZONE_BOUNDS[zone]
  const [nearest = 0, farthest = 0] = [points[0]?.distance, points.at(-1)?.distance]
  return points.map(({ L, a, b, distance }, at) => {
    const share = (distance - nearest) / (farthest - nearest)
    const mass = Number((inner + (outer - inner) * share).toFixed(2))
    return Object.freeze({ id: first + at, zone, L: halfToEven(L), a: halfToEven(a), b: halfToEven(b), mass })
  })
}

/** 0.5 gives 0, 1.5 and 2.5 give 2. Rounding halves up would move four coordinates and change the hash. */
function halfToEven(value: number): number {
  const below = Math.floor(value)
  const isHalf = value - below === 0.5
  const rounded = isHalf ? below + Math.abs(below % 2) : Math.round(value)
  return rounded + 0 // turns negative zero into zero
}
