/**
 * Explains why a belief has its rank for a query, or why it is missing (BQ-110): the components of its score, its rank and percentile, what
 * would raise it, the first step of the query that dropped it, and how it compares with another belief.
 */
import { atOnce, type Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { ALL_SOURCES } from '../access/requester.ts'
import { SOURCE_NUMBERS, showCurrent } from '../access/show.ts'
import { beginningOf, type Front, frontOf } from '../answer/front.ts'
import { componentsOf, effectiveWeights } from '../answer/show-page.ts'
import type { Dimension } from '../dimensions.ts'
import { explain } from '../explain/belief-explanation.ts'
import { Matches, validInstants } from '../matching/in-scope.ts'
import type { TextOperators } from '../matching/operators.ts'
import { confidenceInRanking, decayRate, dimensionsByLoss, recency } from '../measures/confidence.ts'
import type { Belief, Confidence, RankingWeights } from '../model.ts'
import { askedInSteps, type Call, type Evaluation } from '../query/evaluation.ts'
import { byOrder, finalOf, type ScoredBelief, trustFound } from '../ranking/scored.ts'
import { notSeen, rowOfId, versionOfId } from '../record/read.ts'
import { type CheckedFilters, NO_FILTER } from '../schema/filters.ts'
import type { CheckedOptions } from '../schema/query.ts'
import type { CheckedExplain, Dropped, explainAnswer, Versus } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'

type PartName = keyof RankingWeights
const PARTS: readonly PartName[] = ['semantic', 'confidence', 'trust', 'recency']

interface WeightChange {
  /** Changed ranking weights, with the sum 1, with which the lower-ranked of two beliefs ranks above the other. */
  readonly weights: RankingWeights
  /**
   * Total weight that is taken from some components of the score and given to another one. It is the smallest total that reverses the order
   * of the two beliefs, apart from a margin for rounding.
   */
  readonly moved: number
}

/**
 * Why one of two beliefs ranks above the other: the difference in each component of the score, and the smallest change of the ranking
 * weights that reverses their order.
 */
function versus(one: ScoredBelief, other: ScoredBelief, weights: RankingWeights): Omit<Versus, 'matched'> {
  const [ahead, behind] = byOrder(one, other) <= 0 ? [one, other] : [other, one]
  const parts = PARTS.filter(name => ahead.parts[name] !== null && behind.parts[name] !== null)
  const differences = Object.fromEntries(
    parts.map(name => [name, (ahead.parts[name] as number) - (behind.parts[name] as number)]),
  )
  const change = smallestChange(weights, differences)
  return {
    ahead: ahead.id,
    behind: behind.id,
    gap: ahead.final - behind.final,
    parts: Object.fromEntries(
      parts.map(name => {
        const difference = differences[name] as number
        return [name, { difference, weight: weights[name], contribution: weights[name] * difference }]
      }),
    ),
    ...(ahead.final === behind.final ? { decided_by: tieBreaker(ahead, behind) } : {}),
    smallest_change: change === null ? null : { weights: { ...change.weights }, moved: change.moved },
  }
}

/**
 * By how much the weighted score of the lower-ranked belief must exceed that of the other after the change of weights. A bare tie could be
 * decided either way by rounding.
 */
const MARGIN = 1e-9

/**
 * The smallest change of ranking weights that reverses the order of two beliefs; null: the lower-ranked belief is better in no component,
 * so none does. `differences`: by component, the higher-ranked belief's value minus the lower-ranked one's.
 * Weight moves from the components where the lower-ranked belief is worst to the one where it is best.
 */
export function smallestChange(
  weights: RankingWeights,
  differences: Readonly<Partial<Record<PartName, number>>>,
): WeightChange | null {
  const parts = (Object.keys(differences) as PartName[]).map(name => ({ name, gain: differences[name] as number }))
  const to = parts.reduce<{ readonly name: PartName; readonly gain: number } | null>(
    (least, part) => (least === null || part.gain < least.gain ? part : least),
    null,
  )
  if (to === null || to.gain >= 0) return null
  const changed: Record<PartName, number> = { ...weights }
  let left = parts.reduce((sum, { name, gain }) => sum + weights[name] * gain, 0) + MARGIN
  let moved = 0
  for (const { name, gain } of parts.toSorted((a, b) => b.gain - a.gain)) {
    if (left <= 0 || name === to.name) break
    const amount = Math.min(changed[name], left / (gain - to.gain))
    changed[name] -= amount
    changed[to.name] += amount
    moved += amount
    left -= amount * (gain - to.gain)
  }
  return { weights: changed, moved }
}

function tieBreaker(a: ScoredBelief, b: ScoredBelief): NonNullable<Versus['decided_by']> {
  if (a.createdAt !== b.createdAt) return 'created_at'
  return a.id === b.id ? 'holder_id' : 'id'
}

interface Hint {
  readonly dimension: Dimension
  /** The belief's present value in this confidence dimension, 0 to 1; null: unknown. */
  readonly current: number | null
  /** The smallest value, in tenths, of the dimension that gives the belief a better rank if everything else stays unchanged. */
  readonly target: number
  readonly rank: number
}

/**
 * Confidence dimensions of a belief that would give it a better rank if they were higher (BQ-110); the dimension that lowers the overall
 * confidence most comes first. `upTo`: all matches from the first down to the belief, in order of score.
 */
function hintsFor(
  { question, state, asOf, view }: Pick<Evaluation, 'question' | 'state' | 'asOf' | 'view'>,
  scored: ScoredBelief,
  belief: Belief,
  upTo: readonly ScoredBelief[],
): readonly Hint[] {
  const { context, weights } = question
  const rate = decayRate(belief.domains, context.queryDomains, state.settings.decay)
  const rankWith = (confidence: Confidence): number => {
    view.time?.check()
    const parts = {
      ...scored.parts,
      confidence: confidenceInRanking(confidence, context.confidenceWeights),
      recency: recency(confidence.temporal_freshness, scored.createdAt, asOf, rate),
    }
    return rankAmong({ ...scored, final: finalOf(parts, weights) }, upTo)
  }
  const rank = upTo.length
  return dimensionsByLoss(belief.confidence, context.confidenceWeights).flatMap((dimension): readonly Hint[] => {
    const current = belief.confidence[dimension]
    const found = minLift(tenthsAbove(current), rank, target => {
      return rankWith({ ...belief.confidence, [dimension]: target })
    })
    return found === null ? [] : [{ dimension, current, ...found }]
  })
}

/** Rank that a scored belief would have among others in order of score, from 1. */
function rankAmong(scored: ScoredBelief, all: readonly ScoredBelief[]): number {
  let rank = 1
  for (const other of all) if (other.entry !== scored.entry && byOrder(other, scored) < 0) rank++
  return rank
}

/**
 * The first of ascending target values that gives a better rank than `rank`; null: none does. A higher value never gives a worse rank, so a
 * binary search is used.
 */
function minLift(
  targets: readonly number[],
  rank: number,
  rankAt: (target: number) => number,
): { readonly target: number; readonly rank: number } | null {
  let found: { readonly target: number; readonly rank: number } | null = null
  let from = 0
  let to = targets.length
  while (from < to) {
    const middle = (from + to) >> 1
    const target = targets[middle] as number
    const reached = rankAt(target)
    if (reached < rank) {
      found = { target, rank: reached }
      to = middle
    } else from = middle + 1
  }
  return found
}

function tenthsAbove(value: number | null): readonly number[] {
  return Array.from({ length: 10 }, (_, at) => (at + 1) / 10).filter(tenth => value === null || tenth > value)
}

type Answer = Value<typeof explainAnswer>
type Placed = Omit<Answer, 'belief_id' | 'versus' | 'effective_weights' | 'as_of' | 'warnings'>

export function explainPlace(state: BeliefsState, asking: CheckedExplain, call: Call): Promise<Answer> {
  const { query, beliefId, otherId } = asking
  return askedInSteps(state, query, call, function* (evaluation, warnings) {
    const found = find(evaluation, beliefId, 'belief_id')
    const other = otherId === null ? null : find(evaluation, otherId, 'other_id')
    return {
      belief_id: beliefId,
      ...('dropped' in found ? unmatched(found.dropped) : yield* placed(evaluation, found.row, query.options)),
      ...(other === null ? {} : { versus: compared(evaluation, found, other) }),
      effective_weights: { ...effectiveWeights(query) },
      as_of: toIso(evaluation.asOf),
      warnings,
    }
  })
}

/** Result of looking for a visible belief in an evaluation: its row if it is a match, otherwise the step that dropped it. */
type Found = { readonly row: number } | { readonly dropped: Dropped }

function find(evaluation: Evaluation, id: string, path: string): Found {
  const { view, matches } = evaluation
  const { columns } = view
  const number = columns.texts.idNumber(id)
  for (let row = number === -1 ? -1 : columns.firstOfId(number); row !== -1; row = columns.nextOfId(row)) {
    if (matches.has(row)) return { row }
  }
  const row = rowOfId(view, number)
  if (row === -1) {
    if (versionOfId(view, id, true) === undefined) throw notSeen(view, id, path)
    return { dropped: { stage: 'current', reason: 'It is an old version; queries search current versions.' } }
  }
  const dropped = droppedAt(evaluation, row)
  return dropped === null ? { row } : { dropped }
}

function unmatched(dropped: Dropped): Placed {
  return {
    matched: false,
    shown: false,
    dropped_by: { ...dropped },
    summary: `Not among the matches. ${dropped.reason}`,
  }
}

function* placed(evaluation: Evaluation, row: number, options: CheckedOptions): Steps<Placed> {
  const { view, matches, question } = evaluation
  const upTo = orderUpTo(evaluation, row)
  const scored = upTo.at(-1) as ScoredBelief
  const [shown] = showCurrent(view, [scored.entry], question.scope)
  if (shown === undefined) throw notSeen(view, scored.id)
  const { belief } = shown
  const front = yield* frontOf(evaluation, options)
  const page = (yield* beginningOf(evaluation, front, options.offset + options.limit)).slice(options.offset)
  const picked = page.find(each => each.scored.entry === scored.entry)
  const penalty = picked?.penalty ?? 0
  const rank = upTo.length
  const total = matches.count
  const { percentile, summary, ...explanation } = explain(evaluation, {
    ...{ scored, belief, penalty, rank, total },
    trust: trustFound(evaluation, scored),
  })
  return {
    matched: true,
    shown: picked !== undefined,
    dropped_by: picked === undefined ? { ...(opposed(front, scored) ?? beyondPage(rank, options)) } : null,
    ...{ rank, of: total, percentile, summary },
    score: { final: scored.final, components: { ...componentsOf(scored, penalty) } },
    explanation,
    hints: hintsFor(evaluation, scored, belief, upTo),
  }
}

/**
 * Number of matches, best first, that are read in the first attempt to find a belief's rank; most requests concern results near the top.
 * Each further attempt reads `GROWTH` times as many, until the belief is among them.
 */
const FIRST = 64
const GROWTH = 8

/** All matches in order of score, from the first down to the match in the given row. */
function orderUpTo(evaluation: Evaluation, row: number): readonly ScoredBelief[] {
  for (let k = FIRST; ; k *= GROWTH) {
    const order = evaluation.best(k)
    const at = order.findIndex(scored => scored.row === row)
    if (at >= 0) return order.slice(0, at + 1)
    if (k >= evaluation.matches.count) throw new Error('invariant broken: a match that has no place in the order')
  }
}

/** The conflict with another result because of which a belief was lowered or left out; null: there was none. */
function opposed(front: Front | null, { entry }: ScoredBelief): Dropped | null {
  const conflict = front?.conflicts.find(({ of: [, second] }) => second.entry === entry)
  if (conflict === undefined) return null
  return {
    stage: 'conflicts',
    reason: `It contradicts ${conflict.of[0].id}, which is shown before it, or alone, by the settings of this node.`,
  }
}

function beyondPage(rank: number, { offset, limit, diversity }: CheckedOptions): Dropped {
  if (diversity.enabled) return { stage: 'diversity', reason: 'Others were picked for the page, for variety.' }
  return { stage: 'page', reason: `It is number ${rank}; the page shows ${offset + 1} to ${offset + limit}.` }
}

function compared(evaluation: Evaluation, one: Found, other: Found): Versus {
  if ('dropped' in other) return { matched: false, dropped_by: { ...other.dropped } }
  if ('dropped' in one) return { matched: true }
  const [a, b] = evaluation.scoresOf([one.row, other.row]) as [ScoredBelief, ScoredBelief]
  return { matched: true, ...versus(a, b, evaluation.question.weights) }
}

// Finds why a belief is not among the matches: the first step of the query that dropped it. Used only for beliefs that the requester may
// see; the result depends only on visible beliefs and the query.

/**
 * The first step of the query that dropped the belief in this row; null: the belief matches. The requester must be allowed to see the row.
 */
export function droppedAt(evaluation: Evaluation, row: number): Dropped | null {
  if (evaluation.matches.has(row)) return null
  const { columns, requester } = evaluation.view
  const partition = columns.arrays.partitions[row] as number
  const holder = columns.holderOf(row)
  const source = requester.sourceOf(partition, holder, evaluation.question.scope)
  if (source === null) {
    const kind = requester.sourceOf(partition, holder, ALL_SOURCES)?.kind
    return { stage: 'scope', reason: `It would come from ${kind}, which options.scope excludes.` }
  }
  const number = SOURCE_NUMBERS[source.kind]
  return (
    byTime(evaluation, row) ??
    byFilters(evaluation, row, number) ??
    byOperators(evaluation, row, number) ??
    byMeaning(evaluation, row) ??
    byCopies(evaluation, row)
  )
}

function byTime({ view, question, asOf }: Evaluation, row: number): Dropped | null {
  const { created, validFrom, validUntil } = view.columns.arrays
  const at = validInstants(question.filters, asOf)
  const drop = (reason: string): Dropped => ({ stage: 'time', reason })
  if ((created[row] as number) > asOf) return drop('It was written later.')
  const from = validFrom[row] as number
  const until = validUntil[row] as number
  if (from > Math.min(...at)) return drop(`It is valid only from ${toIso(from)} on.`)
  return until <= Math.max(...at) ? drop(`It was valid only until ${toIso(until)}.`) : null
}

/** Names of the filters as they are written in a request. */
const FILTER_NAMES: Readonly<Record<keyof CheckedFilters, string>> = {
  confidence: 'min_confidence',
  validAt: 'valid_at',
  createdAfter: 'created_after',
  createdBefore: 'created_before',
  createdWithinMs: 'preset recent',
  domainsInclude: 'domains_include',
  domainsExclude: 'domains_exclude',
  holderIds: 'holder_ids',
  excludeHolders: 'exclude_holders',
  minHolderReputation: 'min_holder_reputation',
  directTrustAbove: 'preset from_trusted',
  derivationTypes: 'derivation_types',
  maxDerivationDepth: 'max_derivation_depth',
  visibilityLevels: 'visibility_levels',
}

function byFilters(evaluation: Evaluation, row: number, source: number): Dropped | null {
  for (const filter of evaluation.question.filters) {
    for (const name of Object.keys(FILTER_NAMES) as (keyof CheckedFilters)[]) {
      const tests = evaluation.testsOf([{ ...NO_FILTER, [name]: filter[name] }])
      if (tests.every(test => test(row, source))) continue
      return { stage: 'filters', reason: `It does not pass the filter ${FILTER_NAMES[name]}.` }
    }
  }
  return null
}

function byOperators(evaluation: Evaluation, row: number, source: number): Dropped | null {
  const { question, understood, view } = evaluation
  if (question.semantic === null) return null
  const alone = new Matches(view.columns, Int32Array.of(row), Uint8Array.of(source))
  const none = { phrases: [], include: [], exclude: [] }
  const meets = (some: Partial<TextOperators>) =>
    atOnce(evaluation.meetingOperators(alone, { ...none, ...some })).count > 0
  for (const phrase of question.semantic.phrases) {
    if (!meets({ phrases: [phrase] }))
      return { stage: 'phrases', reason: `It does not contain the phrase "${phrase}".` }
  }
  for (const operand of understood.exclude) {
    if (!meets({ exclude: [operand] })) return { stage: 'exclusions', reason: `It contains or means -${operand.text}.` }
  }
  for (const operand of understood.include) {
    if (!meets({ include: [operand] })) {
      return { stage: 'inclusions', reason: `It neither contains nor means +${operand.text}.` }
    }
  }
  return null
}

function byMeaning({ copies, cosines, floor, understood, view, requester }: Evaluation, row: number): Dropped | null {
  const { meaning } = understood
  if (cosines === null || copies.has(row)) return null
  const entry = view.columns.arrays.entries[row] as EntryKey
  const { partitions } = requester.accessScope
  const [hit] = meaning.by === 'vector' ? meaning.index.score(meaning.vector, [entry], { partitions }) : []
  const reason =
    hit === undefined
      ? 'It has no vector to compare, and too few of the words of the text.'
      : floor !== null && hit.score < floor
        ? `It is too far from the text: its cosine is ${hit.score.toFixed(2)}, and ${floor.toFixed(2)} is needed.`
        : 'Too many other beliefs are nearer to the text.'
  return { stage: 'candidates', reason }
}

function byCopies({ view: { columns }, matches }: Evaluation, row: number): Dropped {
  const { ids, contents } = columns.arrays
  const sameId = matches.rows.find(other => ids[other] === ids[row])
  const kept = sameId ?? matches.rows.find(other => contents[other] === contents[row])
  const which = kept === undefined ? '' : `, ${columns.idOf(kept)}`
  return { stage: 'copies', reason: `A copy of it is shown in its place${which}.` }
}
