/**
 * Finds the anchors of an answer: concepts whose names the query contains, and those near it in meaning (CX-015 to CX-025). Either in the
 * documented order, or by relevance: names, texts, passages and vectors each offer their best candidates, and all candidates are then
 * compared in every part.
 */

import { TopK } from '../../../base/top-k.ts'
import type { TermWeight } from '../../../index/contract.ts'
import { idf } from '../../../math/bm25.ts'
import type { Candidate, Scored } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { BoundFormula } from '../../../model/formula.ts'
import { entrySet } from '../../../pipeline/columns.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { scoredBy } from '../../../pipeline/formula.ts'
import { keepFirstByWords, withExpected } from '../../../pipeline/partly-embedded.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Plan, Retrieval } from '../../../pipeline/stage.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import type { LensHost } from '../../lens.ts'
import { covers, foldName, pathOrTail, placesByWord, plainWordsOf, wordsOf } from '../names.ts'
import { type Concept, stateOf, textsOfConcepts, type VisibleConcepts } from '../state.ts'
import { PROVENANCE } from '../tables.ts'
import type { ContextQuestion } from './request.ts'
import { boundRelevance, isWholeFile, MATCHES, type Match, otherScores } from './request.ts'

export interface Anchor {
  readonly concept: Concept
  /** How the query first found the concept; `whole` occurs only in order of relevance: the query equals the name. */
  readonly match: Match
  /** Cosine with the query, where it is high enough to count. */
  readonly cosine: number | null
  /** Score that neighbours inherit from the anchor: its relevance; in the documented order its cosine, or 1 where it was found by name. */
  readonly worth: number
  /**
   * Whether neighbours can never displace the anchor: true for anchors found by name; in order of relevance, for names that contain the
   * whole query.
   */
  readonly isFixed: boolean
  readonly candidate: Candidate
}

/** Candidates of the legs for words and vectors, with the query that was given to them. */
interface Brought {
  readonly host: LensHost
  readonly context: QueryContext
  readonly plan: Plan
  readonly question: ContextQuestion
  readonly concepts: VisibleConcepts
  readonly retrieval: Retrieval
}

/** Entries per leg; no more are compared. */
export const LEG_DEPTH = 50
/** Largest number of candidates found by name. */
const MAX_NAMED = 50
/** Constant k of reciprocal rank fusion, 1 / (k + rank). */
const RRF = 60

/** Anchors in the documented order: first those found by name, then those found by meaning, nearest first. */
export async function plainAnchors(brought: Brought): Promise<readonly Anchor[]> {
  const { question, concepts, plan } = brought
  const { mode, text, limit } = question
  const named = mode === 'semantic' ? [] : namedAnchors(concepts, text, limit, mode !== 'exact')
  const near = nearest(brought)
  const isFused = mode === 'hybrid' && plan.vector !== null
  const meant = isFused ? fused(near, await textual(brought), limit) : near
  const cosines = new Map(meant.map(({ concept, cosine }) => [concept, cosine]))
  const names = new Set(named.map(({ concept }) => concept))
  const chunks = new Map(brought.retrieval.candidates.map(candidate => [candidate.entry, candidate.chunks]))
  const found = [
    ...named.map(({ share, ...each }) => ({ ...each, name: share, cosine: cosines.get(each.concept) ?? null })),
    ...meant.filter(({ concept }) => !names.has(concept)).map(each => ({ ...each, name: 0 })),
  ]
  return found.map(({ concept, match, cosine, name }): Anchor => {
    const { entry } = concept
    const signals = { match: MATCHES.indexOf(match), name, ...(cosine !== null && { meaning: cosine, near: 1 }) }
    const candidate = { entry, source: LOCAL_SOURCE, signals, chunks: chunks.get(entry) ?? {} }
    return { concept, match, cosine, worth: cosine ?? 1, isFixed: isNamed(match), candidate }
  })
}

export function isNamed(match: Match): boolean {
  return match === 'whole' || match === 'name' || match === 'words'
}

