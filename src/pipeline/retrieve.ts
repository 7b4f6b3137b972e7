/**
 * Third stage of the query pipeline, retrieve: candidates from the local store. Each search (a "leg": by words, by meaning) gives its best
 * entries. For an entry that only one leg found, the score by the other is computed too, so that an entry's score does not depend on the
 * depth of retrieval.
 */

import { Bitset } from '../base/bitset.ts'
import { lowerBound } from '../base/compare.ts'
import { atOnce, type Steps } from '../base/turns.ts'
import type { Hit, SearchScope, WordIndex, WordTerm } from '../index/contract.ts'
import { K1 } from '../math/bm25.ts'
import type { Candidate } from '../model/candidate.ts'
import type { ChunkKey, Entry, EntryKey } from '../model/entry.ts'
import { scorerOf } from '../model/formula.ts'
import { LEG_DEPTH } from '../model/limits.ts'
import { FILE_LINKS } from '../store/core-tables.ts'
import type { ListPosition } from '../store/store.ts'
import { allowedEntries, phraseHolders } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { firstInOrder } from './diversify.ts'
import { boundDefault, MEMORY_BOOST, maxBy, scoredBy } from './formula.ts'
import { NoteLinks, readOfDocuments } from './note-links.ts'
import { isReadOn, pageBar } from './page-depth.ts'
import { absentAmong, expectedBase, KEPT_BY_WORDS, withExpected } from './partly-embedded.ts'
import { isNoise } from './score.ts'
import { LOCAL_SOURCE } from './source.ts'
import type { Plan, Retrieval } from './stage.ts'
import { isLate } from './time-limit.ts'

/**
 * Retrieval for a lens (a named way to query and rank) with a scoring formula of its own: all entries that the searches by words and by
 * meaning found, since such a formula may rank any of them first.
 */
export async function retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval> {
  return collectLegs(plan, depth, context, false)
}

/**
 * Retrieval for the default scoring formula: entries that only one leg (search by words, or by meaning) found are left out where its score
 * shows that they cannot reach the page.
 */
