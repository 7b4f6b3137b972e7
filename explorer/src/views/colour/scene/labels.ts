/** Words over the picture, in the type of the page. What finds no room is left out: the first ones come first. */
import { type Camera, Vector3 } from 'three'
import { placeOf } from './place.ts'

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
