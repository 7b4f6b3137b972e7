/**
 * Headings, tables and code blocks of reStructuredText, AsciiDoc and Org, and headings of plain text, found line by line in linear time. No
 * parser of these formats on npm is both maintained and covers more than a part of its format.
 */
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { type Block, MAX_LEAD } from './blocks.ts'
import type { Heading } from './outline.ts'

export type OutlineFormat = 'rst' | 'asciidoc' | 'org' | 'text'

export interface TextOutline {
  /** Title of the text, from its headings; null where it has none. */
  readonly title: string | null
  readonly headings: readonly Heading[]
  /** Blocks of the text, in ascending order of `start`; plain text has none. */
  readonly blocks: readonly Block[]
}

/** Longest heading, in UTF-16 units. */
const MAX_HEADING = 200
/** Longest line, in UTF-16 units, that can be a heading or part of a table's header. */
const MAX_LINE = 1_000

/**
 * Finds the title, headings and blocks of a text in a format. Example: `textOutline('Backups\\n=======\\n\\nEach night.', 'rst').title` is
 * `Backups`.
 */
export function textOutline(text: string, format: OutlineFormat): TextOutline {
  return atOnce(textOutlineInSteps(text, format))
}

/** Number of lines examined before the work pauses so that other requests can run. */
const LINES_AT_ONCE = 1 << 13

/** Finds the title, headings and blocks of a text in a format, pausing during a long text so that other work can run. */
export function* textOutlineInSteps(text: string, format: OutlineFormat): Steps<TextOutline> {
  const lines = yield* linesOf(text)
  switch (format) {
    case 'asciidoc':
      return outlineOf(...(yield* asciidocParts(lines)))
    case 'org':
      return yield* orgOutline(lines)
    case 'rst':
      return outlineOf(yield* underlinedHeadings(lines), yield* restructuredBlocks(lines))
    case 'text': {
      const { title, headings } = outlineOf(yield* underlinedHeadings(lines), [])
      return { title: title ?? firstLine(lines), headings, blocks: [] }
    }
  }
}

interface Line {
  readonly start: number
  readonly end: number
  /** Text of the line without white space at its end; empty where the line is too long to be a heading or header. */
  readonly text: string
  readonly isBlank: boolean
}

function* linesOf(text: string): Steps<readonly Line[]> {
  const lines: Line[] = []
  const pace = new StepPace(LINES_AT_ONCE)
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    const whole = end - start > MAX_LINE ? '' : text.slice(start, end).trimEnd()
    lines.push({ start, end, text: whole, isBlank: whole === '' && end - start <= MAX_LINE })
    start = end + 1
    if (pace.isOver(1)) yield
  }
  return lines
}

function outlineOf(found: readonly Heading[], blocks: readonly Block[]): TextOutline {
  const headings = found.filter(({ text }) => text.length <= MAX_HEADING)
  return { title: headings[0]?.text ?? null, headings, blocks }
}

/**
 * Makes a block (such as a table) of the lines `first` to `last`. `header`: number of its first lines that are repeated where the block is
 * cut. `isClosed`: whether its last line is a closing mark, before which it must not be cut.
 */
function blockOf(lines: readonly Line[], first: number, last: number, header: number, isClosed: boolean): Block {
  const startOf = (at: number): number => lines[at]?.start ?? (lines.at(-1) as Line).end
  const lead = lines.slice(first, first + header).map(({ text }) => text)
  return {
    ...{ start: startOf(first), end: startOf(last + 1), from: startOf(first + header + 1) },
    until: isClosed ? startOf(last) : startOf(last + 1),
    lead: lead.join('\n').slice(0, MAX_LEAD).toWellFormed(),
  }
}

