/** Resolves a query against the part of a word index that may be read: finds the lists of postings to read and the weight of each word. */
import type { Steps } from '../../base/turns.ts'
import { idf, K1, lengthPart, saturation } from '../../math/bm25.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import { languagesOfQuestion } from '../../text/language.ts'
import { stem } from '../../text/stem.ts'
import { isStopWord, LANGUAGES, type Language } from '../../text/stopwords.ts'
import { tokenise } from '../../text/tokenise.ts'
import type { TermWeight, WordTerm } from '../contract.ts'
import { PostingCursor, type Run, readRuns } from './cursor.ts'
import { type Segment, termKey } from './segment.ts'
import type { SegmentSet } from './segments.ts'

/** A segment of the word index, with the information which of its partitions a query may read. */
export interface SegmentView {
  readonly segment: Segment
  /**
   * For each partition of the segment, by its rank (index in the segment's partition table): 1 if it may be read; null if all may be read.
   */
  readonly visible: Uint8Array | null
}

/**
 * The postings of one query word in one segment: for each language in which the word occurs, its runs (the postings of one partition each).
 * An entry has one language, so no row (chunk) is listed for two languages.
 */
interface WordLists {
  readonly lists: readonly (readonly Run[])[]
  /** Number of postings in the lists, including those of deleted chunks. */
  readonly postings: number
  /** Upper bound on what this word can add to the BM25 score of any chunk in this segment. */
  readonly bound: number
  /**
   * Factor that converts the stored bound of a block of postings to a score: a posting in a block with bound b adds at most b times this
   * factor to a chunk's score.
   */
  readonly boundScale: number
}

export interface WeighedWord extends TermWeight {
  /** Weight of the word in a BM25 score: boost · idf. */
  readonly weight: number
  /** The word's lists of postings in each segment, by the segment's index in `views`. */
  readonly bySegment: readonly WordLists[]
}

/** A query resolved against the word index: everything that the query needs to read from it. Valid until the index changes. */
export interface Reading {
  readonly views: readonly SegmentView[]
  /** The query's words by descending weight, which is the order in which their scores are added. */
  readonly words: readonly WeighedWord[]
  /** Number of chunks in the searched partitions, and their mean length in words. */
  readonly chunks: number
  readonly meanLength: number
  readonly saturations: Saturations
}

/** The segments that contain rows of the given partitions, each with a list of which of its partitions may be read. */
export function viewsOf(set: SegmentSet, partitions: ReadonlySet<PartitionId>): readonly SegmentView[] {
  const views: SegmentView[] = []
  for (const segment of set.segments) {
    const { id } = segment.partitions
    const visible = Uint8Array.from(id, partition => Number(partitions.has(partition)))
    const seen = visible.reduce((sum, mark) => sum + mark, 0)
    if (seen > 0) views.push({ segment, visible: seen === id.length ? null : visible })
  }
  return views
}

/** Resolves the words of a query, with a pause after each word so that other work can run. The index must not change during the pauses. */
export function* readQuestion(
  set: SegmentSet,
  words: readonly QuestionWord[],
  partitions: ReadonlySet<PartitionId>,
): Steps<Reading> {
  const views = viewsOf(set, partitions)
  const { chunks, words: length } = set.count(partitions)
  const meanLength = length / chunks
  const weighed: WeighedWord[] = []
  for (const word of words) {
    weighed.push(weigh(word, views, chunks, meanLength))
    yield
  }
  return { views, words: weighed.sort(heaviestFirst), chunks, meanLength, saturations: saturationsAt(meanLength) }
}

function weigh(word: QuestionWord, views: readonly SegmentView[], chunks: number, meanLength: number): WeighedWord {
  let df = 0
  const found = views.map(({ segment, visible }) => {
    const lists: (readonly Run[])[] = []
    for (const language of segment.terms.languages) {
      const stem = stemOf(word, LANGUAGES[language] as Language)
      const term = stem === null ? -1 : segment.terms.find(termKey(language, stem))
      if (term < 0) continue
      const runs = readRuns(segment, term, visible)
      if (runs.length === 0) continue
      lists.push(runs)
      df += postingsOf(runs) - deadWith(segment, term, visible)
    }
    return lists
  })
  const ratio = idf(chunks, df)
  const weight = word.boost * ratio
  const bySegment = found.map((lists, at) => {
    const boundScale =
      (weight * (K1 + 1) * SLACK * growthOf((views[at] as SegmentView).segment, lists, meanLength)) / 255
    const runs = lists.flat()
    const bound = runs.reduce((most, run) => Math.max(most, run.bound), 0) * boundScale
    return { lists, postings: postingsOf(runs), bound, boundScale }
  })
  return { term: word.term, boost: word.boost, df, idf: ratio, weight, bySegment }
}

function postingsOf(runs: readonly Run[]): number {
  let sum = 0
  for (const run of runs) sum += run.df
  return sum
}

/** Factor by which upper bounds are raised, so that no rounding error makes a true score exceed its bound. */
const SLACK = 1 + 1e-9

/**
 * Factor by which BM25 term-frequency saturations can exceed the bounds stored with these lists of postings. Bounds were computed with a
 * partition's mean chunk length when its segment was written. If that length is now r ≥ 1 times as long, saturations are less than r times
 * as high.
 */
