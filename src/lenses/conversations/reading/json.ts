/**
 * The objects of a JSON file that may be larger than memory, one after the other; what is broken in one is reported, and the
 * rest of it is taken. Parsers that read JSON from a stream end at the first error, so the array is cut into its elements here.
 */
import { type JSONPath, visit } from 'jsonc-parser'
import { isRecord } from '../../../base/record.ts'
import { type ExportFile, type Findings, MAX_RECORD_BYTES, type Place, textPieces } from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

export interface JsonRecord {
  readonly value: Fields
  readonly place: Place
}

/** `many`: the member of a record whose members are worth saving one by one; null where a record is too small for that. */
export async function* jsonRecords(
  file: ExportFile,
  many: string | null,
  findings: Findings,
): AsyncIterable<JsonRecord> {
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
    if (typeof parsed !== 'string') {
      if (isRecord(parsed.value)) yield { value: parsed.value, place }
      else findings.problem(place, 'expected a JSON object')
      continue
    }
    if (many === null || !text.startsWith('{')) {
      findings.problem(place, isWhole ? 'not JSON' : CUT)
      continue
    }
    const { value, broken } = readableMembers(text, many)
    if (broken.length === 0) findings.problem(place, isWhole ? 'not JSON; what could be read of it was taken' : CUT)
    for (const { at: within, message } of broken) findings.problem({ ...place, at: `${at}${within}` }, message)
    yield { value, place }
  }
  if (!layout.isJson) findings.problem({ path }, 'not JSON: expected an array or an object')
  else if (!layout.isEnded) findings.problem({ path }, 'the file ends before its JSON does: it was cut off')
}

const CUT = 'the file ends within it'

/** The value; or what is wrong, as a text. */
function parsedJson(text: string): { readonly value: unknown } | string {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}

interface ReadableMembers {
  readonly value: Fields
  /** Paths of what could not be read, and why. */
  readonly broken: readonly { readonly at: string; readonly message: string }[]
}

/**
 * What can be read of an object whose JSON is broken or was cut off: its members one by one, and those of the one named `many`
 * (an object or a list).
 */
export function readableMembers(text: string, many: string): ReadableMembers {
  const found = new Map<string, unknown>()
  const parts: (readonly [JSONPath[number], unknown])[] = []
  const broken: { at: string; message: string }[] = []
  const note = ({ path, start }: OpenMember, end: number): void => {
    const [name, part] = path as [string, ...JSONPath]
    if (path.length !== 1 && (path.length !== 2 || name !== many)) return
    const at = `.${name}${part === undefined ? '' : typeof part === 'number' ? `[${part}]` : `.${part}`}`
    const isMany = name === many && part === undefined && /[[{]/.test(text[start] as string)
    if (isMany) found.set(name, text[start] === '[' ? parts.map(([, value]) => value) : Object.fromEntries(parts))
    const parsed = isMany ? null : parsedJson(text.slice(start, end))
    // A number that the text ends with may have had more digits.
    const isCut = end > text.length || (end === text.length && (typeof parsed === 'string' || !/["}\]]$/.test(text)))
    if (isCut || typeof parsed === 'string') broken.push({ at, message: isCut ? CUT : (parsed as string) })
    else if (parsed === null) return
    else if (part === undefined) found.set(name, parsed.value)
    else parts.push([part, parsed.value])
  }
  const open: OpenMember[] = []
  const begin = (offset: number, _length: number, _line: number, _column: number, path: () => JSONPath): void => {
    open.push({ path: path(), start: offset })
  }
  const end = (offset: number): void => note(open.pop() as OpenMember, offset + 1)
  try {
    visit(text, {
      ...{ onObjectBegin: begin, onArrayBegin: begin, onObjectEnd: end, onArrayEnd: end },
      onLiteralValue: (_, start, length, _line, _column, path) => note({ path: path(), start }, start + length),
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error // nested so deeply that the stack has no room for it
  }
  for (const member of open.reverse()) note(member, text.length + 1)
  return { value: Object.fromEntries(found), broken }
}

interface OpenMember {
  readonly path: JSONPath
  readonly start: number
}

interface JsonElement {
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

interface JsonLayout {
  /** False when the file is neither an array nor an object. */
  isJson: boolean
  /** False when the end of the array (or of the one object) never came. */
  isEnded: boolean
}

/** The elements of the array, each as text. `layout` is set once the last one was taken. `max`: characters of one element. */
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
    let start = 0 // of what of this piece belongs to the open element
    for (let at = 0; at < piece.length; at++) {
      if (inString) {
        const code = piece.charCodeAt(at) // with texts of one character the whole took a fifth longer
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
        // The end of a number, a word or a text that stands in the array by itself.
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
