/**
 * The six stages. Each is a function from plain data to plain data; a lens may replace any of them. The driver (`run.ts`) knows their
 * order, the deadline and the trace, and nothing else.
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

/** The parsed query, resolved as far as the text and the facts allow. */
export interface Plan {
  readonly query: Query
  readonly parsed: ParsedQuery
  /** Mode of the query. `list`: nothing to rank by, only conditions; then the newest come first. */
  readonly mode: Page['mode']
  /** Conditions of the request and of the text together. */
  readonly filter: Filter | null
  /** Terms for the word leg. */
  readonly terms: readonly WordTerm[]
  /** Vector of the query; null: nothing to embed, or no embedder. Set by enrich. */
  readonly vector: Float32Array | null
  /** Weights of the legs in the score, 0 to 1; they sum to 1. Set by enrich. */
  readonly weights: Weights
  /** An entry that is never a result: the one to which similar entries are searched. */
  readonly except: EntryKey | null
  /** Results of enrich or of a lens, by name; shown in the trace. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Whether the query should have been compared by meaning and could not: there was no vector in time, or none at all. */
  readonly isUnembedded?: boolean | undefined
  /** Whether the text is another spelling of the query, which found nothing as written. */
  readonly respelled?: boolean | undefined
}

export interface Weights {
  readonly words: number
  readonly meaning: number
}

/** Result of retrieval, with the statistics that scoring needs. */
export interface Retrieval {
  readonly candidates: readonly Candidate[]
  /** Requested number of entries per leg. */
  readonly depth: number
  /** Entries that pass filter and conditions; null means every visible entry. */
  readonly allow: Bitset | null
  /** Statistics of the visible rows, by name (`bmTop`, `bmTopChunk`, `bmMax`, `bestCosine`, `rows`). */
  readonly statistics: Readonly<Record<string, number>>
  /** False when a deeper retrieval could find more. */
  readonly exhausted: boolean
  /** False when the deadline interrupted a leg of the retrieval. */
  readonly complete: boolean
  /**
   * While some entries have no vector: retrieved entries that the viewer could no longer see at that time. Later pages are ranked by the
   * same set.
   */
  readonly absent?: ReadonlySet<EntryKey> | undefined
  /** Whether the best candidates are known already, and left out here. */
  readonly isRest?: boolean | undefined
  /** Left out, because a document stands for them (`note-links.ts`). */
  readonly stoodFor?: ReadonlySet<EntryKey> | undefined
  /**
   * Why an entry is not among the candidates, as a sentence; null: its score is too low. Absent: the reasons of the default lens's legs
   * apply.
   */
  readonly missing?: ((entry: EntryKey) => string | null) | undefined
  /**
   * Makes the retrieval again with all candidates of the legs, where those that cannot reach the page were left out. Keeps no reference to
   * a context.
   */
  readonly whole?: ((context: QueryContext) => Retrieval) | undefined
}

/** How a score stage ranks: the formula, the numbers of the query, and further texts for explanations. */
export interface Measure extends BoundFormula {
  /** Explanations of numbers of a result, by the number's name. */
  readonly expansions?: (scored: Scored) => Expansions
  /** Further reasons for a result, for the line of reasons. */
  readonly remarks?: (scored: Scored) => readonly string[]
}

export interface Scoring {
  readonly scored: readonly Scored[]
  readonly explain: Explain
  /** The components of a score, by name; they add up to it, except for rounding. */
  readonly components: (scored: Scored) => Readonly<Record<string, number>>
  /**
   * Scores passages of one entry as if each were an entry with nothing else: `signals` and `chunks` are those of the passage. Absent: the
   * score is not defined for single passages.
   */
  readonly rate?: ((passages: readonly Candidate[]) => readonly Scored[]) | undefined
  /** Adjusts rated passages of all entries where a score depends on those of others. Absent: no score does. */
  readonly adjust?: ((passages: readonly Scored[]) => readonly Scored[]) | undefined
  /** The main reasons for one candidate, in one line. */
  readonly why: (scored: Scored) => string
  /** How the scores were computed: for comparisons, and for lenses that build on it. */
  readonly measure: Measure
  readonly verdict: Verdict
  readonly reason: string | null
  readonly verdictBy?: VerdictBy | undefined
  /**
   * Upper bound of the score of any entry outside the candidates. Where it is given, a page is final only when its last item ranks above
   * it; null: the candidates of the legs are good enough.
   */
  readonly ceiling: number | null
  /** True when everything that could still be found would be left out as no answer. */
  readonly isWhole?: boolean | undefined
}

