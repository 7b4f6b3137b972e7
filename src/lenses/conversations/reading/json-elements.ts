/** A JSON array that may be larger than memory: its elements one after the other, each as text. */

export interface JsonElement {
  /** `[3]`; empty where the file is not an array but one object. */
  readonly at: string
  /** Where it begins, from 1. */
  readonly line: number
  readonly text: string
  /** False when the file ended within it. */
  readonly isWhole: boolean
  /** True when it was longer than allowed; the text is empty then. */
  readonly isTooLong: boolean
}

export interface JsonLayout {
  /** False when the file is neither an array nor an object. */
  isJson: boolean
  /** False when the end of the array (or of the one object) never came. */
  isEnded: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What `layout` says holds once the last element was taken. `most`: characters of one element. */
export async function* jsonElements(
  pieces: AsyncIterable<string> | Iterable<string>,
  most: number,
  layout: JsonLayout,
): AsyncIterable<JsonElement> {
  layout.isJson = true
  layout.isEnded = false
  let isArray: boolean | null = null
  let line = 1
  let index = 0
  let element: { line: number; parts: string[]; length: number } | null = null
  let depth = 0
  let inString = false
  let isEscaped = false
  const taken = (isWhole: boolean): JsonElement => {
    const { parts, length, line: first } = element as { line: number; parts: string[]; length: number }
    element = null
    const isTooLong = length > most
    const at = isArray === true ? `[${index++}]` : ''
    return { at, line: first, text: isTooLong ? '' : parts.join(''), isWhole, isTooLong }
  }
  const add = (text: string): void => {
    if (element === null) return
    element.length += text.length
    if (element.length <= most) element.parts.push(text)
    else element.parts = []
  }
  for await (const piece of pieces) {
    let start = 0 // of what of this piece belongs to the open element
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) inString = false
        continue
      }
      if (code === 0x0a) line++
      if (layout.isEnded) continue
      if (isArray === null) {
        if (isBlank(code)) continue
        if (code !== 0x5b && code !== 0x7b) {
          layout.isJson = false
          return
        }
        isArray = code === 0x5b
        if (isArray) continue
      }
      if (element === null) {
        if (isBlank(code) || code === 0x2c) continue
        if (code === 0x5d) {
          layout.isEnded = true
          continue
        }
        element = { line, parts: [], length: 0 }
        start = at
        depth = 0
      }
      if (code === QUOTE) inString = true
      else if (code === 0x7b || code === 0x5b) depth++
      else if (code === 0x7d || code === 0x5d || code === 0x2c) {
        if (code !== 0x2c && depth > 0) depth--
        else if (depth > 0) continue
        else {
          // The end of a number, a word or a text that stands in the array by itself.
          add(piece.slice(start, at))
          yield taken(true)
          if (code === 0x5d) layout.isEnded = true
          continue
        }
        if (depth > 0) continue
        add(piece.slice(start, at + 1))
        yield taken(true)
        layout.isEnded = !isArray
      }
    }
    if (element !== null) add(piece.slice(start))
  }
  if (element !== null) yield taken(false)
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
