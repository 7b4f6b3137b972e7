/** What the requester gets: items in order, how to get more, how complete it is, and what to know about it. */
import type { JsonObject } from '../base/canonical.ts'
import type { Explanation } from './explanation.ts'

export interface Excerpt {
  readonly text: string
  /** Lines of the entry's content, from 1, both included. */
  readonly start_line: number
  readonly end_line: number
  /**
   * Only where it begins or ends inside a table or fenced code: how many UTF-16 units at the beginning of `text` repeat the header of
   * the table or the line that opens the fence, and how many at the end close the fence. They are no part of its lines.
   */
  readonly framed?: readonly [number, number] | undefined
  /** Headings above it, outermost first; empty where the content has none. */
  readonly section: readonly string[]
  /** Spans of `text` that match the question: start and end in UTF-16 units, end excluded. */
  readonly highlights: readonly (readonly [number, number])[]
  /** Only where true: it begins inside a sentence or a line of code that is longer than the excerpt. */
  readonly cut_start?: boolean | undefined
  /** Only where true: it ends inside a sentence or a line of code. */
  readonly cut_end?: boolean | undefined
}

/** A passage of an item's entry: an excerpt of one of its chunks. */
export interface Passage extends Excerpt {
  /**
   * By the formula of the item's score, over the words and the meaning of this passage alone. At most the item's score, which
   * takes the best of each, where all of its passages have vectors.
   */
  readonly score: number
  /** Where the query asks for reasons, and for passages by number. */
  readonly explanation?: Explanation | undefined
}

/** Times are ISO 8601 in UTC. Names are snake_case: this is what every interface prints. */
export interface Item {
  readonly rank: number
  /** Of the entry. */
  readonly id: string
  readonly holder: string
  /** Only where `group` is passage: the position of this passage in the entry, from 1. */
  readonly passage?: number | undefined
  readonly collection: string
  readonly kind: string
  readonly title: string
  readonly score: number
  readonly components: Readonly<Record<string, number>>
  /** Of its best passage; where `group` is passage, of this passage. */
  readonly excerpt: Excerpt
  /**
   * One, or as many as were asked for: the best first, so that the first has the text and the lines of `excerpt`. Empty
   * where the entry has no text.
   */
  readonly passages: readonly Passage[]
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly origin: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly source: string
  /** Only where a lens folds entries: ids of those that this one stands for too, and that the viewer may see. */
  readonly related_ids?: readonly string[] | undefined
  /** The main reasons in one line. */
  readonly why: string
  readonly explanation?: Explanation | undefined
}

/** Something about the answer that the requester should know: words only, partly embedded, a source that failed. */
export interface Note {
  readonly code: string
  readonly message: string
  /** What a program needs of it, such as the name of a collection. */
  readonly details?: JsonObject | undefined
}

export interface Coverage {
  /** Share of visible chunks in scope that have a vector, 0 to 1; 1 when there are none. */
  readonly embedded: number
  /** Sources asked, and those that did not answer. */
  readonly sources: readonly string[]
  readonly failed: readonly string[]
  /** False when the deadline cut something off. */
  readonly complete: boolean
}

/** `nothing_relevant` means: nothing on this subject is known here. It never means that something is not so. */
export type Verdict = 'answered' | 'weak' | 'nothing_relevant'

/** What a verdict rests on: words and meaning, or words alone, where there was no meaning to go by. */
export type VerdictBy = 'meaning' | 'words'

/** How many items an answer has, over all of its pages. */
export interface Count {
  readonly count: number
  /** False: there are more; counting stopped at a limit or at the deadline. */
  readonly exact: boolean
  readonly verdict: Verdict
  readonly reason: string | null
  readonly mode: Page['mode']
}

export interface StageTrace {
  readonly stage: string
  readonly ms: number
  /** How many candidates (or terms, for parse) came out. */
  readonly out: number
  readonly detail?: JsonObject | undefined
}

/**
 * A piece of an answer that is given piece by piece: joined, their items are those of a page of the same limit. What is known
 * at once comes with the first, what is known at the end with the last.
 */
export interface PageChunk extends Partial<Omit<Page, 'items' | 'trace'>> {
  readonly items: readonly Item[]
  /** Of the way, 0 to 1; never falls, and is 1 in the last chunk alone. */
  readonly progress: number
  /** True in the last chunk alone. */
  readonly done: boolean
}

export interface Page {
  readonly items: readonly Item[]
  /** For the next page; null on the last. */
  readonly cursor: string | null
  readonly verdict: Verdict
  /** Why, when the verdict is not `answered`. */
  readonly reason: string | null
  /** Absent where neither decides: a list by conditions, and lenses with a verdict of their own. */
  readonly verdict_by?: VerdictBy | undefined
  /** What came nearest where nothing is relevant, at most three: not an answer, and not counted as used. */
  readonly nearest?: readonly Item[] | undefined
  /** The spelling that was asked, where the text as given found nothing. */
  readonly did_you_mean?: string | undefined
  readonly lens: string
  readonly mode: 'hybrid' | 'words' | 'meaning' | 'list'
  readonly as_of: string
  readonly coverage: Coverage
  readonly notes: readonly Note[]
  readonly trace?: readonly StageTrace[] | undefined
}