const UNDERLINE = /^([!-/:-@[-`{-~])\1+$/

/**
 * Finds headings that are a line of text above a line of one repeated sign of at least the same length, optionally with an equal line above
 * the text. Levels follow the order in which the signs first occur, as in reStructuredText. The line before a heading must be blank, so
 * that rows of tables do not count.
 */
function* underlinedHeadings(lines: readonly Line[]): Steps<readonly Heading[]> {
  const headings: Heading[] = []
  const pace = new StepPace(LINES_AT_ONCE)
  const levels: string[] = []
  for (let at = 1; at < lines.length; at++) {
    if (pace.isOver(1)) yield
    const [title, below] = [lines[at - 1] as Line, lines[at] as Line]
    const sign = UNDERLINE.exec(below.text)?.[1]
    const text = title.text.trim()
    if (sign === undefined || text === '' || UNDERLINE.test(title.text) || below.text.length < Math.max(3, text.length))
      continue
    const above = lines[at - 2]
    const isOverlined = above !== undefined && above.text === below.text
    const before = isOverlined ? lines[at - 3] : above
    if ((before !== undefined && !before.isBlank) || (!isOverlined && title.text !== text)) continue
    const style = isOverlined ? `${sign}${sign}` : sign
    if (!levels.includes(style)) levels.push(style)
    const start = isOverlined ? above.start : title.start
    headings.push({ start, end: below.end, level: levels.indexOf(style) + 1, text })
  }
  return headings
}

/** Finds blocks of reStructuredText: grid tables, simple tables, and indented text below a line that ends with `::`. */
function* restructuredBlocks(lines: readonly Line[]): Steps<readonly Block[]> {
  const blocks: Block[] = []
  const pace = new StepPace(LINES_AT_ONCE)
  for (let at = 0; at < lines.length; at++) {
    if (pace.isOver(1)) yield
    const block = gridTable(lines, at) ?? simpleTable(lines, at) ?? literalBlock(lines, at)
    if (block === null) continue
    blocks.push(block.block)
    at = block.last
  }
  return blocks
}

type Found = { readonly block: Block; readonly last: number } | null

function gridTable(lines: readonly Line[], first: number): Found {
  if (!/^\s*\+-[-+]*\+$/.test((lines[first] as Line).text)) return null
  const last = lastOfRun(lines, first, ({ text }) => /^\s*[+|]/.test(text))
  const rule = lines.slice(first, last + 1).findIndex(({ text }) => /^\s*\+=[=+]*\+$/.test(text))
  return { block: blockOf(lines, first, last, rule + 1, false), last }
}

const SIMPLE_RULE = /^\s*=+( +=+)+$/
/** Largest number of header lines of a table that later parts repeat. */
const MAX_HEADER = 8

function simpleTable(lines: readonly Line[], first: number): Found {
  if (!SIMPLE_RULE.test((lines[first] as Line).text)) return null
  const isRule = (at: number): boolean => SIMPLE_RULE.test((lines[at] as Line).text)
  const rules: number[] = [first]
  for (let at = first + 1; at < lines.length && rules.length < 3; at++) {
    if (isRule(at)) rules.push(at)
    else if ((lines[at] as Line).isBlank && (lines[at - 1] as Line).isBlank) break
  }
  const [, second, third] = rules
  if (second === undefined) return null
  const last = third ?? second
  const header = third !== undefined && second - first <= MAX_HEADER ? second - first + 1 : 0
  return { block: blockOf(lines, first, last, header, false), last }
}

function literalBlock(lines: readonly Line[], first: number): Found {
  const { text } = lines[first] as Line
  if (!/::$|^\s*\.\. (code-block|code|sourcecode):: \S+$/.test(text) || !(lines[first + 1]?.isBlank ?? false))
    return null
  const indent = indentOf(text)
  const last = lastOfRun(lines, first, line => line.isBlank || indentOf(line.text) > indent)
  if (last < first + 2) return null
  const isDirective = /^\s*\.\. /.test(text)
  return { block: blockOf(lines, first, last, isDirective ? 1 : 0, false), last }
}

/** Index of the last non-blank line among the lines after `first` that belong to the block without interruption. */
function lastOfRun(lines: readonly Line[], first: number, belongs: (line: Line) => boolean): number {
  let last = first
  for (let at = first + 1; at < lines.length && belongs(lines[at] as Line); at++)
    if (!(lines[at] as Line).isBlank) last = at
  return last
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}

/** Finds headings of AsciiDoc (`== Section`) outside of delimited blocks, and the delimited blocks. */
function* asciidocParts(
  lines: readonly Line[],
): Steps<readonly [headings: readonly Heading[], blocks: readonly Block[]]> {
  const pace = new StepPace(LINES_AT_ONCE)
  const headings: Heading[] = []
  const blocks: Block[] = []
  let open: { readonly text: string; readonly at: number } | null = null
  for (const [at, { start, end, text }] of lines.entries()) {
    if (pace.isOver(1)) yield
    if (/^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|\|={3,}|```.*)$/.test(text)) {
      if (open === null) open = { text, at }
      else if (text === (open.text.startsWith('`') ? '```' : open.text)) {
        // In AsciiDoc, a blank line after the first row of a table makes that row the table's header.
        const header = text.startsWith('|') && lines[open.at + 2]?.isBlank === true ? 2 : 1
        blocks.push(blockOf(lines, open.at, at, header, true))
        open = null
      }
      continue
    }
    const [, signs, heading] = open === null ? (/^(={1,6})[ \t]+(\S.*)$/.exec(text) ?? []) : []
    if (signs !== undefined && heading !== undefined) headings.push({ start, end, level: signs.length, text: heading })
  }
  return [headings, blocks]
}

