/**
 * The stages of a `c64` query: the query is enriched, candidates are retrieved among all records and among those with the query's tags, and
 * both lists are merged by the strategy of the enrichment (EN-053 to EN-060). A record's score is the weighted mean of its cosine and its
 * BM25 score divided by the highest BM25 score that the query's words allow; for a record without a vector, that quotient alone.
 */
import type { Steps } from '../../base/turns.ts'
import type { Candidate, Ranked, Scored } from '../../model/candidate.ts'
import type { Entry } from '../../model/entry.ts'
import type { Filter } from '../../model/filter.ts'
import { type Formula, max, number, product, quotient, scoreBy, sum } from '../../model/formula.ts'
import type { QueryContext } from '../../pipeline/context.ts'
import { DEFAULT_STAGES } from '../../pipeline/default-stages.ts'
import { inOrder } from '../../pipeline/diversify.ts'
import { byFormula, weightNumbers } from '../../pipeline/formula.ts'
import { allOf } from '../../pipeline/resolve-query.ts'
import type { Plan, Ranking, Retrieval, Scoring, Stages, Weights } from '../../pipeline/stage.ts'
import { judge } from '../../pipeline/verdict.ts'
import { camelCased } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'
import { isFact } from './corpus-store.ts'
import type { Enrichment } from './enrichment/enrich.ts'
import { fuseByRank, merged, orderByMatches, trimByScore } from './enrichment/hits.ts'
import type { C64Options, SearchSettings } from './settings.ts'
import { stateOf } from './state.ts'

export function c64Stages(host: LensHost): Partial<Stages> {
  const state = () => stateOf(host)
  return {
    parse: (query, context) => {
      const plan = DEFAULT_STAGES.parse({ ...query, syntax: 'plain' }, context)
      const inCollection: Filter = { op: 'eq', field: 'collection', value: state().settings.collection }
      return {
        ...plan,
        filter: allOf([inCollection, ...(plan.filter === null ? [] : [plan.filter])]),
      }
    },
    enrich: async (plan, context) => {
      if (plan.mode === 'list') return plan
      const { raw = false } = plan.query.options as C64Options
      return enriched(await context.turns.run(state().enrich(plan.query.text.trim(), raw)), plan, context)
    },
    retrieve: (plan, depth, context) =>
      plan.mode === 'list' ? DEFAULT_STAGES.retrieve(plan, depth, context) : retrieve(plan, depth, context),
    score: (retrieval, plan, context) =>
      plan.mode === 'list' ? DEFAULT_STAGES.score(retrieval, plan, context) : score(retrieval, plan, context),
    diversify: (scoring, plan, context) =>
      plan.mode === 'list'
        ? DEFAULT_STAGES.diversify(scoring, plan, context)
        : rank(scoring, plan, { ...state().settings, ...camelCased(plan.query.options as C64Options) }, context),
  }
}

/** What the lens `c64` adds to the plan of a query. */
interface Facts {
  readonly enrichment: Enrichment
  /** Terms and vector of the query as the user wrote it, without enrichment; null where enrichment added nothing. */
  readonly asked: Pick<Plan, 'terms' | 'vector'> | null
}

function factsOf({ facts }: Pick<Plan, 'facts'>): Facts {
  return facts['c64'] as Facts
}

/** The enrichment that a plan holds for its query; null where the entries were only listed, without a query text. */
export function enrichmentOf(plan: Pick<Plan, 'facts'>): Enrichment | null {
  return (plan.facts['c64'] as Facts | undefined)?.enrichment ?? null
}

async function enriched(enrichment: Enrichment, plan: Plan, context: QueryContext): Promise<Plan> {
  for (const { message } of enrichment.warnings) context.note({ code: 'plugin_failed', message })
  const { enrichedQuery, query } = enrichment
  const whole = await withText(enrichedQuery, plan, context)
  const asked = enrichedQuery === query ? null : await withText(query, plan, context)
  return { ...whole, facts: { ...plan.facts, c64: { enrichment, asked } satisfies Facts } }
}

async function withText(text: string, plan: Plan, context: QueryContext): Promise<Plan> {
  const asked: Plan = { ...plan, terms: [{ text, boost: 1 }], parsed: { ...plan.parsed, residual: text } }
  const made = await DEFAULT_STAGES.enrich(asked, context)
  return { ...made, weights: weightsOf(made) }
}

const HALF = 0.5

function weightsOf({ vector, mode, query }: Plan): Weights {
  const meaning = vector === null ? 0 : mode === 'meaning' ? 1 : (query.meaningWeight ?? HALF)
  return { words: 1 - meaning, meaning }
}

/**
 * Each list of candidates is retrieved to at least this many entries, even for a smaller limit, so that ranks do not depend on the limit.
 * Entries below that depth are never results.
 */
const MIN_DEPTH = 100

