/** The orders that are held for later pages and pieces, and how one is found again that is not. */
import type { Steps } from '../../../base/turns.ts'
import { requesterOf } from '../../../identity/requester.ts'
import { Held } from '../../../pipeline/held.ts'
import type { ShowView } from '../access/show.ts'
import { frontOf } from '../answer/front.ts'
import { evaluateInSteps } from '../query/evaluate.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Embedded } from '../query/understand.ts'
import type { CheckedWarning } from '../schema/context.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'
import { CURSOR_LIFETIME_MS, type CursorContent, type CursorOwner, cursorExpired } from './cursor.ts'
import { HeldOrder } from './held-order.ts'

/** Orders that are held in one engine. */
const HELD = { most: 1_000, bytes: 64 * 2 ** 20, lifetimeMs: CURSOR_LIFETIME_MS }

const ORDERS = new WeakMap<BeliefsState, Held<HeldOrder>>()

export function ordersOf(state: BeliefsState): Held<HeldOrder> {
  const known = ORDERS.get(state)
  if (known !== undefined) return known
  const made = new Held<HeldOrder>(HELD, requesterOf)
  ORDERS.set(state, made)
  return made
}

/** What an order is held under: the same for all cursors of one. */
export function nameOf(
  { question, requester }: CursorOwner,
  { asOf, digest }: Pick<CursorContent, 'asOf' | 'digest'>,
): string {
  return JSON.stringify([question, requester, asOf, digest])
}

/** The order as of the cursor's moment; throws where it cannot be known any more. */
export async function rebuilt(
  state: BeliefsState,
  query: CheckedQuery,
  requester: string,
  embedded: Embedded,
  content: CursorContent,
  time: TimeLimit,
): Promise<HeldOrder> {
  const rebuild = function* (view: ShowView): Steps<HeldOrder> {
    const evaluation = yield* evaluateInSteps(state, view, query, embedded, content.asOf)
    const front = yield* frontOf(evaluation, query.options)
    const order = new HeldOrder({ evaluation, front, warnings: warningsOf(query, embedded, evaluation) })
    if (order.digest !== content.digest || !(yield* order.stands(content, evaluation))) throw cursorExpired()
    return order
  }
  return state.lookInSteps(requester, rebuild, time)
}

export function warningsOf(query: CheckedQuery, embedded: Embedded, evaluation: Evaluation): readonly CheckedWarning[] {
  return [...query.warnings, ...embedded.warnings, ...pending(evaluation)]
}

function pending(evaluation: Evaluation): readonly CheckedWarning[] {
  const count = evaluation.withoutVector(evaluation.matches).length
  if (count === 0) return []
  const message = `${count} of the beliefs that match have no vector yet: they rank as if they had nothing to do with the text.`
  return [{ code: 'vectors_pending', message }]
}
