/**
 * Third stage: candidates from the local store. Each leg brings its best entries; those that one leg alone brought get the
 * other's score computed exactly, so that an entry's score does not depend on how deep retrieval went.
 */

import type { Hit, SearchScope } from '../index/contract.ts'
import { K1 } from '../math/bm25.ts'
import type { Candidate } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { LEG_DEPTH } from '../model/limits.ts'
import { allowedEntries } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { isLate } from './enrich.ts'
import { retrieveList } from './retrieve-list.ts'
import type { Plan, Retrieval } from './stage.ts'

/** The source of what this store holds itself. */
export const LOCAL = 'local'

export async function retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval> {
  const allow = allowedEntries(plan, context)
  if (plan.mode === 'list') return retrieveList(plan, allow, depth, context)
  const { partitions } = context.sight
  const scope: SearchScope = allow === null ? { partitions } : { partitions, allow }
  const words = wordLeg(plan, depth, scope, context)
  // Words cost microseconds and come first: what there is when time runs out is at least their answer.
  const cutOff = plan.vector !== null && context.deadline.over
  const meaning = cutOff ? null : meaningLeg(plan, depth, scope, context)
  const candidates = union(plan, words, meaning, scope, context)
  return {
    candidates,
    depth,
    allow,
    statistics: { ...words.statistics, ...meaning?.statistics },
    exhausted: words.exhausted && (meaning?.exhausted ?? true),
    complete: !cutOff && !isLate(context),
  }
}

interface Leg {
  readonly hits: readonly Hit[]
  readonly exhausted: boolean
  readonly statistics: Readonly<Record<string, number>>
}

/** Asked even when only meaning counts: what the words say is part of the evidence. */
function wordLeg(plan: Plan, depth: number, scope: SearchScope, context: QueryContext): Leg {
  const counts = plan.mode !== 'meaning'
  const wanted = counts ? depth : 1
  const found = context.words.search({ ...scope, terms: plan.terms, k: wanted + 1 })
  const hits = usable(found, plan.except, wanted)
  const bmMax = context.words.weigh(plan.terms, scope).reduce((sum, { boost, idf }) => sum + boost * idf * (K1 + 1), 0)
  return {
    hits: counts ? hits : [],
    exhausted: !counts || found.length <= wanted,
    statistics: { bmTop: hits[0]?.score ?? 0, bmMax, wordsLast: hits.at(-1)?.score ?? 0 },
  }
}

function meaningLeg(plan: Plan, depth: number, scope: SearchScope, context: QueryContext): Leg | null {
  const { vectors } = context
  if (plan.vector === null || vectors === null) return null
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

function usable(hits: readonly Hit[], except: EntryKey | null, limit: number): readonly Hit[] {
  const others = except === null ? hits : hits.filter(hit => hit.entry !== except)
  return others.length > limit ? others.slice(0, limit) : others
}

/** Everything that either leg brought, with what the other leg would have said of it. */
function union(
  plan: Plan,
  words: Leg,
  meaning: Leg | null,
  scope: SearchScope,
  context: QueryContext,
): readonly Candidate[] {
  if (meaning === null) return words.hits.map(hit => candidate(hit, undefined))
  const byWords = new Map(words.hits.map(hit => [hit.entry, hit]))
  const byMeaning = new Map(meaning.hits.map(hit => [hit.entry, hit]))
  const onlyByWords = words.hits.map(hit => hit.entry).filter(entry => !byMeaning.has(entry))
  const onlyByMeaning = meaning.hits.map(hit => hit.entry).filter(entry => !byWords.has(entry))
  if (plan.mode !== 'meaning') {
    for (const hit of context.words.score(plan.terms, onlyByMeaning, scope)) byWords.set(hit.entry, hit)
  }
  const { vectors } = context
  if (vectors !== null && plan.vector !== null) {
    // As exact as the search was: else an entry's score would tell which leg brought it.
    for (const hit of vectors.score(plan.vector, onlyByWords, scope, plan.query.approximate))
      byMeaning.set(hit.entry, hit)
  }
  const entries = [...meaning.hits.map(hit => hit.entry), ...onlyByWords]
  return entries.map(entry => candidate(byWords.get(entry), byMeaning.get(entry)))
}

/** Has at least one hit. An entry without a vector has no signal `meaning`; one without any of the words has 0. */
function candidate(words: Hit | undefined, meaning: Hit | undefined): Candidate {
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
  return { entry: (words ?? (meaning as Hit)).entry, source: LOCAL, signals, chunks }
}
