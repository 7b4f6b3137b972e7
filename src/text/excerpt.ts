/**
 * The part of a chunk that is shown for a query. It begins where a reader can begin (`beginnings.ts`) and contains those query words that
 * together weigh most; where there are none, it is the first text after the chunk's headings. The part is an unchanged piece of the
 * content, so that its line numbers are exact and its text can be found there.
 */
import type { ChunkDraft } from '../model/entry.ts'
import { beginningsOf } from './beginnings.ts'
import { closingOf, unmarked } from './blocks.ts'
import { lineEnds } from './lines.ts'
import { isBlankUnit, type TextForm } from './piece.ts'
import { eachToken } from './tokenise.ts'

/** Returns the query word that a word of a text matches, or null. `term`: the word in the folded form in which `tokenise` gives it. */
export type WordMatcher = (term: string) => string | null

export interface Passage {
  /** Offset of the excerpt in the content, in UTF-16 units. */
  readonly start: number
  readonly text: string
  /** Number of the excerpt's first line, from 1; the last line, `endLine`, is included. */
  readonly startLine: number
  readonly endLine: number
  /** Ranges of `text` to highlight, ascending and without touching each other. */
  readonly highlights: readonly Span[]
  /** `isStartCut`: whether the excerpt begins inside a sentence or a line of code. `isEndCut`: whether it ends inside one. */
  readonly isStartCut: boolean
  readonly isEndCut: boolean
  /** Lines to be shown before and after `text`, where it begins or ends inside a table or fenced code; null where it does neither. */
  readonly frame: Frame | null
}

/**
 * Lines shown around an excerpt that are not part of its text and line numbers: lines repeated from elsewhere in the content, or lines that
 * close a block that was cut.
 */
export interface Frame {
  /** The header of the table, or the line that opens the fenced code, shown before the excerpt; may be empty. */
  readonly lead: string
  /** Ranges of `lead` to highlight, ascending and without touching each other. */
  readonly highlights: readonly Span[]
  /** The line that closes the fenced code, shown after the excerpt; may be empty. */
  readonly tail: string
}

export interface ExcerptOptions {
  readonly match: WordMatcher
  /** Weight of a query word that `match` returns, above 0, higher for rarer words. Default: 1 for each word. */
  readonly weightOf?: ((word: string) => number) | undefined
  /** Longest excerpt in UTF-16 units, including the lines shown around it and their line ends. */
  readonly maxLength: number
  /** Form of the text, `prose` or `code`; default `prose`. */
  readonly form?: TextForm | undefined
}

/** Largest distance, in UTF-16 units, by which an excerpt begins before its chunk, to show a sentence that the chunk's start cuts. */
const MAX_BACK = 320
/** Length of text after the chunk, in UTF-16 units, that is examined to tell whether the chunk ends inside a sentence. */
const AHEAD = 80

/**
 * An excerpt of at most `maxLength` characters, without blanks at its ends. The same input always gives the same excerpt, and time is
 * linear in the chunk. The excerpt begins before the chunk only where the chunk begins inside a sentence, which is then shown from its
 * beginning.
 */
export function excerpt(
  content: string,
  chunk: Pick<ChunkDraft, 'start' | 'end' | 'startLine' | 'endLine' | 'headings' | 'lead' | 'shownFrom'>,
  options: ExcerptOptions,
): Passage {
  if (chunk.shownFrom === undefined) return excerptOf(content, chunk, options)
  const start = chunk.start + chunk.shownFrom
  // Only the lines from `startLine` on have numbers. The chunk's lines before that are a comment on the code, which may be elsewhere in the
  // file, so they get no numbers of their own.
  const unnumbered = lineEnds(content, start, chunk.end) - (chunk.endLine - chunk.startLine)
  const shown = excerptOf(
    content.slice(start),
    { ...chunk, start: 0, end: chunk.end - start, startLine: chunk.startLine - unnumbered },
    options,
  )
  const numbered = (line: number) => Math.max(line, chunk.startLine)
  return {
    ...shown,
    start: shown.start + start,
    startLine: numbered(shown.startLine),
    endLine: numbered(shown.endLine),
  }
}

