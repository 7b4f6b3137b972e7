/** What the scene is made of: dots, labels, and the lines of a question. */
import {
  BufferAttribute,
  BufferGeometry,
  type Camera,
  type Color,
  LineBasicMaterial,
  LineSegments,
  type Object3D,
  Points,
  ShaderMaterial,
  Vector3,
} from 'three'

// Many marks that turn to the eye, in one draw call.

// Where a colour lies in the scene: a to the right, L up, b towards the eye.

/** Units of CIELAB to one of the scene. */
const UNIT = 100

export function placeOf([l, a, b]: readonly [number, number, number]): readonly [number, number, number] {
  return [a / UNIT, (l - 50) / UNIT, b / UNIT]
}

/** What a mark looks like; the first four in the order of the lives of a node. */
export const SHAPES = { disc: 0, faded: 1, hollow: 2, rimmed: 3, ring: 4, cross: 5, diamond: 6 } as const

const VERTEX = `
attribute vec3 colour;
attribute float size;
attribute float alpha;
attribute float shape;
uniform float perUnit;
uniform float smallest;
varying vec3 vColour;
varying float vAlpha;
varying float vShape;
void main() {
  vec4 seen = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * seen;
  gl_PointSize = max(smallest, size * perUnit / -seen.z);
  vColour = colour;
  vAlpha = alpha;
  vShape = shape;
}`

const FRAGMENT = `
uniform vec3 ink;
uniform vec3 gold;
varying vec3 vColour;
varying float vAlpha;
varying float vShape;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  float away = length(at);
  vec3 colour = vColour;
  float alpha = vAlpha;
  if (vShape > 5.5) {
    if (abs(at.x) + abs(at.y) > 1.0) discard;
  } else if (vShape > 4.5) {
    if (min(abs(at.x), abs(at.y)) > 0.16) discard;
  } else {
    if (away > 1.0) discard;
    if (vShape > 3.5) {
      if (away < 0.8) discard;
    } else if (vShape > 2.5) {
      if (away > 0.62) colour = gold;
    } else if (vShape > 1.5) {
      if (away < 0.55) discard;
    } else if (away > 0.84) {
      colour = mix(colour, ink, 0.45);
    }
  }
  gl_FragColor = vec4(colour, alpha);
}`

export interface Marks {
  readonly count: number
  /** Three numbers a mark, both. */
  readonly positions: Float32Array
  readonly colours: Float32Array
}

export class Dots {
  readonly object: Points<BufferGeometry, ShaderMaterial>

  /** `isOnTop`: not hidden by what is in front of it. */
  constructor(ink: Color, gold: Color, isOnTop = false) {
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { ink: { value: ink }, gold: { value: gold }, perUnit: { value: 1 }, smallest: { value: 3 } },
      transparent: true,
      depthTest: !isOnTop,
    })
    this.object = new Points(new BufferGeometry(), material)
    this.object.frustumCulled = false
    this.object.renderOrder = isOnTop ? 2 : 1
  }

  /** Which marks there are; what they look like is to be said next. */
  place({ count, positions, colours }: Marks): void {
    this.object.geometry.dispose()
    this.object.geometry = new BufferGeometry()
    this.#set('position', positions, 3)
    this.#set('colour', colours, 3)
    this.object.geometry.setIndex(new BufferAttribute(scattered(count), 1))
    this.show(count)
  }

  /** Only so many of them, from everywhere. */
  show(count: number): void {
    this.object.geometry.setDrawRange(0, count)
  }

  /** What they look like, one number each. */
  shape(sizes: Float32Array, alphas: Float32Array, shapes: Float32Array): void {
    this.#set('size', sizes, 1)
    this.#set('alpha', alphas, 1)
    this.#set('shape', shapes, 1)
  }

  /** Pixels of the screen to a unit at distance 1; and how small a mark may get. */
  measure(perUnit: number, smallest: number): void {
    const { uniforms } = this.object.material
    if (uniforms['perUnit']) uniforms['perUnit'].value = perUnit
    if (uniforms['smallest']) uniforms['smallest'].value = smallest
  }

  dispose(): void {
    this.object.geometry.dispose()
    this.object.material.dispose()
  }

  /** What is there already is written in its place. */
  #set(name: string, values: Float32Array, size: number): void {
    const { geometry } = this.object
    const known = geometry.getAttribute(name)
    if (known instanceof BufferAttribute) {
      known.array.set(values)
      known.needsUpdate = true
    } else geometry.setAttribute(name, new BufferAttribute(values.slice(), size))
  }
}

/** All places below this once, so that the first of them, however many, are a sample of all. */
function scattered(count: number): Uint32Array {
  const golden = (Math.sqrt(5) - 1) / 2
  let step = Math.max(1, Math.floor(count * golden))
  while (commonDivisor(step, count) > 1) step++
  return Uint32Array.from({ length: count }, (_, at) => (at * step) % count)
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}

// Words over the picture, in the type of the page. What finds no room is left out: the first ones come first.

export interface Label {
  readonly text: string
  readonly at: readonly [l: number, a: number, b: number]
  readonly kind: 'axis' | 'hashtag' | 'asked' | 'question' | 'hit'
}

/** Pixels: a line of the small type, and the mean width of a letter in it. */
const LINE = 16
const LETTER = 7
/** Between a point and its label. */
const GAP = 6
/** Names of hashtags that were not asked for, to so many pixels of the picture. */
const PIXELS_PER_HASHTAG = 18_000

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
}

export class Labels {
  readonly #place: HTMLElement
  readonly #pool: HTMLElement[] = []
  readonly #point = new Vector3()
  #labels: readonly Label[] = []

  constructor(place: HTMLElement) {
    this.#place = place
  }

  set(labels: readonly Label[]): void {
    this.#labels = labels
  }

  draw(camera: Camera, width: number, height: number): void {
    const taken: Box[] = []
    let room = Math.floor((width * height) / PIXELS_PER_HASHTAG)
    let shown = 0
    for (const label of this.#labels) {
      if (label.kind === 'hashtag' && room === 0) continue
      const box = this.#boxOf(label, camera, width, height)
      if (box === null || taken.some(other => overlap(box, other))) continue
      taken.push(box)
      if (label.kind === 'hashtag') room--
      this.#write(shown++, label, box)
    }
    for (const left of this.#pool.slice(shown)) left.hidden = true
  }

  #boxOf({ text, at }: Label, camera: Camera, width: number, height: number): Box | null {
    this.#point.set(...placeOf(at)).project(camera)
    if (this.#point.z > 1) return null
    const long = text.length * LETTER
    const x = ((this.#point.x + 1) / 2) * width
    const y = ((1 - this.#point.y) / 2) * height
    if (x < 0 || x > width || y < 0 || y > height) return null
    // At the right edge it is written in front of its point.
    const left = x + GAP + long > width ? x - GAP - long : x + GAP
    const top = Math.min(Math.max(0, y - LINE / 2), height - LINE)
    if (left < 0) return null
    return { left, top, right: left + long }
  }

  #write(index: number, { text, kind }: Label, { left, top }: Box): void {
    const element = this.#pool[index] ?? this.#made()
    element.hidden = false
    element.className = `colour-label colour-label-${kind}`
    element.textContent = text
    element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`
  }

  #made(): HTMLElement {
    const element = document.createElement('span')
    this.#pool.push(element)
    this.#place.append(element)
    return element
  }
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && Math.abs(a.top - b.top) < LINE
}

// A question in the space: a cross where it lies, a ring about each hit, and a line to it.

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
