/** Finds the terms of a word index that differ from a given word by only a few edits (added, removed or changed letters). */
import { editDistance } from '../../base/near-names.ts'
import type { PartitionId } from '../../model/partition.ts'
import { stem } from '../../text/stem.ts'
import { LANGUAGES, type Language } from '../../text/stopwords.ts'
import type { NearTerm } from '../contract.ts'
import { decodeTerm, encodeTerm } from './bytes.ts'
import { END, PostingCursor, readRuns } from './cursor.ts'
import { deadWith, viewsOf } from './lists.ts'
import { lettersOf, NOT_ASCII, type Segment, termKey } from './segment.ts'
import type { SegmentSet } from './segments.ts'

interface Found {
  readonly distance: number
  df: number
  chunk: number
}

/**
 * Indexed terms similar to `word`, at most `most` edits away, ordered by number of edits, then descending document frequency, then term.
 * Each term of the partitions that may be read is examined once: a few nanoseconds if its length or letters exclude it, otherwise a
 * microsecond.
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
      for (const number of likelyIn(segment, language, wanted, most)) {
        const term = decodeTerm(segment.terms.bytes(number).subarray(1))
        const distance = editDistance(wanted, term, most)
        if (distance > most) continue
        const runs = readRuns(segment, number, visible)
        // The term does not occur in any chunk that may be read.
        if (runs.length === 0) continue
        const df = runs.reduce((sum, run) => sum + run.df, 0) - deadWith(segment, number, visible)
        if (df <= 0) continue
        const chunk = firstChunk(segment, new PostingCursor(segment, runs))
        const known = found.get(term)
        // One term may be reached through stems of several languages; the smallest edit distance counts.
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

/** Numbers of the terms of a language whose length and letters do not rule out that they are within `most` edits of the wanted word. */
function likelyIn({ terms }: Segment, language: number, wanted: string, most: number): readonly number[] {
  const { lengths, letters } = terms.shapes()
  const own = lettersOf(encodeTerm(wanted), 0)
  const [shortest, longest] = [wanted.length - most, wanted.length + most]
  // Lengths of terms are in bytes, and a UTF-16 unit outside ASCII takes up to three bytes.
  const maxBytes = 3 * longest
  const likely: number[] = []
  const end = terms.lowerBound(encodeTerm(termKey(language + 1, '')))
  for (let number = terms.lowerBound(encodeTerm(termKey(language, ''))); number < end; number++) {
    const length = lengths[number] as number
    if (length < shortest || length > maxBytes) continue
    const others = letters[number] as number
    if (own !== NOT_ASCII && others !== NOT_ASCII) {
      // One edit removes at most one letter of a word and adds at most one, so with more differing letters the term is too far away.
      if (length > longest || hasMoreBits(own & ~others, most) || hasMoreBits(others & ~own, most)) continue
    }
    likely.push(number)
  }
  return likely
}

function hasMoreBits(bits: number, most: number): boolean {
  let rest = bits
  for (let cleared = 0; cleared < most && rest !== 0; cleared++) rest &= rest - 1
  return rest !== 0
}

/**
 * The lowest chunk key among the postings that the cursor visits, without those of dead rows (deleted or replaced chunks). The caller makes
 * sure that at least one is not dead.
 */
function firstChunk(segment: Segment, cursor: PostingCursor): number {
  let first = Number.POSITIVE_INFINITY
  for (; cursor.row !== END; cursor.next()) {
    if (!segment.isDead(cursor.row)) first = Math.min(first, segment.rows.chunk[cursor.row] as number)
  }
  return first
}
