/** The space as three.js draws it: only when something has changed, and with nothing left behind when it ends. */
import {
  BufferAttribute,
  BufferGeometry,
  type Camera,
  Color,
  ColorManagement,
  LinearSRGBColorSpace,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three'
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js'
import { type Asked, Dots, type Label, Labels, type Marks, placeOf, Question, SHAPES } from './scene-parts.ts'

// The walls and axes of the space, and what they are called.

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

// Which of many points lies under the pointer. Looks at all of them: some milliseconds for 100,000.

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

/** Of those in reach, the one in front of the others; -1: none is in reach. */
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

// Colours come as a screen shows them; nothing is to convert them again.
ColorManagement.enabled = false

const EYE = [1.9, 1.5, 3.05] as const
const ANGLE = 42
const GOLD = '#e0a800'
/** Of a mark, in the scene's units: never used, and what full strength adds. */
const SMALLEST = 0.045
const GROWTH = 0.07
/** What has no health left is still to be seen. */
const PALEST = 0.25

export interface Inks {
  readonly lines: string
  readonly text: string
  readonly accent: string
}

/** A machine that needs longer for a frame, in ms, is shown fewer nodes while the eye moves; at rest all. */
const SLOW = 60
/** After so long it was the hand that rested. */
const PAUSE = 1000
const FEWEST = 4_000
/** Of more nodes than this, smoother edges cost more than they show. */
const MAX_SMOOTH_NODES = 20_000

export interface Places {
  readonly canvas: HTMLCanvasElement
  readonly labels: HTMLElement
  /** Nodes there will be. */
  readonly expected: number
  /** How often was drawn since the beginning. */
  onDraw(times: number): void
}

export class ColourScene {
  readonly #renderer: WebGLRenderer
  readonly #scene = new Scene()
  readonly #camera = new PerspectiveCamera(ANGLE, 1, 0.01, 50)
  readonly #controls: OrbitControls
  readonly #cage = new Cage()
  readonly #ink = new Color()
  readonly #nodes: Dots
  readonly #anchors: Dots
  readonly #question: Question
  readonly #labels: Labels
  readonly #onDraw: (times: number) => void
  #named: readonly Label[] = []
  #positions: Float32Array = new Float32Array()
  #count = 0
  #frame = 0
  #times = 0
  #isMoving = false
  #shown = 0
  /** When the last frame was drawn, in ms of the page's clock. */
  #drawnAt = 0
  #size = { width: 1, height: 1 }

  /** Throws where there is no WebGL. */
  constructor({ canvas, labels, expected, onDraw }: Places) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: expected <= MAX_SMOOTH_NODES, alpha: true })
    this.#renderer.outputColorSpace = LinearSRGBColorSpace
    const gold = new Color(GOLD)
    this.#nodes = new Dots(this.#ink, gold)
    this.#anchors = new Dots(this.#ink, gold)
    this.#question = new Question(this.#ink, gold)
    this.#labels = new Labels(labels)
    this.#onDraw = onDraw
    this.#scene.add(...this.#cage.objects, this.#anchors.object, this.#nodes.object, ...this.#question.objects)
    this.#controls = new OrbitControls(this.#camera, canvas)
    this.#controls.minDistance = 0.15
    this.#controls.maxDistance = 8
    this.#controls.addEventListener('change', this.#invalidate)
    this.#controls.addEventListener('start', () => {
      this.#isMoving = true
    })
    this.#controls.addEventListener('end', () => {
      this.#isMoving = false
      this.#show(this.#count)
    })
    this.home()
  }

  paint({ lines, text, accent }: Inks): void {
    this.#ink.setStyle(text)
    this.#cage.paint(lines)
    this.#question.paint(accent)
    this.#invalidate()
  }

  setNodes(marks: Marks): void {
    this.#positions = marks.positions
    this.#count = marks.count
    this.#nodes.place(marks)
    this.#show(marks.count)
  }

  /** `shapes`, `strengths`, `healths`: one number a node. */
  shapeNodes(shapes: Float32Array, strengths: Float32Array, healths: Float32Array): void {
    const shrink = Math.min(1, (5_000 / this.#count) ** 0.3)
    this.#nodes.shape(
      strengths.map(strength => (SMALLEST + GROWTH * strength) * shrink),
      healths.map((health, at) => (shapes[at] === SHAPES.hollow ? 0.5 : PALEST + (1 - PALEST) * health)),
      shapes,
    )
    this.#invalidate()
  }

  setAnchors(marks: Marks): void {
    const filled = (value: number) => new Float32Array(marks.count).fill(value)
    this.#anchors.place(marks)
    this.#anchors.shape(filled(0.016), filled(0.6), filled(SHAPES.diamond))
    this.#invalidate()
  }

  ask(asked: Asked | null): void {
    this.#question.set(asked)
    this.#invalidate()
  }

  name(labels: readonly Label[]): void {
    this.#named = labels
    const axes = AXES.map(axis => ({ ...axis, kind: 'axis' as const }))
    const isAnswer = ({ kind }: Label) => kind !== 'hashtag'
    this.#labels.set([...this.#named.filter(isAnswer), ...axes, ...this.#named.filter(label => !isAnswer(label))])
    this.#invalidate()
  }

  /** The node under the pointer, in pixels from the upper left corner; -1: none is. */
  nodeAt(x: number, y: number, reach: number): number {
    return pointAt(this.#positions, this.#count, { camera: this.#camera, x, y, ...this.#size, reach })
  }

  /** Radians to the right. */
  turn(by: number): void {
    const { x, z } = this.#camera.position
    const [cos, sin] = [Math.cos(by), Math.sin(by)]
    this.#camera.position.setX(x * cos - z * sin).setZ(x * sin + z * cos)
    this.#controls.update()
  }

  /** Above 1: nearer. */
  approach(by: number): void {
    this.#camera.position.sub(this.#controls.target).divideScalar(by).add(this.#controls.target)
    this.#controls.update()
  }

  home(): void {
    // What is higher than it is wide shows less to the sides.
    const back = Math.max(1, 1.5 / this.#camera.aspect)
    this.#camera.position.set(EYE[0] * back, EYE[1] * back, EYE[2] * back)
    this.#controls.target.set(0, 0, 0)
    this.#controls.update()
    this.#invalidate()
  }

  resize(width: number, height: number): void {
    const isFirst = this.#size.width === 1
    const density = Math.min(devicePixelRatio, 2)
    this.#size = { width, height }
    this.#renderer.setPixelRatio(density)
    this.#renderer.setSize(width, height, false)
    this.#camera.aspect = width / height
    this.#camera.updateProjectionMatrix()
    const perUnit = (height * density) / (2 * Math.tan((ANGLE * Math.PI) / 360))
    for (const dots of [this.#nodes, ...this.#question.dots]) dots.measure(perUnit, 4 * density)
    this.#anchors.measure(perUnit, 2 * density)
    if (isFirst) this.home()
    this.#draw()
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame)
    this.#controls.dispose()
    for (const part of [this.#cage, this.#nodes, this.#anchors, this.#question]) part.dispose()
    this.#renderer.dispose()
    this.#renderer.forceContextLoss()
  }

  #show(count: number): void {
    this.#shown = count
    this.#nodes.show(count)
    this.#invalidate()
  }

  /** Frames of one movement that come too slowly get fewer nodes. */
  #keepUp(): void {
    const now = performance.now()
    const took = now - this.#drawnAt
    this.#drawnAt = now
    if (!this.#isMoving || this.#shown <= FEWEST || took < SLOW || took > PAUSE) return
    this.#shown = Math.max(FEWEST, Math.floor(this.#shown / 3))
    this.#nodes.show(this.#shown)
  }

  #invalidate = (): void => {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw())
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.#keepUp()
    this.#renderer.render(this.#scene, this.#camera)
    this.#labels.draw(this.#camera, this.#size.width, this.#size.height)
    this.#onDraw(++this.#times)
  }
}