/** A concept found by meaning. */
interface Meant {
  readonly concept: Concept
  readonly cosine: number
  readonly match: 'meaning' | 'text'
}

/** Concepts whose cosine is high enough to count, nearest first (CX-021). */
function nearest({ host, concepts, plan, retrieval }: Brought): readonly Meant[] {
  if (plan.vector === null) return []
  const found = retrieval.candidates
    .flatMap(({ entry, signals: { meaning } }): readonly Meant[] => {
      const concept = concepts.byEntry(entry)
      return concept === undefined || meaning === undefined ? [] : [{ concept, cosine: meaning, match: 'meaning' }]
    })
    .sort(byCosine)
    .slice(0, LEG_DEPTH)
  const { least_score, least_share } = stateOf(host).settings
  const least = Math.max(least_score, least_share * (found[0]?.cosine ?? 0))
  return found.filter(({ cosine }) => cosine >= least)
}

/** Concepts of the files whose text has the words, in the order of the files' best passages. */
async function textual(brought: Brought): Promise<readonly Meant[]> {
  const { context, plan, concepts } = brought
  const { partitions } = context.accessScope
  const entries = [...(await passageConcepts(brought)).keys()].map(({ entry }) => entry)
  const hits = context.vectors?.score(plan.vector as Float32Array, entries, { partitions }) ?? []
  return hits.flatMap(({ entry, score }): readonly Meant[] => {
    const concept = concepts.byEntry(entry)
    return concept === undefined ? [] : [{ concept, cosine: score, match: 'text' }]
  })
}

/** Concepts chosen by their ranks in both lists, then ordered by cosine (CX-022, CX-025). */
function fused(near: readonly Meant[], text: readonly Meant[], limit: number): readonly Meant[] {
  if (text.length === 0) return near
  const all = new Map<Concept, { readonly meant: Meant; score: number }>()
  for (const list of [near, text]) {
    for (const [rank, meant] of list.entries()) {
      const known = all.get(meant.concept) ?? { meant, score: 0 }
      known.score += 1 / (RRF + rank + 1)
      all.set(meant.concept, known)
    }
  }
  return [...all.values()]
    .sort((a, b) => b.score - a.score || a.meant.concept.id - b.meant.concept.id)
    .slice(0, limit)
    .map(({ meant }) => meant)
    .sort(byCosine)
}

function byCosine(a: Meant, b: Meant): number {
  return b.cosine - a.cosine || a.concept.id - b.concept.id
}

/** Number of files whose text is followed to concepts, and of concepts for each file. */
const FILES = 10
const CONCEPTS_A_FILE = 3

/**
 * Concepts of the files whose text contains the query's words: those within the passages found, in the order of the files' best passages,
 * each with its passage's score as a share of the best score.
 */
async function passageConcepts({ host, context, plan, concepts }: Brought): Promise<ReadonlyMap<Concept, number>> {
  const { reader, words, turns } = context
  const { partitions } = context.accessScope
  const files = stateOf(host).files.visible(partitions)
  if (files.all.length === 0) return new Map()
  const search = { terms: plan.terms, k: FILES, partitions, allow: entrySet(files.all) }
  const hits = await turns.run(words.searchInSteps(search))
  const chunks = new Map(reader.chunks(hits.map(({ chunk }) => chunk)).map(chunk => [chunk.key, chunk]))
  const found = new Map<Concept, number>()
  for (const { entry, chunk, score } of hits) {
    const url = files.byEntry(entry)?.url
    const lines = chunks.get(chunk)
    if (url === undefined || lines === undefined) continue
    const linked = reader.table(PROVENANCE).scan({ url }, { columns: ['entry', 'url'] })
    const linkedConcepts = linked.flatMap(row => concepts.byEntry(row['entry'] as EntryKey) ?? [])
    for (const concept of nearestTo(linkedConcepts, url, lines.startLine, lines.endLine)) {
      if (!found.has(concept)) found.set(concept, score / (hits[0]?.score ?? score))
    }
  }
  return found
}