export async function retrieveForPage(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval> {
  return collectLegs(plan, depth, context, true)
}

/**
 * Runs the legs (searches by words and by meaning). Between them other code may write to the store, so each leg finds what exists when it
 * runs.
 */
async function collectLegs(plan: Plan, depth: number, context: QueryContext, forPage: boolean): Promise<Retrieval> {
  const allow = await context.turns.run(allowedEntries(plan, context))
  if (plan.mode === 'list') return retrieveList(plan, allow, depth, context)
  const { partitions } = context.accessScope
  const scope: SearchScope = allow === null ? { partitions } : { partitions, allow }
  const reading = context.words.prepare?.(plan.terms, scope)
  if (reading !== undefined) await context.turns.run(reading)
  const words = await wordLeg(plan, depth, scope, context)
  await context.turns.pauseIfDue()
  const holders = await context.turns.run(phraseHolders(plan, allow, context))
  // The search by words takes microseconds and comes first, so that its results can be returned when the time runs out before the search by
  // meaning.
  const cutOff = plan.vector !== null && context.deadline.over
  const meaning = cutOff ? null : meaningLeg(plan, depth, scope, context)
  await context.turns.pauseIfDue()
  const alsoByPhrase = await hitsOf(holders, words.hits, plan, depth, scope, context)
  const byWords = [...words.hits, ...alsoByPhrase]
  const { legs, stoodFor } = oncePerFile(legsOf(byWords, meaning?.hits ?? null), allow, context)
  const isPartly = meaning !== null && plan.mode === 'hybrid' && !isAllEmbedded(meaning.statistics, scope, context)
  const base = isPartly ? { expectedBase: expectedBase(words.hits, meaning.hits, plan, scope, context) } : {}
  const statistics = { ...words.statistics, ...meaning?.statistics, ...base }
  // Candidates that cannot reach the page are left out only where their exact scores will not be needed later, when the store may have
  // changed. Queries with phrases or for passages keep all candidates: the score of one leg does not tell how far a phrase raises an entry,
  // nor how an entry's passages score.
  const isCut = forPage && plan.query.approximate && holders.size === 0 && plan.query.group === 'entry'
  const near = isCut ? nearThePage(legs, statistics, plan, depth, context) : legs
  const found: Retrieval = {
    candidates: markedBy(
      holders,
      await context.turns.run(uniteLinked(near, statistics, plan, scope, forPage, context)),
    ),
    depth,
    allow,
    statistics,
    exhausted: words.exhausted && (meaning?.exhausted ?? true),
    complete: !cutOff && !isLate(context),
    stoodFor,
    ...(isPartly && {
      absent: absentAmong(
        legs.found.map(({ entry }) => entry),
        context,
      ),
    }),
  }
  return near === legs ? found : { ...found, whole: wholeOf(found, legs, plan, scope) }
}

/**
 * Returns a function that computes all candidates of the legs (searches by words and by meaning), including those left out because they
 * cannot reach the first page. It runs only when a second page is requested, which is rare.
 */
function wholeOf(found: Retrieval, legs: Legs, plan: Plan, scope: SearchScope): Retrieval['whole'] {
  return context => ({
    ...found,
    candidates: atOnce(uniteLinked(legs, found.statistics, plan, scope, true, context)),
  })
}

/**
 * Scores by words for entries that contain a phrase of the query and that the search by words did not find: for all of them where they are
 * few or the answer must be exact, otherwise for the best `depth`.
 */
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

interface Leg {
  readonly hits: readonly Hit[]
  readonly exhausted: boolean
  readonly statistics: Readonly<Record<string, number>>
}

/** The leg (search) by words. It also runs when the score depends on meaning only, since words are part of the evidence for the verdict. */
async function wordLeg(plan: Plan, depth: number, scope: SearchScope, { words, turns }: QueryContext): Promise<Leg> {
  const counts = plan.mode !== 'meaning'
  const wanted = counts ? depth : 1
  // The upper bound is computed before the search, which may pause, so that both use the same state of the index.
  const bmMax = maxByWords(words, plan.terms, scope)
  const found = await turns.run(words.searchInSteps({ ...scope, terms: plan.terms, k: wanted + 1 }))
  const hits = usable(found, plan.except, wanted)
  const exhausted = !counts || found.length <= wanted
  // Upper bound of the score by words of any entry that is not among the hits: the last hit's score, or 0 where all were found.
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

/**
 * Whether all passages have vectors. All visible passages are counted first, which is cheap, since counting those that pass a filter takes
 * time in proportion to their number.
 */
function isAllEmbedded({ rows = 0 }: Leg['statistics'], scope: SearchScope, { words, vectors }: QueryContext): boolean {
  const all: SearchScope = { partitions: scope.partitions }
  return (vectors?.count(all) ?? 0) >= words.count(all) || rows >= words.count(scope)
}

function usable(hits: readonly Hit[], except: EntryKey | null, limit: number): readonly Hit[] {
  const others = except === null ? hits : hits.filter(hit => hit.entry !== except)
  return others.length > limit ? others.slice(0, limit) : others
}

/**
 * An entry that a leg (search by words or by meaning) found. A missing hit means that the leg did not return the entry, not that the
 * entry's score in that leg is 0.
 */
interface Found {
  readonly entry: EntryKey
  readonly words: Hit | undefined
  readonly meaning: Hit | undefined
}

interface Legs {
  /** Each entry found, once: first those found by meaning, in the order of that search, then those found by words alone. */
  readonly found: readonly Found[]
  readonly isByMeaning: boolean
}

/** Joins the hits of the searches by words and by meaning. `meaning` null: the search by meaning did not run. */
function legsOf(words: readonly Hit[], meaning: readonly Hit[] | null): Legs {
  const byWords = new Map(words.map(hit => [hit.entry, hit]))
  const found: Found[] = []
  for (const hit of meaning ?? []) {
    const { entry } = hit
    found.push({ entry, words: byWords.get(entry), meaning: hit })
    byWords.delete(entry)
  }
  for (const [entry, hit] of byWords) found.push({ entry, words: hit, meaning: undefined })
  return { found, isByMeaning: meaning !== null }
}

function oncePerFile(
  legs: Legs,
  allow: Bitset | null,
  context: QueryContext,
): { readonly legs: Legs; readonly stoodFor: ReadonlySet<EntryKey> } {
  const entries = legs.found.map(({ entry }) => entry)
  const stoodFor = readOfDocuments(entries, allow, context)
  const found = stoodFor.size === 0 ? legs.found : legs.found.filter(({ entry }) => !stoodFor.has(entry))
  return { legs: { ...legs, found }, stoodFor }
}

/**
 * Candidates of the searches by words and meaning, with the influence of links added: an entry linked with the best result gets a signal
 * `linked`, and entries that only links found are added, except in a search by words alone, where each result must contain a word.
 */
function* uniteLinked(
  legs: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  scope: SearchScope,
  hasLinkLeg: boolean,
  context: QueryContext,
): Steps<readonly Candidate[]> {
  const candidates = yield* unite(legs, statistics, plan, scope, context)
  const lifts = hasLinkLeg ? linkLifts(candidates, statistics, plan, scope, context) : null
  if (lifts === null) return candidates
  const known = new Set(candidates.map(({ entry }) => entry))
  const others = legs.isByMeaning ? [...lifts.keys()].filter(entry => !known.has(entry)) : []
  const hits = plan.mode === 'meaning' ? [] : yield* context.words.scoreInSteps(plan.terms, others, scope)
  const byWords = new Map(hits.map(hit => [hit.entry, hit]))
  const found = others.map(entry => ({ entry, words: byWords.get(entry), meaning: undefined }))
  const more = yield* unite({ ...legs, found }, statistics, plan, scope, context)
  return [...candidates, ...more].map(candidate => {
    const linked = lifts.get(candidate.entry)
    return linked === undefined ? candidate : { ...candidate, signals: { ...candidate.signals, linked } }
  })
}

/**
 * Makes candidates from the entries that the legs (searches by words and by meaning) found. A score that one leg did not give is computed,
 * so that an entry's score does not depend on how deep the legs searched.
 */
function* unite(
  { found, isByMeaning }: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  scope: SearchScope,
  context: QueryContext,
): Steps<readonly Candidate[]> {
  if (!isByMeaning) return found.map(candidate)
  const without = (leg: 'words' | 'meaning') => found.filter(one => one[leg] === undefined).map(({ entry }) => entry)
  const moreWords =
    plan.mode === 'meaning' ? [] : yield* context.words.scoreInSteps(plan.terms, without('words'), scope)
  const { vectors } = context
  // A missing score is computed with the same precision as in the search: otherwise an entry's score would depend on which search found the
  // entry.
  const { approximate } = plan.query
  const moreMeaning =
    vectors === null || plan.vector === null ? [] : vectors.score(plan.vector, without('meaning'), scope, approximate)
  // The computed scores are in the order in which the entries were given, so each list is consumed front to back.
  let [words, meaning] = [0, 0]
  const candidates = found.map(one => {
    const { entry } = one
    const also = { words: one.words, meaning: one.meaning }
    if (also.words === undefined && moreWords[words]?.entry === entry) also.words = moreWords[words++]
    if (also.meaning === undefined && moreMeaning[meaning]?.entry === entry) also.meaning = moreMeaning[meaning++]
    return candidate({ entry, ...also })
  })
  return withExpected(candidates, statistics, scope, context)
}

/**
 * Leaves out found entries that cannot reach the page under the default formula. An entry that only one search (by words or by meaning)
 * found scores in the other at most as much as that search's last hit. Use can raise a score by at most a tenth. While some entries have no
 * vector, entries that may be among the first by words are kept too.
 */
function nearThePage(
  legs: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  depth: number,
  context: QueryContext,
): Legs {
  const { found, isByMeaning } = legs
  const { bmTop = 0, wordsLast = 0, floor = 0, expectedBase } = statistics
  const bound = boundDefault(plan.weights, bmTop, context.model?.cosineScale ?? 1)
  const scoreOf = scorerOf(bound.formula, bound.numbers)
  const surely: number[] = []
  const byWords: number[] = []
  const byWordsAlone: number[] = []
  const byMeaningAlone: number[] = []
  for (const { words, meaning } of found) {
    if (words === undefined) byMeaningAlone.push(meaning?.score ?? 0)
    else if (meaning === undefined) byWordsAlone.push(words.score)
    if (meaning !== undefined || !isByMeaning) {
      surely.push(scoreOf({ words: words?.score ?? 0, meaning: meaning?.score ?? 0 }))
    }
    if (words !== undefined) byWords.push(words.score)
  }
  const bar = pageBar(surely, plan.query, depth)
  const most = maxBy(statistics, bound)
  const mayReach = (bm: number, cosine: number) => most(bm, cosine) >= bar
  // Scores rise with BM25 and with the cosine, so the smallest score that suffices is found by bisection.
  const minCosine = minThat(byMeaningAlone, cosine => mayReach(wordsLast, cosine))
  const minBm = minThat(byWordsAlone, bm => mayReach(bm, isByMeaning ? floor : 0))
  const third = expectedBase === undefined ? 0 : (byWords.sort((a, b) => b - a)[KEPT_BY_WORDS - 1] ?? 0)
  const isKept = (bm: number) => expectedBase !== undefined && bm * (1 + MEMORY_BOOST) >= third
  const isNear = ({ words, meaning }: Found) => {
    if (words === undefined) return (meaning?.score ?? 0) >= minCosine
    return meaning !== undefined || words.score >= minBm || isKept(words.score)
  }
  const near = found.filter(isNear)
  return near.length === found.length ? legs : { ...legs, found: near }
}

/** The smallest of the values for which a condition holds that holds from some number upwards; infinite: it holds for none. */
function minThat(values: readonly number[], holds: (value: number) => boolean): number {
  const ascending = Float64Array.from(values).sort()
  return (
    ascending[lowerBound(ascending.length, place => !holds(ascending[place] as number))] ?? Number.POSITIVE_INFINITY
  )
}

/**
 * Makes a candidate from one or both hits of an entry. Signals are scores by search: an entry without a vector has no signal `meaning`, and
 * one without any query word has `words` 0.
 */
function candidate({ entry, words, meaning }: Found): Candidate {
  const signals: Record<string, number> = {}
  const chunks: Record<string, ChunkKey> = {}
  if (words !== undefined) {
    signals['words'] = words.score
    chunks['words'] = words.chunk
  }
  if (meaning !== undefined) {
    signals['meaning'] = meaning.score
    chunks['meaning'] = meaning.chunk
  }
  return { entry, source: LOCAL_SOURCE, signals, chunks }
}

/**
 * Upper bound of the BM25 that any passage can have for these query words: the sum of boost · idf · (K1 + 1). A passage that consists only
 * of these words comes near it. Above 0 where one of the words occurs in a visible passage.
 */
function maxByWords(words: WordIndex, terms: readonly WordTerm[], scope: SearchScope): number {
  return words.weigh(terms, scope).reduce((sum, { boost, idf }) => sum + boost * idf * (K1 + 1), 0)
}

/**
 * Entries that meet the conditions of a list, most recently changed first. Where possible (`isReadOn`), reading starts where the previous
 * page ended, so that the tenth page costs as much as the first.
 */
function retrieveList(plan: Plan, allow: Bitset | null, depth: number, context: QueryContext): Retrieval {
  const entries = context.reader.list({
    accessScope: context.accessScope,
    filter: plan.filter,
    order: 'updated',
    limit: depth + 1,
    after: startOf(plan),
  })
  const fit = entries.slice(0, depth).filter(entry => allow?.has(entry.key) ?? true)
  const stoodFor = readOfDocuments(
    fit.map(({ key }) => key),
    allow,
    context,
  )
  return {
    candidates: fit.filter(({ key }) => !stoodFor.has(key)).map(listed),
    stoodFor,
    depth,
    allow,
    statistics: {},
    exhausted: entries.length <= depth,
    complete: true,
  }
}

function startOf(plan: Plan): ListPosition | null {
  const { after } = plan.query
  return after === null || !isReadOn(plan) ? null : { at: after.order, id: after.id, holder: after.holder }
}

function listed(entry: Entry): Retrieval['candidates'][number] {
  return { entry: entry.key, source: LOCAL_SOURCE, signals: { updated: entry.updatedAt }, chunks: {} }
}

// Influence of links, over one hop: entries to which the best result links, or which link to it, are raised by a share of its score,
// divided by the square root of the number of its links. Measurements: docs/decisions/020.

/** Number of links of the best result above which its links are ignored: with so many, being linked says nothing about an entry. */
const MAX_LINKS = 100

/**
 * For each entry linked with the best result, the score of that result divided by the square root of the number of its links; null: it has
 * no links, or too many. Hidden entries have no influence.
 */
export function linkLifts(
  candidates: readonly Candidate[],
  { bmTop = 0 }: Retrieval['statistics'],
  plan: Plan,
  { allow }: SearchScope,
  context: QueryContext,
): ReadonlyMap<EntryKey, number> | null {
  const { reader, accessScope, model } = context
  // Links change no score where results are passages, nor in a search for entries similar to a given one.
  if (plan.query.group === 'passage' || plan.except !== null) return null
  if (reader.table(FILE_LINKS).scan({}, { limit: 1 }).length === 0) return null
  const bound = boundDefault(plan.weights, bmTop, model?.cosineScale ?? 1)
  const scored = candidates.filter(candidate => !isNoise(candidate, context)).map(scoredBy(bound))
  const [best] = firstInOrder(scored, 1, context)
  if (best === undefined || best.score <= 0) return null
  const linked = new NoteLinks(reader, accessScope).linkedWith(best.entry)
  if (linked.length === 0 || linked.length > MAX_LINKS) return null
  const lift = best.score / Math.sqrt(linked.length)
  return new Map(linked.filter(entry => allow?.has(entry) ?? true).map(entry => [entry, lift]))
}
