/**
 * Cuts a text into overlapping chunks of about 200 tokens (130 to 150 words of English), the amount that one vector represents well.
 * Preferred places for a cut, in this order: a heading, a blank line, a list item, a sentence, a line. Fenced code, tables, list items and
 * quotations stay whole where they fit in a chunk, and are cut at line ends where they do not (QE-009). One pass, so time is linear in the
 * length of any text; the same text always gives the same chunks.
 */
import { assert } from '../base/assert.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { type ChunkDraft, embeddedLead } from '../model/entry.ts'
import { type Block, BlockCuts, countTokens } from './blocks.ts'
import { LineCounter, linesOfSpan } from './lines.ts'
import { markdownStructureInSteps } from './markdown-structure.ts'
import { type Heading, Outline, type PlaceMark } from './outline.ts'
import { BORDER, type Border, borderBetween, pieceAt, type TextForm } from './piece.ts'

export interface TextStructure {
  /** Form of the text: `code` is cut at line ends, `prose` also at sentences. */
  readonly form: TextForm
  /** Headings of the text, in ascending order of `start`, not overlapping. */
  readonly headings: readonly Heading[]
  /** Blocks of the text (code, tables, lists), in ascending order of `start`, a block before those that it contains. Default: none. */
  readonly blocks?: readonly Block[] | undefined
  /** Marks of places in the text (such as pages), in ascending order of `at`. Default: none. */
  readonly places?: readonly PlaceMark[] | undefined
  /** Offset where the text begins; what comes before it, such as front matter, is in no chunk. Default 0. */
  readonly start?: number | undefined
}

/** Format of a text, by which its headings and blocks are found. */
export type TextFormat = 'plain' | 'markdown' | 'code'

/** Finds headings and blocks by the format of a text, and cuts the text into chunks. */
export function chunkContent(content: string, of: { readonly format: TextFormat }): readonly ChunkDraft[] {
  return atOnce(chunkContentInSteps(content, of))
}

/**
 * Finds headings and blocks by the format of a text, and cuts the text into chunks, pausing during a long text so that other work can run.
 */
export function* chunkContentInSteps(
  content: string,
  { format }: { readonly format: TextFormat },
): Steps<readonly ChunkDraft[]> {
  if (format === 'code') return yield* chunkInSteps(content, { form: 'code', headings: [] })
  const structure = format === 'markdown' ? yield* markdownStructureInSteps(content) : { headings: [] }
  return yield* chunkInSteps(content, { form: 'prose', ...structure })
}

/**
 * Version of the chunking rules. After a change of the rules, texts are cut again at their next ingest, and stores made with older rules
 * cut theirs again too.
 */
export const CHUNKER_VERSION = 2

/** Target size of a chunk, in tokens as estimated for its pieces; the default embedding model accepts 256, including title and headings. */
const CHUNK_TOKENS = 200
/** Number of tokens by which the last chunk of a text may exceed the target size, so that no tiny chunk remains. */
const LAST_TOKENS = 30
/** Largest number of tokens at the end of a chunk that the next chunk repeats (15 % of the target size). */
const OVERLAP_TOKENS = 30
/** Smallest number of tokens left for a chunk's own text after the lines that it repeats (its lead), however long these are. */
const MIN_TOKENS = 50

/**
 * Cuts a text into chunks, in order; there is at least one, and together they contain every character from `structure.start` on. A text
 * without words gives one chunk too, so that its entry can be found by its title. A chunk never ends within a surrogate pair.
 */
export function chunk(
  content: string,
  structure: TextStructure = { form: 'prose', headings: [] },
): readonly ChunkDraft[] {
  return atOnce(chunkInSteps(content, structure))
}

/** Number of UTF-16 units of text that are cut into chunks before the work pauses so that other requests can run. */
const UNITS_AT_ONCE = 1 << 16