function excerptOf(
  content: string,
  chunk: Pick<ChunkDraft, 'start' | 'end' | 'startLine' | 'headings' | 'lead'>,
  { match, weightOf = () => 1, maxLength, form = 'prose' }: ExcerptOptions,
): Passage {
  const back = wholeCharacters(content, Math.max(0, chunk.start - MAX_BACK))
  const around = content.slice(back, chunk.end + AHEAD)
  const known = beginningsOf(around, form, back === 0)
  const origin = originOf(around, chunk.start - back, known)
  const text = content.slice(back + origin, chunk.end)
  const beginnings = known.filter(at => at >= origin).map(at => at - origin)
  const hits = hitsIn(text, match)
  const choice = { hits, beginnings, weightOf, maxLength, headings: chunk.headings }
  const { from, to, frame } = framed(text, choice, chunk, form === 'prose' ? match : null)
  const start = back + origin + from
  const lines = lineEnds(content, Math.min(start, chunk.start), Math.max(start, chunk.start))
  const startLine = start < chunk.start ? chunk.startLine - lines : chunk.startLine + lines
  const endLine = startLine + lineEnds(content, start, Math.max(start, start + to - from - 1))
  return {
    start,
    text: text.slice(from, to),
    startLine,
    endLine,
    highlights: spansWithin(hits, from, to),
    isStartCut: from < to && !beginnings.includes(from),
    isEndCut: from < to && !isEnd(around, origin + to, known),
    frame,
  }
}

/**
 * Texts of the headings above the offset `at`, outermost first. A chunk of several short sections contains headings that are not above its
 * start. For an offset before the chunk, where an excerpt may begin, the headings above the chunk's start are returned.
 */
export function sectionAt(
  { start, headings, sections = [] }: Pick<ChunkDraft, 'start' | 'headings' | 'sections'>,
  at: number,
): readonly string[] {
  return sections.findLast(section => start + section.at <= Math.max(at, start))?.headings ?? headings
}

interface Framed {
  readonly from: number
  readonly to: number
  readonly frame: Frame | null
}

/**
 * Chooses the range of an excerpt and the lines shown around it (its frame). While range and frame together are too long, a shorter range
 * is chosen; after some attempts there is no frame. `match` is null in code, which has no frame.
 */
function framed(
  text: string,
  choice: Choice,
  { lead = '' }: Pick<ChunkDraft, 'lead'>,
  match: WordMatcher | null,
): Framed {
  let maxLength = choice.maxLength
  for (let tries = 0; ; tries++) {
    const [from, to] = trimmed(text, ...windowOf(text, { ...choice, maxLength }))
    const frame = match === null || tries === MAX_TRIES ? null : frameOf(text, from, to, lead, choice.maxLength, match)
    const size = frame === null ? 0 : lengthOf(frame.lead) + lengthOf(frame.tail)
    if (size + to - from <= choice.maxLength) return { from, to, frame }
    maxLength = choice.maxLength - size
  }
}

/** Largest number of attempts to fit an excerpt and its frame, since a shorter range may need another frame. */
const MAX_TRIES = 3
/** Largest share of the excerpt's length that the lines before it (its lead) may take. */
const LEAD_SHARE = 0.4

function frameOf(
  text: string,
  from: number,
  to: number,
  leadOfChunk: string,
  maxLength: number,
  match: WordMatcher,
): Frame | null {
  const lead = leadWithin(openBlockAt(text, from, leadOfChunk), Math.floor(maxLength * LEAD_SHARE))
  const tail = closingOf(openBlockAt(text, to + 1, leadOfChunk))
  if (lead === '' && tail === '') return null
  return { lead, highlights: spansWithin(hitsIn(lead, match), 0, lead.length), tail }
}

