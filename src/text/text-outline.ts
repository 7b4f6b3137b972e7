/**
 * Headings of reStructuredText, AsciiDoc, Org and plain text, found line by line; linear in the text. No parser of these formats on
 * npm is both kept up and made for more than a part of them, and headings are all that is needed here.
 */
import type { Heading } from './outline.ts'

export type OutlineFormat = 'rst' | 'asciidoc' | 'org' | 'text'

export interface TextOutline {
  /** Null where the text gives none. */
  readonly title: string | null
  readonly headings: readonly Heading[]
}

/** A longer line is no heading. */
const MAX_LINE = 200

/** Example: `textOutline('Backups\\n=======\\n\\nEach night.', 'rst').title` is `Backups`. */
export function textOutline(text: string, format: OutlineFormat): TextOutline {
  const lines = linesOf(text)
  switch (format) {
    case 'asciidoc':
      return outlineOf(asciidocHeadings(lines))
    case 'org':
      return orgOutline(lines)
    case 'rst':
      return outlineOf(underlinedHeadings(lines))
    case 'text': {
      const headings = underlinedHeadings(lines)
      return { title: headings[0]?.text ?? firstLine(lines), headings }
    }
  }
}

interface Line {
  readonly start: number
  readonly end: number
  /** Without trailing white space; empty where the line is too long for a heading. */
  readonly text: string
  readonly isBlank: boolean
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = []
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    const whole = end - start > MAX_LINE ? '' : text.slice(start, end).trimEnd()
    lines.push({ start, end, text: whole, isBlank: whole === '' && end - start <= MAX_LINE })
    start = end + 1
  }
  return lines
}

function outlineOf(headings: readonly Heading[]): TextOutline {
  return { title: headings[0]?.text ?? null, headings }
}

const UNDERLINE = /^([!-/:-@[-`{-~])\1+$/

/**
 * A line of text above a line of one sign that is at least as long, perhaps with the same line above it. Levels are in the order in
 * which the signs first occur, as in reStructuredText. The line before must be blank: so rows of tables do not count.
 */
function underlinedHeadings(lines: readonly Line[]): readonly Heading[] {
  const headings: Heading[] = []
  const levels: string[] = []
  for (let at = 1; at < lines.length; at++) {
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

/** `== Section`, not within delimited blocks. */
function asciidocHeadings(lines: readonly Line[]): readonly Heading[] {
  const headings: Heading[] = []
  let open: string | null = null
  for (const { start, end, text } of lines) {
    if (/^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|```)$/.test(text)) {
      if (open === null) open = text
      else if (open === text) open = null
      continue
    }
    const [, signs, heading] = open === null ? (/^(={1,6})[ \t]+(\S.*)$/.exec(text) ?? []) : []
    if (signs !== undefined && heading !== undefined) headings.push({ start, end, level: signs.length, text: heading })
  }
  return headings
}

/** `* Section`, with states, priorities and tags left out of its text, not within blocks. */
function orgOutline(lines: readonly Line[]): TextOutline {
  const headings: Heading[] = []
  let title: string | null = null
  let isOpen = false
  for (const { start, end, text } of lines) {
    if (/^\s*#\+(begin|end)_/i.test(text)) isOpen = /^\s*#\+begin_/i.test(text)
    if (isOpen) continue
    title ??= /^#\+title:\s*(\S.*)$/i.exec(text)?.[1] ?? null
    const [, stars, rest] = /^(\*+)[ \t]+(\S.*)$/.exec(text) ?? []
    if (stars === undefined || rest === undefined) continue
    const heading = rest
      .replace(/^(TODO|DONE)[ \t]+/, '')
      .replace(/^\[#.\][ \t]*/, '')
      .replace(/[ \t]+:[\w@#%:]+:$/, '')
    headings.push({ start, end, level: stars.length, text: heading })
  }
  return { title: title ?? headings[0]?.text ?? null, headings }
}

const MAX_TITLE = 80

/** A short line of its own at the beginning that is no sentence, and text behind it. */
function firstLine(lines: readonly Line[]): string | null {
  const at = lines.findIndex(({ isBlank }) => !isBlank)
  const text = lines[at]?.text.trim() ?? ''
  const isAlone = lines[at + 1]?.isBlank === true && lines.slice(at + 2).some(({ isBlank }) => !isBlank)
  return isAlone && text.length <= MAX_TITLE && /\p{L}/u.test(text) && !/[.,;:?!]$/.test(text) ? text : null
}
