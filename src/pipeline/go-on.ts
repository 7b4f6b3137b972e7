/** Later pages of an answer, from the order that its first page found; asked deeper when that has come to its end. */
import { type Candidate, itemKey, type Ranked, type Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { LEG_DEPTH, MAX_LIMIT } from '../model/limits.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { DerivedContext, LastingContext } from './derived-context.ts'
import { type HeldOrder, numbersOf } from './held-order.ts'
import { inOrder } from './order.ts'
import { firstDepth, hasCaps } from './page-bounds.ts'
import { byGroup } from './passage.ts'
import { DEEPER, hasRounds, joinedStatistics } from './rounds.ts'
import type { Answer, Plan, Retrieval, Scoring, Stages } from './stage.ts'
import { mustNotBeCancelled } from './time-limit.ts'

/** Longer orders are not held: pages that far down go by the place where the last one ended. */
const LONGEST = 4 * MAX_LIMIT

export interface WentOn {
  readonly answer: Answer
  readonly order: HeldOrder
  /** Of its rest, as many are passed now. */
  readonly at: number
  /** False when time was up first. */
  readonly complete: boolean
}

/** The next `limit` of it behind `at`. Null: it goes on beyond what is held. */
export async function goOn(
  held: HeldOrder,
  at: number,
  limit: number,
  stages: Stages,
  context: QueryContext,
): Promise<WentOn | null> {
  const query: Query = { ...context.query, limit }
  const asked = new DerivedContext(context, { notes: held.notes })
  let order = held
  let from = at
  for (;;) {
    mustNotBeCancelled(context)
    const { plan, rest, retrieval, scoring } = order
    const ranking = { ranked: rest.slice(from), scoring, isRest: true }
    const answer = await context.turns.run(stages.present(ranking, retrieval, { ...plan, query }, asked))
    const isFull = answer.page.items.length === limit && answer.cursor !== null
    const isSure = scoring.ceiling === null || (answer.last !== null && answer.last > scoring.ceiling)
    const isLast = retrieval.exhausted || scoring.isWhole === true
    const complete = isLast || (isFull && isSure)
    if (complete || context.deadline.over) return { answer, order, at: passed(order, from, answer), complete }
    if (order.before.length + rest.length > LONGEST) return null
    order = await deeper(order, from, query, stages, context)
    from = 0
  }
}

function passed({ rest }: HeldOrder, from: number, { endKey }: Answer): number {
  return endKey === null ? rest.length : rest.findIndex((one, at) => at >= from && itemKey(one) === endKey) + 1
}

/** The order with what one more retrieval brings: as of the same moment, without what has come since. */
async function deeper(
  order: HeldOrder,
  at: number,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<HeldOrder> {
  const lasting = new LastingContext(context)
  const inTime = new DerivedContext(lasting, { deadline: context.deadline })
  // From the beginning: what was changed since may have moved to before the place where a page ended.
  const plan: Plan = { ...order.plan, query: { ...lasting.query, after: null } }
  const round = order.round + 1
  const depth = hasRounds(plan) ? firstDepth(query) * DEEPER ** round : order.retrieval.depth * DEEPER
  const brought = await stages.retrieve(plan, depth, context)
  const known = [...order.before, ...order.rest]
  const [isKnown, ofKnown] = [new Set(known.map(itemKey)), new Set(known.map(({ entry }) => entry))]
  // Of an entry that is known, passages may still be missing.
  const isNew = (entry: EntryKey) => query.group === 'passage' || !ofKnown.has(entry)
  const candidates = brought.candidates.filter(({ entry }) => isNew(entry) && entry <= order.newest)
  const statistics = joinedStatistics(order.retrieval, brought)
  const asked: Retrieval = { ...brought, candidates, statistics, isRest: true }
  const { scoring, retrieval } = await byGroup(await stages.score(asked, plan, lasting), asked, plan, inTime)
  lasting.thaw()
  const unknown = scoring.scored.filter(one => !isKnown.has(itemKey(one)))
  const fresh = unknown.map((one): Scored => (hasRounds(plan) ? { ...one, round } : one))
  const { ranked, isCut } = await rankBehind(known, { ...scoring, scored: fresh }, plan, query, stages, lasting)
  const rest = order.rest.slice(at)
  return {
    ...order,
    retrieval: { ...numbersOf({ ...retrieval, statistics }), exhausted: retrieval.exhausted && !isCut },
    scoring: joined(order.scoring, { ...scoring, isWhole: scoring.isWhole === true && !isCut }, ranked),
    before: [...order.before, ...order.rest.slice(0, at)],
    rest: hasRounds(plan) || plan.mode === 'list' ? [...rest, ...ranked] : merged(rest, ranked, lasting),
    round: isCut ? order.round : round,
  }
}

/** What was brought behind what is known, in order. `isCut`: of a spread order as many were chosen as a page needs. */
async function rankBehind(
  known: readonly Ranked[],
  fresh: Scoring,
  plan: Plan,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<{ readonly ranked: readonly Ranked[]; readonly isCut: boolean }> {
  // What was shown counts in its groups, and what comes must be unlike it.
  const isGrouped = query.diversity < 1 || hasCaps(query)
  const scored = isGrouped ? [...known, ...fresh.scored] : fresh.scored
  // As many more as a few pages need: choosing looks at all that was chosen before.
  const enough = { ...query, limit: Math.max(query.limit, LEG_DEPTH), after: { ...NOWHERE, rank: known.length } }
  const wider = new DerivedContext(context, { query: enough })
  const { ranked: all } = await context.turns.run(stages.diversify({ ...fresh, scored }, plan, wider))
  const isKnown = new Set(known.map(itemKey))
  const ranked = all.filter(one => !isKnown.has(itemKey(one)))
  return { ranked, isCut: query.diversity < 1 && all.length < scored.length && ranked.length > 0 }
}

/** An exact order: what is asked deeper may stand before what is still to come. */
function merged(rest: readonly Ranked[], ranked: readonly Ranked[], context: QueryContext): readonly Ranked[] {
  return inOrder([...rest, ...ranked], context) as readonly Ranked[]
}

/** Says of each what was found out when it was brought. */
function joined(before: Scoring, now: Scoring, ranked: readonly Ranked[]): Scoring {
  const isNew = new Set(ranked.map(itemKey))
  const ofNew = new Set(ranked.map(({ entry }) => entry))
  const [rateBefore, rateNow] = [before.rate, now.rate]
  return {
    ...now,
    scored: [],
    components: scored => (isNew.has(itemKey(scored)) ? now : before).components(scored),
    explain: scored => (isNew.has(itemKey(scored)) ? now : before).explain(scored),
    why: scored => (isNew.has(itemKey(scored)) ? now : before).why(scored),
    // They are of one entry.
    ...(rateBefore !== undefined &&
      rateNow !== undefined && {
        rate: (passages: readonly Candidate[]) =>
          passages.some(({ entry }) => ofNew.has(entry)) ? rateNow(passages) : rateBefore(passages),
      }),
    verdict: before.verdict,
    reason: before.reason,
    verdictBy: before.verdictBy,
  }
}

const NOWHERE = { order: 0, id: '', holder: '', rank: 0, depth: 0, round: 0, shown: '' }
