/**
 * The part of a chunk to show for a question: where most of its different words stand together, from the beginning of a
 * sentence or line if that fits; without any of them, where the chunk begins. What is shown is a piece of the content as
 * it is, so that its lines can be named and found.
 */
import type { ChunkDraft } from '../model/entry.ts'
import { lineEnds } from './lines.ts'
import { BORDER, type Border, borderBetween, isBlankUnit, pieceAt } from './piece.ts'
import { eachToken } from './tokenise.ts'

/** The word of the question that a word of a text (as `tokenise` gives it) stands for, or null. */
export type WordMatcher = (term: string) => string | null

export interface Passage {
  /** Of the content, in UTF-16 units. */
  readonly start: number
  readonly text: string
  /** From 1, both included. */
  readonly startLine: number
  readonly endLine: number
  /** Spans of `text`, ascending, not touching each other. */
  readonly highlights: readonly (readonly [number, number])[]
}

/** At most `maxLength` characters; no blanks at the ends. Deterministic. */
export function excerpt(
  content: string,
  chunk: Pick<ChunkDraft, 'start' | 'end' | 'startLine' | 'headings'>,
  match: WordMatcher,
  maxLength: number,
): Passage {
  const text = content.slice(chunk.start, chunk.end)
  const hits = hitsIn(text, match)
  const [from, to] = trimmed(text, ...windowOf(text, hits, chunk.headings, maxLength))
  const start = chunk.start + from
  const startLine = chunk.startLine + lineEnds(content, chunk.start, start)
  const endLine = startLine + lineEnds(content, start, Math.max(start, chunk.start + to - 1))
  return { start, text: text.slice(from, to), startLine, endLine, highlights: spansWithin(hits, from, to) }
}

interface Hit {
  readonly start: number
  readonly end: number
  /** Of the question. */
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

function windowOf(
  text: string,
  hits: readonly Hit[],
  headings: readonly string[],
  maxLength: number,
): readonly [number, number] {
  if (text.length <= maxLength) return [0, text.length]
  const [first, last] = densest(hits, maxLength)
  if (first === null) {
    const start = afterHeadings(text, headings)
    return [start, endAfter(text, start, start, maxLength)]
  }
  const earliest = Math.max(0, last - maxLength)
  const start = startBefore(piecesOf(text, earliest, first), first, earliest)
  return [start, endAfter(text, start, last, maxLength)]
}

/** Where the first hit of the best window begins and its last one ends: most different words, most hits, foremost. */
function densest(hits: readonly Hit[], maxLength: number): readonly [number, number] | readonly [null, null] {
  const counts = new Map<string, number>()
  let best: readonly [number, number] | readonly [null, null] = [null, null]
  let bestWords = 0
  let bestHits = 0
  let to = 0
  hits.forEach((hit, from) => {
    for (; to < hits.length && (hits[to] as Hit).end - hit.start <= maxLength; to++) {
      const { word } = hits[to] as Hit
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
    if (to <= from) to = from + 1
    else {
      if (counts.size > bestWords || (counts.size === bestWords && to - from > bestHits)) {
        bestWords = counts.size
        bestHits = to - from
        best = [hit.start, Math.max(...hits.slice(from, to).map(({ end }) => end))]
      }
      const left = (counts.get(hit.word) ?? 0) - 1
      if (left > 0) counts.set(hit.word, left)
      else counts.delete(hit.word)
    }
  })
  return best
}

interface BorderedPiece {
  readonly start: number
  /** Without the blanks behind it. */
  readonly textEnd: number
  /** What the border before it is worth. */
  readonly border: Border
}

/** Those that begin from `from` (or a little before, at a blank), up to the first that ends behind `to`. */
function piecesOf(text: string, from: number, to: number): readonly BorderedPiece[] {
  const pieces: BorderedPiece[] = []
  let start = from
  while (start > 0 && from - start < MAX_WORD && !isBlankUnit(text.charCodeAt(start - 1))) start--
  start = wholeCharacters(text, start)
  let textEnd = start
  while (start < text.length && textEnd <= to) {
    const piece = pieceAt(text, start)
    const first = start === 0 ? BORDER.section : BORDER.word
    const border = pieces.length === 0 ? first : borderBetween(text, textEnd, start, 'prose')
    pieces.push({ start, textEnd: piece.textEnd, border })
    textEnd = piece.textEnd
    start = piece.end
  }
  return pieces
}

/** How far back a word may begin. */
const MAX_WORD = 64

/** Share of what is left over that goes before the first hit, where no sentence or line begins near it. */
const BEFORE = 1 / 3

function startBefore(pieces: readonly BorderedPiece[], first: number, earliest: number): number {
  const near = pieces.filter(({ start }) => start <= first && start >= earliest)
  for (const border of [BORDER.sentence, BORDER.line]) {
    const found = near.findLast(piece => piece.border >= border)
    if (found !== undefined) return found.start
  }
  const enough = first - (first - earliest) * BEFORE
  return near.find(piece => piece.border > BORDER.inside && piece.start >= enough)?.start ?? first
}

/** Share of the length that must be used before a sentence may end the excerpt. */
const FULL_ENOUGH = 0.6

function endAfter(text: string, start: number, last: number, maxLength: number): number {
  const end = start + maxLength
  if (text.length <= end) return text.length
  const least = Math.max(last, start + maxLength * FULL_ENOUGH)
  const ending = endIn(piecesOf(text, Math.floor(least), end), end, least, BORDER.sentence)
  if (ending !== null) return ending
  // A border between words is near the end, but for a text without any.
  const near = endIn(piecesOf(text, Math.max(least, end - MAX_WORD), end), end, Math.max(start + 1, last), BORDER.word)
  const some = near ?? endIn(piecesOf(text, start, end), end, Math.max(start + 1, last), BORDER.word)
  return some ?? wholeCharacters(text, end)
}

/** The end of the last piece up to `end`, and from `least` on, that such a border follows. */
function endIn(pieces: readonly BorderedPiece[], end: number, least: number, border: Border): number | null {
  const next = pieces.findIndex(piece => piece.textEnd > end)
  for (let at = next < 0 ? pieces.length : next; at > 0; at--) {
    const { textEnd } = pieces[at - 1] as BorderedPiece
    if (textEnd < least) return null
    if ((pieces[at]?.border ?? BORDER.section) >= border) return textEnd
  }
  return null
}

/** Behind the headings that the chunk begins with: they are told of anyway. */
function afterHeadings(text: string, headings: readonly string[]): number {
  // Each part begins with what the one before it cannot take: time grows with the line, however many blanks it has.
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

/** `Title ##` is a heading named `Title`. */
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

/** Overlapping hits (an identifier and its words) make one span. */
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

/** The place itself, or the one before it when it lies within a surrogate pair. */
function wholeCharacters(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
