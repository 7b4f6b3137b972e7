/**
 * Finds the headings and blocks of Markdown, by the block rules of the npm package `markdown-it` (CommonMark, and the tables of GitHub).
 * The package is loaded for the first text that may have headings or blocks. Time is linear in the text. Headings within lists and
 * quotations are ignored.
 */
import { createRequire } from 'node:module'
import type { MarkdownIt, Token } from 'markdown-it'
import { lowerBound } from '../base/compare.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { type Block, MAX_LEAD, unmarked } from './blocks.ts'
import { lineStarts } from './lines.ts'
import type { Heading } from './outline.ts'

export interface Structure {
  /** Headings of the text, in ascending order of `start`, not overlapping. */
  readonly headings: readonly Heading[]
  /** Blocks of the text, in ascending order of `start`, a block before those that it contains. */
  readonly blocks: readonly Block[]
}

export const NO_STRUCTURE: Structure = { headings: [], blocks: [] }

/** Longest heading, in UTF-16 units; a longer line is no heading, whatever it begins with. */
const MAX_HEADING = 1_000
/** Largest number of lines in an underlined heading, including its underline. */
const MAX_HEADING_LINES = 6
/**
 * Pattern of the marks that any heading or block needs: certain characters at the start of a line, or the `|` of tables. A text without
 * them is not parsed.
 */
