/**
 * Third stage: candidates from the local store. Each leg brings its best entries; those that one leg alone brought get the
 * other's score computed exactly, so that an entry's score does not depend on how deep retrieval went.
 */
import { Bitset } from '../base/bitset.ts'
import { atOnce } from '../base/turns.ts'
import type { Hit, SearchScope } from '../index/contract.ts'
import type { Candidate } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { LEG_DEPTH } from '../model/limits.ts'
import { allowedEntries, phraseHolders } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { mostByWords } from './most-by-words.ts'
import { packHits } from './packed-hits.ts'
import { absentAmong, expectedBase } from './partly-embedded.ts'
import { retrieveList } from './retrieve-list.ts'
import type { Plan, Retrieval } from './stage.ts'
import { isLate } from './time-limit.ts'
import { legsOf, nearThePage, unite } from './union.ts'

/** For a lens with a formula of its own: everything that the legs brought. */
export async function retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval> {
  return gather(plan, depth, context, false)
}

/** For the default formula, which tells from one leg's score that an entry cannot reach the page: such are left out. */
export async function retrieveForPage(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval> {
  return gather(plan, depth, context, true)
}

/** Others may write between the legs: each of them brings what there is at its time. */
async function gather(plan: Plan, depth: number, context: QueryContext, forPage: boolean): Promise<Retrieval> {
  const allow = await context.turns.run(allowedEntries(plan, context))
  if (plan.mode === 'list') return retrieveList(plan, allow, depth, context)
  const { partitions } = context.sight
  const scope: SearchScope = allow === null ? { partitions } : { partitions, allow }
  const reading = context.words.prepare?.(plan.terms, scope)
  if (reading !== undefined) await context.turns.run(reading)
  const words = await wordLeg(plan, depth, scope, context)
  await context.turns.pauseIfDue()
  const holders = await context.turns.run(phraseHolders(plan, allow, context))
  // Words cost microseconds and come first: what there is when time runs out is at least their answer.
  const cutOff = plan.vector !== null && context.deadline.over
  const meaning = cutOff ? null : meaningLeg(plan, depth, scope, context)
  await context.turns.pauseIfDue()
  const alsoByPhrase = await hitsOf(holders, words.hits, plan, depth, scope, context)
  const byWords = [...words.hits, ...alsoByPhrase]
  const legs = legsOf(byWords, meaning?.hits ?? null)
  const isPartly = meaning !== null && plan.mode === 'hybrid' && !isAllEmbedded(meaning.statistics, scope, context)
  const base = isPartly ? { expectedBase: expectedBase(words.hits, meaning.hits, plan, scope, context) } : {}
  const statistics = { ...words.statistics, ...meaning?.statistics, ...base }
  // What is looked up exactly is read from the store, which may have changed when the rest of it is asked for.
  // By one leg's score alone it is not known how far a phrase lifts, nor by an entry's what its passages score.
  const isCut = forPage && plan.query.approximate && holders.size === 0 && plan.query.group === 'entry'
  const near = isCut ? nearThePage(legs, statistics, plan, depth, context) : legs
  const found: Retrieval = {
    candidates: markedBy(holders, await context.turns.run(unite(near, statistics, plan, scope, context))),
    depth,
    allow,
    statistics,
    exhausted: words.exhausted && (meaning?.exhausted ?? true),
    complete: !cutOff && !isLate(context),
    ...(isPartly && {
      absent: absentAmong(
        legs.found.map(({ entry }) => entry),
        context,
      ),
    }),
  }
  return near === legs ? found : { ...found, whole: restored(found, byWords, meaning?.hits ?? null, plan, scope) }
}

/** The holders of a phrase that the words did not bring: all of a few, the best `depth` of many where it need not be exact. */
async function hitsOf(
  holders: ReadonlyMap<EntryKey, number>,
  found: readonly Hit[],
  plan: Plan,
  depth: number,
  { partitions }: SearchScope,
  { words, turns }: QueryContext,
): Promise<readonly Hit[]> {
  if (holders.size === 0) return []
  const known = new Set(found.map(({ entry }) => entry))
  const others = [...holders.keys()].filter(entry => !known.has(entry) && entry !== plan.except)
  const isExact = others.length <= depth || !plan.query.approximate
  return turns.run(
    isExact
      ? words.scoreInSteps(plan.terms, others, { partitions })
      : words.searchInSteps({ partitions, allow: Bitset.of(others), terms: plan.terms, k: depth }),
  )
}

function markedBy(holders: ReadonlyMap<EntryKey, number>, candidates: readonly Candidate[]): readonly Candidate[] {
  if (holders.size === 0) return candidates
  return candidates.map(candidate => {
    const phrase = holders.get(candidate.entry)
    return phrase === undefined ? candidate : { ...candidate, signals: { ...candidate.signals, phrase } }
  })
}

/** Most answers have no second page, and are still kept for one: so what the legs brought is packed. */
function restored(
  { depth, allow, statistics, exhausted, complete, absent }: Retrieval,
  byWords: readonly Hit[],
  byMeaning: readonly Hit[] | null,
  plan: Plan,
  scope: SearchScope,
): Retrieval['whole'] {
  const words = packHits(byWords)
  const meaning = byMeaning && packHits(byMeaning)
  return context => {
    const candidates = atOnce(unite(legsOf(words(), meaning?.() ?? null), statistics, plan, scope, context))
    return { candidates, depth, allow, statistics, exhausted, complete, absent }
  }
}

interface Leg {
  readonly hits: readonly Hit[]
  readonly exhausted: boolean
  readonly statistics: Readonly<Record<string, number>>
}

/** Asked even when only meaning counts: what the words say is part of the evidence. */
async function wordLeg(plan: Plan, depth: number, scope: SearchScope, { words, turns }: QueryContext): Promise<Leg> {
  const counts = plan.mode !== 'meaning'
  const wanted = counts ? depth : 1
  // Before the search, which may pause: of the rows that it finds its hits in.
  const bmMax = mostByWords(words, plan.terms, scope)
  const found = await turns.run(words.searchInSteps({ ...scope, terms: plan.terms, k: wanted + 1 }))
  const hits = usable(found, plan.except, wanted)
  const exhausted = !counts || found.length <= wanted
  // No entry that is not among the hits has more than this.
  const wordsLast = exhausted ? 0 : (hits.at(-1)?.score ?? 0)
  const best = hits[0]
  const top = best === undefined ? { bmTop: 0 } : { bmTop: best.score, bmTopChunk: best.chunk }
  return { hits: counts ? hits : [], exhausted, statistics: { ...top, bmMax, wordsLast } }
}

function meaningLeg(plan: Plan, depth: number, scope: SearchScope, context: QueryContext): Leg | null {
  if (plan.vector === null) return null
  const { vectors } = context
  if (vectors === null) return null
  const { approximate } = plan.query
  const found = vectors.search({ ...scope, vector: plan.vector, k: depth + 1, approximate })
  const hits = usable(found, plan.except, depth)
  const rows = vectors.count(scope)
  const best = hits[0]
  if (best === undefined) return { hits, exhausted: true, statistics: { rows } }
  const floor = (hits[Math.min(hits.length, LEG_DEPTH) - 1] as Hit).score
  const meaningLast = (hits.at(-1) as Hit).score
  return { hits, exhausted: found.length <= depth, statistics: { rows, bestCosine: best.score, floor, meaningLast } }
}

/** Counting what passes a filter takes time with its number, so all that is visible is counted first. */
function isAllEmbedded({ rows = 0 }: Leg['statistics'], scope: SearchScope, { words, vectors }: QueryContext): boolean {
  const all: SearchScope = { partitions: scope.partitions }
  return (vectors?.count(all) ?? 0) >= words.count(all) || rows >= words.count(scope)
}

function usable(hits: readonly Hit[], except: EntryKey | null, limit: number): readonly Hit[] {
  const others = except === null ? hits : hits.filter(hit => hit.entry !== except)
  return others.length > limit ? others.slice(0, limit) : others
}