/** Cuts a text into chunks, pausing during a long text so that other work can run. */
export function* chunkInSteps(content: string, structure: TextStructure): Steps<readonly ChunkDraft[]> {
  const { form, headings, blocks = [], places } = structure
  const outline = new Outline(content, headings, places)
  const text: Text = { last: null, content, form, outline, cuts: new BlockCuts(content, blocks, CHUNK_TOKENS) }
  const lines = new LineCounter(content)
  const drafts: ChunkDraft[] = []
  const pace = new StepPace(UNITS_AT_ONCE)
  yield
  let start = structure.start ?? 0
  for (;;) {
    const lead = text.cuts.leadAt(start)
    const room =
      lead === ''
        ? CHUNK_TOKENS
        : Math.max(MIN_TOKENS, CHUNK_TOKENS - countTokens(embeddedLead({ headings: [], lead })))
    const stretch = readStretch(text, start, room)
    const cut = chooseCut(stretch)
    const end = stretch.starts[cut] as number
    const above = outline.headingsOf(start, end)
    const sections = outline.sectionsOf(start, end, above)
    drafts.push({
      ...{ start, end, ...linesOfSpan(lines, content, start, end), headings: above },
      ...(lead !== '' && { lead }),
      ...(sections.length > 0 && { sections }),
    })
    if (end >= content.length) return drafts
    const next = stretch.starts[overlapFrom(stretch, cut, text)] as number
    assert(next > start, 'chunks move forward')
    if (pace.isOver(next - start)) yield
    start = next
  }
}

interface Text {
  /** The pieces of the text that were read for the last chunk; those of the next chunk overlap them, so their values are reused. */
  last: Stretch | null
  readonly content: string
  readonly form: TextForm
  readonly outline: Outline
  readonly cuts: BlockCuts
}

/**
 * The part of the text that a chunk beginning at a certain offset may contain, as a list of pieces (words, signs) with the borders between
 * them.
 */
interface Stretch {
  /** Number of tokens available for the chunk's own text, without the lines that it repeats. */
  readonly room: number
  /**
   * Whether the text ends within these pieces. Then the chunk is the last one, and may be larger than `room` by up to `LAST_TOKENS` tokens.
   */
  readonly atEnd: boolean
  readonly pieces: number
  readonly tokens: number
  /**
   * For each piece, and for the place after the last one: its start offset (`starts`), the number of tokens before it, the kind of border
   * before it, and whether it is within a block.
   */
  readonly starts: readonly number[]
  readonly before: readonly number[]
  readonly borders: readonly Border[]
  readonly isWithin: readonly boolean[]
}

/**
 * Reads the pieces (words, signs) that the chunk may contain, up to its size limit. Where that limit is within a block that must not be
 * cut, it reads on to the end of the block, unless there is a good place for a cut before the block.
 */
function readStretch(text: Text, start: number, room: number): Stretch {
  const { content, last } = text
  const starts: number[] = []
  const before: number[] = []
  const borders: Border[] = []
  const isWithin: boolean[] = []
  const most = room + LAST_TOKENS
  let tokens = 0
  let at = start
  let textEnd = start
  let best: Border = BORDER.torn
  /** Index of the piece that begins here, among the pieces that were read for the last chunk; -1: it is not among them. */
  let known = last === null ? -1 : last.starts.lastIndexOf(start)
  for (; ; known++) {
    const isKnown = known >= 0 && last !== null && known <= last.pieces
    const where = isKnown ? null : text.cuts.at(at)
    const border = isKnown
      ? (last.borders[known] as Border)
      : where === 'torn'
        ? BORDER.torn
        : borderAt(text, textEnd, at, where ?? 'outside')
    starts.push(at)
    before.push(tokens)
    borders.push(border)
    isWithin.push(isKnown ? (last.isWithin[known] as boolean) : where !== 'outside')
    if (at >= content.length || (at > start && tokens > most && (border !== BORDER.torn || best >= BORDER.item))) break
    if (at > start && border > best) best = border
    if (isKnown && known < last.pieces) {
      const next = last.starts[known + 1] as number
      tokens += (last.before[known + 1] as number) - (last.before[known] as number)
      // Of a piece reused from the last chunk, only the start of the next piece is known, which is near enough to its end. Only after the
      // last reused piece is the exact end (without blanks) computed, to classify the border that follows.
      textEnd = known + 1 < last.pieces ? next : pieceAt(content, at).textEnd
      at = next
    } else {
      const piece = pieceAt(content, at)
      tokens += piece.tokens
      textEnd = piece.textEnd
      at = piece.end
    }
  }
  borders[0] = BORDER.inside
  const atEnd = at >= content.length && tokens <= most
  const stretch = { room, atEnd, pieces: starts.length - 1, tokens, starts, before, borders, isWithin }
  text.last = stretch
  return stretch
}