/** The concepts within these lines, the smallest first; then those without lines. */
function nearestTo(concepts: readonly Concept[], url: string, start: number, end: number): readonly Concept[] {
  const span = ({ url: own, startLine, endLine }: Concept): number => {
    if (own !== url || startLine === null || endLine === null) return Number.MAX_SAFE_INTEGER
    return startLine <= end && endLine >= start ? endLine - startLine : Number.POSITIVE_INFINITY
  }
  return concepts
    .filter(concept => span(concept) !== Number.POSITIVE_INFINITY)
    .sort((a, b) => span(a) - span(b) || a.id - b.id)
    .slice(0, CONCEPTS_A_FILE)
}

interface RelevantAnchors {
  /** Anchors: first all whose name is the whole query, then by relevance. There are more than an answer can hold. */
  readonly anchors: readonly Anchor[]
  /** Highest BM25 score among the anchors' texts. */
  readonly bmTop: number
}

/**
 * Anchors in order of relevance. Not used for mode `semantic`, where there are no parts to add up. In modes without meaning, only names
 * offer anchors.
 */
export async function relevantAnchors(brought: Brought): Promise<RelevantAnchors> {
  const { question, concepts, retrieval, plan, context } = brought
  const { mode, text } = question
  const telling = contentWords(text)
  const isHybrid = mode === 'hybrid'
  const offers = {
    names: bestNames(concepts, text, telling, { most: MAX_NAMED, inWords: mode !== 'exact' }),
    near: isHybrid ? nearest(brought) : [],
    passages: isHybrid ? await passageConcepts(brought) : new Map<Concept, number>(),
    texts: isHybrid ? bestByWords(retrieval.candidates) : [],
  }
  const { candidates, bmTop } = await comparedCandidates(brought, offers, telling)
  const bound = boundRelevance(plan, bmTop, context.model)
  const scored = ranked(candidates, bound, brought)
  const anchors = scored.flatMap(one => relevant(one, concepts))
  return { anchors: anchors.sort(bestFirst), bmTop }
}

interface Offers {
  readonly names: readonly NameMatch[]
  readonly near: readonly Meant[]
  readonly passages: ReadonlyMap<Concept, number>
  readonly texts: readonly EntryKey[]
}

function bestByWords(candidates: readonly Candidate[]): readonly EntryKey[] {
  const bm = ({ signals }: Candidate) => signals['words'] ?? 0
  return candidates
    .filter(candidate => bm(candidate) > 0)
    .sort((a, b) => bm(b) - bm(a))
    .slice(0, LEG_DEPTH)
    .map(({ entry }) => entry)
}

/** Every candidate with the value of every part of its relevance. */
async function comparedCandidates(
  brought: Brought,
  { names, near, passages, texts }: Offers,
  telling: readonly string[],
): Promise<{ readonly candidates: readonly Candidate[]; readonly bmTop: number }> {
  const { host, context, plan, concepts, retrieval } = brought
  const { partitions } = context.accessScope
  const named = new Map(names.map(match => [match.concept, match]))
  const isNear = new Set(near.map(({ concept }) => concept))
  const byText = texts.flatMap(entry => concepts.byEntry(entry) ?? [])
  const all = [...new Set([...named.keys(), ...isNear, ...passages.keys(), ...byText])]
  const entries = all.map(({ entry }) => entry)
  const known = await completed(entries, brought)
  const pathShare = pathShares(concepts, telling, host.workspace?.url)
  const docs = textsOfConcepts(context.reader, 'doc', entries)
  const docShare = docShares(context.words.weigh(plan.terms, { partitions }))
  const bmTop = Math.max(0, ...known.map(({ signals }) => signals['words'] ?? 0))
  const candidates = all.map((concept, at): Candidate => {
    const candidate = known[at] as Candidate
    const name = named.get(concept)
    const match: Match = name?.match ?? (isNear.has(concept) ? 'meaning' : 'text')
    const { meaning } = candidate.signals
    const signals = {
      ...candidate.signals,
      match: MATCHES.indexOf(match),
      name: name?.share ?? 0,
      path: concept.url === null ? 0 : pathShare(concept.url),
      doc: docShare(docs.get(concept.entry) ?? ''),
      passage: passages.get(concept) ?? 0,
      ...(isWholeFile(concept.type) && { whole: 1 }),
      ...(meaning !== undefined && (isNear.has(concept) || match === 'text') && { near: 1 }),
    }
    return { ...candidate, signals }
  })
  return { candidates: withExpected(candidates, retrieval.statistics, { partitions }, context), bmTop }
}

