/**
 * Cuts content into overlapping chunks of about 200 tokens (130 to 150 words of English), each what one vector can hold:
 * at a heading, a blank line, an item, a sentence, a line, in this order of preference. One pass over the text, so
 * linear in its length, whatever the text; the same text always gives the same chunks.
 */
import { assert } from '../base/assert.ts'
import type { ChunkDraft } from '../model/entry.ts'
import { LineCounter, linesOfSpan } from './lines.ts'
import { markdownHeadings } from './markdown-outline.ts'
import { type Heading, Outline } from './outline.ts'
import { BORDER, type Border, borderBetween, pieceAt, type TextForm } from './piece.ts'

export interface TextStructure {
  /** `code` is cut at lines, `prose` also at sentences. */
  readonly form: TextForm
  /** Ascending by `start`, not overlapping. */
  readonly headings: readonly Heading[]
  /** Where the text begins; what stands before it (front matter) is in no chunk. Default 0. */
  readonly start?: number | undefined
}

/** How a text is written. */
export type TextFormat = 'plain' | 'markdown' | 'code'

/** Chunks of a text whose format alone is known. */
export function chunkContent(content: string, of: { readonly format: TextFormat }): readonly ChunkDraft[] {
  if (of.format === 'code') return chunk(content, { form: 'code', headings: [] })
  return chunk(content, { form: 'prose', headings: of.format === 'markdown' ? markdownHeadings(content) : [] })
}

/** Of chunks made by this code; a change of the rules makes the next ingest cut everything again. */
export const CHUNKER_VERSION = 1

/** Tokens of a chunk, by the estimate of `pieceAt`; the default model takes 256 with title and headings. */
const CHUNK_TOKENS = 200
/** The last chunk of a text may be this long, rather than leave a crumb. */
const LAST_TOKENS = 230
/** What a chunk repeats of the one before it (15 %), at most. */
const OVERLAP_TOKENS = 30

/**
 * At least one chunk, in order; together they hold every character from `structure.start` on. Content without text
 * gives one chunk all the same, so that its entry can be found by its title. Chunks never end within a surrogate pair.
 */
export function chunk(
  content: string,
  structure: TextStructure = { form: 'prose', headings: [] },
): readonly ChunkDraft[] {
  const outline = new Outline(content, structure.headings)
  const lines = new LineCounter(content)
  const drafts: ChunkDraft[] = []
  let start = structure.start ?? 0
  for (;;) {
    const stretch = readStretch(content, start, structure.form, outline)
    const cut = chooseCut(stretch)
    const end = stretch.starts[cut] ?? content.length
    drafts.push({ start, end, ...linesOfSpan(lines, content, start, end), headings: outline.headingsOf(start, end) })
    if (cut === stretch.pieces) return drafts
    const next = stretch.starts[overlapFrom(stretch, cut)] as number
    assert(next > start, 'chunks move forward')
    start = next
  }
}

/** The pieces that a chunk from here may hold. */
interface Stretch {
  /** The text ends here, within LAST_TOKENS. */
  readonly atEnd: boolean
  readonly pieces: number
  readonly tokens: number
  /** By piece: where it begins, the tokens before it, the border before it. */
  readonly starts: readonly number[]
  readonly before: readonly number[]
  readonly borders: readonly Border[]
}

function readStretch(content: string, start: number, form: TextForm, outline: Outline): Stretch {
  const starts: number[] = []
  const before: number[] = []
  const borders: Border[] = []
  let tokens = 0
  let at = start
  let textEnd = start
  while (at < content.length && tokens <= LAST_TOKENS) {
    starts.push(at)
    before.push(tokens)
    borders.push(at === start ? BORDER.inside : borderAt(content, textEnd, at, form, outline))
    const piece = pieceAt(content, at)
    tokens += piece.tokens
    textEnd = piece.textEnd
    at = piece.end
  }
  return {
    atEnd: at >= content.length && tokens <= LAST_TOKENS,
    pieces: starts.length,
    tokens,
    starts,
    before,
    borders,
  }
}

/** A heading begins a section and stays with what follows it. */
function borderAt(content: string, textEnd: number, at: number, form: TextForm, outline: Outline): Border {
  const plain = borderBetween(content, textEnd, at, form)
  if (outline.isWithin(textEnd - 1)) return plain > BORDER.word ? BORDER.word : plain
  return outline.beginsAt(at) ? BORDER.section : plain
}

/** How full a chunk must be (of CHUNK_TOKENS) before a border of this sort ends it. */
const FILL: readonly (readonly [Border, number])[] = [
  [BORDER.section, 0.25],
  [BORDER.paragraph, 0.5],
  [BORDER.item, 0.6],
  [BORDER.sentence, 0.7],
  [BORDER.line, 0.75],
  [BORDER.word, 0.5],
  [BORDER.inside, 0],
]
/** A section this short (of CHUNK_TOKENS) at the end of a text stays with the one before it. */
const LEAST_LAST = 0.15

/** The first section that fits; else the last of the best borders. At the end of a text all that is left fits. */
function chooseCut(stretch: Stretch): number {
  for (const [border, fill] of stretch.atEnd ? FILL.slice(0, 1) : FILL) {
    const most = stretch.atEnd ? stretch.tokens - LEAST_LAST * CHUNK_TOKENS : CHUNK_TOKENS
    let found = -1
    for (let at = 1; at < stretch.pieces && (stretch.before[at] as number) <= most; at++) {
      if ((stretch.borders[at] as Border) < border || (stretch.before[at] as number) < fill * CHUNK_TOKENS) continue
      found = at
      if (border === BORDER.section) break
    }
    if (found > 0) return found
  }
  return stretch.atEnd ? stretch.pieces : 1
}

/**
 * Where the next chunk begins: some sentences or lines back where they are short enough, else some words; at a new
 * section nothing is repeated.
 */
function overlapFrom(stretch: Stretch, cut: number): number {
  const end = stretch.before[cut] as number
  let best = cut
  let bestBorder: Border = BORDER.inside
  for (let at = cut; at > 1 && stretch.borders[at] !== BORDER.section; ) {
    at--
    if (end - (stretch.before[at] as number) > OVERLAP_TOKENS) break
    const border = Math.min(stretch.borders[at] as Border, BORDER.line) as Border
    if (border < bestBorder) continue
    best = at
    bestBorder = border
  }
  return best
}
