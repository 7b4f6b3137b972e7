/** The headings of a text, and the path of them above a span. */

import type { ChunkSection } from '../model/entry.ts'

export interface Heading {
  /** From the start of its line, marks and all; end excluded. */
  readonly start: number
  readonly end: number
  /** 1 is the outermost. */
  readonly level: number
  /** Without marks. Empty: it only ends the headings of its level and deeper, and is in no path. */
  readonly text: string
}

/** What a text says of where it was: a page, a slide, a cell. It holds up to the next one, and is in no passage with that; empty: none. Shown with a passage, neither embedded nor indexed. */
export interface PlaceMark {
  readonly at: number
  readonly text: string
}

/** What a text without a title is called: its first heading of level 1, else its first one of any. */
export function firstHeading(headings: readonly Heading[]): string | undefined {
  const named = headings.filter(({ text }) => text !== '')
  return (named.find(({ level }) => level === 1) ?? named[0])?.text
}

/** Longest heading in a path; a whole paragraph marked as a heading says little about what follows it. */
const MAX_HEADING = 200

/** Headings within a chunk whose paths are kept. */
const MAX_SECTIONS = 100

/** Asked in ascending order of places, as a chunker does: a few steps a question. */
export class Outline {
  readonly #content: string
  readonly #headings: readonly Heading[]
  readonly #places: readonly PlaceMark[]
  /** By heading: the one it is under, or -1. */
  readonly #parents: readonly number[]
  /** No heading before this one matters any more. */
  #first = 0
  #firstPlace = 0

  /** `places`: ascending by `at`, as `headings` are by `start`. */
  constructor(content: string, headings: readonly Heading[], places: readonly PlaceMark[] = []) {
    this.#content = content
    this.#headings = headings
    this.#places = places
    this.#parents = parentsOf(headings)
  }

  beginsAt(at: number): boolean {
    return this.#headings[this.#lastFrom(at)]?.start === at
  }

  isPlace(at: number): boolean {
    return this.#places[this.#lastPlace(at)]?.at === at
  }

  /** Whether the character at `at` belongs to a heading. */
  isWithin(at: number): boolean {
    const heading = this.#headings[this.#lastFrom(at)]
    return heading !== undefined && at >= heading.start && at < heading.end
  }

  /**
   * Texts of the headings above the span, outermost first. A span over several sections has those they share; a section
   * whose heading is all the span holds of it does not count.
   */
  headingsOf(start: number, end: number): readonly string[] {
    let at = this.#lastFrom(start)
    this.#first = Math.max(0, at)
    let shared: readonly number[] | null = null
    let from = start
    for (;;) {
      const next = this.#headings[at + 1]
      const to = Math.min(end, next?.start ?? end)
      const heading = at < 0 ? undefined : this.#headings[at]
      const body = Math.max(from, heading === undefined ? from : Math.min(heading.end, to))
      const last = next === undefined || next.start >= end
      if (/\S/.test(this.#content.slice(body, to)) || (last && shared === null)) {
        shared = shared === null ? this.#path(at) : commonStart(shared, this.#path(at))
      }
      if (last) break
      from = next.start
      at++
    }
    return this.#texts(shared ?? [])
  }

  /**
   * The paths that differ from `headings`, those that all of the span is under: at its start, and at each heading and place in it. The
   * place is the last of a path. Offsets count from the start of the span. Ask for `headingsOf` the same span before.
   */
  sectionsOf(start: number, end: number, headings: readonly string[]): readonly ChunkSection[] {
    let heading = this.#lastFrom(start)
    let place = this.#lastPlace(start)
    this.#firstPlace = Math.max(0, place)
    const sections: ChunkSection[] = []
    let last = headings
    for (let at = start, boundaries = 0; at < end && boundaries < MAX_SECTIONS; boundaries++) {
      const next = Math.min(this.#headings[heading + 1]?.start ?? end, this.#places[place + 1]?.at ?? end, end)
      if (at > start || !isBlank(this.#content, at, next)) {
        const path = [...this.#texts(this.#path(heading)), ...this.#placeText(place)]
        if (!isSamePath(path, last)) sections.push({ at: at - start, headings: path })
        last = path
      }
      at = next
      while ((this.#headings[heading + 1]?.start ?? Infinity) <= at) heading++
      while ((this.#places[place + 1]?.at ?? Infinity) <= at) place++
    }
    return sections
  }

  #placeText(index: number): readonly string[] {
    const text = this.#places[index]?.text ?? ''
    return text === '' ? [] : [text.slice(0, MAX_HEADING).toWellFormed()]
  }

  #texts(path: readonly number[]): readonly string[] {
    const texts = path.map(index => (this.#headings[index] as Heading).text)
    return texts.filter(text => text !== '').map(text => text.slice(0, MAX_HEADING).toWellFormed())
  }

  /** The last heading that begins at or before `at`, or -1. */
  #lastFrom(at: number): number {
    let index = this.#first
    while ((this.#headings[index]?.start ?? Infinity) <= at) index++
    return index - 1
  }

  /** The last place that begins at or before `at`, or -1. */
  #lastPlace(at: number): number {
    let index = this.#firstPlace
    while ((this.#places[index]?.at ?? Infinity) <= at) index++
    return index - 1
  }

  #path(index: number): readonly number[] {
    const path: number[] = []
    for (let at = index; at >= 0; at = this.#parents[at] as number) path.unshift(at)
    return path
  }
}

function parentsOf(headings: readonly Heading[]): readonly number[] {
  const open: number[] = []
  return headings.map((heading, index) => {
    while (open.length > 0 && (headings[open.at(-1) as number] as Heading).level >= heading.level) open.pop()
    const parent = open.at(-1) ?? -1
    open.push(index)
    return parent
  })
}

function isBlank(text: string, from: number, to: number): boolean {
  return text.slice(from, to).trim() === ''
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, at) => text === b[at])
}

function commonStart(a: readonly number[], b: readonly number[]): readonly number[] {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return a.slice(0, length)
}
