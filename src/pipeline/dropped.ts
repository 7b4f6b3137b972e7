/** The first stage that dropped an entry from an answer, and why. Only asked for entries that the viewer may see. */

import type { Bitset } from '../base/bitset.ts'
import type { Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Dropped } from '../model/explain-answer.ts'
import type { FieldName, Filter } from '../model/filter.ts'
import { demands, withWords } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { NOTHING_SPEAKS } from './noise.ts'
import { rankedOf, type Survey, scoredOf, type Target } from './survey.ts'

/** Null when it is among the results of this page or one before. A step for each word and phrase that is looked up. */
export function* firstDrop(target: Target, survey: Survey, context: QueryContext): Steps<Dropped | null> {
  const { entry } = target
  const { ranking, retrieval, reached } = survey
  const { query } = context
  if (retrieval.allow !== null && !retrieval.allow.has(entry)) return yield* brokenCondition(entry, survey, context)
  if (ranking.scoring.verdict === 'nothing_relevant' && !query.any) {
    return { stage: 'verdict', reason: ranking.scoring.reason ?? 'Nothing relevant was found.' }
  }
  const ranked = rankedOf(target, survey)
  const end = (query.after?.rank ?? 0) + query.limit
  if (ranked !== undefined && ranked.rank <= end) return null
  if (!reached.has(entry)) return unreached(target, survey)
  if (scoredOf(target, survey) === undefined) return { stage: 'score', reason: NOTHING_SPEAKS }
  if (ranked === undefined) return { stage: 'diversify', reason: 'Others of its group, or unlike it, were preferred.' }
  return { stage: 'page', reason: `It has rank ${ranked.rank}; the page ends at ${end}.` }
}

function* brokenCondition(entry: EntryKey, { plan }: Survey, context: QueryContext): Steps<Dropped> {
  const { memo, reader, sight } = context
  if (plan.filter !== null && !memo.matching(reader, sight, plan.filter).has(entry)) {
    return { stage: 'filter', reason: brokenFilter(entry, plan.filter, context) }
  }
  if (memo.invalid(reader, plan.query.asOf).has(entry)) {
    return { stage: 'validity', reason: 'It does not hold at the moment that was asked about.' }
  }
  for (const { operand, how } of demands(plan)) {
    const holders: Bitset = yield* withWords(operand, null, context)
    if (!holders.has(entry)) return { stage: how, reason: `It does not contain "${operand.text}".` }
    yield
  }
  for (const operand of plan.parsed.mustNot) {
    const holders: Bitset = yield* withWords(operand, null, context)
    if (holders.has(entry)) return { stage: 'exclusion', reason: `It contains "${operand.text}", which was shut out.` }
    yield
  }
  return { stage: 'exclusion', reason: 'It contains what was shut out.' }
}

function brokenFilter(entry: EntryKey, filter: Filter, context: QueryContext): string {
  const { memo, reader, sight } = context
  const parts = filter.op === 'and' ? filter.of : [filter]
  const broken = parts.filter(part => !memo.matching(reader, sight, part).has(entry))
  const fields = [...new Set(broken.flatMap(fieldsOf))]
  return `It does not fulfil the condition on ${fields.join(', ')}.`
}

function fieldsOf(filter: Filter): readonly FieldName[] {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.flatMap(fieldsOf)
    case 'not':
      return fieldsOf(filter.of)
    default:
      return [filter.field]
  }
}

function unreached(target: Target, survey: Survey): Dropped {
  const { plan, retrieval } = survey
  const legs = plan.mode === 'hybrid' ? 'by words nor by meaning' : `by ${plan.mode}`
  const best = `It is ${plan.mode === 'hybrid' ? 'neither ' : 'not '}among the best ${legs}`
  const ranked = rankedOf(target, survey)
  if (ranked !== undefined) return { stage: 'retrieve', reason: `${best}; asked deeper it has rank ${ranked.rank}.` }
  const words = retrieval.complete ? 'and nothing in it matches' : 'and time was up before looking deeper'
  return { stage: 'retrieve', reason: `${best}, ${words}.` }
}
