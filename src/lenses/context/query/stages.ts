/**
 * The stages of a query of the lens `context`. First, concepts (functions, classes, documents, …) are found that the query names or that
 * are near the query in meaning; then concepts linked with the found ones, in the order in which links reach them or by score (CX-026 to
 * CX-029), as many as the answer has room for (CX-023). Results keep this order; the score shown is that of the formula in `relevance.ts`.
 */

import type { LinkIndex, SearchScope } from '../../../index/contract.ts'
import type { Candidate, Scored } from '../../../model/candidate.ts'
import type { Filter } from '../../../model/filter.ts'
import { allowedEntries } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { DEFAULT_STAGES } from '../../../pipeline/default-stages.ts'
import { byFormula, weightsWith } from '../../../pipeline/formula.ts'
import { unparsed } from '../../../pipeline/parse.ts'
import { explainKept } from '../../../pipeline/partly-embedded.ts'
import { allOf } from '../../../pipeline/resolve-query.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Plan, Retrieval, Scoring, Stages } from '../../../pipeline/stage.ts'
import { isLate } from '../../../pipeline/time-limit.ts'
import { type Judgement, judge } from '../../../pipeline/verdict.ts'
import { cutNote } from '../../../text/query-parser.ts'
import type { LensHost } from '../../lens.ts'
import { CONCEPT_KIND } from '../mind/rows.ts'
import { among, type Concept, reach, stateOf, type VisibleConcepts } from '../state.ts'
import { LINKS } from '../tables.ts'
import { type Anchor, LEG_DEPTH, plainAnchors, relevantAnchors } from './anchors.ts'
import {
  boundRelevance,
  type ContextQuestion,
  isByRelevance,
  MATCHES,
  type Match,
  MEANING,
  questionOf,
  wantsMeaning,
} from './request.ts'

interface Neighbour {
  readonly concept: Concept
  readonly hops: number
  /** The concept whose link led to this neighbour. */
  readonly via: Concept
  /** Score by which the neighbouring concept is ranked; null where neighbours are returned in the order in which links reach them. */
  readonly score: number | null
}

interface Graph {
  readonly links: LinkIndex
  readonly scope: SearchScope
  readonly concepts: VisibleConcepts
}

/** Factor by which the score of a linked concept falls with each link between it and the concept that the query found. */
const DECAY = 0.5

/** The concepts within `depth` links of the anchors (the concepts that the query found), at most `room` of them. */
function neighbours(
  graph: Graph,
  anchors: readonly Anchor[],
  room: number,
  { depth, rank }: Pick<ContextQuestion, 'depth' | 'rank'>,
): readonly Neighbour[] {
  if (room <= 0 || depth === 0 || anchors.length === 0) return []
  if (rank === 'breadth') return reached(graph, anchors, room, depth)
  return scored(graph, anchors, depth, rank === 'relevance')
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || a.hops - b.hops || a.concept.id - b.concept.id)
    .slice(0, room)
}

/**
 * How many concepts links from the anchors (the concepts that the query found) reach, counted up to `room`; the number does not depend on
 * their order.
 */
function reachable(graph: Graph, anchors: readonly Anchor[], room: number, depth: number): number {
  return reached(graph, anchors, room, depth).length
}

function reached(graph: Graph, anchors: readonly Anchor[], room: number, depth: number): readonly Neighbour[] {
  const start = anchors.map(({ concept }) => concept)
  const found: Neighbour[] = []
  for (const { concept, hops, from: via } of room <= 0 ? [] : reach(start, depth, from => waysOf(graph, from))) {
    found.push({ concept, hops, via, score: null })
    if (found.length === room) break
  }
  return found
}

/**
 * Scores the concepts within `depth` links of the anchors (the concepts that the query found). A path of links scores the score of its
 * anchor, times the weight of each link, times the decay for each link. A concept gets the score of its best path (CX-029), or with `isSum`
 * the sum over all shortest paths, so that concepts linked to several anchors come first.
 */
function scored(graph: Graph, anchors: readonly Anchor[], depth: number, isSum: boolean): Neighbour[] {
  const present = new Set(anchors.map(({ concept }) => concept))
  const all: Neighbour[] = []
  let from = anchors.map(({ concept, worth }) => ({ concept, score: worth }))
  for (let hops = 1; hops <= depth; hops++) {
    const best = new Map<Concept, Neighbour & { score: number }>()
    for (const { concept: via, score: before } of from) {
      for (const { concept, weight } of waysOf(graph, via)) {
        if (present.has(concept)) continue
        const score = before * weight * DECAY
        const known = best.get(concept)
        if (known === undefined) best.set(concept, { concept, hops, via, score })
        else if (isSum) known.score += score
        else if (known.score < score) best.set(concept, { concept, hops, via, score })
      }
    }
    from = [...best.values()]
    for (const neighbour of best.values()) {
      present.add(neighbour.concept)
      all.push(neighbour)
    }
  }
  return all
}

