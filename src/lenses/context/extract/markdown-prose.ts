/**
 * The prose of Markdown: paragraphs with the place where they begin, and comments. Front matter, fenced and indented code are
 * neither. Line by line and linear in the text: see `text/markdown-outline.ts` for why no parser.
 */

export interface Prose {
  readonly start: number
  readonly text: string
  readonly isComment: boolean
}

const FRONT_MATTER = /^---[ \t]*\r?\n(?:(?!(?:---|\.\.\.)[ \t]*\r?$).*\n){0,1000}(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/
const QUOTE = /^(?: {0,3}> ?)+/
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const INDENTED = /^(?: {4}| {0,3}\t)/
/** Longer lines are generated. */
const MAX_LINE = 20_000
/** And longer paragraphs; they are taken in parts. */
const MAX_PARAGRAPH = 20_000

/** Where the Markdown begins, behind what stands between two lines of `---` at its top. */
export function endOfFrontMatter(text: string): number {
  const match = text.startsWith('---') ? FRONT_MATTER.exec(text) : null
  return match?.index === 0 ? match[0].length : 0
}

/** `breaks`: places that begin a paragraph anyhow, in order. `onLine` is called for every line. */
export function* proseOf(text: string, from: number, breaks: readonly number[], onLine: () => void): Iterable<Prose> {
  const reader = new ProseReader()
  let next = 0
  for (let start = from; start < text.length; ) {
    onLine()
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    const line = text.slice(start, Math.min(end, start + MAX_LINE)).replace(/\r$/, '')
    const isBreak = (breaks[next] ?? Number.POSITIVE_INFINITY) <= start
    while ((breaks[next] ?? Number.POSITIVE_INFINITY) <= start) next++
    if (isBreak) yield* reader.close()
    yield* reader.read(line, start)
    start = end + 1
  }
  yield* reader.close()
}

class ProseReader {
  #paragraph: { start: number; text: string } | null = null
  #fence: { readonly mark: string; readonly isQuoted: boolean } | null = null
  #isComment = false
  /** Within a list: what is indented belongs to an item. */
  #inList = false
  #isBlank = true

  /** What the line ends or is itself. */
  read(line: string, start: number): readonly Prose[] {
    if (this.#isComment) {
      const end = line.indexOf('-->')
      this.#isComment = end < 0
      return [{ start, text: end < 0 ? line : line.slice(0, end), isComment: true }]
    }
    const quote = QUOTE.exec(line)?.[0] ?? ''
    const inner = line.slice(quote.length)
    if (this.#isFenced(inner, quote !== '')) return this.close()
    const isBlank = inner.trim() === ''
    const isCode = this.#isBlank && !this.#inList && INDENTED.test(inner)
    if (ITEM.test(inner)) this.#inList = true
    else if (this.#isBlank && /^\S/.test(inner)) this.#inList = false
    if (isBlank) {
      this.#isBlank = true
      return this.close()
    }
    if (isCode) return []
    this.#isBlank = false
    return this.#readVisible(inner, start + quote.length)
  }

  close(): readonly Prose[] {
    const paragraph = this.#paragraph
    this.#paragraph = null
    return paragraph === null ? [] : [{ ...paragraph, isComment: false }]
  }

  /** Whether the line is within a fence, begins or ends one. */
  #isFenced(line: string, isQuoted: boolean): boolean {
    const [, mark = '', info = ''] = FENCE.exec(line) ?? []
    if (this.#fence === null) {
      if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return false
      if (INDENTED.test(line) && !this.#inList) return false
      this.#fence = { mark, isQuoted }
      this.#isBlank = true
      return true
    }
    if (this.#fence.isQuoted && !isQuoted) {
      this.#fence = null
      return false
    }
    if (mark.startsWith(this.#fence.mark) && info.trim() === '') this.#fence = null
    return true
  }

  /** A comment that begins a line may go over many. */
  #readVisible(line: string, start: number): readonly Prose[] {
    const opening = /^ {0,3}<!--/.exec(line)?.[0]
    if (opening !== undefined) {
      const before = this.close()
      const end = line.indexOf('-->', opening.length)
      this.#isComment = end < 0
      if (end >= 0) this.#add(line.slice(end + 3), start + end + 3)
      return [...before, { start, text: line.slice(opening.length, end < 0 ? undefined : end), isComment: true }]
    }
    const inline = /<!--(.*?)-->/.exec(line)
    const isTooLong = this.#paragraph !== null && this.#paragraph.text.length + line.length > MAX_PARAGRAPH
    const before = isTooLong ? this.close() : []
    this.#add(inline === null ? line : line.replace(inline[0], ' '), start)
    return inline === null ? before : [...before, { start, text: inline[1] as string, isComment: true }]
  }

  #add(line: string, start: number): void {
    if (this.#paragraph === null) this.#paragraph = { start, text: line }
    else this.#paragraph.text += `\n${line}`
  }
}