async function retrieve(plan: Plan, wanted: number, context: QueryContext): Promise<Retrieval> {
  const depth = Math.max(MIN_DEPTH, wanted)
  const { enrichment, asked } = factsOf(plan)
  const { filterTags } = enrichment
  const tagged: Filter = { op: 'in', field: 'tag', values: filterTags }
  const all = await DEFAULT_STAGES.retrieve(plan, depth, context)
  const more: Candidate[] = []
  if (filterTags.length > 0) {
    const ofTags: Plan = { ...plan, filter: allOf([tagged, ...(plan.filter === null ? [] : [plan.filter])]) }
    more.push(...(await DEFAULT_STAGES.retrieve(ofTags, depth, context)).candidates)
  }
  const named = await namesIn(all, enrichment, depth, context)
  const asAsked = asked === null ? null : await DEFAULT_STAGES.retrieve({ ...plan, ...asked }, depth, context)
  const candidates = await context.turns.run(joined(all.candidates, more, named, asAsked, filterTags, context))
  // In a query without tags, the text that enrichment added for its numbers does not show the query's subject. Whether entries match the
  // query at all is then judged by the original query.
  const isJudgedAsAsked = asAsked !== null && filterTags.length === 0
  const { statistics } = isJudgedAsAsked ? asAsked : all
  const most = { most: all.statistics['bmMax'] ?? 0, askedMost: asAsked?.statistics['bmMax'] ?? 0 }
  return { ...all, candidates, exhausted: true, statistics: { ...statistics, ...most } }
}

/**
 * For each record, how many of the query's names, addresses and labels its text contains, compared character by character. A name of
 * several words counts as one.
 */
async function namesIn(
  { allow }: Retrieval,
  { filterTags }: Enrichment,
  depth: number,
  { words, accessScope: { partitions }, turns }: QueryContext,
): Promise<ReadonlyMap<number, number>> {
  if (filterTags.length === 0) return new Map()
  const terms = filterTags.map(name => ({ text: name, boost: 1 / name.split(' ').length }))
  const scope = allow === null ? { partitions } : { partitions, allow }
  const hits = await turns.run(words.searchInSteps({ ...scope, terms, k: depth }))
  return new Map(hits.map(({ entry, score }) => [entry, score]))
}

/**
 * Merges the candidate lists into one, with each entry once and with these signals: `tags` (how many of the query's tags it carries),
 * `names` (how many of the query's names its text has), and `document` (it is a document of the user's, not a built-in fact).
 */
function* joined(
  all: readonly Candidate[],
  tagged: readonly Candidate[],
  names: ReadonlyMap<number, number>,
  asAsked: Retrieval | null,
  filterTags: readonly string[],
  context: QueryContext,
): Steps<readonly Candidate[]> {
  const found = new Map([...tagged, ...all].map(candidate => [candidate.entry, candidate]))
  const askedFor = new Map((asAsked?.candidates ?? []).map(candidate => [candidate.entry, candidate]))
  for (const candidate of askedFor.values())
    if (!found.has(candidate.entry)) found.set(candidate.entry, { ...candidate, signals: {} })
  const entries = new Map(context.reader.entries([...found.keys()]).map(entry => [entry.key, entry]))
  yield
  const wanted = new Set(filterTags)
  const candidates: Candidate[] = []
  for (const candidate of found.values()) {
    const entry = entries.get(candidate.entry)
    if (entry === undefined) continue
    candidates.push({ ...candidate, signals: signalsOf(candidate, entry, names, askedFor.get(entry.key), wanted) })
    yield
  }
  return candidates
}

function signalsOf(
  { signals }: Candidate,
  entry: Entry,
  names: ReadonlyMap<number, number>,
  asked: Candidate | undefined,
  wanted: ReadonlySet<string>,
): Candidate['signals'] {
  const name = names.get(entry.key)
  const { words, meaning } = asked?.signals ?? {}
  return {
    ...signals,
    ...(wanted.size > 0 && { tags: new Set(entry.tags.filter(tag => wanted.has(tag))).size }),
    ...(name !== undefined && { names: name }),
    ...(words !== undefined && { asked_words: words }),
    ...(meaning !== undefined && { asked_meaning: meaning }),
    ...(!isFact(entry) && { document: 1 }),
  }
}

/**
 * Formula of a score: the weighted mean of the cosine (`meaning`) and the BM25 share (`words`); for a record without a vector, the BM25
 * share alone.
 */
function meanOf(label: string, words: string, meaning: string, most: string, when?: string): Formula {
  const share = quotient('share', number('BM25', words), number('the most it can be', most))
  const byWords = { ...share, label: 'share of words, because there is no vector', unless: meaning }
  const cosine = number('cosine', meaning, { when: meaning })
  return sum(
    label,
    [
      product('meaning', [number('weight of meaning', 'weight_meaning'), cosine, byWords], { component: 'meaning' }),
      product('words', [number('weight of words', 'weight_words'), share], { component: 'words' }),
    ],
    when === undefined ? {} : { when },
  )
}