/**
 * Shortens the lines shown before an excerpt to a length: of a wide table's header only the row of column names, or the beginning of that
 * row.
 */
function leadWithin(lead: string, length: number): string {
  if (lead.length <= length) return lead
  const [first = ''] = lead.split('\n', 1)
  return first.length <= length ? first : `${first.slice(0, wholeCharacters(first, length - 1))}…`
}

/** Length of a line including its line end; 0 for an empty line, which is not shown. */
function lengthOf(line: string): number {
  return line === '' ? 0 : line.length + 1
}

/**
 * Offset where the text shown can begin: the last place at or before the chunk's first word where a reader can begin. It is before the
 * chunk where the chunk begins inside a sentence.
 */
function originOf(around: string, start: number, beginnings: readonly number[]): number {
  let first = start
  while (first < around.length && isBlankUnit(around.charCodeAt(first))) first++
  return beginnings.findLast(at => at <= first) ?? start
}

/** Whether a unit such as a sentence ends at `at`: only blanks come before the next beginning, or before the end of the text. */
function isEnd(text: string, at: number, beginnings: readonly number[]): boolean {
  return text.slice(at, beginnings.find(beginning => beginning >= at) ?? text.length).trim() === ''
}

interface Hit {
  readonly start: number
  readonly end: number
  /** The query word that this word of the text matches. */
  readonly word: string
}

function hitsIn(text: string, match: WordMatcher): readonly Hit[] {
  const hits: Hit[] = []
  eachToken(text, (term, start, end) => {
    const word = match(term)
    if (word !== null) hits.push({ start, end, word })
  })
  return hits
}

interface Choice {
  readonly hits: readonly Hit[]
  readonly beginnings: readonly number[]
  readonly weightOf: (word: string) => number
  readonly maxLength: number
  /** Headings above the chunk; the chunk's text may begin with some of them. */
  readonly headings: readonly string[]
}

/** A range of a text: start and end offset, the end excluded. */
type Span = readonly [number, number]

function windowOf(text: string, choice: Choice): readonly [number, number] {
  const { beginnings, maxLength, headings, hits } = choice
  if (text.length <= maxLength) return [0, text.length]
  const best = hits.length === 0 ? null : heaviest(startsFor(text, choice), choice)
  if (best === null) {
    const after = afterHeadings(text, headings)
    const start = beginnings.find(at => at >= after) ?? after
    return [start, endAfter(text, start, start, choice)]
  }
  return [best.start, endAfter(text, best.start, best.lastEnd, choice)]
}

/**
 * Offsets where an excerpt may begin: at each beginning; within a sentence longer than the excerpt, also at a clause or before a query
 * word.
 */
function startsFor(text: string, { hits, beginnings, maxLength }: Choice): readonly number[] {
  const all = beginnings[0] === 0 ? beginnings : [0, ...beginnings]
  if (!all.some((start, at) => (all[at + 1] ?? text.length) - start > maxLength)) return all
  const starts = all.flatMap((start, at) => {
    const next = all[at + 1] ?? text.length
    return next - start <= maxLength ? [start] : [start, ...clausesIn(text, start, next)]
  })
  let at = 0
  const words = hits.flatMap(hit => {
    while ((starts[at + 1] ?? text.length) <= hit.start) at++
    const start = starts[at] as number
    return hit.end - start <= maxLength ? [] : [wordBefore(text, hit.start, maxLength, start)]
  })
  return words.length === 0 ? starts : [...new Set([...starts, ...words])].sort((a, b) => a - b)
}

