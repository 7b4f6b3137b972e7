/**
 * The order of an answer, as its first page found it: what is held so that later pages go on in it, whatever is written
 * meanwhile. Entries stand in it with the scores of then; whether one is still there and still visible is looked at when it
 * is shown, and what is shown is its text of now. What came since never comes in.
 */
import { atOnce } from '../base/turns.ts'
import { type ItemKey, itemKey, type Ranked, type Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Note } from '../model/page.ts'
import type { QueryContext } from './context.ts'
import { LastingContext } from './derived-context.ts'
import { waitingOf } from './present.ts'
import type { Plan, Ranking, Retrieval, Scoring, Stages } from './stage.ts'

export interface HeldOrder {
  readonly plan: Plan
  /** Without the candidates. */
  readonly retrieval: Retrieval
  /** Without the scored ones. */
  readonly scoring: Scoring
  /** Stands before `rest`, and is not shown again. */
  readonly before: readonly Ranked[]
  /** All that was brought and is still to come, best first. */
  readonly rest: readonly Ranked[]
  /** The last retrieval, from 0. */
  readonly round: number
  /** What came later has a higher key. */
  readonly newest: EntryKey
  readonly notes: readonly Note[]
}

/** A page that was ranked from what retrieval brought, not from what was held. */
export interface RankedPage {
  readonly stages: Stages
  readonly plan: Plan
  readonly found: Found
  readonly ranking: Ranking
  readonly round: number
  /** The last item shown. */
  readonly last: ItemKey
  /** Where passages are ranked: all of them, and whether the retrieval can bring no more. */
  readonly passages: { readonly scored: readonly Scored[]; readonly exhausted: boolean } | null
}

/** All that a retrieval brought and its scores, not only what may reach the page. */
export interface Found {
  /** To be called first before anything that it is scored by changes; later calls give the same. */
  get(): { readonly all: Retrieval; readonly scoring: Scoring }
  /** What it sees the world by. */
  readonly lasting: LastingContext
  /** What came later than the retrieval has a higher key. */
  readonly newest: EntryKey
}

/**
 * `mark`: adds the retrieval that brought an entry, where there was more than one. `scored`: what the score stage returned, where that was
 * a promise; else null, and all is scored when it is needed.
 */
export function foundBy(
  retrieval: Retrieval,
  mark: (scoring: Scoring) => Scoring,
  scored: () => Scoring | null,
  stages: Stages,
  plan: Plan,
  context: QueryContext,
): Found {
  const bring = bringerOf(retrieval)
  const lasting = new LastingContext(context)
  let found: ReturnType<Found['get']> | null = null
  const get = () => {
    if (found !== null) return found
    const known = scored()
    const all = known === null ? bring(lasting) : retrieval
    // The cast: a stage that returned no promise for the page returns none now.
    const scoring = known ?? mark(stages.score(all, { ...plan, query: lasting.query }, lasting) as Scoring)
    found = { all, scoring }
    return found
  }
  return { get, lasting, newest: context.reader.newestEntry() }
}

/**
 * Makes the whole order of a page: pages are ranked no further than they show. To be called before anything that was
 * ranked by changes; the longer after the page, the less it costs those who never ask for more.
 */
export function orderLater(page: RankedPage, context: QueryContext): () => HeldOrder {
  const { stages, plan, round, last } = page
  const { more } = page.ranking
  const { verdict, reason, verdictBy } = page.ranking.scoring
  const { get, lasting, newest } = page.found
  const notes = [...context.notes]
  const shown = new Set(upTo(last, waitingOf(page.ranking.ranked, plan, context)))
  return () => {
    const whole: Plan = { ...plan, query: lasting.query }
    const { all, scoring: byEntry } = get()
    const { passages } = page
    const { isWhole } = page.ranking.scoring
    const scoring = passages === null ? byEntry : { ...byEntry, scored: passages.scored, isWhole }
    const ranked = more?.() ?? atOnce(stages.diversify(scoring, whole, lasting)).ranked
    const rest = waitingOf(ranked, whole, lasting).filter(one => !shown.has(itemKey(one)))
    const isRest = new Set(rest.map(itemKey))
    lasting.thaw()
    return {
      plan,
      retrieval: { ...numbersOf(all), exhausted: passages?.exhausted ?? all.exhausted },
      scoring: { ...scoring, scored: [], verdict, reason, verdictBy },
      before: ranked.filter(one => !isRest.has(itemKey(one))),
      rest,
      round,
      newest,
      notes,
    }
  }
}

/** Keeps hold of the candidates only where they cannot be had anew. */
function bringerOf(retrieval: Retrieval): (context: QueryContext) => Retrieval {
  return retrieval.whole ?? (() => retrieval)
}

/** What is kept of a retrieval: sets of entries can be large. */
export function numbersOf({ depth, statistics, exhausted, complete }: Retrieval): Retrieval {
  return { candidates: [], allow: null, depth, statistics, exhausted, complete }
}

/** Those up to and with this one. */
function upTo(last: ItemKey, ranked: readonly Ranked[]): readonly ItemKey[] {
  const keys = ranked.map(itemKey)
  return keys.slice(0, keys.indexOf(last) + 1)
}
