/**
 * Finds the anchors of an answer, the concepts that match the query directly: by name, or near in meaning (CX-015 to CX-025). They are
 * ordered either as documented (names, then meaning) or by relevance, where names, texts, passages and vectors each offer their best
 * candidates and each candidate is scored on all of these.
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
  /**
   * How the query first found the concept. The value `whole` (the name equals the query) occurs only where anchors are ordered by
   * relevance.
   */
  readonly match: Match
  /** Cosine of the concept's vector and the query's; null where it is too low to count. */
  readonly cosine: number | null
  /**
   * The part of the score of an anchor (concept found directly by the query) that its neighbours inherit. In the order by relevance, this
   * is the relevance. In the order "names, then meaning", it is the cosine, or 1 for an anchor found by name.
   */
  readonly worth: number
  /**
   * Whether neighbours can never displace this anchor (concept found directly by the query) from the answer. In the order "names, then
   * meaning", true for anchors found by name. In the order by relevance, true only where the name contains the whole query.
   */
  readonly isFixed: boolean
  readonly candidate: Candidate
}

/** Candidates found by words and by vectors, with the query for which they were retrieved. */
interface Brought {
  readonly host: LensHost
  readonly context: QueryContext
  readonly plan: Plan
  readonly question: ContextQuestion
  readonly concepts: VisibleConcepts
  readonly retrieval: Retrieval
}

/** Number of entries that each search (by words, by vectors) contributes; no more are compared. */
export const LEG_DEPTH = 50
/** Largest number of candidates that are found by their names. */
const MAX_NAMED = 50
/** Constant k of reciprocal rank fusion, where rank r in a list adds 1 / (k + r) to a score. */
const RRF = 60

/**
 * The anchors (concepts found directly by the query) in the documented order: first those found by name, then those found by meaning,
 * nearest first.
 */
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

/** A concept found by meaning, with its cosine. */
interface Meant {
  readonly concept: Concept
  readonly cosine: number
  readonly match: 'meaning' | 'text'
}

/** Concepts whose cosine with the query is high enough to count, nearest first (CX-021). */
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

/** Concepts of the files whose text has words of the query, in the order of the files' best passages. */
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

/** Chooses concepts by reciprocal rank in two lists (by vector, by text), then orders the chosen ones by cosine (CX-022, CX-025). */
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

/**
 * Largest number of files found by text whose concepts are used. `CONCEPTS_A_FILE`: largest number of concepts that are used from each of
 * these files.
 */
const FILES = 10
const CONCEPTS_A_FILE = 3

/**
 * Concepts of the files whose text contains words of the query: those whose lines lie within the passages found, in the order of the files'
 * best passages. Each has its passage's score divided by the best passage's score.
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

/** The concepts of a file that overlap the given lines, the smallest first; then those without line numbers. */
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
  /**
   * The anchors (concepts found directly by the query): first all whose name equals the whole query, then the others by relevance. There
   * may be more than an answer can hold.
   */
  readonly anchors: readonly Anchor[]
  /** Highest BM25 score of a concept's text among the anchors (concepts found by the query); the anchors' BM25 scores are divided by it. */
  readonly bmTop: number
}

/**
 * The anchors (concepts found directly by the query), in order of relevance. Not used in mode `semantic`, where relevance has only one
 * part. In modes that do not search by meaning, anchors are found only by their names.
 */