/**
 * Concepts linked with the given one, with the weights of the links: first targets of its own links, then sources of links that lead to it,
 * each group in ascending order of ids.
 */
function* waysOf(
  { links, scope, concepts }: Graph,
  from: Concept,
): Generator<{ readonly concept: Concept; readonly weight: number }> {
  for (const way of ['out', 'in'] as const) {
    for (const { node, weight } of links[way](from.id, scope)) {
      const concept = concepts.byId(node)
      if (concept !== undefined) yield { concept, weight }
    }
  }
}

/** Share of the query's limit that anchors (the concepts that the query found) may take while concepts linked with them fill the rest. */
const ANCHOR_SHARE = 0.6

interface Chosen {
  readonly anchors: readonly Anchor[]
  readonly neighbours: readonly Neighbour[]
}

/**
 * Divides the limit of an answer between anchors (the concepts that the query found, in `ordered` with the best first) and the concepts
 * linked with them. Anchors with `isFixed` are always taken; other anchors take up to their share of the limit, and more where linked
 * concepts leave room. Each further anchor may have links of its own, so linked concepts are then searched again.
 */
function choose(
  graph: Graph,
  ordered: readonly Anchor[],
  question: Pick<ContextQuestion, 'limit' | 'depth' | 'rank'>,
): Chosen {
  const { limit, depth } = question
  const all = ordered.slice(0, limit)
  const fixed = all.filter(({ isFixed }) => isFixed).length
  const others = all.length - fixed
  const share = depth === 0 ? limit : Math.ceil(ANCHOR_SHARE * limit)
  for (let taken = Math.max(0, Math.min(others, share - fixed)); ; taken++) {
    const anchors = firstOf(all, taken)
    const room = limit - anchors.length
    if (taken < others && reachable(graph, anchors, room, depth) < room) continue
    return { anchors, neighbours: neighbours(graph, anchors, room, question) }
  }
}

function firstOf(all: readonly Anchor[], others: number): readonly Anchor[] {
  let taken = 0
  return all.filter(({ isFixed }) => isFixed || taken++ < others)
}

const ONLY_CONCEPTS: Filter = { op: 'eq', field: 'kind', value: CONCEPT_KIND }

export function contextStages(host: LensHost): Partial<Stages> {
  const { retrieve: list, score: scoreList } = DEFAULT_STAGES
  return {
    parse: (query, context) => {
      const filter = allOf([ONLY_CONCEPTS, ...(query.filter === null ? [] : [query.filter])])
      if (query.text.trim() === '') return { ...DEFAULT_STAGES.parse({ ...query, syntax: 'plain' }, context), filter }
      const question = questionOf(query)
      if (query.text.trim() !== question.text) context.note(cutNote(query.text.length))
      return {
        // The exact vectors are needed here, not their approximations, since cosines are returned with three decimals.
        query: { ...query, approximate: false },
        parsed: unparsed(question.text),
        mode: modeOf(question, query.mode === 'words'),
        filter,
        terms: question.text.split(/\s+/u).map(text => ({ text, boost: 1 })),
        ...{ vector: null, weights: weightsWith(0), except: null, facts: {} },
      }
    },
    enrich,
    retrieve: (plan, depth, context) =>
      plan.mode === 'list' ? list(plan, depth, context) : retrieve(host, plan, context),
    score: (retrieval, plan, context) =>
      plan.mode === 'list' ? scoreList(retrieval, plan, context) : score(retrieval, plan, context),
    diversify: function* (scoring, plan, context) {
      const scored = plan.mode === 'list' ? scoring.scored : scoring.scored.filter(({ order }) => order !== undefined)
      return { ...(yield* DEFAULT_STAGES.diversify({ ...scoring, scored }, plan, context)), scoring }
    },
  }
}

function modeOf(question: ContextQuestion, byWords: boolean): Plan['mode'] {
  if (byWords || !wantsMeaning(question)) return 'words'
  return question.mode === 'semantic' ? 'meaning' : 'hybrid'
}

async function enrich(plan: Plan, context: QueryContext): Promise<Plan> {
  if (plan.mode === 'meaning' && context.model === null) {
    context.note({ code: 'words_only', message: 'Searched by words only: there is no embedder.' })
    return { ...plan, isUnembedded: true }
  }
  const asked = await DEFAULT_STAGES.enrich(plan, context)
  const meaning = plan.mode === 'meaning' ? 1 : (plan.query.meaningWeight ?? MEANING)
  return { ...asked, weights: weightsWith(asked.vector === null ? 0 : meaning) }
}

