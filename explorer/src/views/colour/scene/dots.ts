/** Many marks that turn to the eye, in one draw call. */
import { BufferAttribute, BufferGeometry, type Color, Points, ShaderMaterial } from 'three'

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

  /** `isOnTop`: not hidden by what stands before it. */
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