export async function relevantAnchors(brought: Brought): Promise<RelevantAnchors> {
  const { question, concepts, retrieval, plan, context } = brought
  const { mode, text } = question
  const contentTerms = contentWords(text)
  const isHybrid = mode === 'hybrid'
  const offers = {
    names: bestNames(concepts, text, contentTerms, { most: MAX_NAMED, inWords: mode !== 'exact' }),
    near: isHybrid ? nearest(brought) : [],
    passages: isHybrid ? await passageConcepts(brought) : new Map<Concept, number>(),
    texts: isHybrid ? bestByWords(retrieval.candidates) : [],
  }
  const { candidates, bmTop } = await comparedCandidates(brought, offers, contentTerms)
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

/** Every candidate with a value for every part of its relevance (name, path, doc comment, text, passage, vector). */
async function comparedCandidates(
  brought: Brought,
  { names, near, passages, texts }: Offers,
  contentTerms: readonly string[],
): Promise<{ readonly candidates: readonly Candidate[]; readonly bmTop: number }> {
  const { host, context, plan, concepts, retrieval } = brought
  const { partitions } = context.accessScope
  const named = new Map(names.map(match => [match.concept, match]))
  const isNear = new Set(near.map(({ concept }) => concept))
  const byText = texts.flatMap(entry => concepts.byEntry(entry) ?? [])
  const all = [...new Set([...named.keys(), ...isNear, ...passages.keys(), ...byText])]
  const entries = all.map(({ entry }) => entry)
  const known = await completed(entries, brought)
  const pathShare = pathShares(concepts, contentTerms, host.workspace?.url)
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

/**
 * For each entry, in the given order: the candidate that the searches by words and vectors found. Where they did not find the entry, its
 * scores by words and by meaning are computed.
 */
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
 * The candidates scored by the formula. While some entries have no vector yet, the candidates that would rank first by words alone are kept
 * among the first (QE-007).
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

// Matches the words of a query with names, paths and doc comments of concepts, where a rarer word weighs more; and finds the concepts whose
// names contain words of the query (CX-017 to CX-019).

/** Number of words of a query that are compared with names; a longer query is taken as a text. */
const MAX_WORDS = 20

/** For each word, without differences of letter case: the positions in a list of the items that contain the word. */
type ByWord = ReadonlyMap<string, readonly number[]>

/**
 * The first words of a query, without differences of letter case and without duplicates. Very common words are left out, unless the query
 * has no others.
 */
function contentWords(query: string): readonly string[] {
  const words = plainWordsOf(query).map(word => ({ plain: fold(word), folded: foldName(word) }))
  const languages = languagesOfQuestion(words.map(({ plain }) => plain))
  const found = words.filter(({ plain }) => !languages.some(language => isStopWord(plain, language)))
  const kept = (found.length > 0 ? found : words).map(({ folded }) => folded)
  return [...new Set(kept)].slice(0, MAX_WORDS)
}

interface Covered {
  /**
   * For each word of the query, in order: the positions of the items that have at least one word matching it. No item is listed twice for
   * one word.
   */
  readonly places: readonly (readonly number[])[]
  /** For each item, by its position in the list: how many of the item's words match any word of the query. */
  readonly counts: Uint32Array
}

/**
 * Matches the words of a query with the words of items. `byWord`: for each word, the positions of the items that have it. `length`: number
 * of items.
 */
function covered(byWord: ByWord, length: number, questionWords: readonly string[]): Covered {
  /**
   * For each item, the number (counted from 1) of the query word that last matched it, so that the item is listed only once for each query
   * word.
   */
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
 * For each item, by its position in the list: the weight of the query words that it contains, divided by the weight of all query words (0
 * to 1); rarer words weigh more. An item may represent several concepts: `countOf` gives their number, and `total` is the sum over all
 * items.
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
  /** Number of concepts in the file at a position of the list. */
  countOf(place: number): number
}

const KNOWN = new WeakMap<VisibleConcepts, Paths>()

/**
 * For the path in a URL: the weight of the query words that it contains, divided by the weight of all query words (0 to 1). `root`: folder
 * to which paths are relative.
 */
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

/** For a doc comment: the weight of the query words that it contains, divided by the weight of all query words (0 to 1). */
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
  /**
   * How a name matches. `whole`: the name equals the query; `name`: it contains the query unchanged; `words`: it shares words with the
   * query.
   */
  readonly match: 'whole' | 'name' | 'words'
  /**
   * Quality of the match from 0 to 1: the harmonic mean of the share of the query that the name contains and the share of the name that the
   * query contains.
   */
  readonly share: number
}

/**
 * The names that match the query best, ordered by quality of the match (`share`), then id. Without `inWords`, only names that contain the
 * query unchanged.
 */
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
  // Names are examined in ascending order of id, so of names with equal share the first one is kept.
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
    // Skips a name that could not reach the list even if all of its words were matched.
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

/**
 * Quality of the match for a name that contains the query unchanged: the harmonic mean of 1 and the query's length divided by the name's.
 */
function shareOfName({ folded }: Concept, wanted: string): number {
  return harmonic(1, wanted.length / folded.length)
}

function harmonic(a: number, b: number): number {
  return (2 * a * b) / (a + b)
}

/**
 * Number of words of a query that are compared with names when anchors are ordered "names, then meaning". A longer query is taken as a text
 * and not as a name.
 */
const MAX_COMPARED = 64

/**
 * Concepts that match the query by name, in the documented order. First come those whose name contains the query unchanged, by id. With
 * `inWords`, those that share words with the query follow, most shared words first.
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
  /** For each concept, by its position in the list: how many words of the query its name has. */
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