const ENRICHED = meanOf('by the enriched query', 'words', 'meaning', 'most')
const AS_ASKED = meanOf('by the original query', 'asked_words', 'asked_meaning', 'askedMost', 'document')
/**
 * A document of the user's gets the higher of its two scores: by the enriched query and by the original query. Enrichment repeats words of
 * the built-in facts, so its score alone would rank documents below facts.
 */
const BETTER = max('score', [ENRICHED, AS_ASKED])

function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const { enrichment, asked } = factsOf(plan)
  const judged = asked !== null && enrichment.filterTags.length === 0 ? { ...plan, ...asked } : plan
  return {
    ...byFormula(retrieval.candidates, {
      formula: asked === null ? { ...ENRICHED, label: 'score' } : BETTER,
      numbers: { ...retrieval.statistics, ...weightNumbers(plan.weights) },
      remarks: ({ signals: { tags = 0, names = 0 } }) => [
        ...(tags > 0 ? [`tags of the query: ${tags}`] : []),
        ...(names > 0 ? ['names of the query'] : []),
      ],
    }),
    ...judge(retrieval, judged, context),
    ceiling: null,
  }
}

interface Row {
  readonly id: number
  readonly score: number
  readonly scored: Scored
}

const NO_TAG = 'No record has a tag of the query: all were searched.'

/**
 * The order of the results: first the documents that beat every fact by the original query, then the lists merged by the strategy, then
 * other records with a sufficient score.
 */
function* rank(scoring: Scoring, plan: Plan, settings: SearchSettings, context: QueryContext): Steps<Ranking> {
  const { enrichment, asked } = factsOf(plan)
  const { strategy } = enrichment
  const size = Math.max(settings.fetchLimit, context.query.limit)
  const rows = inOrder(scoring.scored, context).map((one): Row => ({ id: one.entry, score: one.score, scored: one }))
  const { numbers } = scoring.measure
  const asAsked = ({ score: own, scored: { signals } }: Row) =>
    asked === null ? own : scoreBy(AS_ASKED, signals, numbers)
  const first = documentsFirst(rows, asAsked)
  const best = rows.filter(row => !first.includes(row))
  const tagged = best.filter(row => tagsOf(row) > 0)
  const isFallback = strategy === 'filtered' && tagged.length === 0
  if (isFallback) context.note({ code: NO_TAG_MATCH, message: NO_TAG })
  const pool = strategy === 'filtered' && !isFallback ? tagged : best
  const lists = { tagged: listed(orderByMatches(tagged, tagsOf), size), all: listed(best, size) }
  const list = merged(isFallback ? 'semantic' : strategy, lists, settings.fusion, size)
  const front = trimByScore(list, settings.minScoreRatio, size)
  const bar = settings.minScoreRatio * Math.max(0, ...list.map(row => row.score))
  const isListed = new Set(list.map(({ id }) => id))
  const rest = pool.filter(({ id, score: own }) => !isListed.has(id) && own >= bar)
  const ordered = [...first, ...front, ...rest]
  // Results are ordered by their position in the merged list and not by score alone, so this position is what the cursor stores.
  const ranked = ordered.map(({ scored: one }, at): Ranked => ({ ...one, order: -at, rank: at + 1 }))
  return { ranked, scoring }
}

/** Code of the note on an answer where no record has any of the query's tags, so all records were searched. */
export const NO_TAG_MATCH = 'no_tag_match'

/** How many of the query's tags the record carries. */
function tagsOf({ scored: { signals } }: Row): number {
  return signals['tags'] ?? 0
}

/**
 * The rows ordered by score, merged by reciprocal rank with the list of rows that contain names of the query, which is ordered by the
 * number of names (EN-060).
 */
function listed(byScore: readonly Row[], size: number): readonly Row[] {
  const nameOf = ({ scored: { signals } }: Row) => signals['names'] ?? 0
  const byName = byScore.filter(row => nameOf(row) > 0).sort((a, b) => nameOf(b) - nameOf(a))
  return byName.length === 0 ? byScore.slice(0, size) : fuseByRank(byScore.slice(0, MIN_DEPTH), byName, size)
}

/**
 * Documents whose score by the original query is above that of every fact, so enrichment must not put facts before them; none where the
 * results have no facts.
 */
function documentsFirst(best: readonly Row[], asAsked: (row: Row) => number): readonly Row[] {
  const isDocument = ({ scored: { signals } }: Row) => signals['document'] !== undefined
  const bestFact = Math.max(...best.filter(row => !isDocument(row)).map(asAsked))
  return Number.isFinite(bestFact) ? best.filter(row => isDocument(row) && asAsked(row) > bestFact) : []
}
