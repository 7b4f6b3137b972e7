/**
 * Why a belief stands where it stands for a query, or why it does not (BQ-110): components, rank and percentile, what would
 * lift it, the first step that dropped it, and how it compares with another.
 */
import type { Steps } from '../../../base/turns.ts'
import { toIso } from '../../../model/instant.ts'
import { showCurrent } from '../access/show.ts'
import { beginningOf, type Front, frontOf } from '../answer/front.ts'
import { componentsOf, effectiveWeights } from '../answer/tell-page.ts'
import { noSuchBelief } from '../errors.ts'
import { droppedAt } from '../explain/dropped.ts'
import { explain } from '../explain/explanation.ts'
import { hintsFor } from '../explain/hints.ts'
import { versus } from '../explain/versus.ts'
import { askedInSteps } from '../query/asked.ts'
import type { Call } from '../query/call.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import { trustFound } from '../ranking/trust-found.ts'
import { rowOfId, versionOfId } from '../record/read.ts'
import type { Dropped, explainAnswer, Versus } from '../schema/answers.ts'
import type { CheckedOptions } from '../schema/query.ts'
import type { CheckedExplain } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'

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
      warnings: warnings.map(warning => ({ ...warning })),
    }
  })
}

/** A belief in sight: its row among the matches, or what keeps it from being there. */
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
    if (versionOfId(view, id, true) === undefined) throw noSuchBelief(path)
    return { dropped: { stage: 'current', reason: 'It is a version of the past; queries look at current ones.' } }
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
  if (shown === undefined) throw noSuchBelief('belief_id')
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

/** Most questions are about what stands near the top. */
const FIRST = 64
const GROWTH = 8

/** The total order down to a match. */
function orderUpTo(evaluation: Evaluation, row: number): readonly ScoredBelief[] {
  for (let k = FIRST; ; k *= GROWTH) {
    const order = evaluation.best(k)
    const at = order.findIndex(scored => scored.row === row)
    if (at >= 0) return order.slice(0, at + 1)
    if (k >= evaluation.matches.count) throw new Error('invariant broken: a match that has no place in the order')
  }
}

/** Null: that is not why. */
function opposed(front: Front | null, { entry }: ScoredBelief): Dropped | null {
  const conflict = front?.conflicts.find(({ of: [, second] }) => second.entry === entry)
  if (conflict === undefined) return null
  return {
    stage: 'conflicts',
    reason: `It contradicts ${conflict.of[0].id}, which is shown before it, or alone, as this node is set.`,
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