async function retrieve(host: LensHost, plan: Plan, context: QueryContext): Promise<Retrieval> {
  const question = questionOf(plan.query)
  const retrieval = await legs(question, plan, context)
  const { partitions } = context.accessScope
  const concepts = among(stateOf(host).concepts.visible(partitions), retrieval.allow)
  const brought = { host, context, plan, question, concepts, retrieval }
  const { anchors, bmTop } = isByRelevance(question)
    ? await relevantAnchors(brought)
    : { anchors: await plainAnchors(brought), bmTop: 0 }
  const links = context.index(LINKS.name) as LinkIndex
  const graph: Graph = { links, scope: { partitions }, concepts }
  const chosen = choose(graph, anchors, question)
  const isChosen = new Set(chosen.anchors)
  const candidates = [
    ...[...chosen.anchors, ...chosen.neighbours].map(placed),
    // Found concepts for which the answer has no room, kept for explanations.
    ...anchors.filter(anchor => !isChosen.has(anchor)).map(({ candidate }) => candidate),
  ]
  return {
    ...retrieval,
    candidates: withChunks(candidates, context),
    statistics: { ...retrieval.statistics, rankedBmTop: bmTop },
    exhausted: true,
  }
}

/** Searches concepts by words and by meaning, as far as the query's mode needs these searches. */
async function legs(question: ContextQuestion, plan: Plan, context: QueryContext): Promise<Retrieval> {
  const isAsked = question.mode === 'hybrid' ? isByRelevance(question) || plan.vector !== null : plan.vector !== null
  if (isAsked) {
    // Where results are not ordered by relevance, the words of texts affect only the verdict on whether the query is answered.
    const mode = isByRelevance(question) ? plan.mode : 'meaning'
    return DEFAULT_STAGES.retrieve({ ...plan, mode }, LEG_DEPTH, context)
  }
  const allow = await context.turns.run(allowedEntries(plan, context))
  const found = { depth: LEG_DEPTH, allow, statistics: {}, exhausted: true, complete: !isLate(context) }
  return { ...found, candidates: [] }
}

function placed(one: Anchor | Neighbour, place: number): Candidate {
  if ('candidate' in one) return { ...one.candidate, signals: { ...one.candidate.signals, place } }
  const { concept, hops, via, score } = one
  const signals = { place, hops, via: via.id, ...(score !== null && { link: score }) }
  return { entry: concept.entry, source: LOCAL_SOURCE, signals, chunks: {} }
}

/** A concept that neither the word search nor the vector search found is shown by its first and only chunk. */
function withChunks(candidates: readonly Candidate[], { reader }: QueryContext): readonly Candidate[] {
  const isBare = ({ chunks }: Candidate) => Object.keys(chunks).length === 0
  const first = reader.firstChunks(candidates.filter(isBare).map(({ entry }) => entry))
  return candidates.map(candidate => {
    const chunk = isBare(candidate) ? first.get(candidate.entry) : undefined
    return chunk === undefined ? candidate : { ...candidate, chunks: { words: chunk } }
  })
}

/**
 * Scores candidates but keeps the order in which they were retrieved. Found concepts for which the answer has no room get a score but no
 * rank.
 */
function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const { rankedBmTop = 0 } = retrieval.statistics
  const made = byFormula(retrieval.candidates, {
    ...boundRelevance(plan, rankedBmTop, context.model),
    remarks: ({ signals: { hops } }) => (hops === undefined ? [] : [hops === 1 ? 'linked' : `linked over ${hops}`]),
  })
  return {
    ...made,
    scored: made.scored.map(ordered),
    explain: scored => explainKept(made.explain(scored), scored),
    ...judged(retrieval, plan, context),
    ceiling: null,
  }
}

function ordered(scored: Scored): Scored {
  const { place, lifted } = scored.signals
  const own = lifted === undefined ? scored : { ...scored, score: scored.score + lifted, lifted }
  return place === undefined ? own : { ...own, order: -place }
}

/**
 * Judges whether the answer is relevant to the query. A query that contains the name of a concept counts as answered, whatever its words
 * and meaning score.
 */
function judged(retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const { mode } = questionOf(plan.query)
  const matches = new Set(retrieval.candidates.map(({ signals: { match = -1 } }) => MATCHES[match] as Match))
  const isNamed = matches.has('whole') || matches.has('name')
  if (isNamed) return { verdict: 'answered', reason: null, verdictBy: 'words' }
  const sharesWords = matches.has('words')
  if (mode === 'exact' || mode === 'names') {
    return sharesWords
      ? { verdict: 'weak', reason: 'Names share words with the query; none contains all of it.', verdictBy: 'words' }
      : { verdict: 'nothing_relevant', reason: 'No name contains any part of the query.', verdictBy: 'words' }
  }
  const judgement = judge(retrieval, plan, context)
  if (judgement.verdict !== 'nothing_relevant' || !sharesWords) return judgement
  return { ...judgement, verdict: 'weak', reason: `A name shares words with the query. ${judgement.reason}` }
}
