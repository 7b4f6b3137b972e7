/**
 * The stages of a `chroma` query: plan (phases 1 to 3), candidates from the point index (4 to 6), scoring and ranking (7 and 8). A query
 * profile reads the text; scores come from memory (relevance, recency, strength), and a profile may blend in its own (CQ-055).
 */
import type { Instant } from '../../../base/clock.ts'
import { atOnce, type Steps } from '../../../base/turns.ts'
import type { PointHit } from '../../../index/contract.ts'
import type { Candidate, Scored } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { constant, type Formula, NO_NUMBERS, number, product, sum, weightedSum } from '../../../model/formula.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { Note } from '../../../model/page.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { filtered } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { DEFAULT_STAGES } from '../../../pipeline/default-stages.ts'
import { byFormula } from '../../../pipeline/formula.ts'
import { firstDepth } from '../../../pipeline/page-depth.ts'
import { unparsed } from '../../../pipeline/parse.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Answer, Plan, Ranking, Retrieval, Scoring, Stages } from '../../../pipeline/stage.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { asDatabaseError, placed, retrying } from '../errors.ts'
import { MODE_NAMES, MODES, recencyOf, relevanceOf, strengthNorm, weightsOf } from '../memory/formulas.ts'
import type { DetailedAnswer, EffectiveQuery, NodeMemory, ResultRow, ScoreWeights, Warning } from '../model.ts'
import { nodeRow } from '../nodes/stored.ts'
import { CUSTOM_SHARE, type CustomScoring, MEMORY_SHARE } from '../profiles/registry.ts'
import { type ChromaState, stateOf } from '../state.ts'
import { defaultMemory } from '../tables.ts'
import {
  type Asked,
  best,
  brokenFilter,
  byPlace,
  byText,
  type CheckedItem,
  type ChromaOptions,
  type Look,
  looking,
  nearestBeyond,
  type Prepared,
  prepare,
  type RankedBy,
  wholeQuery,
} from './question.ts'

export function chromaStages(host: LensHost): Partial<Stages> {
  // The lens's state is made by the first query, so that an unused lens costs nothing.
  const state = (): ChromaState => stateOf(host)
  return {
    parse: query => {
      const { profile } = query.options as ChromaOptions
      const { profiles } = state()
      const scores = profiles.hasScoring(profiles.select(profile))
      return {
        // How much a profile adds to a score is not known in advance, so with a scoring profile the search is exact and retrieves all nodes
        // that could reach the page.
        query: scores ? { ...query, approximate: false } : query,
        parsed: unparsed(query.text),
        mode: query.mode,
        filter: query.filter,
        terms: query.text.split(/\s+/).flatMap(text => (text === '' ? [] : [{ text, boost: 1 }])),
        vector: null,
        weights: { words: 0, meaning: 0 },
        except: null,
        facts: {},
      }
    },
    // biome-ignore lint/correctness/useYield: a text is the profile's, in whatever spelling.
    respell: function* () {
      return null
    },
    enrich: (plan, context) => enrich(state(), plan, context),
    retrieve: (plan, depth, context) => retrieve(state(), plan, depth, context),
    score: (retrieval, plan, context) => score(state(), retrieval, plan, context),
    present: (ranking, retrieval, plan, context) =>
      context.rows === 'keys'
        ? presentRows(state(), ranking, retrieval, plan, context)
        : DEFAULT_STAGES.present(ranking, retrieval, plan, context),
  }
}

/** What the lens `chroma` adds to the plan of a query. */
export interface ChromaFacts extends Prepared {
  readonly by: RankedBy
  /** The profile's function that scores entries; null when scores come from memory (relevance, recency, strength) alone. */
  readonly custom: CustomScoring | null
  /** Result rows by entry key, for answers of the operations of the lens `chroma`. */
  readonly rows?: ReadonlyMap<EntryKey, ResultRow> | undefined
}

export function factsOf({ facts }: Pick<Plan, 'facts'>): ChromaFacts {
  return facts['chroma'] as ChromaFacts
}

