/** Visible terms that are spelled nearly like a word: what a misspelt word may have meant. */
import { countBits } from '../../base/bitset.ts'
import { editDistance } from '../../base/edit-distance.ts'
import type { PartitionId } from '../../model/partition.ts'
import { stem } from '../../text/stem.ts'
import { LANGUAGES, type Language } from '../../text/stopwords.ts'
import type { NearTerm } from '../contract.ts'
import { decodeTerm, encodeTerm } from './bytes.ts'
import { END, PostingCursor } from './cursor.ts'
import { deadWith } from './dead.ts'
import { viewsOf } from './lists.ts'
import { readRuns } from './runs.ts'
import type { Segment } from './segment.ts'
import type { SegmentSet } from './segments.ts'
import { termKey } from './terms.ts'

interface Found {
  readonly distance: number
  df: number
  chunk: number
}

/**
 * By distance, then df descending, then term. Each term of the visible partitions is compared once: some 100 ns where its
 * length or its letters rule it out, a microsecond else.
 */
export function nearTerms(
  set: SegmentSet,
  word: string,
  most: number,
  partitions: ReadonlySet<PartitionId>,
  limit: number,
): readonly NearTerm[] {
  const found = new Map<string, Found>()
  for (const { segment, visible } of viewsOf(set, partitions)) {
    for (const language of segment.terms.languages) {
      const wanted = stem(word, LANGUAGES[language] as Language)
      for (const { number, term, distance } of alikeIn(segment, language, wanted, most)) {
        const runs = readRuns(segment, number, visible)
        // Nothing visible has the term.
        if (runs.length === 0) continue
        const df = runs.reduce((sum, run) => sum + run.df, 0) - deadWith(segment, number, visible)
        if (df <= 0) continue
        const chunk = firstChunk(segment, new PostingCursor(segment, runs))
        const known = found.get(term)
        // In several languages the stems of one word may differ: the nearest counts.
        const nearest = Math.min(distance, known?.distance ?? distance)
        const [sum, first] = [(known?.df ?? 0) + df, Math.min(chunk, known?.chunk ?? chunk)]
        found.set(term, { distance: nearest, df: sum, chunk: first })
      }
    }
  }
  return [...found]
    .map(([term, near]) => ({ term, ...near }))
    .sort(nearestFirst)
    .slice(0, Math.max(0, limit))
}

export function nearestFirst(a: NearTerm, b: NearTerm): number {
  return a.distance - b.distance || b.df - a.df || (a.term < b.term ? -1 : 1)
}

function* alikeIn(
  { terms }: Segment,
  language: number,
  wanted: string,
  most: number,
): Generator<{ readonly number: number; readonly term: string; readonly distance: number }> {
  const letters = lettersOf(encodeTerm(wanted), 0)
  const end = terms.lowerBound(encodeTerm(termKey(language + 1, '')))
  for (let number = terms.lowerBound(encodeTerm(termKey(language, ''))); number < end; number++) {
    const bytes = terms.bytes(number)
    // A unit takes one to three bytes; the first byte is the sign of the language.
    const length = bytes.length - 1
    if (length < wanted.length - most || length > 3 * (wanted.length + most)) continue
    const others = lettersOf(bytes, 1)
    if (others !== null && length > wanted.length + most) continue
    if (letters !== null && others !== null && countBits(letters ^ others) > 2 * most) continue
    const term = decodeTerm(bytes.subarray(1))
    const distance = editDistance(wanted, term, most)
    if (distance <= most) yield { number, term, distance }
  }
}

/** Letters that occur, as bits (ASCII modulo 32): an edit changes two bits at most. Null: letters beyond ASCII occur. */
function lettersOf(bytes: Uint8Array, from: number): number | null {
  let letters = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte >= 0x80) return null
    letters |= 1 << (byte & 31)
  }
  return letters
}

/** The lowest key of a live chunk; there is one. */
function firstChunk(segment: Segment, cursor: PostingCursor): number {
  let first = Number.POSITIVE_INFINITY
  for (; cursor.row !== END; cursor.next()) {
    if (!segment.isDead(cursor.row)) first = Math.min(first, segment.rows.chunk[cursor.row] as number)
  }
  return first
}
