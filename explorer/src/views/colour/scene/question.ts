/** A question in the space: a cross where it lies, a ring about each hit, and a line to it. */
import { BufferAttribute, BufferGeometry, type Color, LineBasicMaterial, LineSegments, type Object3D } from 'three'
import { Dots, SHAPES } from './dots.ts'
import { placeOf } from './place.ts'

type Lab = readonly [number, number, number]

export interface Asked {
  readonly at: Lab
  /** Best first. */
  readonly hits: readonly Lab[]
}

const CROSS = 0.11
const RING = 0.1

export class Question {
  readonly dots: readonly Dots[]
  readonly objects: readonly Object3D[]
  readonly #marks: Dots
  readonly #lines = new LineSegments(
    new BufferGeometry(),
    new LineBasicMaterial({ transparent: true, depthTest: false }),
  )
  #accent: readonly [number, number, number] = [0, 0, 0]
  #asked: Asked | null = null

  constructor(ink: Color, gold: Color) {
    this.#marks = new Dots(ink, gold, true)
    this.#lines.renderOrder = 2
    this.#lines.frustumCulled = false
    this.dots = [this.#marks]
    this.objects = [this.#lines, this.#marks.object]
    this.set(null)
  }

  set(asked: Asked | null): void {
    this.#asked = asked
    for (const object of this.objects) object.visible = asked !== null
    if (asked === null) return
    const places = [asked.at, ...asked.hits].map(placeOf)
    const [from] = places as [readonly [number, number, number]]
    const lines = places.slice(1).flatMap(to => [...from, ...to])
    this.#lines.geometry.dispose()
    this.#lines.geometry = new BufferGeometry()
    this.#lines.geometry.setAttribute('position', new BufferAttribute(Float32Array.from(lines), 3))
    const each = (question: number, hit: number) => Float32Array.from(places, (_, at) => (at === 0 ? question : hit))
    this.#marks.place({
      count: places.length,
      positions: Float32Array.from(places.flat()),
      colours: Float32Array.from(places.flatMap(() => this.#accent)),
    })
    this.#marks.shape(each(CROSS, RING), each(1, 1), each(SHAPES.cross, SHAPES.ring))
  }

  paint(accent: string): void {
    const { color } = this.#lines.material
    color.setStyle(accent)
    this.#accent = [color.r, color.g, color.b]
    this.set(this.#asked)
  }

  dispose(): void {
    this.#marks.dispose()
    this.#lines.geometry.dispose()
    this.#lines.material.dispose()
  }
}
