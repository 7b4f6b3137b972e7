/**
 * Reads the objects of a JSON file that may be larger than memory, one after the other; a broken object is reported and skipped. Streaming
 * JSON parsers stop at the first error, so the array is split into its elements here.
 */
import { isRecord } from '../../../base/record.ts'
import { type ExportFile, type Findings, MAX_RECORD_BYTES, type Place, textPieces } from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

export interface JsonRecord {
  readonly value: Fields
  readonly place: Place
}

export async function* jsonRecords(file: ExportFile, findings: Findings): AsyncIterable<JsonRecord> {
  const layout: JsonLayout = { isJson: true, isEnded: false }
  const { path } = file
  for await (const element of jsonElements(textPieces(file, findings), MAX_RECORD_BYTES, layout)) {
    const { line, at, text, isWhole } = element
    const place = { path, line, at: at === '' ? null : at }
    if (element.isTooLong) {
      findings.problem(place, `longer than ${MAX_RECORD_BYTES} characters; it was skipped`)
      continue
    }
    const parsed = parsedJson(text)
    if (typeof parsed === 'string')
      findings.problem(place, isWhole ? parsed : 'the file ends within it; it was skipped')
    else if (isRecord(parsed.value)) yield { value: parsed.value, place }
    else findings.problem(place, 'expected a JSON object')
  }
  if (!layout.isJson) findings.problem({ path }, 'not JSON: expected an array or an object')
  else if (!layout.isEnded) findings.problem({ path }, 'the file ends before its JSON does: it was cut off')
}

/** The parsed JSON value, or a text with the error message. */
function parsedJson(text: string): { readonly value: unknown } | string {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}

interface JsonElement {
  /** Place of the element in the file, such as `[3]`; empty where the file is a single object instead of an array. */
  readonly at: string
  /** Line of the file where the element begins, from 1. */
  readonly line: number
  readonly text: string
  /** Whether the element is complete; false: the file ended within it. */
  readonly isWhole: boolean
  /** Whether the element is longer than allowed; its text is then empty. */
  readonly isTooLong: boolean
}

interface JsonLayout {
  /** Whether the file begins with an array or an object; false: it is not JSON of a supported form. */
  isJson: boolean
  /** Whether the closing bracket of the array, or of the single object, was found; false: the file is cut off. */
  isEnded: boolean
}

/**
 * Splits a JSON array into its elements, each as text. `max`: longest element, in characters. `layout`: an object that is filled in with
 * facts on the whole file, complete once the last element has been taken.
 */
export async function* jsonElements(
  pieces: AsyncIterable<string> | Iterable<string>,
  max: number,
  layout: JsonLayout,
): AsyncIterable<JsonElement> {
  let isArray: boolean | null = null
  let line = 1
  let index = 0
  let element: { readonly line: number; text: string; length: number } | null = null
  let depth = 0
  let inString = false
  let isEscaped = false
  const add = (text: string): void => {
    if (element === null) return
    element.length += text.length
    element.text = element.length <= max ? element.text + text : ''
  }
  const taken = (last: string, isWhole: boolean): JsonElement => {
    add(last)
    const { text, length, line: first } = element as { line: number; text: string; length: number }
    element = null
    return { at: isArray === true ? `[${index++}]` : '', line: first, text, isWhole, isTooLong: length > max }
  }
  for await (const piece of pieces) {
    let start = 0 // Offset in this piece of the file at which the text of the current element begins.
    for (let at = 0; at < piece.length; at++) {
      if (inString) {
        const code = piece.charCodeAt(at) // Compares character codes, because comparing strings of one character made the whole reader a fifth slower.
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) inString = false
        continue
      }
      const sign = piece[at] as string
      if (sign === '\n') line++
      if (layout.isEnded || BLANKS.includes(sign)) continue
      if (isArray === null) {
        isArray = sign === '['
        layout.isJson = isArray || sign === '{'
        if (!layout.isJson) return
        if (isArray) continue
      }
      if (element === null) {
        if (sign === ',') continue
        layout.isEnded = sign === ']'
        if (layout.isEnded) continue
        element = { line, text: '', length: 0 }
        start = at
        depth = 0
      }
      const isClosing = sign === '}' || sign === ']'
      if (sign === '"') inString = true
      else if (sign === '{' || sign === '[') depth++
      else if (isClosing && depth > 0) {
        if (--depth > 0) continue
        yield taken(piece.slice(start, at + 1), true)
        layout.isEnded = !isArray
      } else if (depth === 0 && (isClosing || sign === ',')) {
        // Finds the end of an array element that is a number, a text, or a literal such as `null`.
        yield taken(piece.slice(start, at), true)
        layout.isEnded = sign === ']'
      }
    }
    if (element !== null) add(piece.slice(start))
  }
  if (element !== null) yield taken('', false)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BLANKS = ' \t\r\n\v\f'

export function textIn(record: unknown, field: string): string | null {
  const value = valueIn(record, field)
  return typeof value === 'string' && value !== '' ? value : null
}

export function recordIn(record: unknown, field: string): Fields {
  const value = valueIn(record, field)
  return isRecord(value) ? value : {}
}

export function listIn(record: unknown, field: string): readonly unknown[] {
  const value = valueIn(record, field)
  return Array.isArray(value) ? value : []
}

function valueIn(record: unknown, field: string): unknown {
  return isRecord(record) && Object.hasOwn(record, field) ? record[field] : undefined
}
