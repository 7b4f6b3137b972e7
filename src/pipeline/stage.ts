/**
 * The six stages. Each is a function from plain value to plain value; a lens replaces any of them. The driver (`run.ts`)
 * knows their order, the deadline and the trace, and nothing else.
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

/** What was asked, resolved as far as the text and the facts allow. */
export interface Plan {
  readonly query: Query
  readonly parsed: ParsedQuery
  /** `list`: nothing to rank by, only conditions; then the newest come first. */
  readonly mode: Page['mode']
  /** Conditions of the request and of the text together. */
  readonly filter: Filter | null
  /** For the word leg. */
  readonly terms: readonly WordTerm[]
  /** Null: nothing to embed, or no embedder. Filled by enrich. */
  readonly vector: Float32Array | null
  /** Share of each leg in the score, 0 to 1, together 1. Filled by enrich. */
  readonly weights: Weights
  /** Never an answer: the entry that was asked about. */
  readonly except: EntryKey | null
  /** What enrich or a lens found out, by name; shown in the trace. */
  readonly facts: Readonly<Record<string, unknown>>
  /** The question should have been compared by meaning and could not: there was no vector in time, or none at all. */
  readonly isUnembedded?: boolean | undefined
  /** The text is another spelling of the question, which found nothing. */
  readonly respelled?: boolean | undefined
}

export interface Weights {
  readonly words: number
  readonly meaning: number
}

/** What retrieval brought, with the statistics that scoring needs. */
export interface Retrieval {
  readonly candidates: readonly Candidate[]
  /** Entries a leg, as asked for. */
  readonly depth: number
  /** Entries that pass filter and conditions; null means every visible one. */
  readonly allow: Bitset | null
  /** Numbers about the visible rows, by name (`bmTop`, `bmTopChunk`, `bmMax`, `bestCosine`, `rows`). */
  readonly statistics: Readonly<Record<string, number>>
  /** False when asking deeper could bring more. */
  readonly exhausted: boolean
  /** False when the deadline cut a leg off. */
  readonly complete: boolean
  /** While not all is embedded: entries that the viewer could not see any more when they were brought. Later pages are ranked as of then. */
  readonly absent?: ReadonlySet<EntryKey> | undefined
  /** The best are known already, and left out of the candidates. */
  readonly isRest?: boolean | undefined
  /** Left out, because a document stands for them (`note-links.ts`). */
  readonly stoodFor?: ReadonlySet<EntryKey> | undefined
  /** Why an entry that is not among the candidates is not, in a sentence; null: its score is too low. Absent: by the legs of the default lens. */
  readonly missing?: ((entry: EntryKey) => string | null) | undefined
  /** The same with all that the legs brought, where what cannot reach the page was left out. Keeps nothing of a context. */
  readonly whole?: ((context: QueryContext) => Retrieval) | undefined
}

/** What a score stage ranks by: the formula, the numbers of the query, and what more explanations say. */
export interface Measure extends BoundFormula {
  /** What some numbers of a result are made of. */
  readonly expansions?: (scored: Scored) => Expansions
  /** What else speaks for a result, in the line of reasons. */
  readonly remarks?: (scored: Scored) => readonly string[]
}

export interface Scoring {
  readonly scored: readonly Scored[]
  readonly explain: Explain
  /** What a score is made of, by name; they add up to it, as far as rounding allows. */
  readonly components: (scored: Scored) => Readonly<Record<string, number>>
  /**
   * Scores passages of one entry as entries that hold nothing else: `signals` and `chunks` are those of the passage. Absent: the score is
   * not one of single passages.
   */
  readonly rate?: ((passages: readonly Candidate[]) => readonly Scored[]) | undefined
  /** Adjusts rated passages of all entries where a score depends on those of others. Absent: none does. */
  readonly adjust?: ((passages: readonly Scored[]) => readonly Scored[]) | undefined
  /** The main reasons of one in a line. */
  readonly why: (scored: Scored) => string
  /** What the scores are made by: for comparisons, and for lenses that build on it. */
  readonly measure: Measure
  readonly verdict: Verdict
  readonly reason: string | null
  readonly verdictBy?: VerdictBy | undefined
  /**
   * No entry outside the candidates can score more. Where it is given, a page is final only when its last item ranks
   * above it; null: as many as the legs brought is good enough.
   */
  readonly ceiling: number | null
  /** True when all that could still be brought would be left out as no answer. */
  readonly isWhole?: boolean | undefined
}

