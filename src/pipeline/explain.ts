/** Why an entry is where it is in an answer; why it stands over another; or the first stage that dropped it. */
import { must } from '../base/assert.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Dropped, ExplainAnswer } from '../model/explain-answer.ts'
import { stillVisible } from './access.ts'
import { compare } from './compare.ts'
import type { QueryContext } from './context.ts'
import { firstDrop } from './dropped.ts'
import type { Plan, Stages } from './stage.ts'
import { rankedOf, type Survey, scoredOf, survey } from './survey.ts'
import { whyListed, whyRanked } from './why.ts'

export interface ExplainTarget {
  readonly id: string
  readonly over?: string | undefined
}

/** Rejects with `not_found` for an id that is not there or not visible: the two are never told apart. */
export async function explainEntry(
  target: ExplainTarget,
  stages: Stages,
  context: QueryContext,
): Promise<ExplainAnswer> {
  const found = mustFind(target.id, context)
  const overFound = target.over === undefined ? [] : mustFind(target.over, context)
  const surveyed = await survey(stages, [...found, ...overFound], context)
  const { entry, dropped } = await dropOf(target.id, found, surveyed, context)
  const overKeys = target.over === undefined ? [] : mustSeeStill(target.over, overFound, context)
  const ranked = rankedOf(entry, surveyed)
  const scored = ranked ?? scoredOf(entry, surveyed)
  const explanation = scored === undefined ? null : surveyed.ranking.scoring.explain(scored)
  const over = target.over === undefined ? null : { id: target.over, entry: foremost(overKeys, surveyed) }
  const why = explanation === null ? '' : reasonFor(entry, explanation, surveyed.plan, context)
  return {
    id: target.id,
    rank: ranked?.rank ?? null,
    score: scored?.score ?? null,
    explanation,
    dropped,
    over: over === null ? null : compare({ id: target.id, entry }, over, surveyed, stages, context),
    sentence:
      dropped === null
        ? `"${target.id}" has rank ${must(ranked, 'what was not dropped').rank}: ${why}.`
        : `"${target.id}" is not among the results: ${dropped.reason}`,
  }
}

/** Of the foremost that may be seen after the last pause. Rejects with `not_found` where none may. */
async function dropOf(
  id: string,
  found: readonly EntryKey[],
  surveyed: Survey,
  context: QueryContext,
): Promise<{ readonly entry: EntryKey; readonly dropped: Dropped | null }> {
  for (;;) {
    const entry = foremost(mustSeeStill(id, found, context), surveyed)
    const dropped = await context.turns.run(firstDrop(entry, surveyed, context))
    if (foremost(mustSeeStill(id, found, context), surveyed) === entry) return { entry, dropped }
  }
}

function mustFind(id: string, context: QueryContext): readonly EntryKey[] {
  const keys = context.reader.find(id, context.look().partitions)
  if (keys.length === 0) throw notFound(id)
  return keys
}

/** The second access check: the entries as they are stored now, and what the viewer may see now. */
function mustSeeStill(id: string, keys: readonly EntryKey[], context: QueryContext): readonly EntryKey[] {
  const sight = context.look()
  const entries = context.reader.entries(keys).filter(entry => stillVisible(entry, sight))
  if (entries.length === 0) throw notFound(id)
  return entries.map(entry => entry.key)
}

function notFound(id: string): QuerentError {
  return new QuerentError('not_found', `id: there is no entry ${JSON.stringify(id)}`, { id })
}

/** Of several entries with that id (of different holders) the one that ranks best. */
function foremost(keys: readonly EntryKey[], survey: Survey): EntryKey {
  const ranks = keys.map(key => rankedOf(key, survey)?.rank ?? Number.POSITIVE_INFINITY)
  return keys[ranks.indexOf(Math.min(...ranks))] as EntryKey
}

function reasonFor(
  entry: EntryKey,
  explanation: NonNullable<ExplainAnswer['explanation']>,
  plan: Plan,
  context: QueryContext,
): string {
  if (plan.mode !== 'list') return whyRanked(explanation)
  return whyListed(must(context.reader.entry(entry), 'the entry that was found'))
}
