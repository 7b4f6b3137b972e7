/** The headings of a text, and which of them are above a part of the text. */

import type { ChunkSection } from '../model/entry.ts'

export interface Heading {
  /** Offset of the start of the heading's line, including its marks; `end` is excluded. */
  readonly start: number
  readonly end: number
  /** Level of the heading; 1 is the outermost. */
  readonly level: number
  /** Text of the heading without marks. Empty: the heading only ends the sections of its level and deeper, and is not named itself. */
  readonly text: string
}

/**
 * A mark that says where in a document the following text was: on a page, a slide, in a cell. It applies up to the next mark, and no
 * passage contains text from under two marks; an empty text means no place. It is shown with a passage, but neither embedded nor indexed.
 */
export interface PlaceMark {
  readonly at: number
  readonly text: string
}

/** Title for a text without one: its first heading of level 1, otherwise its first heading of any level. */
export function firstHeading(headings: readonly Heading[]): string | undefined {
  const named = headings.filter(({ text }) => text !== '')
  return (named.find(({ level }) => level === 1) ?? named[0])?.text
}

/**
 * Largest number of characters of a heading that is kept as a section name; a whole paragraph marked as a heading says little about the
 * text after it.
 */
const MAX_HEADING = 200

/** Largest number of headings within a chunk for which the headings above them are kept. */
const MAX_SECTIONS = 100

/**
 * Finds the headings above spans (parts) of a text. Spans should be requested in ascending order, as chunking does; then each request takes
 * few steps.
 */
export class Outline {
  readonly #content: string
  readonly #headings: readonly Heading[]
  readonly #places: readonly PlaceMark[]
  /** For each heading, the index of the heading above it (of a lower level), or -1. */
  readonly #parents: readonly number[]
  /** Index of the first heading that later requests can still need, since spans are requested in ascending order. */
  #first = 0
  #firstPlace = 0

  /** `places` must be in ascending order of `at`, and `headings` of `start`. */
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

  /** Whether the character at offset `at` belongs to a heading. */
  isWithin(at: number): boolean {
    const heading = this.#headings[this.#lastFrom(at)]
    return heading !== undefined && at >= heading.start && at < heading.end
  }

  /**
   * Texts of the headings above a span (a part of the text), outermost first. Where the span contains text of several sections, only the
   * headings that all of these share. A section of which the span contains no more than the heading does not count.
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
   * The sections of a span (a part of the text): one at its start, and one at each heading or place mark (such as a page) in it. Each has
   * the headings above it, outermost first, then the text of its place mark; sections that would equal the one before are left out.
   * `headings`: those above the whole span. Offsets count from the start of the span. `headingsOf` must be called for the span before.
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

  /** Index of the last heading that begins at or before offset `at`, or -1. */
  #lastFrom(at: number): number {
    let index = this.#first
    while ((this.#headings[index]?.start ?? Infinity) <= at) index++
    return index - 1
  }

  /** Index of the last place mark at or before offset `at`, or -1. */
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