/** The candidates of the legs, followed by the computed scores of the other entries. */
async function completed(
  entries: readonly EntryKey[],
  { retrieval, plan, context }: Brought,
): Promise<readonly Candidate[]> {
  const { words, turns } = context
  const { partitions } = context.accessScope
  const brought = new Map(retrieval.candidates.map(candidate => [candidate.entry, candidate]))
  const missing = entries.filter(entry => !brought.has(entry))
  const byWords = await turns.run(words.scoreInSteps(plan.terms, missing, { partitions }))
  const byMeaning = plan.vector === null ? [] : (context.vectors?.score(plan.vector, missing, { partitions }) ?? [])
  const [word, meant] = [byWords, byMeaning].map(hits => new Map(hits.map(hit => [hit.entry, hit])))
  return entries.map(entry => {
    const [bm, cosine] = [word?.get(entry), meant?.get(entry)]
    const made: Candidate = {
      ...{ entry, source: LOCAL_SOURCE },
      signals: { ...(bm && { words: bm.score }), ...(cosine && { meaning: cosine.score }) },
      chunks: { ...(bm && { words: bm.chunk }), ...(cosine && { meaning: cosine.chunk }) },
    }
    return brought.get(entry) ?? made
  })
}

/**
 * Candidates scored by the formula. While some entries have no vector, those that words alone rank first are kept among the first (QE-007).
 */
function ranked(candidates: readonly Candidate[], bound: BoundFormula, brought: Brought): readonly Scored[] {
  const { retrieval, context } = brought
  const scored = candidates.map(scoredBy(bound))
  if (retrieval.statistics['expectedBase'] === undefined) return scored
  return keepFirstByWords(scored, otherScores(bound), retrieval.absent ?? new Set(), context)
}

function relevant({ score, lifted, ...candidate }: Scored, concepts: VisibleConcepts): readonly Anchor[] {
  const concept = concepts.byEntry(candidate.entry)
  if (concept === undefined) return []
  const { signals } = candidate
  const match = MATCHES[signals['match'] ?? 0] as Match
  return [
    {
      ...{ concept, match, worth: score, isFixed: match === 'whole' || match === 'name' },
      cosine: signals['near'] === undefined ? null : (signals['meaning'] ?? null),
      candidate: lifted === undefined ? candidate : { ...candidate, signals: { ...signals, lifted } },
    },
  ]
}

function bestFirst(a: Anchor, b: Anchor): number {
  const whole = Number(b.match === 'whole') - Number(a.match === 'whole')
  return whole || b.worth - a.worth || a.concept.id - b.concept.id
}

// Matches the query's words with names, paths and doc comments, where a rarer word weighs more; and finds the concepts whose names contain
// them (CX-017 to CX-019).

/** Number of query words that are used; a longer query is taken as a text. */
const MAX_WORDS = 20

/** Positions of a list's items by the folded words that they contain. */
type ByWord = ReadonlyMap<string, readonly number[]>

/** The first words of a query, folded, without duplicates and without very common words, unless there are no others. */
function contentWords(query: string): readonly string[] {
  const words = plainWordsOf(query).map(word => ({ plain: fold(word), folded: foldName(word) }))
  const languages = languagesOfQuestion(words.map(({ plain }) => plain))
  const found = words.filter(({ plain }) => !languages.some(language => isStopWord(plain, language)))
  const kept = (found.length > 0 ? found : words).map(({ folded }) => folded)
  return [...new Set(kept)].slice(0, MAX_WORDS)
}

