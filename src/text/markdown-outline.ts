/**
 * The headings of Markdown, found line by line: `#` and underlined ones, not those in fenced code, comments and raw HTML.
 * Linear in the text. (The CommonMark parser, `mdast-util-from-markdown`, needs 17 s for 500 kB of list and minutes for
 * as much of `[a](`; tests hold this to it on real documents. Headings within lists and quotations do not count here.)
 */
import type { Heading } from './outline.ts'

/** A longer line is no heading, whatever it begins with. */
const MAX_LINE = 1_000
/** Lines an underlined heading may have. */
const MAX_HEADING_LINES = 5

/** `from` is where the Markdown begins, behind front matter. */
export function markdownHeadings(text: string, from = 0): readonly Heading[] {
  const headings: Heading[] = []
  const block = new OpenBlock()
  for (const line of linesFrom(text, from)) {
    if (block.swallows(line.text)) continue
    const heading = hashHeading(line) ?? block.underlined(line)
    if (heading !== null) headings.push(heading)
    block.follow(line, heading !== null)
  }
  return headings
}

interface Line {
  readonly start: number
  /** Before the line end. */
  readonly end: number
  /** At most MAX_LINE + 1 characters of it. */
  readonly text: string
}

function* linesFrom(text: string, from: number): Iterable<Line> {
  for (let start = from; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const next = feed < 0 ? text.length : feed
    const end = text[next - 1] === '\r' && next > start ? next - 1 : next
    yield { start, end, text: text.slice(start, Math.min(end, start + MAX_LINE + 1)) }
    start = next + 1
  }
}

/** `## Title ##` */
function hashHeading(line: Line): Heading | null {
  const match = line.text.length > MAX_LINE ? null : /^ {0,3}(#{1,6})(?:[ \t](.*))?$/.exec(line.text)
  if (match === null) return null
  const text = (match[2] ?? '').trim().replace(/(?:^|[ \t])#+$/, '')
  return { start: line.start, end: line.end, level: (match[1] as string).length, text: plainText(text) }
}

/** What the lines before this one began and left open: a paragraph, a fence, a comment, raw HTML. */
class OpenBlock {
  #paragraph: Line[] = []
  #fence: string | null = null
  #until: RegExp | null = null
  /** Within a list or quotation: a following line may belong to it. */
  #nested = false

  /** Whether the line is inside (or ends, or begins) something that holds no headings. */
  swallows(line: string): boolean {
    if (this.#fence !== null) {
      const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]
      if (closing?.startsWith(this.#fence) === true) this.#fence = null
      return true
    }
    if (this.#until !== null) {
      if (this.#until.test(line)) this.#until = null
      return true
    }
    const opening = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line)
    this.#fence = opening?.[1] ?? opening?.[2] ?? null
    this.#until = rawHtmlEnd(line, this.#paragraph.length > 0)
    if (this.#fence === null && this.#until === null) return false
    if (this.#until?.test(line) === true) this.#until = null
    this.#paragraph = []
    return true
  }

  /** The heading that this line of `=` or `-` makes of the paragraph before it. */
  underlined(line: Line): Heading | null {
    const [first] = this.#paragraph
    const sign = /^ {0,3}(=+|-+)[ \t]*$/.exec(line.text)?.[1]?.[0]
    if (first === undefined || sign === undefined || this.#paragraph.length > MAX_HEADING_LINES) return null
    const text = this.#paragraph.map(part => part.text.trim()).join(' ')
    return { start: first.start, end: line.end, level: sign === '=' ? 1 : 2, text: plainText(text) }
  }

  follow(line: Line, isHeading: boolean): void {
    if (isHeading || line.text.trim() === '' || isRule(line.text)) {
      this.#paragraph = []
      this.#nested = false
    } else if (this.#paragraph.length > 0) {
      if (this.#paragraph.length <= MAX_HEADING_LINES) this.#paragraph.push(line)
    } else if (!this.#nested) {
      this.#nested = /^ {0,3}(>|[-+*][ \t]|[-+*]$|\d{1,9}[.)][ \t])/.test(line.text)
      if (!this.#nested && !/^( {4}| {0,3}\t)/.test(line.text)) this.#paragraph = [line]
    }
  }
}

/** `***`, `- - -`: a line across. */
function isRule(line: string): boolean {
  return line.length <= MAX_LINE && /^ {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$/.test(line)
}

/** What ends the raw HTML that begins here, or null. Blocks of ordinary tags end with a blank line. */
function rawHtmlEnd(line: string, inParagraph: boolean): RegExp | null {
  const start = line.slice(0, 40)
  if (/^ {0,3}<!--/.test(start)) return /-->/
  const verbatim = /^ {0,3}<(script|pre|style|textarea)(?:[\s>]|$)/i.exec(start)?.[1]
  if (verbatim !== undefined) return /<\/(script|pre|style|textarea)>/i
  return !inParagraph && /^ {0,3}<\/?[a-z][a-z0-9]*[ \t/>]/i.test(start) && !/^ {0,3}<[a-z]+:/i.test(start)
    ? /^\s*$/
    : null
}

/** Without the signs of code, emphasis and links. */
function plainText(markdown: string): string {
  return markdown
    .slice(0, MAX_LINE)
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/\\([^\w\s])|[`*]+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
