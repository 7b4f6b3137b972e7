/** The walls and axes of the space, and what they are called. */
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from 'three'
import { placeOf } from './place.ts'

type Corner = readonly [l: number, a: number, b: number]

const STEP = 32
const [LEAST, MOST] = [-128, 128]

/** Where axes end. */
export const AXES: readonly { readonly text: string; readonly at: Corner }[] = [
  { text: 'L 100 light', at: [106, 0, 0] },
  { text: 'L 0 dark', at: [-6, 0, 0] },
  { text: 'a− green', at: [50, -138, 0] },
  { text: 'a+ red', at: [50, 138, 0] },
  { text: 'b− blue', at: [50, 0, -138] },
  { text: 'b+ yellow', at: [50, 0, 138] },
]

export class Cage {
  readonly objects: readonly LineSegments<BufferGeometry, LineBasicMaterial>[]

  constructor() {
    const lines: readonly (readonly [readonly Corner[], number])[] = [
      [floor(), 0.28],
      [edges(), 0.4],
      [axes(), 0.9],
    ]
    this.objects = lines.map(([corners, opacity]) => {
      const geometry = new BufferGeometry()
      geometry.setAttribute('position', new BufferAttribute(Float32Array.from(corners.flatMap(placeOf)), 3))
      return new LineSegments(geometry, new LineBasicMaterial({ transparent: true, opacity }))
    })
  }

  paint(colour: string): void {
    for (const { material } of this.objects) material.color.setStyle(colour)
  }

  dispose(): void {
    for (const { geometry, material } of this.objects) {
      geometry.dispose()
      material.dispose()
    }
  }
}

function floor(): readonly Corner[] {
  const corners: Corner[] = []
  for (let value = LEAST; value <= MOST; value += STEP) {
    corners.push([0, value, LEAST], [0, value, MOST], [0, LEAST, value], [0, MOST, value])
  }
  return corners
}

function edges(): readonly Corner[] {
  const corners: Corner[] = []
  for (const a of [LEAST, MOST]) for (const b of [LEAST, MOST]) corners.push([0, a, b], [100, a, b])
  for (const side of [LEAST, MOST])
    corners.push([100, side, LEAST], [100, side, MOST], [100, LEAST, side], [100, MOST, side])
  return corners
}

function axes(): readonly Corner[] {
  return [
    [0, 0, 0],
    [100, 0, 0],
    [50, LEAST, 0],
    [50, MOST, 0],
    [50, 0, LEAST],
    [50, 0, MOST],
  ]
}
