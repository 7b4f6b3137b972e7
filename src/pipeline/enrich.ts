/** Second stage: the question's vector, and how much words and meaning count. */
import { toUnit } from '../math/vector.ts'
import { QuerentError } from '../model/errors.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'
import { lateError } from './time-limit.ts'
import { weightsOf } from './weights.ts'

/** Rejects with `embedder_failed` where meaning alone was asked for and there is none. */
export async function enrich(plan: Plan, context: QueryContext): Promise<Plan> {
  if (plan.mode === 'list' || plan.mode === 'words') return plan
  const vector = await questionVector(plan, context)
  if (vector === null || context.vectors === null) return wordsAlone(plan, context)
  const weights = weightsOf(plan)
  return { ...plan, vector, weights, facts: { ...plan.facts, weights } }
}

/** The text's vector, moved towards (or, for boosts below 1, away from) what the question stresses. */
async function questionVector(plan: Plan, context: QueryContext): Promise<Float32Array | null> {
  const { residual, boosts } = plan.parsed
  if (residual.trim() === '') return null
  const whole = await beforeDeadline(context.embed(residual), context)
  if (whole === null || boosts.length === 0) return whole
  const sum = Float64Array.from(whole)
  for (const { text, boost } of boosts) {
    const part = await beforeDeadline(context.embed(text), context)
    part?.forEach((component, at) => {
      sum[at] = (sum[at] as number) + (boost - 1) * component
    })
  }
  return toUnit(sum) ?? whole
}

function wordsAlone(plan: Plan, context: QueryContext): Plan {
  if (plan.query.mode === 'meaning') {
    if (isLate(context)) throw lateError(context)
    const message = 'mode: meaning needs an embedder, and there is none; ask with mode words'
    throw new QuerentError('embedder_failed', message, { field: 'mode' })
  }
  if (!isLate(context) && !context.notes.some(({ code }) => code === 'words_only')) {
    context.note({ code: 'words_only', message: 'Answered from words alone: there is no embedder.' })
  }
  return { ...plan, mode: 'words' }
}

/** Whether time was up before the question was embedded. */
export function isLate({ notes }: QueryContext): boolean {
  return notes.some(({ code }) => code === 'meaning_late')
}

/** Null when time is up first: then words answer. Rejects with `cancelled` when the caller says stop. */
async function beforeDeadline<T>(work: Promise<T>, context: QueryContext): Promise<T | null> {
  const { signal, leftMs } = context.deadline
  if (leftMs === Number.POSITIVE_INFINITY) return untilAborted(work, signal)
  const late = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(() => late.resolve(LATE), leftMs)
  try {
    const result = await Promise.race([untilAborted(work, signal), late.promise])
    if (result !== LATE) return result
    context.note({ code: 'meaning_late', message: 'The question was not embedded in time; words answer alone.' })
    return null
  } finally {
    clearTimeout(timer)
  }
}

const LATE = Symbol('time was up')

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(new QuerentError('cancelled', 'the caller ended the question'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