/**
 * The kind of border at an offset, that is, how well the text can be cut there. At a place mark (such as a page) it is always cut. A
 * heading begins a section and stays with the text after it. Within a block, a line after a blank line is preferred.
 */
function borderAt(
  { content, form, outline, cuts }: Text,
  textEnd: number,
  at: number,
  where: 'outside' | 'line',
): Border {
  if (outline.isPlace(at)) return BORDER.place
  const plain = borderBetween(content, textEnd, at, form)
  if (where === 'line') return Math.min(plain, BORDER.item) as Border
  // Headings and blocks begin and end only at line ends, so at other borders (between words or sentences) they are not looked for.
  if (plain <= BORDER.word) return plain
  if (outline.isWithin(textEnd - 1)) return BORDER.word
  if (outline.beginsAt(at)) return BORDER.section
  return plain < BORDER.item && cuts.isEdge(at) ? BORDER.item : plain
}

/** For each kind of border, how full a chunk must be before it ends at such a border, as a share of the room for its text. */
const FILL: readonly (readonly [Border, number])[] = [
  [BORDER.place, 0],
  [BORDER.section, 0.25],
  [BORDER.paragraph, 0.5],
  [BORDER.item, 0.6],
  [BORDER.sentence, 0.7],
  [BORDER.line, 0.75],
  [BORDER.word, 0.5],
  [BORDER.inside, 0],
]
/** At the end of a text, a section shorter than this share of a chunk's room stays in one chunk with the section before it. */
const MIN_LAST = 0.15

/**
 * Chooses where the chunk ends, as the index of the piece after the cut. It ends at the first place mark (such as a new page). Without one,
 * it ends at the first section that fits, otherwise at the last border of the best kind. At the end of a text, all of the remaining text
 * fits.
 */
function chooseCut(stretch: Stretch): number {
  const { room, atEnd, pieces, before, borders } = stretch
  for (const [border, fill] of atEnd ? FILL.slice(0, 2) : FILL) {
    const most = atEnd && border !== BORDER.place ? stretch.tokens - MIN_LAST * room : room
    if (border === BORDER.inside && isBlocked(stretch)) return beforeBlock(stretch)
    let found = -1
    for (let at = 1; at < pieces && (before[at] as number) <= most; at++) {
      if ((borders[at] as Border) < border || (before[at] as number) < fill * room) continue
      found = at
      if (border >= BORDER.section) break
    }
    if (found > 0) return found
  }
  return atEnd ? pieces : 1
}

/** Whether the chunk would end within a block that must not be cut. */
function isBlocked({ room, before, borders }: Stretch): boolean {
  return borders[before.findLastIndex(tokens => tokens <= room)] === BORDER.torn
}

/**
 * Where to end a chunk before a block that must stay whole: the last of the best borders before the block, however little text precedes it.
 * Where only a heading precedes the block, heading and block stay together, and the chunk ends at the first permitted cut after them.
 */
function beforeBlock({ room, pieces, before, borders }: Stretch): number {
  let best = 0
  for (let at = 1; at < pieces && (before[at] as number) <= room; at++)
    if ((borders[at] as Border) >= BORDER.item && (borders[at] as Border) >= (borders[best] as Border)) best = at
  if (best > 0) return best
  const next = borders.findIndex((border, at) => (before[at] as number) > room && border !== BORDER.torn)
  return next < 0 ? pieces : next
}

/**
 * Chooses where the next chunk begins, as the index of a piece. It repeats some sentences or lines before the cut where these are short
 * enough, otherwise some words. Nothing is repeated where a new section begins, within a block, or where the block that follows needs all
 * of the room.
 */
function overlapFrom(stretch: Stretch, cut: number, { cuts }: Text): number {
  const { before, borders, isWithin } = stretch
  if (isWithin[cut] === true || cuts.wholeFrom(stretch.starts[cut] as number) > CHUNK_TOKENS - OVERLAP_TOKENS)
    return cut
  const end = before[cut] as number
  let best = cut
  let bestBorder: Border = BORDER.inside
  for (let at = cut; at > 1 && (borders[at] as Border) < BORDER.section; ) {
    at--
    if (end - (before[at] as number) > OVERLAP_TOKENS) break
    if (isWithin[at] === true) continue
    const border = Math.min(borders[at] as Border, BORDER.line) as Border
    if (border < bestBorder) continue
    best = at
    bestBorder = border
  }
  return best
}