/** Offsets of clauses: after a comma, semicolon, colon, closing parenthesis, dash or line end. */
function clausesIn(text: string, from: number, to: number): readonly number[] {
  const clause = /(?:[,;:)—–]|[、，；：]|(?<=\S)(?=\r?\n))[ \t\r\n]{1,8}(?=\S)|[、，；：](?=\S)/g
  const found: number[] = []
  clause.lastIndex = from
  for (let match = clause.exec(text); match !== null && clause.lastIndex < to; match = clause.exec(text))
    found.push(clause.lastIndex)
  return found
}

/** Share of the excerpt's length that is shown before a query word, where no clause begins near the word. */
const BEFORE = 1 / 3

function wordBefore(text: string, hit: number, maxLength: number, least: number): number {
  let at = Math.max(least, hit - Math.floor(maxLength * BEFORE))
  while (at < hit && !isBlankUnit(text.charCodeAt(at - 1))) at++
  return at
}

interface Best {
  readonly start: number
  /** End offset of the last query word within the window. */
  readonly lastEnd: number
}

/**
 * Chooses where the excerpt begins. Only starts with a query word before the next start are considered. Of these, it takes the first one
 * whose excerpt would contain query words of the highest total weight, each word counted once. Null: no excerpt would contain a whole query
 * word.
 */
function heaviest(starts: readonly number[], { hits, weightOf, maxLength }: Choice): Best | null {
  const counts = new Map<string, number>()
  let best: Best | null = null
  let bestWeight = 0
  let from = 0
  let to = 0
  starts.forEach((start, at) => {
    for (; from < hits.length && (hits[from] as Hit).start < start; from++) {
      if (from >= to) to = from + 1
      else forget(counts, (hits[from] as Hit).word)
    }
    for (; to < hits.length && (hits[to] as Hit).end - start <= maxLength; to++) {
      const { word } = hits[to] as Hit
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
    if (to <= from || (hits[from] as Hit).start >= (starts[at + 1] ?? Number.POSITIVE_INFINITY)) return
    let weight = 0
    for (const word of counts.keys()) weight += weightOf(word)
    if (weight <= bestWeight * (1 + ROUNDING)) return
    bestWeight = weight
    best = { start, lastEnd: hits.slice(from, to).reduce((most, { end }) => Math.max(most, end), start) }
  })
  return best
}

/** Largest relative rounding difference between sums of equal weights that are added in different order. */
const ROUNDING = 1e-9

function forget(counts: Map<string, number>, word: string): void {
  const left = (counts.get(word) ?? 0) - 1
  if (left > 0) counts.set(word, left)
  else counts.delete(word)
}

/** Share of the excerpt's length that must be used before the excerpt may end with a sentence instead of at its full length. */
const FULL_ENOUGH = 0.6
/** How far before the full length, in UTF-16 units, the end of a word is searched, so that the excerpt does not end inside a word. */
const MAX_WORD = 64

function endAfter(text: string, start: number, last: number, { beginnings, maxLength }: Choice): number {
  const end = start + maxLength
  if (text.length <= end) return text.length
  const least = Math.max(last, start + maxLength * FULL_ENOUGH)
  const next = beginnings.findLast(at => at >= least && at <= end + 1)
  // The next sentence may begin one character after the full length: the blank before it is not shown, so the text up to it still fits.
  if (next !== undefined && next - 1 <= end) {
    const [, textEnd] = trimmed(text, start, Math.min(next, end))
    if (textEnd >= last && textEnd >= start + 1) return textEnd
  }
  if (isBlankUnit(text.charCodeAt(end))) return end
  for (let at = end; at > Math.max(last, start + 1, end - MAX_WORD); at--)
    if (isBlankUnit(text.charCodeAt(at - 1))) return at
  return Math.max(wholeCharacters(text, end), Math.min(last, end))
}

/** Offset after the headings with which the chunk begins: they are skipped, since they are named as the section of the excerpt. */
function afterHeadings(text: string, headings: readonly string[]): number {
  // Each part of the pattern begins with a character that the part before it cannot match, so that time is linear in the line, however many
  // blanks the line has.
  const line = /[ \t]*(?:#{1,6}[ \t]*)?(\S[^\r\n]*)?(?:\r?\n|$)([=-]{2,}[ \t]*\r?\n)?/y
  let start = 0
  for (;;) {
    line.lastIndex = start
    const match = line.exec(text)
    const title = withoutClosing(match?.[1] ?? '')
    if (match === null || line.lastIndex >= text.length || (title !== '' && !headings.includes(title))) return start
    start = line.lastIndex
  }
}

/** The text of a heading without closing marks: for `Title ##`, `Title`. */
function withoutClosing(title: string): string {
  const bare = title.trimEnd()
  let end = bare.length
  while (bare.charAt(end - 1) === '#') end--
  return end > 0 && isBlankUnit(bare.charCodeAt(end - 1)) ? bare.slice(0, end).trimEnd() : bare
}

function trimmed(text: string, from: number, to: number): readonly [number, number] {
  const part = text.slice(from, to)
  const start = from + part.length - part.trimStart().length
  return [start, Math.max(start, from + part.trimEnd().length)]
}

/** Ranges of the excerpt to highlight. Matches that overlap, such as an identifier and the words in it, are merged to one range. */
function spansWithin(hits: readonly Hit[], from: number, to: number): readonly (readonly [number, number])[] {
  const spans: [number, number][] = []
  for (const { start, end } of hits) {
    if (start < from || end > to) continue
    const open = spans.at(-1)
    if (open !== undefined && start - from <= open[1]) open[1] = Math.max(open[1], end - from)
    else spans.push([start - from, end - from])
  }
  return spans
}

/** Returns the offset, or the one before it where the offset is within a surrogate pair. */
function wholeCharacters(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}

// Finds which table or fenced code, as Markdown and Org write them, extends over an offset of a chunk, from the text of the chunk alone.

const OPENING = /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:`{3,}[^`]*|~{3,}.*|#\+begin_\w.*)$/i
/** Pattern of the second row of a table, which consists of hyphens and column separators. */
const DELIMITERS = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)*$/
const MAY_HAVE_BLOCKS = /```|~~~|\||#\+begin_/i
/** Longest line, in characters, that is taken as a table row worth repeating. */
const MAX_LINE = 1_000

/**
 * The opening line of fenced code, or the two header lines of a table, that begins before offset `at` and continues there; empty where
 * there is none. `lead`: opening lines of a block that is already open at the beginning of the text.
 *
 * @example openBlockAt('```js\nlet a\nlet b\n```', 12) // '```js'
 */
