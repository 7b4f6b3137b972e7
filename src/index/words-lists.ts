/** A question set against the visible part of an index: which lists it reads, and what each of its words is worth there. */
import { idf, K1, lengthPart, saturation } from '../math/bm25.ts'
import type { PartitionId } from '../model/partition.ts'
import { LANGUAGES } from '../text/stopwords.ts'
import type { TermWeight } from './contract.ts'
import { termKey } from './words-builder.ts'
import { encodeTerm, hashBytes } from './words-bytes.ts'
import { deadWith } from './words-dead.ts'
import { heaviestFirst, type QuestionWord } from './words-question.ts'
import { type Run, readRuns } from './words-runs.ts'
import type { Segment } from './words-segment.ts'
import type { SegmentSet } from './words-segments.ts'

/** A segment and which of its partitions may be read. */
export interface SegmentView {
  readonly segment: Segment
  /** By rank, 1 for visible; null when all are. */
  readonly visible: Uint8Array | null
}

/** The runs of one word in one segment: one list for each language that has it. No row is in two of them. */
export interface WordLists {
  readonly lists: readonly (readonly Run[])[]
  /** Chunks, the dead included. */
  readonly postings: number
  /** No posting here adds more to a score. */
  readonly bound: number
}

export interface WeighedWord extends TermWeight {
  /** boost · idf */
  readonly weight: number
  /** By index of the view. */
  readonly bySegment: readonly WordLists[]
}

/** What a question reads. Good until the index changes. */
export interface Reading {
  readonly views: readonly SegmentView[]
  /** Heaviest first: the order in which scores are added up. */
  readonly words: readonly WeighedWord[]
  /** Visible chunks, and their mean length. */
  readonly chunks: number
  readonly meanLength: number
}

/** The segments that have something of these partitions. */
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

export function readQuestion(
  set: SegmentSet,
  words: readonly QuestionWord[],
  partitions: ReadonlySet<PartitionId>,
): Reading {
  const views = viewsOf(set, partitions)
  const { chunks, words: length } = set.count(partitions)
  const meanLength = length / chunks
  const weighed = words.map(word => weigh(word, views, chunks, meanLength))
  return { views, words: weighed.sort(heaviestFirst), chunks, meanLength }
}

function weigh(word: QuestionWord, views: readonly SegmentView[], chunks: number, meanLength: number): WeighedWord {
  const keys = word.stems.map((stem, language) => (stem === null ? null : encodeTerm(termKey(language, stem))))
  const hashes = keys.map(key => (key === null ? 0 : hashBytes(key)))
  let df = 0
  const found = views.map(({ segment, visible }) => {
    const lists: (readonly Run[])[] = []
    for (let language = 0; language < LANGUAGES.length; language++) {
      const key = keys[language]
      if (key === null || key === undefined) continue
      const term = segment.find(key, hashes[language] as number)
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
  const bySegment = found.map((lists, at) => ({
    lists,
    postings: lists.reduce((sum, runs) => sum + postingsOf(runs), 0),
    bound: weight * boundOf((views[at] as SegmentView).segment, lists, meanLength),
  }))
  return { term: word.term, boost: word.boost, df, idf: ratio, weight, bySegment }
}

function postingsOf(runs: readonly Run[]): number {
  let sum = 0
  for (const run of runs) sum += run.df
  return sum
}

/** A little more than rounding can add. */
const SLACK = 1 + 1e-9

/**
 * The highest saturation of these postings. A run knows its own at the mean length its partition had in the segment; when
 * the mean is r ≥ 1 times that, saturation grows by less than r.
 */
function boundOf(segment: Segment, lists: readonly (readonly Run[])[], meanLength: number): number {
  let most = 0
  for (const runs of lists) {
    for (const { rank, bound } of runs) {
      const growth = Math.max(1, meanLength / (segment.partitions.meanLength[rank] as number))
      most = Math.max(most, (bound / 255) * growth)
    }
  }
  return Math.min(1, most) * (K1 + 1) * SLACK
}

/** Parts of the denominator by length, for one mean. */
export class LengthParts {
  readonly meanLength: number
  readonly #known: Float64Array = new Float64Array(1024)

  constructor(meanLength: number) {
    this.meanLength = meanLength
    for (let length = 0; length < this.#known.length; length++) this.#known[length] = lengthPart(length, meanLength)
  }

  saturation(tf: number, length: number): number {
    const known = length < 1024 ? (this.#known[length] as number) : lengthPart(length, this.meanLength)
    return saturation(tf, known)
  }
}