async function enrich(state: ChromaState, plan: Plan, context: QueryContext): Promise<Plan> {
  const { text, asOf, touch } = plan.query
  const options = plan.query.options as ChromaOptions
  const { accessScope, deadline } = context
  const prepared = await prepare(state, text, options, { accessScope, signal: deadline.signal, asOf, touch })
  const { query, warnings } = prepared
  for (const warning of warnings) context.note(warning)
  if (query.hashtags.length > 0) context.note({ code: HASHTAGS, message: `Searched by ${query.hashtags.join(' ')}` })
  const by = options.rank_by ?? 'score'
  const custom = by === 'score' ? state.profiles.customScoring(query.profile, query) : null
  return { ...plan, facts: { ...plan.facts, chroma: { ...prepared, by, custom } satisfies ChromaFacts } }
}

/** Code of the note in an answer that says which hashtags the query used. */
export const HASHTAGS = 'hashtags'

/** Makes the result rows of the answer, within the read transaction in which the viewer's access to the entries is checked. */
function* presentRows(
  state: ChromaState,
  ranking: Ranking,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Steps<Answer> {
  return state.host.store.read(reader => {
    const answer = atOnce(DEFAULT_STAGES.present(ranking, retrieval, plan, context))
    const rows = rowsOf(state, reader, answer.ranked)
    return { ...answer, facts: { ...plan.facts, chroma: { ...factsOf(plan), rows } satisfies ChromaFacts } }
  })
}

/** With a profile that scores entries itself, the first search retrieves this many times the wanted number of results (CQ-099). */
const FIRST = 3

async function retrieve(state: ChromaState, plan: Plan, depth: number, context: QueryContext): Promise<Retrieval> {
  const { query, by, custom, most } = factsOf(plan)
  if (most === 0) {
    const allow = filtered(plan, context)
    return { candidates: [], depth, allow, statistics: {}, exhausted: true, complete: true }
  }
  // Where scores come from memory alone, no more nodes are retrieved than there may be results. Where a profile scores too, more are
  // retrieved, since its scores can change their order.
  const widening = depth / firstDepth(context.query)
  const first = FIRST * Math.min(most, plan.query.limit)
  const wanted = custom === null ? Math.min(depth, most) : Math.min(depth, Math.ceil(widening * first))
  return retrying(
    () =>
      looking(state, context.accessScope, look => {
        const allow = filtered(plan, context)
        const asked: Asked = allow === null ? query : { ...query, allow }
        const hits = best(look, asked, by, custom === null && wanted >= most ? wanted : wanted + 1)
        if (hits.length === 0) noteBeyond(look, asked, context)
        else noteRotten(look, asked, by, hits[Math.min(hits.length, most, plan.query.limit) - 1] as PointHit, context)
        return {
          candidates: candidatesOf(look, hits.slice(0, wanted), query),
          depth,
          allow,
          statistics: {},
          exhausted: hits.length <= wanted,
          complete: true,
          missing: entry => looking(state, context.accessScope, now => brokenFilter(now, asked, entry)),
        }
      }),
    state.sleep,
  )
}

/** Adds to the answer a note with the distance of the nearest node beyond the distance limit (CQ-073). */
function noteBeyond(look: Look, asked: Asked, context: QueryContext): void {
  const distance = nearestBeyond(look, asked)
  if (distance === null) return
  const message = `no node lies within ${asked.max_distance}; the nearest that passes the filters is ${distance.toFixed(3)} away`
  context.note({ code: 'no_results_within_distance', message, details: { nearest_distance: distance } })
}

/** Largest number of rotten nodes (faded, left out of results) that are counted for a note in an answer. */
const MAX_ROTTEN = 1_000
const FEW_ROTTEN = 8

/**
 * Adds to the answer a note with the number of nodes that are left out because they are rotten in the viewer's memory but would rank before
 * the last result (CQ-151).
 */
function noteRotten(look: Look, asked: Asked, by: RankedBy, last: PointHit, context: QueryContext): void {
  const rotten = asked.include_rotten ? null : look.columns.rotten
  if (rotten === null) return
  const allow = asked.allow === undefined ? rotten : rotten.and(asked.allow)
  const count = countBefore(last, k => best(look, { ...asked, include_rotten: true, allow }, by, k))
  if (count === 0) return
  const message = `${count} rotten nodes would be before the last result; include_rotten shows them`
  context.note({ code: 'rotten_nearer', message, details: { count } })
}

/**
 * Counts the nodes that rank before `last`. `find` returns the k best nodes. It is called with a small k first, and with a larger one only
 * while all nodes found rank before `last`; usually few do.
 */
function countBefore(last: PointHit, find: (k: number) => readonly PointHit[]): number {
  for (let k = FEW_ROTTEN; ; k *= FEW_ROTTEN) {
    const count = find(Math.min(k, MAX_ROTTEN)).filter(hit => byPlace(hit, last) < 0).length
    if (count < k || k >= MAX_ROTTEN) return count
  }
}

/**
 * Makes candidates from found nodes, each with the memory numbers (recency, strength) by which it is scored. Result rows then show those
 * numbers even if the memory is changed meanwhile (CQ-070).
 */
function candidatesOf(
  { columns, reader, state }: Look,
  hits: readonly { readonly entry: EntryKey; readonly distance: number }[],
  { score_weights, now }: EffectiveQuery,
): readonly Candidate[] {
  const { enabled } = state.settings.memory
  const stored = columns.stored(
    reader,
    hits.map(({ entry }) => entry),
  )
  return hits.map(({ entry, distance }, place) => {
    const cell = columns.memory(entry)
    const mode = MODES[cell?.mode_name ?? MODE_NAMES[0]]
    // For a node that was never used, the last access in the memory columns is the time of its creation.
    const memory = stored.get(entry) ?? defaultMemory(cell?.last_accessed ?? 0)
    const weights = enabled ? (score_weights ?? weightsOf(mode)) : RELEVANCE_ALONE
    const { ascension, rotten, ...numbers } = memory
    const signals = {
      ...{ place, distance, ...numbers, ascension: Number(ascension), rotten: Number(rotten) },
      relevance: relevanceOf(distance),
      recency: recencyOf(mode, memory.last_accessed, now),
      strength: strengthNorm(memory.strength_raw),
      weight_relevance: weights.relevance,
      weight_recency: weights.recency,
      weight_strength: weights.strength,
    }
    return { entry, source: LOCAL_SOURCE, signals, chunks: {} }
  })
}

const NOTHING_KNOWN = 'The text names no assigned hashtag, and no node is similar to it.'

/** Weights of a score when memory is switched off: relevance alone. */
const RELEVANCE_ALONE: ScoreWeights = { relevance: 1, recency: 0, strength: 0 }

const MEMORY = weightedSum({
  relevance: ({ distance = 0 }) => `colour distance ${distance.toFixed(2)}`,
  recency: 'e to the power of minus (days since the last access / time of its mode)',
  strength: 'grows with each use',
})

/**
 * Formula of the score with a profile: memory score and profile score, each times its fixed share (CQ-080). An entry that the profile did
 * not score keeps its memory score.
 */
const BLENDED: Formula = sum('score', [
  product('memory', [MEMORY, constant('share', MEMORY_SHARE)], { when: 'profile' }),
  product('profile', [constant('share', CUSTOM_SHARE), number('its own score', 'profile')], {
    component: 'profile',
    when: 'profile',
  }),
  { ...MEMORY, label: 'memory', unless: 'profile' },
])

function score(
  state: ChromaState,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Scoring | Promise<Scoring> {
  const { custom, by } = factsOf(plan)
  if (custom !== null) return scoreBlended(state, custom, retrieval, plan, context)
  const made = scoredBy(state, retrieval, plan, MEMORY)
  const placed = made.scored.map((one): Scored => {
    const { place = 0, distance = 0 } = one.signals
    return by === 'score' ? { ...one, tie: -place } : { ...one, order: -distance, tie: -place }
  })
  return { ...made, scored: placed }
}

function scoredBy({ settings }: ChromaState, { candidates }: Retrieval, plan: Plan, formula: Formula): Scoring {
  const isEmpty = candidates.length === 0
  const { max_distance, hashtags } = factsOf(plan).query
  const within = max_distance === null ? '' : ` within a distance of ${max_distance}`
  return {
    ...byFormula(candidates, {
      formula: settings.memory.enabled ? formula : { ...formula, note: 'memory is switched off' },
      numbers: NO_NUMBERS,
    }),
    verdict: isEmpty ? 'nothing_relevant' : 'answered',
    reason: !isEmpty ? null : hashtags.length === 0 ? NOTHING_KNOWN : `No node passes the filters${within}.`,
    ceiling: null,
  }
}

/**
 * Scores candidates by memory and by the profile's scoring hook. Nodes not retrieved have no higher memory score than the last retrieved
 * one, which shows when none of them can reach the results any more (CQ-099).
 */
async function scoreBlended(
  state: ChromaState,
  custom: CustomScoring,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Promise<Scoring> {
  const byMemory = scoredBy(state, retrieval, plan, MEMORY).scored
  const rows = state.host.store.read(reader => rowsOf(state, reader, byMemory))
  const candidates: Candidate[] = []
  for (const one of byMemory) {
    const row = rows.get(one.entry)
    if (row === undefined) continue
    const profile = await custom.score(one.entry, row)
    candidates.push(profile === null ? one : { ...one, signals: { ...one.signals, profile } })
  }
  for (const { code, message } of custom.warnings) context.note({ code, message })
  const made = scoredBy(state, { ...retrieval, candidates }, plan, BLENDED)
  const idOf = ({ entry }: Scored) => rows.get(entry)?.entry_id ?? ''
  const distanceOf = ({ signals }: Scored) => signals['distance'] ?? 0
  const ordered = made.scored
    .toSorted((a, b) => b.score - a.score || distanceOf(a) - distanceOf(b) || byText(idOf(a), idOf(b)))
    .map((one, place): Scored => ({ ...one, tie: -place }))
  const { most } = factsOf(plan)
  const last = byMemory.at(-1)
  const ceiling = retrieval.exhausted || last === undefined ? null : MEMORY_SHARE * last.score + CUSTOM_SHARE
  const worst = ordered[most - 1]
  return {
    ...made,
    scored: ordered.slice(0, most),
    ceiling,
    isWhole: worst !== undefined && (ceiling === null || worst.score > ceiling),
  }
}

/**
 * Result rows by entry key, with the numbers by which the nodes were scored (CQ-070, CQ-076); nodes that were deleted meanwhile are left
 * out.
 */
function rowsOf(state: ChromaState, reader: StoreReader, scored: readonly Scored[]): ReadonlyMap<EntryKey, ResultRow> {
  const byEntry = new Map(scored.map(one => [one.entry, one]))
  const nodes = state.nodes.get(reader, [...byEntry.keys()])
  return new Map(
    nodes.map(node => {
      const { signals, score: made } = byEntry.get(node.entry.key) as Scored
      const { distance = 0, relevance = 0, recency = 0, strength: strength_norm = 0, ascension, rotten } = signals
      // The cast is safe: the signals hold all numbers of the memory, because `candidatesOf` stored them.
      const memory = { ...signals, ascension: ascension === 1, rotten: rotten === 1 } as unknown as NodeMemory
      // The score is limited to 1, since rounded weights may sum to slightly more than 1.
      const computed = { distance, relevance, recency, strength_norm, score: Math.min(1, made) }
      return [node.entry.key, { ...nodeRow(node, memory, node.columns), ...computed }]
    }),
  )
}

/**
 * Records that the nodes on a page were used. The uses go into the viewer's memory of the nodes, not into the access times that the store
 * keeps for entries.
 */
export function touchNodes(
  host: LensHost,
  viewer: Viewer,
  entries: readonly EntryKey[],
  now: number,
  options: ChromaOptions,
): void {
  if (options.update_access !== false) stateOf(host).access.record(viewer.id, entries, Math.floor(now / 1000))
}

// Runs a query from hashtags or text to result rows: the stages of the engine's query, then recording of uses, post-processing and the
// answer (CQ-055).

type Asking = Pick<CallContext, 'viewer' | 'signal'>

/** Ranked results of a query, limited to `k`, before their uses are recorded. */
interface Found {
  readonly facts: ChromaFacts
  readonly query: EffectiveQuery
  readonly rows: readonly ResultRow[]
  readonly entries: readonly EntryKey[]
  readonly verdict: Pick<DetailedAnswer, 'verdict' | 'reason'>
  readonly warnings: readonly Warning[]
}

export async function ask(
  state: ChromaState,
  call: Asking,
  item: CheckedItem,
  by: RankedBy = 'score',
): Promise<DetailedAnswer> {
  const now = state.host.clock.now()
  return finish(state, await withAccess(state, call.viewer, await find(state, { ...call, now }, item, by)))
}

/**
 * Runs a batch of queries (CQ-101, CQ-102). All items are checked and ranked first, then the uses of all results are recorded in order;
 * when any item fails, nothing is recorded and the first faulty item is reported. `check` may refuse an item.
 */
export async function askMany(
  state: ChromaState,
  call: Asking,
  items: readonly unknown[],
  check: (item: unknown) => CheckedItem,
): Promise<readonly DetailedAnswer[]> {
  const now = state.host.clock.now()
  const found: Found[] = []
  for (const [at, item] of items.entries()) {
    try {
      found.push(await find(state, { ...call, now }, check(item), 'score'))
    } catch (error) {
      throw placed(error, `queries[${at}]`, { batch_index: at })
    }
  }
  const updated: Found[] = []
  for (const one of found) updated.push(await withAccess(state, call.viewer, one))
  return Promise.all(updated.map(one => finish(state, one)))
}

/** Phases 1 to 8 of a query, from the input to the ranked results. */
async function find(
  state: ChromaState,
  call: Asking & { readonly now: Instant },
  item: CheckedItem,
  by: RankedBy,
): Promise<Found> {
  const asked = wholeQuery(item, by)
  const shown = new Map<EntryKey, ResultRow>()
  const page = (cursor?: string): Promise<Answer> =>
    state.host.query({ ...asked, cursor }, { ...call, rows: 'keys' }).catch((error: unknown) => {
      throw asDatabaseError(error, 1)
    })
  const answer = await page()
  for (let one = answer; ; ) {
    for (const [entry, row] of factsOf(one).rows ?? []) shown.set(entry, row)
    const { cursor } = one.page
    if (cursor === null) break
    one = await page(cursor)
  }
  const facts = factsOf(answer)
  const { verdict, reason, notes } = answer.page
  return {
    facts,
    query: { ...facts.query, update_access: item.update_access ?? true },
    rows: [...shown.values()],
    entries: [...shown.keys()],
    verdict: { verdict, reason },
    warnings: [...notes.flatMap(warningOf), ...(facts.custom?.warnings ?? [])],
  }
}

/**
 * Turns a note of the engine's query into a warning of the answer. Notes that a profile's scoring failed are dropped, because a single
 * warning about all failures is added after all entries are scored.
 */
function warningOf({ code, message, details }: Note): readonly Warning[] {
  if (code === HASHTAGS || code === 'custom_scoring_failed') return []
  return [{ code, message, ...(details !== undefined && { details }) }]
}

/**
 * Phase 9 of a query: records the results as used. Nothing is written when there are no results, or when the query's options switch
 * recording off.
 */
async function withAccess(state: ChromaState, viewer: Viewer, found: Found): Promise<Found> {
  const { query, entries, warnings } = found
  if (!query.update_access || entries.length === 0) return found
  const record = () => state.access.record(viewer.id, entries, query.now)
  return { ...found, warnings: [...warnings, ...(await retrying(record, state.sleep))] }
}

/** Phases 10 and 11 of a query: the profile's post-processing, and the answer. */
async function finish(state: ChromaState, { facts, query, rows, verdict, warnings }: Found): Promise<DetailedAnswer> {
  if (facts.by === 'distance') return { results: rows, query, ...verdict, warnings }
  const post = await state.profiles.postProcess(query.profile, rows, { query, state: facts.state, now: query.now })
  return { results: post.rows, query, ...verdict, warnings: [...warnings, ...post.warnings] }
}