function growthOf({ partitions }: Segment, lists: readonly (readonly Run[])[], meanLength: number): number {
  let growth = 1
  for (const runs of lists) {
    for (const { rank } of runs) growth = Math.max(growth, meanLength / (partitions.meanLength[rank] as number))
  }
  return growth
}

let last: Saturations | null = null

/**
 * The table of BM25 term-frequency saturations for a mean chunk length; the last table is cached, because successive queries mostly search
 * partitions with one mean length.
 */
function saturationsAt(meanLength: number): Saturations {
  if (last?.meanLength !== meanLength) last = new Saturations(meanLength)
  return last
}

/**
 * BM25 term-frequency saturations for one mean chunk length; values for short chunks (below 512 words) and low term frequencies (below 4)
 * are kept in a table.
 */
export class Saturations {
  readonly meanLength: number
  readonly #known: Float64Array = new Float64Array(USUAL_TF * USUAL_LENGTH)

  constructor(meanLength: number) {
    this.meanLength = meanLength
    for (let length = 0; length < USUAL_LENGTH; length++) {
      const part = lengthPart(length, meanLength)
      for (let tf = 0; tf < USUAL_TF; tf++) this.#known[length * USUAL_TF + tf] = saturation(tf, part)
    }
  }

  of(tf: number, length: number): number {
    if (tf < USUAL_TF && length < USUAL_LENGTH) return this.#known[length * USUAL_TF + tf] as number
    return saturation(tf, lengthPart(length, this.meanLength))
  }
}

const USUAL_TF = 4
const USUAL_LENGTH = 512

export interface QuestionWord {
  /** The word in its folded form (as it is compared and as explanations show it). */
  readonly term: string
  readonly boost: number
  /** Whether the word is searched for even if it is a stop word, because the query consists of stop words only. */
  readonly always: boolean
}

/**
 * The words of all query terms in order, each once with the sum of its boosts; an identifier, such as the name of a function, gives the
 * whole name and its parts. Stop words of the query's language are dropped unless the query has no other words. A stop word of another
 * language is not searched for in entries of that language.
 */
export function questionWords(terms: readonly WordTerm[]): readonly QuestionWord[] {
  const boosts = boostsByWord(terms)
  const asked = languagesOfQuestion([...boosts.keys()])
  const kept = [...boosts].filter(([term]) => !asked.some(language => isStopWord(term, language)))
  const always = kept.length === 0
  return (always ? [...boosts] : kept).map(([term, boost]) => ({ term, boost, always }))
}

/**
 * The stem under which the index has the word in entries of the given language; null if the word is a stop word in that language. An entry
 * has one language, so no chunk is found under the stems of two languages.
 */
export function stemOf({ term, always }: QuestionWord, language: Language): string | null {
  return !always && isStopWord(term, language) ? null : stem(term, language)
}

/**
 * Sort function for words by descending weight (boost · idf), then by word. Scores are always added in this order, so that the
 * floating-point sums of equal scores are exactly equal.
 */
export function heaviestFirst(a: TermWeight, b: TermWeight): number {
  return b.boost * b.idf - a.boost * a.idf || (a.term < b.term ? -1 : 1)
}

/** The words of a phrase in order, including stop words but without aliases (further forms of a word). */
export function phraseWords(phrase: string): readonly string[] {
  return tokenise(phrase)
    .filter(token => !token.alias)
    .map(token => token.term)
}

function boostsByWord(terms: readonly WordTerm[]): Map<string, number> {
  const boosts = new Map<string, number>()
  for (const { text, boost } of terms) {
    if (!Number.isFinite(boost) || boost < 0) throw invalidArgument('boost', boost, 'a number of 0 or more')
    for (const { term } of tokenise(text)) boosts.set(term, (boosts.get(term) ?? 0) + boost)
  }
  return boosts
}

// Counts the dead rows (those of deleted or replaced chunks) of a segment that contain a term, so that document frequencies are exact
// although dead rows are still in the lists. The rows are examined when a term is first queried; later only rows that died since then are.

interface Deaths {
  /** Number of the segment's dead rows that have been examined for the term. */
  seen: number
  /** Dead rows of the segment whose chunk contains the term. */
  readonly rows: number[]
}

const known = new WeakMap<Segment, Map<number, Deaths>>()
/** Maximum number of terms of one segment for which it is cached which dead rows (of deleted or replaced chunks) contain the term. */
const MAX_TERMS = 10_000

/** Number of dead rows (of deleted or replaced chunks) of the segment that contain the term and are in partitions that may be read. */
export function deadWith(segment: Segment, term: number, visible: Uint8Array | null): number {
  if (segment.deadRows.length === 0) return 0
  const { rows } = deathsOf(segment, term)
  return visible === null ? rows.length : rows.filter(row => visible[segment.rankOf(row)] === 1).length
}

function deathsOf(segment: Segment, term: number): Deaths {
  const terms = known.get(segment) ?? new Map<number, Deaths>()
  known.set(segment, terms)
  const deaths = terms.get(term) ?? { seen: 0, rows: [] }
  if (terms.size >= MAX_TERMS) terms.clear()
  terms.set(term, deaths)
  const fresh = segment.deadRows.slice(deaths.seen).sort((a, b) => a - b)
  if (fresh.length === 0) return deaths
  const cursor = new PostingCursor(segment, readRuns(segment, term, null))
  for (const row of fresh) if (cursor.tfAt(row) > 0) deaths.rows.push(row)
  deaths.seen = segment.deadRows.length
  return deaths
}