interface Covered {
  /** For each query word, the positions of the items that contain a word which it matches, without duplicates. */
  readonly places: readonly (readonly number[])[]
  /** By position in the list: how many words of the item are matched by any query word. */
  readonly counts: Uint32Array
}

/** Matches query words with the words of items. `length`: of the list of items. */
function covered(byWord: ByWord, length: number, questionWords: readonly string[]): Covered {
  /** By position in the list, the number (from 1) of the query word that last found the item. */
  const foundBy = new Uint32Array(length)
  const counts = new Uint32Array(length)
  const counted = new Set<string>()
  const places = questionWords.map((asked, at) => {
    const found: number[] = []
    for (const [word, having] of byWord) {
      if (!covers(asked, word)) continue
      const isFirst = !counted.has(word)
      counted.add(word)
      for (const place of having) {
        if (isFirst) counts[place] = (counts[place] as number) + 1
        if (foundBy[place] === at + 1) continue
        foundBy[place] = at + 1
        found.push(place)
      }
    }
    return found
  })
  return { places, counts }
}

/**
 * The share of the weight of all query words that each item contains, from 0 to 1, by its position in the list. An item may count for
 * several: `countOf` says how many, `total` is the sum.
 */
function wordShares(
  { places: byAsked, counts }: Covered,
  { total, countOf }: { readonly total: number; countOf(place: number): number },
): Float64Array {
  const shares = new Float64Array(counts.length)
  let all = 0
  for (const places of byAsked) {
    let having = 0
    for (const place of places) having += countOf(place)
    const weight = idf(total, having)
    all += weight
    for (const place of places) shares[place] = (shares[place] as number) + weight
  }
  return shares.map(sum => sum / (all || 1))
}

interface Paths {
  readonly places: ReadonlyMap<string, number>
  readonly byWord: ByWord
  /** Number of concepts of the file at that position. */
  countOf(place: number): number
}

const KNOWN = new WeakMap<VisibleConcepts, Paths>()

/** The share of query words in a URL's path, from 0 to 1. `root`: folder to which paths are relative. */
function pathShares(
  concepts: VisibleConcepts,
  questionWords: readonly string[],
  root: string | undefined,
): (url: string) => number {
  const { places, byWord, countOf } = pathsOf(concepts, root)
  const shares = wordShares(covered(byWord, places.size, questionWords), { total: concepts.all.length, countOf })
  return url => shares[places.get(url) ?? -1] ?? 0
}

function pathsOf(concepts: VisibleConcepts, root: string | undefined): Paths {
  const known = KNOWN.get(concepts)
  if (known !== undefined) return known
  const places = new Map<string, number>()
  const counts: number[] = []
  for (const { url } of concepts.all) {
    if (url === null) continue
    const place = places.get(url) ?? places.size
    places.set(url, place)
    counts[place] = (counts[place] ?? 0) + 1
  }
  const byWord = placesByWord([...places.keys()], url => new Set(wordsOf(pathOrTail(url, root))))
  const made = { places, byWord, countOf: (place: number) => counts[place] ?? 0 }
  KNOWN.set(concepts, made)
  return made
}

/** The weight of the query words in a doc comment as a share of the weight of all query words, from 0 to 1. */
function docShares(weights: readonly TermWeight[]): (doc: string) => number {
  const asked = weights.map(({ term, idf, boost }) => ({ word: foldName(term), weight: boost * idf }))
  const all = asked.reduce((sum, { weight }) => sum + weight, 0)
  return doc => {
    if (doc === '' || all === 0) return 0
    const words = wordsOf(doc)
    const isThere = (asked: string) => words.some(word => covers(asked, word))
    return asked.reduce((sum, { word, weight }) => sum + (isThere(word) ? weight : 0), 0) / all
  }
}

