/**
 * Reads JSON files. The text is kept unchanged unless its lines are very long. The names of the objects and lists around a chunk are its
 * headings, so that each chunk shows which value it is part of. Items of the outermost list get place marks, such as "items 10-25".
 */
import { StepPace, type Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkInSteps } from '../text/chunk.ts'
import type { Heading, PlaceMark } from '../text/outline.ts'
import { code } from './plain-text.ts'

export const json: Ingester = {
  name: 'json',
  version: 3,
  accepts: file => file.extension === 'json' || file.extension === 'jsonc',
  *read(file, settings): Steps<FileReading> {
    const text = yield* inLines(file.text)
    const { documents, problems } = yield* code.read({ ...file, text }, settings)
    const chunks = yield* chunksOf({ text })
    return { documents: documents.map(document => ({ ...document, chunks })), problems }
  },
}

/** Line length in UTF-16 units above which a JSON text is assumed to be written by a program, and is divided into shorter lines. */
const MAX_LINE = 2_000
/** Maximum depth to which lines are indented; deeper values have the indentation of this depth. */
const MAX_INDENTED = 8

/**
 * Divides a JSON text with very long lines: each value gets its own line; texts and numbers keep their spelling. A text with short lines
 * only, or one that is not JSON, is returned unchanged.
 */
function* inLines(text: string): Steps<string> {
  if (text.split('\n').every(line => line.length <= MAX_LINE)) return text
  const pace = new StepPace(STEPS_AT_ONCE)
  const parts: string[] = []
  let [from, depth, before] = [0, 0, '']
  const line = () => `\n${'  '.repeat(Math.min(depth, MAX_INDENTED))}`
  const signs = /["{}[\]:,]|\/[/*]/g
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const [[sign], at] = [found, found.index]
    if (pace.isOver(1)) yield
    if (sign === '"') {
      signs.lastIndex = endOfText(text, at)
      continue
    }
    const isClosing = sign === '}' || sign === ']'
    // A comment or a closing bracket without an opening one means that the text is not plain JSON, so it is returned unchanged.
    if (sign.length > 1 || (isClosing && depth === 0)) return text
    const value = text.slice(from, at).trim()
    const isFirst = before === '{' || before === '['
    const isEmpty = isFirst && isClosing && value === ''
    if ((isFirst || before === ',') && !(isClosing && value === '')) parts.push(line())
    parts.push(value)
    if (isClosing) depth--
    if (isClosing && !isEmpty) parts.push(line())
    if (sign === '{' || sign === '[') depth++
    parts.push(sign === ':' ? ': ' : sign)
    from = at + 1
    before = sign
  }
  return depth === 0 ? parts.join('') + text.slice(from) : text
}

function* chunksOf({ text }: Pick<SourceFile, 'text'>) {
  const scan = new Scan(text)
  yield* scan.run()
  return yield* chunkInSteps(text, { form: 'code', headings: scan.headings, places: scan.places })
}

/** An object or a list whose closing bracket has not been reached yet. */
interface Open {
  readonly isList: boolean
  /**
   * Level of headings for values inside this object or list; one more than the level outside if the object or list has a heading of its
   * own.
   */
  readonly level: number
}

/**
 * Number of UTF-16 units of list items that share one place mark (a name such as "items 10-25" for that part of the text); about the size
 * of a passage.
 */
const PLACE_LENGTH = 500
const MAX_LEVEL = 6
const STEPS_AT_ONCE = 1 << 13

class Scan {
  readonly headings: Heading[] = []
  readonly places: PlaceMark[] = []
  readonly #text: string
  readonly #open: Open[] = []
  /** Position of the last JSON string read, which is the name of a field if a colon follows. */
  #last = { start: 0, end: 0 }
  #name: { readonly start: number; readonly text: string } | null = null
  /**
   * Nesting depth of the outermost list, whose items are named in place marks (such as "items 10-25" for a part of the text); -1: no list
   * has begun yet.
   */
  #list = -1
  #items = 0
  #group: { readonly at: number; readonly first: number } | null = null