/** Finds headings of Org (`* Section`) outside of blocks, without their states, priorities and tags; and blocks and tables. */
function* orgOutline(lines: readonly Line[]): Steps<TextOutline> {
  const pace = new StepPace(LINES_AT_ONCE)
  const headings: Heading[] = []
  const blocks: Block[] = []
  let title: string | null = null
  for (let at = 0; at < lines.length; at++) {
    if (pace.isOver(1)) yield
    const { start, end, text } = lines[at] as Line
    const block = orgBlock(lines, at) ?? orgTable(lines, at)
    if (block !== null) {
      blocks.push(block.block)
      at = block.last
      continue
    }
    title ??= /^#\+title:\s*(\S.*)$/i.exec(text)?.[1] ?? null
    const [, stars, rest] = /^(\*+)[ \t]+(\S.*)$/.exec(text) ?? []
    if (stars === undefined || rest === undefined) continue
    const heading = rest
      .replace(/^(TODO|DONE)[ \t]+/, '')
      .replace(/^\[#.\][ \t]*/, '')
      .replace(/[ \t]+:[\w@#%:]+:$/, '')
    headings.push({ start, end, level: stars.length, text: heading })
  }
  const outline = outlineOf(headings, blocks)
  return { ...outline, title: title ?? outline.title }
}

/** Finds the Org block that begins at line `first`; one that is never closed extends to the end of the text. */
function orgBlock(lines: readonly Line[], first: number): Found {
  const name = /^\s*#\+begin_(\S+)/i.exec((lines[first] as Line).text)?.[1]
  if (name === undefined) return null
  const end = `#+end_${name.toLowerCase()}`
  let last = first + 1
  while (last < lines.length && (lines[last] as Line).text.trim().toLowerCase() !== end) last++
  const isClosed = last < lines.length
  if (!isClosed) last--
  return { block: blockOf(lines, first, last, 1, isClosed), last }
}

function orgTable(lines: readonly Line[], first: number): Found {
  if (!/^\s*\|/.test((lines[first] as Line).text)) return null
  const last = lastOfRun(lines, first, ({ text }) => /^\s*\|/.test(text))
  const rule = lines.slice(first, Math.min(last, first + MAX_HEADER) + 1).findIndex(({ text }) => /^\s*\|-/.test(text))
  return { block: blockOf(lines, first, last, rule > 0 ? rule + 1 : 0, false), last }
}

const MAX_TITLE = 80

/**
 * The heading of a plain text: a short separate line at its beginning that is no sentence, with text after it; null where there is none.
 */
function firstLine(lines: readonly Line[]): string | null {
  const at = lines.findIndex(({ isBlank }) => !isBlank)
  const text = lines[at]?.text.trim() ?? ''
  const isAlone = lines[at + 1]?.isBlank === true && lines.slice(at + 2).some(({ isBlank }) => !isBlank)
  return isAlone && text.length <= MAX_TITLE && /\p{L}/u.test(text) && !/[.,;:?!]$/.test(text) ? text : null
}