interface NameMatch {
  readonly concept: Concept
  /** `whole`: the name equals the query; `name`: it contains the query; `words`: it shares words with the query. */
  readonly match: 'whole' | 'name' | 'words'
  /** From 0 to 1: the harmonic mean of the share of the query that the name contains and the share of the name that the query contains. */
  readonly share: number
}

/** The best matching names, by share, then id; without `inWords`, only names that contain the query unchanged. */
function bestNames(
  concepts: VisibleConcepts,
  query: string,
  questionWords: readonly string[],
  { most, inWords }: { readonly most: number; readonly inWords: boolean },
): readonly NameMatch[] {
  const wanted = foldName(query)
  const { all, byWord } = concepts
  const found = covered(byWord, all.length, questionWords)
  const shares = wordShares(found, { total: all.length, countOf: () => 1 })
  const best = new TopK<NameMatch>(most, (a, b) => b.share - a.share || a.concept.id - b.concept.id)
  // Names come in ascending order of id, so of equal shares the first is kept.
  const isOfUse = (share: number) => !best.full || share > (best.worst?.share ?? 0)
  const offer = (concept: Concept, match: NameMatch['match'], share: number) => {
    if (isOfUse(share)) best.push({ concept, match, share })
  }
  const holding = concepts.holding(wanted)
  let held = 0
  for (let place = 0; place < all.length; place++) {
    const isHolding = holding[held] === place
    if (isHolding) held++
    const share = shares[place] as number
    // Even with all of its words matched, the name could not reach the list.
    if (!isHolding && (share === 0 || !isOfUse(harmonic(share, 1)))) continue
    const concept = all[place] as Concept
    const byWords = share === 0 ? 0 : harmonic(share, (found.counts[place] as number) / concept.words.length)
    if (isHolding) {
      const ofName = wanted.length / concept.folded.length
      offer(concept, ofName === 1 ? 'whole' : 'name', Math.max(byWords, shareOfName(concept, wanted)))
    } else if (inWords && byWords > 0) offer(concept, 'words', byWords)
  }
  return best.sorted()
}

/** Share of the match for a name that contains the query unchanged. */
function shareOfName({ folded }: Concept, wanted: string): number {
  return harmonic(1, wanted.length / folded.length)
}

function harmonic(a: number, b: number): number {
  return (2 * a * b) / (a + b)
}

/** Number of query words that names are compared with in the documented order; a longer query is a text, not a name. */
const MAX_COMPARED = 64

/**
 * First the concepts whose name contains the query unchanged, by id; then, with `inWords`, those that share words with it, most words
 * first.
 */
function namedAnchors(concepts: VisibleConcepts, query: string, limit: number, inWords: boolean): readonly NameMatch[] {
  const wanted = foldName(query)
  const { all, byWord } = concepts
  const holding = concepts.holding(wanted).slice(0, limit)
  const named = holding.map((place): NameMatch => {
    const concept = all[place] as Concept
    return { concept, match: 'name', share: shareOfName(concept, wanted) }
  })
  if (named.length === limit || !inWords) return named
  const queryWords = new Set(wordsOf(query).slice(0, MAX_COMPARED))
  /** By position: how many query words the name has. */
  const counts = new Uint32Array(all.length)
  for (const places of covered(byWord, all.length, [...queryWords]).places) {
    for (const place of places) counts[place] = (counts[place] as number) + 1
  }
  for (const place of holding) counts[place] = 0
  const countOf = (place: number) => counts[place] as number
  const best = new TopK<number>(limit - named.length, (a, b) => countOf(b) - countOf(a) || a - b)
  for (let place = 0; place < counts.length; place++) if (countOf(place) > 0) best.push(place)
  const sharing = best.sorted().map((place): NameMatch => {
    return { concept: all[place] as Concept, match: 'words', share: countOf(place) / queryWords.size }
  })
  return [...named, ...sharing]
}
