/**
 * The six stages of the query pipeline: parse, enrich, retrieve, score, diversify, present. Each is a function from plain data to plain
 * data, and a lens may replace any of them. The driver (`run.ts`) knows only their order, the deadline and the trace.
 */
import type { Bitset } from '../base/bitset.ts'
import type { Steps } from '../base/turns.ts'
import type { WordTerm } from '../index/contract.ts'
import type { Candidate, Explain, ItemKey, Ranked, Scored } from '../model/candidate.ts'
import type { Entry, EntryKey } from '../model/entry.ts'
import type { Explanation } from '../model/explanation.ts'
import type { Filter } from '../model/filter.ts'
import type { BoundFormula, Expansions } from '../model/formula.ts'
import type { Item, Page, Verdict, VerdictBy } from '../model/page.ts'
import type { ParsedQuery } from '../model/plan.ts'
import type { Position, Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import type { LateCursor } from './cursor.ts'

/** What is to be searched: the parsed query, with everything resolved that the query's text and the store allow. */
export interface Plan {
  readonly query: Query
  readonly parsed: ParsedQuery
  /** Mode of the query: by which scores results are ranked. `list`: the query has only conditions, so results come newest first. */
  readonly mode: Page['mode']
  /** Conditions of the request and of the query's text, combined; null: none. */
  readonly filter: Filter | null
  /** Terms for the search by words. */
  readonly terms: readonly WordTerm[]
  /** Vector of the query; null: there is no text to embed, or no embedding model. Set by the enrich stage. */
  readonly vector: Float32Array | null
  /** Weights of words and of meaning in the score, 0 to 1 each, 1 together. Set by the enrich stage. */
  readonly weights: Weights
  /** Key of an entry that is never a result, since entries similar to it are searched; null: there is none. */
  readonly except: EntryKey | null
  /** Further results of the parse and enrich stages or of a lens, by name; shown in the trace. */
  readonly facts: Readonly<Record<string, unknown>>
  /**
   * Whether the query should have been compared by meaning and could not be, because its vector was not ready in time or could not be made.
   */
  readonly isUnembedded?: boolean | undefined
  /** Whether the text is a corrected spelling, tried because the query as written found no good answer. */
  readonly respelled?: boolean | undefined
}

export interface Weights {
  readonly words: number
  readonly meaning: number
}

/** Result of the retrieve stage, with the statistics that scoring needs. */
export interface Retrieval {
  readonly candidates: readonly Candidate[]
  /** Number of entries that was requested from each search (by words, by meaning). */
  readonly depth: number
  /**
   * Keys of the entries that meet the query's filter and conditions. Null: the query has neither, so every visible entry may be a result.
   */
  readonly allow: Bitset | null
  /**
   * Statistics of the search over the visible passages, by name: for example `bmTop` (best BM25), `bmTopChunk` (its chunk), `bmMax` (upper
   * bound of BM25), `bestCosine`, `rows` (number of passages with a vector).
   */
  readonly statistics: Readonly<Record<string, number>>
  /** Whether retrieval found everything; false when a deeper retrieval could find more. */
  readonly exhausted: boolean
  /** False when the deadline interrupted one of the searches. */
  readonly complete: boolean
  /**
   * Retrieved entries that were deleted or hidden from the viewer by the time of the first page; absent where all entries have vectors.
   * Later pages are ranked with the same set.
   */
  readonly absent?: ReadonlySet<EntryKey> | undefined
  /** Whether the best candidates are on earlier pages and are left out here, so that these candidates are only the rest. */
  readonly isRest?: boolean | undefined
  /** Entries left out because a document made from the same file is shown instead (`note-links.ts`). */
  readonly stoodFor?: ReadonlySet<EntryKey> | undefined
  /**
   * For an entry that is not among the candidates: the reason as a sentence; null: its score is too low. Absent: the reasons are those of
   * the default searches by words and by meaning.
   */
  readonly missing?: ((entry: EntryKey) => string | null) | undefined
  /**
   * Retrieves again, this time with the candidates that were left out because they cannot reach the page. Absent where none were left out.
   * The function keeps no reference to a query context.
   */
  readonly whole?: ((context: QueryContext) => Retrieval) | undefined
}

/** How a score stage computes scores: the formula, the numbers of the query that it uses, and further texts for explanations. */
export interface Measure extends BoundFormula {
  /** For explanations: by the name of an input to the score, how this input was obtained. */
  readonly expansions?: (scored: Scored) => Expansions
  /** Further reasons for a result, added to the one-line summary of reasons. */
  readonly remarks?: (scored: Scored) => readonly string[]
}

export interface Scoring {
  readonly scored: readonly Scored[]
  readonly explain: Explain
  /** The named parts of a score, which add up to it except for rounding. */
  readonly components: (scored: Scored) => Readonly<Record<string, number>>
  /**
   * Scores passages of one entry, each as if it were an entry of its own. The candidates given have the scores (`signals`) and `chunks` of
   * single passages. Absent: the lens cannot score single passages.
   */
  readonly rate?: ((passages: readonly Candidate[]) => readonly Scored[]) | undefined
  /**
   * Adjusts the scores of the passages of all entries, for a lens in which a score depends on other passages' scores. Absent: no score
   * does.
   */
  readonly adjust?: ((passages: readonly Scored[]) => readonly Scored[]) | undefined
  /** The main reasons why a candidate was found, in one line. */
  readonly why: (scored: Scored) => string
  /** The formula and numbers by which the scores were computed, for comparisons and for lenses that build on them. */
  readonly measure: Measure
  readonly verdict: Verdict
  readonly reason: string | null
  readonly verdictBy?: VerdictBy | undefined
  /**
   * Upper bound of the score of any entry that is not among the candidates: a page is final only when its last item scores higher. Null: an
   * approximate order is good enough, so this is not tested.
   */
  readonly ceiling: number | null
  /** True when everything that a deeper retrieval could still find would be left out as noise. */
  readonly isWhole?: boolean | undefined
}

export interface Ranking {
  /** Ranked candidates, best first. The list may end where the page certainly ends. */
  readonly ranked: readonly Ranked[]
  readonly scoring: Scoring
  /** False when the deadline passed before all results were diversified as requested; absent: true. */
  readonly complete?: boolean | undefined
  /**
   * Absent where `ranked` is complete. Otherwise, `ranked` ends with the page, and this function ranks all candidates from the beginning,
   * because continuing after the page would take more work. The function keeps no reference to a query context.
   */
  readonly more?: (() => readonly Ranked[]) | undefined
  /** Whether items shown on earlier pages are already left out of `ranked`. */
  readonly isRest?: boolean | undefined
}

/** The texts of an entry that a result item shows: its excerpt and passages. */
export type ShownText = Pick<Item, 'excerpt' | 'passages'>

/** Functions that make the parts of a result item (components, reasons, explanation, texts) only when they are needed. */
export interface ShownParts {
  /** Returns the parts that add up to the item's score, by name. */
  components(ranked: Ranked): Item['components']
  why(ranked: Ranked, entry: Entry): string
  /** Returns the explanation of the item's score; undefined where the query does not request explanations. */
  explanation(ranked: Ranked): Explanation | undefined
  /** Returns the excerpt and the passages that the item shows. */
  text(ranked: Ranked, entry: Entry): ShownText
}

export interface Answer {
  readonly page: Page
  /**
   * The entries of the page's items, in the order of the items, as stored when access was checked again. Where results are passages, an
   * entry may occur several times. Empty where only keys are requested (`rows`).
   */
  readonly entries: readonly Entry[]
  /** The ranked candidates of the page's items, in the order of the items. */
  readonly ranked: readonly Ranked[]
  /**
   * Functions for the parts of the page's items, for lenses that make result rows of their own; must be called before any pause in which
   * other code can write.
   */
  readonly shown: ShownParts
  /**
   * The nearest results, which a page names where its verdict is that nothing is relevant: their entries, candidates and parts (such as
   * excerpts), in their order.
   */
  readonly nearest?: Pick<Answer, 'entries' | 'ranked' | 'shown'> | undefined
  /** Number of items on all pages of the answer, as far as known; 0 where the verdict is that nothing is relevant. */
  readonly total: number
  /** Facts of the plan (further results of parsing and enriching, by name). */
  readonly facts: Plan['facts']
  /** Score of the page's last item; in a list, the time by which that item is ordered. Null on an empty page. */
  readonly last: number | null
  /** Position after which the next page begins; null on an empty page. */
  readonly end: Position | null
  /** Cursor of the page; null: no page follows. */
  readonly cursor: LateCursor | null
  /** Identifies the last item of the page in the order of results; null on an empty page. */
  readonly endKey: ItemKey | null
}

/** Pipeline stages whose score stage is synchronous (returns no promise). */
export interface DirectStages extends Stages {
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring
}

export interface Stages {
  /** Parse stage: converts the query's text and options to a plan. Throws `query_syntax` with a position. */
  parse(query: Query, context: QueryContext): Plan
  /**
   * Returns a corrected spelling of the query's text, to be tried when the query finds nothing good; null: there is no correction. Absent:
   * this lens (a named way to query and rank) never tries another spelling.
   */
  readonly respell?: ((plan: Plan, context: QueryContext) => Steps<string | null>) | undefined
  /** Enrich stage: adds to the plan what the text does not contain: synonyms, numbers, times, the vector. */
  enrich(plan: Plan, context: QueryContext): Promise<Plan>
  /**
   * Retrieve stage: finds candidates, only in partitions that the viewer may see. `depth`: number of entries per search; called again with
   * a greater depth when a page needs more candidates.
   */
  retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval>
  /**
   * Score stage: one score per candidate, with its components. Returns a promise where scores are computed elsewhere, as by a plug-in; then
   * it scores all candidates of the retrieval, and the result is used for later pages too.
   */
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring | Promise<Scoring>
  /**
   * Diversify stage: puts all results in their final order, applies the limits per collection and origin, and moves results apart that are
   * similar to each other. A generator: other code may write to the store when it pauses.
   */
  diversify(scoring: Scoring, plan: Plan, context: QueryContext): Steps<Ranking>
  /**
   * Present stage: checks access again, cuts the results to the page, and makes excerpts, explanations and the cursor. The access check is
   * valid for the moment when the last item is made.
   */
  present(ranking: Ranking, retrieval: Retrieval, plan: Plan, context: QueryContext): Steps<Answer>
}