const MARKS = /^[ \t]*([#>*+\-=`~]|\d{1,9}[.)])|^(?: {4}|\t)|\|/m

/**
 * The headings of a Markdown document, and the blocks that chunks keep together (fenced code, tables, lists, quotations). `from`: offset
 * where the Markdown begins, after front matter. Offsets in the result are those of `text`.
 *
 * @example markdownStructure('# Backups\n\nEach night.').headings[0]?.text // 'Backups'
 */
export function markdownStructure(text: string, from = 0): Structure {
  return atOnce(markdownStructureInSteps(text, from))
}

/** Number of parser tokens examined before the work pauses so that other requests can run. */
const TOKENS_AT_ONCE = 1 << 12
/**
 * `UNITS_AT_ONCE`: UTF-16 units of Markdown parsed before the work pauses so that other requests can run: some milliseconds, even for a
 * list. `MAX_UNITS`: longest block, in UTF-16 units, that is parsed whole.
 */
const UNITS_AT_ONCE = 1 << 16
const MAX_UNITS = 1 << 17

/** Finds the headings and blocks of a Markdown document, pausing during a long document so that other work can run. */
export function* markdownStructureInSteps(text: string, from = 0): Steps<Structure> {
  const markdown = text.slice(from)
  if (!MARKS.test(markdown)) return NO_STRUCTURE
  const starts = lineStarts(markdown)
  yield
  const tokens = yield* blockTokens(markdown, starts)
  const lines = new Lines(text, starts, from)
  const headings: Heading[] = []
  const blocks: Block[] = []
  const pace = new StepPace(TOKENS_AT_ONCE)
  for (const [at, token] of tokens.entries()) {
    if (pace.isOver(1)) yield
    if (token.type === 'heading_open') {
      const heading = token.level === 0 ? headingOf(token, tokens[at + 1]?.content ?? '', lines) : null
      if (heading !== null) headings.push(heading)
    } else {
      const block = blockOf(token, lines)
      if (block !== null) blocks.push(block)
    }
  }
  return { headings, blocks }
}

/** A block token of the Markdown parser with its range of lines: first line, and line after the last. */
type LineToken = Pick<Token, 'type' | 'tag' | 'level' | 'markup' | 'info' | 'content'> & {
  map: readonly [first: number, behind: number]
}

/** Kinds of blocks that the parser only recognises together with the lines that open them, and how many these lines are. */
const OPENING_LINES: Readonly<Record<string, number>> = { fence: 1, table_open: 2 }

/**
 * The block tokens of a Markdown document, without paragraphs, parsed in windows (parts of the text). The last block of a window may go on
 * after it, so the next window starts again at that block, or at an item within a long list or quotation; the quotation then becomes
 * several blocks. A block longer than a window is parsed in a longer one, up to `MAX_UNITS`; a longer block becomes several. For fenced
 * code or a table, the opening lines are parsed again before each window, so that the block ends at the right place.
 */
function* blockTokens(markdown: string, starts: readonly number[]): Steps<readonly LineToken[]> {
  const tokens: LineToken[] = []
  const slice = (from: number, to: number) => markdown.slice(starts[from], starts[to]).replace(/\r\n?/g, '\n')
  let units = UNITS_AT_ONCE
  let open: { readonly token: LineToken; readonly lines: number } | null = null
  for (let first = 0; first < starts.length; yield) {
    const behind = lowerBound(starts.length, at => (starts[at] as number) < (starts[first] as number) + units)
    const end = Math.max(behind, first + 1)
    const isLast = end === starts.length
    if (open !== null) {
      const { token, lines } = open
      const [begin] = token.map
      // A line of text is added after the window as a test: if the parser takes it into the last block, that block continues after the
      // window.
      const text = slice(begin, begin + lines) + slice(first, end) + (isLast ? '' : 'x\n')
      const until = parse(text, first - lines)[0]?.map[1] ?? first
      first = Math.min(until, end)
      token.map = [begin, first]
      if (until <= end) open = null
      continue
    }
    const found = parse(slice(first, end), first)
    const [token] = found
    const last =
      isLast || token === undefined ? end : (lastBegin(found, 0, first) ?? lastBegin(found, 1, first) ?? first)
    if (last === first && token !== undefined && OPENING_LINES[token.type] !== undefined) {
      open = { token, lines: OPENING_LINES[token.type] as number }
      tokens.push(token)
      first += open.lines
    } else if (last === first && units < MAX_UNITS) {
      units *= 2
    } else {
      const until = last === first ? end : last
      for (const [at, one] of found.entries()) {
        const [begin, over] = one.map
        const isText = one.type === 'inline' && found[at - 1]?.type !== 'heading_open'
        if (begin >= until || isText || one.type === 'paragraph_open') continue
        tokens.push(over > until ? { ...one, map: [begin, until] } : one)
      }
      first = until
      units = UNITS_AT_ONCE
    }
  }
  return tokens
}

/**
 * Number of the line where the last of the tokens at this nesting level begins; undefined where there is none, or where that line is not
 * after the line `first`.
 */
function lastBegin(tokens: readonly LineToken[], level: number, first: number): number | undefined {
  const begin = tokens.findLast(token => token.level === level)?.map[0] ?? first
  return begin > first ? begin : undefined
}

/** The block tokens that markdown-it finds in a part of a document; `first`: number of the part's first line in the document. */
function parse(markdown: string, first: number): readonly LineToken[] {
  const { block } = loadParser()
  const tokens: Token[] = []
  block.parse(markdown, loadParser(), {}, tokens)
  return tokens.flatMap(token =>
    token.map === null ? [] : { ...token, map: [token.map[0] + first, token.map[1] + first] as const },
  )
}

let parser: MarkdownIt | null = null

/**
 * The parser is loaded with `require`, which is synchronous: texts are cut within transactions, which cannot wait for an asynchronous
 * import.
 */
function loadParser(): MarkdownIt {
  if (parser === null) {
    const markdownIt = createRequire(import.meta.url)('markdown-it') as new (options: { html: boolean }) => MarkdownIt
    parser = new markdownIt({ html: true })
    // The parser's rule for link definitions is off: this module does not need them, and it is the only slow rule.
    parser.block.ruler.disable('reference')
    parser.block.State = withoutCells(parser.block.State)
  }
  return parser
}

const NO_TOKEN = {} as Token

/** The parser's state class, changed so that it makes simple tokens and no tokens for table cells, which saves half of the parsing time. */
function withoutCells(State: MarkdownIt['block']['State']): MarkdownIt['block']['State'] {
  return class extends State {
    #isInTable = false

    override push(type: string, tag: string, nesting: Token['nesting']): Token {
      if (type === 'table_close') this.#isInTable = false
      if (nesting < 0) this.level--
      const { level } = this
      if (nesting > 0) this.level++
      if (this.#isInTable) return NO_TOKEN
      if (type === 'table_open') this.#isInTable = true
      const token = { type, tag, nesting, level, map: null, markup: '', info: '', content: '', block: true } as Token
      this.tokens.push(token)
      return token
    }
  }
}

/** Lines of a document by number. The number 0 is the line where the Markdown begins, after front matter, as in the parser. */
class Lines {
  readonly text: string
  readonly #starts: readonly number[]
  readonly #from: number

  constructor(text: string, starts: readonly number[], from: number) {
    this.text = text
    this.#starts = starts
    this.#from = from
  }

  startOf(line: number): number {
    const start = this.#starts[line]
    return start === undefined ? this.text.length : this.#from + start
  }

  /** Text of a line without its line end. */
  textOf(line: number): string {
    return this.text.slice(this.startOf(line), this.startOf(line + 1)).replace(/[\r\n]+$/, '')
  }

  /** Number of the line after the last non-blank line among the lines from `from` to `to` (excluded). */
  trimmed(from: number, to: number): number {
    let end = to
    while (end > from + 1 && this.textOf(end - 1).trim() === '') end--
    return end
  }
}

function headingOf({ map, tag }: LineToken, content: string, lines: Lines): Heading | null {
  const [first, end] = map
  if (end - first > MAX_HEADING_LINES || content.length > MAX_HEADING) return null
  const last = lines.startOf(end - 1) + lines.textOf(end - 1).length
  return { start: lines.startOf(first), end: last, level: Number(tag.slice(1)), text: plainText(content) }
}

function blockOf({ type, map, markup, info }: LineToken, lines: Lines): Block | null {
  const [first, given] = map
  const last = lines.trimmed(first, given)
  const [start, end] = [lines.startOf(first), lines.startOf(last)]
  switch (type) {
    case 'fence': {
      const lead = fenceLead(lines.textOf(first), markup, info)
      const isClosed = last - first > 1 && isClosing(lines.textOf(last - 1), markup)
      return {
        start,
        end,
        from: lines.startOf(first + 2),
        until: isClosed ? lines.startOf(last - 1) : end,
        lead,
        isCode: true,
      }
    }
    case 'table_open': {
      const lead = `${unmarked(lines.textOf(first))}\n${lines.textOf(first + 1)}`
      return { start, end, from: lines.startOf(first + 3), until: end, lead: cut(lead, MAX_LEAD) }
    }
    case 'code_block':
      return { start, end, from: lines.startOf(first + 1), until: end, lead: '', isCode: true }
    case 'list_item_open':
    case 'blockquote_open':
      return { start, end, from: lines.startOf(first + 1), until: end, lead: '', isProse: true }
    default:
      return null
  }
}

/** Longest text after the signs that open fenced code (such as a language name) that is repeated in later parts, in UTF-16 units. */
const MAX_INFO = 100

/**
 * The line that opens fenced code, as later parts repeat it; where other text comes before the fence on that line (a list item begins
 * there), only the fence.
 */
function fenceLead(line: string, markup: string, info: string): string {
  return `${unmarked(line.slice(0, Math.max(0, line.indexOf(markup))))}${markup}${cut(info.trimEnd(), MAX_INFO)}`
}

function isClosing(line: string, markup: string): boolean {
  const rest = line.replace(/^[ \t>]+/, '').trimEnd()
  return rest.startsWith(markup) && rest === markup.charAt(0).repeat(rest.length)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed()
}

/** The text of a heading without the marks of inline code, emphasis and links. */
function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/\\([^\w\s])|[`*]+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