  constructor(text: string) {
    this.#text = text
  }

  *run(): Steps<void> {
    const pace = new StepPace(STEPS_AT_ONCE)
    const sign = /["{}[\]:,]|\/[/*]/g
    for (let found = sign.exec(this.#text); found !== null; found = sign.exec(this.#text)) {
      sign.lastIndex = this.#take(found[0], found.index)
      if (pace.isOver(1)) yield
    }
    this.#endGroup()
  }

  /** Processes a sign such as a bracket, comma or quotation mark; returns the position from which to search for the next one. */
  #take(sign: string, at: number): number {
    switch (sign) {
      case '"':
        this.#last = { start: at, end: endOfText(this.#text, at) }
        return this.#last.end
      case '//':
        return this.#after('\n', at)
      case '/*':
        return this.#after('*/', at + 2)
      case ':':
        this.#name = { start: this.#last.start, text: this.#text.slice(this.#last.start + 1, this.#last.end - 1) }
        break
      case ',':
        this.#name = null
        break
      case '{':
      case '[':
        this.#begin(sign === '[', at)
        break
      default:
        this.#end(at)
    }
    return at + 1
  }

  #begin(isList: boolean, at: number): void {
    const around = this.#open.at(-1)
    let level = around?.level ?? 1
    if (this.#name !== null && level <= MAX_LEVEL) {
      const start = this.#lineStart(this.#name.start)
      // A heading ends the section before it, so an empty heading (which only ends a section) at the same position is unnecessary and is
      // removed.
      while (this.headings.at(-1)?.text === '' && this.headings.at(-1)?.start === start) this.headings.pop()
      this.headings.push({ start, end: start, level, text: this.#name.text })
      level++
    }
    this.#name = null
    if (around?.isList === true && this.#list === this.#open.length - 1) this.#item(this.#lineStart(at))
    if (isList && this.#list < 0) {
      this.#list = this.#open.length
      this.#items = 0
    }
    this.#open.push({ isList, level })
  }

  #end(at: number): void {
    this.#name = null
    const ended = this.#open.pop()
    const level = this.#open.at(-1)?.level ?? 1
    if (ended !== undefined && ended.level > level) this.#endHeading(level, at)
    if (this.#list < 0 || this.#list !== this.#open.length) return
    this.#list = -1
    if (this.#group === null) return
    this.#endGroup()
    this.places.push({ at: this.#after('\n', at), text: '' })
  }

  /**
   * Adds an empty heading after the value that ends at `at`, so that later text does not appear under the value's name. The heading is
   * placed behind commas and closing brackets that follow directly.
   */
  #endHeading(level: number, at: number): void {
    let start = at
    while (start < this.#text.length && ' \t\r\n,]}'.includes(this.#text[start] as string)) start++
    if (start === this.#text.length) return
    start = this.#lineStart(start)
    this.headings.push({ start, end: start, level, text: '' })
  }

  #item(at: number): void {
    this.#items++
    if (this.#group !== null && at - this.#group.at >= PLACE_LENGTH) this.#endGroup(this.#items - 1)
    this.#group ??= { at, first: this.#items }
  }

  #endGroup(last = this.#items): void {
    if (this.#group === null) return
    const { at, first } = this.#group
    this.places.push({ at, text: first === last ? `item ${first}` : `items ${first}-${last}` })
    this.#group = null
  }

  /** Start of the line if there are only blanks between it and `at`, so that a chunk may begin with the line; otherwise `at` itself. */
  #lineStart(at: number): number {
    let start = at
    while (start > 0 && (this.#text[start - 1] === ' ' || this.#text[start - 1] === '\t')) start--
    return start === 0 || this.#text[start - 1] === '\n' ? start : at
  }

  #after(sign: string, at: number): number {
    const found = this.#text.indexOf(sign, at)
    return found < 0 ? this.#text.length : found + sign.length
  }
}

/** Position after the closing quotation mark of the JSON string that begins at `at`; the end of the text if the string is not closed. */
function endOfText(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return json.length
}