export interface Ranking {
  /** Ranked candidates, best first. May stop where the page certainly ends. */
  readonly ranked: readonly Ranked[]
  readonly scoring: Scoring
  /** False when the deadline passed before everything was spread as requested; absent: true. */
  readonly complete?: boolean | undefined
  /**
   * The complete ranking, where `ranked` stops at the end of the page and continuing takes more work than ranking everything again. Keeps
   * no reference to a context.
   */
  readonly more?: (() => readonly Ranked[]) | undefined
  /** Whether items shown on earlier pages are left out already. */
  readonly isRest?: boolean | undefined
}

/** The texts of its entry that an item shows. */
export type ShownText = Pick<Item, 'excerpt' | 'passages'>

/** Parts of an item, each made on demand. */
export interface ShownParts {
  /** The components of the item's score, by name. */
  components(ranked: Ranked): Item['components']
  why(ranked: Ranked, entry: Entry): string
  /** The explanation of the score; undefined where the query does not request explanations. */
  explanation(ranked: Ranked): Explanation | undefined
  /** The excerpt and the passages of the item. */
  text(ranked: Ranked, entry: Entry): ShownText
}

export interface Answer {
  readonly page: Page
  /**
   * The entries of the page's items, in their order, as stored at the second access check. Where passages are ranked, an entry may occur
   * several times. Empty where only keys are requested (`rows`).
   */
  readonly entries: readonly Entry[]
  /** The candidates of these items, in the same order. */
  readonly ranked: readonly Ranked[]
  /** Parts of the items, for lenses that make their own rows; to be read before other code can run. */
  readonly shown: ShownParts
  /** The page's `nearest` items, in their order. */
  readonly nearest?: Pick<Answer, 'entries' | 'ranked' | 'shown'> | undefined
  /** Number of items on this page and all others, as far as known. */
  readonly total: number
  /** Facts of the plan. */
  readonly facts: Plan['facts']
  /** The number by which the last item is ranked; null on an empty page. */
  readonly last: number | null
  /** Position where the page ends, after which the next one begins. Null on an empty page. */
  readonly end: Position | null
  /** Cursor of the page; null: no page follows. */
  readonly cursor: LateCursor | null
  /** Key of the last item in the order; null on an empty page. */
  readonly endKey: ItemKey | null
}

/** Stages whose score stage is synchronous. */
export interface DirectStages extends Stages {
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring
}

export interface Stages {
  /** Converts text and options to a plan. Throws `query_syntax` with a position. */
  parse(query: Query, context: QueryContext): Plan
  /** Another spelling of the text, to be tried when nothing is found; null: there is none. Absent: none is searched. */
  readonly respell?: ((plan: Plan, context: QueryContext) => Steps<string | null>) | undefined
  /** Adds what the text does not contain: synonyms, numbers, times, the vector. */
  enrich(plan: Plan, context: QueryContext): Promise<Plan>
  /**
   * Finds candidates, only in partitions that the viewer may see. `depth`: entries per leg; called again with a larger one when a page
   * needs it.
   */
  retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval>
  /**
   * One score per candidate, and its components. May return a promise where the score is computed elsewhere, as by a plug-in: then it
   * scores all candidates of the retrieval, and the result serves later pages too.
   */
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring | Promise<Scoring>
  /** The total order, caps and spread. Other code may write between its steps. */
  diversify(scoring: Scoring, plan: Plan, context: QueryContext): Steps<Ranking>
  /** Second access check, cut to the page, excerpts, explanations, cursor. The check is valid for the moment of its last step. */
  present(ranking: Ranking, retrieval: Retrieval, plan: Plan, context: QueryContext): Steps<Answer>
}