export interface Ranking {
  /** Best first. May stop where the page surely ends. */
  readonly ranked: readonly Ranked[]
  readonly scoring: Scoring
  /** False when the deadline came before all of it was spread as asked for; absent: true. */
  readonly complete?: boolean | undefined
  /** All of it, where `ranked` stops where the page ends and going on takes more than ranking all again. Keeps nothing of a context. */
  readonly more?: (() => readonly Ranked[]) | undefined
  /** What pages before have shown is left out already. */
  readonly isRest?: boolean | undefined
}

/** What an item shows of its entry. */
export type ShownText = Pick<Item, 'excerpt' | 'passages'>

/** Parts of an item, each made when it is asked for. */
export interface ShownParts {
  /** Of an item, by name. */
  components(ranked: Ranked): Item['components']
  why(ranked: Ranked, entry: Entry): string
  /** Undefined where the query does not ask for explanations. */
  explanation(ranked: Ranked): Explanation | undefined
  /** The excerpt and the passages. */
  text(ranked: Ranked, entry: Entry): ShownText
}

export interface Answer {
  readonly page: Page
  /**
   * The entries of the page's items, in their order, as they were stored at the second access check. Where passages are ranked,
   * an entry may occur several times. None where only keys are asked for (`rows`).
   */
  readonly entries: readonly Entry[]
  /** The candidates that these items are, in the same order. */
  readonly ranked: readonly Ranked[]
  /** What items say, for those who make rows of their own; to be read before the caller gives others a turn. */
  readonly shown: ShownParts
  /** The page's `nearest`, in their order. */
  readonly nearest?: Pick<Answer, 'entries' | 'ranked' | 'shown'> | undefined
  /** Items of this page and of all others, as far as they are known. */
  readonly total: number
  /** Of the plan. */
  readonly facts: Plan['facts']
  /** What the last item is ranked by; null on an empty page. */
  readonly last: number | null
  /** Where it ends: what the next page goes on behind. Null on an empty page. */
  readonly end: Position | null
  /** Of the page; null: no other follows it. */
  readonly cursor: LateCursor | null
  /** What the last item is in its order; null on an empty page. */
  readonly endKey: ItemKey | null
}

/** Stages whose score needs nothing from elsewhere. */
export interface DirectStages extends Stages {
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring
}

export interface Stages {
  /** Text and options to a plan. Throws `query_syntax` with a position. */
  parse(query: Query, context: QueryContext): Plan
  /** Another spelling of the text, to be asked when nothing is found; null: there is none. Absent: none is looked for. */
  readonly respell?: ((plan: Plan, context: QueryContext) => Steps<string | null>) | undefined
  /** Adds what the text does not say: synonyms, numbers, times, the vector. */
  enrich(plan: Plan, context: QueryContext): Promise<Plan>
  /** Candidates, only from partitions in sight. `depth` is entries a leg; asked again with more when a page needs it. */
  retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval>
  /**
   * One number a candidate, and the parts it is made from. May return a promise where the score is made elsewhere, as by a plug-in: then
   * it scores all candidates of the retrieval, and what it returned serves later pages too.
   */
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring | Promise<Scoring>
  /** The total order, caps and spread. Others write between its steps. */
  diversify(scoring: Scoring, plan: Plan, context: QueryContext): Steps<Ranking>
  /** Second access check, cut to the page, excerpts, explanations, cursor. The check holds for the moment of its last step. */
  present(ranking: Ranking, retrieval: Retrieval, plan: Plan, context: QueryContext): Steps<Answer>
}
