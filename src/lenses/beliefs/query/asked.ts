/** A query at one moment, for answers that are read off it other than as a page. */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { ShowView } from '../access/show.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { Evaluation, type Question } from './evaluation.ts'
import { type Embedded, embedText, understand } from './understand.ts'

/** The requester of a call, and how long it waits. */
export interface Call {
  /** Id of the agent. */
  readonly requester: string
  readonly signal: AbortSignal
  /** Milliseconds of a clock that nobody can set, for time limits; absent: the machine's. */
  readonly machineTime?: (() => number) | undefined
}

/** `read` is given all that matches; what it returns is as of that moment. Paging is the caller's. */
export function asked<T>(
  state: BeliefsState,
  query: CheckedQuery,
  call: Call,
  read: (evaluation: Evaluation, warnings: readonly CheckedWarning[]) => T,
): Promise<T> {
  return askedInSteps(state, query, call, function* (evaluation, warnings) {
    yield
    return read(evaluation, warnings)
  })
}

/** What a requester should know of an answer. */
export function warningsOf(query: CheckedQuery, embedded: Embedded, evaluation: Evaluation): readonly CheckedWarning[] {
  return [...query.warnings, ...embedded.warnings, ...evaluation.warnings]
}

/** As `asked`, with a reading that pauses. */
export async function askedInSteps<T>(
  state: BeliefsState,
  query: CheckedQuery,
  { requester, signal, machineTime }: Call,
  read: (evaluation: Evaluation, warnings: readonly CheckedWarning[]) => Steps<T>,
): Promise<T> {
  await state.load(signal)
  const time = new TimeLimit(query.options.timeoutMs, signal, machineTime)
  const embedded = await embedText(state, query.semantic, signal, time)
  const asOf = state.host.clock.now()
  const body = function* (view: ShowView): Steps<T> {
    time.check()
    const evaluation = yield* evaluateInSteps(state, view, query, embedded, asOf)
    return yield* read(evaluation, warningsOf(query, embedded, evaluation))
  }
  return state.lookInSteps(requester, body, time)
}

/** A query as of one moment, with its matches; `embedded`: what its text came to before. */
export function* evaluateInSteps(
  state: BeliefsState,
  view: ShowView,
  query: CheckedQuery,
  embedded: Embedded,
  asOf: Instant,
  candidatesIn?: Question['candidatesIn'],
): Steps<Evaluation> {
  const { scope, minSimilarity, mergeStrategy } = query.options
  const understood = understand(state, embedded, query.semantic, view.requester.accessScope)
  const byTier = mergeStrategy === 'waterfall'
  const question = { ...query, scope, minSimilarity, byTier, candidatesIn }
  const evaluation = new Evaluation(state, view, question, understood, asOf)
  yield* evaluation.prepare()
  return evaluation
}
