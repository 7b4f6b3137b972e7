/**
 * Where an answer begins: concepts whose names the question names, and those that mean it (CX-015 to CX-025). In the documented
 * order, or by all that speaks for them: names, texts, passages and vectors each offer their best, and all that are offered are then
 * compared in every part.
 */
import type { Candidate, Scored } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { BoundFormula } from '../../../model/formula.ts'
import { entrySet } from '../../../pipeline/columns.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { scoredBy } from '../../../pipeline/formula.ts'
import { keepFirstByWords, withExpected } from '../../../pipeline/partly-embedded.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Plan, Retrieval } from '../../../pipeline/stage.ts'
import type { LensHost } from '../../lens.ts'
import { type Concept, stateOf, textsOfConcepts, type VisibleConcepts } from '../state.ts'
import { PROVENANCE } from '../tables.ts'
import { boundRelevance, isWholeFile, MATCHES, type Match, otherScores } from './relevance.ts'
import type { ContextQuestion } from './request.ts'
import { bestNames, docShares, type NameMatch, namedAnchors, pathShares, tellingWords } from './words.ts'

export interface Anchor {
  readonly concept: Concept
  /** How the question found it first; `whole` by relevance alone: the question is its name. */
  readonly match: Match
  /** Cosine with the question, where it is near enough to count. */
  readonly cosine: number | null
  /** What neighbours have from it: its relevance; in the documented order its cosine, 1 where it was found by name. */
  readonly worth: number
  /** Whether neighbours never displace it: names do not, and by relevance those that hold the whole question. */
  readonly isFixed: boolean
  readonly candidate: Candidate
}

/** What the legs of words and vectors brought, and what they were asked. */
interface Brought {
  readonly host: LensHost
  readonly context: QueryContext
  readonly plan: Plan
  readonly question: ContextQuestion
  readonly concepts: VisibleConcepts
  readonly retrieval: Retrieval
}

/** Entries a leg; no more are compared. */
export const LEG_DEPTH = 50
/** Best names that are offered. */
const MOST_NAMED = 50
/** Constant of reciprocal rank fusion. */
const RRF = 60

/** In the documented order: names first, then what is only meant, nearest first. */
export async function plainAnchors(brought: Brought): Promise<readonly Anchor[]> {
  const { question, concepts, plan } = brought
  const { mode, text, limit } = question
  const named = mode === 'semantic' ? [] : namedAnchors(concepts, text, limit, mode !== 'exact')
  const near = nearest(brought)
  const isFused = mode === 'hybrid' && plan.vector !== null
  const meant = isFused ? fused(near, await textual(brought), limit) : near
  const cosines = new Map(meant.map(({ concept, cosine }) => [concept, cosine]))
  const names = new Set(named.map(({ concept }) => concept))
  return [
    ...named.map(({ concept, match, share }) =>
      anchor(brought, { concept, match, name: share, cosine: cosines.get(concept) ?? null }),
    ),
    ...meant.filter(({ concept }) => !names.has(concept)).map(each => anchor(brought, { ...each, name: 0 })),
  ]
}

interface Found {
  readonly concept: Concept
  readonly match: Match
  readonly cosine: number | null
  readonly name: number
}

function anchor({ retrieval }: Brought, { concept, match, cosine, name }: Found): Anchor {
  const known = retrieval.candidates.find(({ entry }) => entry === concept.entry)
  const signals = { match: MATCHES.indexOf(match), name, ...(cosine !== null && { meaning: cosine, near: 1 }) }
  return {
    ...{ concept, match, cosine, worth: cosine ?? 1, isFixed: isNamed(match) },
    candidate: { entry: concept.entry, source: LOCAL_SOURCE, signals, chunks: known?.chunks ?? {} },
  }
}

export function isNamed(match: Match): boolean {
  return match === 'whole' || match === 'name' || match === 'words'
}

/** A concept that means the question. */
interface Meant {
  readonly concept: Concept
  readonly cosine: number
  readonly match: 'meaning' | 'text'
}

/** Those near enough to count, nearest first (CX-021). */
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
  const { partitions } = context.sight
  const entries = [...(await passageConcepts(brought)).keys()].map(({ entry }) => entry)
  const hits = context.vectors?.score(plan.vector as Float32Array, entries, { partitions }) ?? []
  return hits.flatMap(({ entry, score }): readonly Meant[] => {
    const concept = concepts.byEntry(entry)
    return concept === undefined ? [] : [{ concept, cosine: score, match: 'text' }]
  })
}

/** Chosen by their ranks in both lists, then nearest first (CX-022, CX-025). */
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

/** Files whose text is followed to concepts, and concepts of each. */
const FILES = 10
const CONCEPTS_A_FILE = 3

/**
 * Concepts of the files whose text has the question's words: those that stand in the passages found, in the order of the files'
 * best passages, each with its passage's score as a share of the best one's.
 */
async function passageConcepts({ host, context, plan, concepts }: Brought): Promise<ReadonlyMap<Concept, number>> {
  const { reader, words, turns } = context
  const { partitions } = context.sight
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

/** Those that stand in these lines, the smallest first; then those without a place. */
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
  /** What the question names in full, whatever else is near it; then by relevance. More than fit an answer. */
  readonly anchors: readonly Anchor[]
  /** BM25 of the best text among them. */
  readonly bmTop: number
}

/** Not for mode `semantic`, where there is nothing to add up. In the modes without meaning only names offer anchors. */
export async function relevantAnchors(brought: Brought): Promise<RelevantAnchors> {
  const { question, concepts, retrieval, plan, context } = brought
  const { mode, text } = question
  const telling = tellingWords(text)
  const isHybrid = mode === 'hybrid'
  const offers = {
    names: bestNames(concepts, text, telling, { most: MOST_NAMED, inWords: mode !== 'exact' }),
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

/** Each concept that is offered, with what every part says of it. */
async function comparedCandidates(
  brought: Brought,
  { names, near, passages, texts }: Offers,
  telling: readonly string[],
): Promise<{ readonly candidates: readonly Candidate[]; readonly bmTop: number }> {
  const { host, context, plan, concepts, retrieval } = brought
  const { partitions } = context.sight
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

/** The candidates that the legs brought, and the scores of the other entries, in this order. */
async function completed(
  entries: readonly EntryKey[],
  { retrieval, plan, context }: Brought,
): Promise<readonly Candidate[]> {
  const { words, turns } = context
  const { partitions } = context.sight
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

/** Scored by the formula; while not all is embedded, what words keep among the first is lifted (QE-007). */
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