export function openBlockAt(text: string, at: number, lead = ''): string {
  if (lead === '' && !MAY_HAVE_BLOCKS.test(text)) return ''
  let open = lead
  let before = ''
  for (let start = 0; start < Math.min(at, text.length); ) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    const line = end - start > MAX_LINE ? '' : text.slice(start, end).trimEnd()
    if (open === '') open = openedBy(line, before)
    else if (isClosed(line, closingOf(open))) open = ''
    before = line
    start = end + 1
  }
  return open
}

function openedBy(line: string, before: string): string {
  if (OPENING.test(line)) return unmarked(line)
  return before.includes('|') && line.includes('|') && DELIMITERS.test(line) ? `${unmarked(before)}\n${line}` : ''
}

/**
 * Whether the line ends the block: for fenced code, a fence of at least as many signs, alone on its line; for a table, a line that is no
 * table row.
 */
function isClosed(line: string, closing: string): boolean {
  if (closing === '') return !line.includes('|')
  const [signs, sign] = [withoutMarks(line), withoutMarks(closing)]
  if (signs.toLowerCase() === sign.toLowerCase()) return true
  return signs.startsWith(sign) && signs.replaceAll(sign.charAt(0), '') === ''
}

function withoutMarks(line: string): string {
  return line.replace(/^[ \t>]+/, '')
}
