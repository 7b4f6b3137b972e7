/**
 * Lenient syntax: which conditions in the text hold, by what the viewer can see. A condition that nothing visible can fulfil
 * is text, and a phrase that few entries hold raises them and leaves the others in. Nothing hidden has a part in it.
 */
import type { Steps } from '../base/turns.ts'
import { type Filter, TIME_FIELDS } from '../model/filter.ts'
import type { FieldToken, Operand, ParsedQuery, QueryToken } from '../model/plan.ts'
import type { Query } from '../model/query.ts'
import { wordsIn } from '../text/lenient-query.ts'
import { type ParseOptions, parsedFrom } from '../text/query-parser.ts'
import { allowedEntries, withWords } from './conditions.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'

/** Visible entries that must hold a phrase before it is required. */
const ENOUGH_HOLDERS = 10

/**
 * Where there is text beside it, a condition on a value that no visible entry has is searched as text: `tag:v1 release notes`.
 * A condition alone, a negated one, a comparison and one on a time are kept.
 */
export function withFieldsThatExist(
  parsed: ParsedQuery,
  { syntax }: Query,
  options: ParseOptions,
  context: QueryContext,
): ParsedQuery {
  const hasText = parsed.residual.trim() !== ''
  if (syntax !== 'lenient' || !hasText || parsed.fields.length === 0) return parsed
  const { memo, reader, sight } = context
  const filters = new Map(parsed.fields.map(({ position, filter }) => [position, filter]))
  const isUnknown = (token: QueryToken): token is FieldToken => {
    const filter = token.kind === 'field' && token.sign !== '-' ? filters.get(token.position) : undefined
    return filter !== undefined && namesValues(filter) && memo.matching(reader, sight, filter).size === 0
  }
  const unknown = parsed.tokens.filter(isUnknown)
  if (unknown.length === 0) return parsed
  const tokens = parsed.tokens.flatMap((token): readonly QueryToken[] =>
    unknown.includes(token as FieldToken) ? wordsIn(parsed.text, token) : [token],
  )
  const shown = unknown.map(({ position, length }) => parsed.text.slice(position, position + length))
  const message = `Searched as text, because no visible entry has this value: ${shown.join(', ')}. The option filter, and strict syntax, keep the condition.`
  return parsedFrom(parsed.text, tokens, options, [...parsed.notes, { code: 'condition_dropped', message }])
}

/** Whether it names values, which may be mistaken; comparisons, ranges and times are meant. */
function namesValues(filter: Filter): boolean {
  switch (filter.op) {
    case 'or':
      return filter.of.every(namesValues)
    case 'eq':
    case 'in':
    case 'contains':
      return !TIME_FIELDS.includes(filter.field)
    default:
      return false
  }
}

/** Phrases without a sign: those that are required stay among `phrases`, the others become `preferred`. A step for each. */
export function* withPhrasesThatHold(plan: Plan, context: QueryContext): Steps<Plan> {
  const { parsed, query } = plan
  const { phrases, tokens } = parsed
  if (phrases.length === 0 || query.phrase === 'require') return plan
  if (query.phrase === 'prefer') return preferring(plan, phrases)
  const isAlone = tokens.filter(({ kind }) => kind !== 'field').length === 1
  if (query.syntax !== 'lenient' || isAlone) return plan
  const holders = new Map<Operand, number>()
  for (const phrase of phrases) {
    const found = yield* withWords(phrase, null, context)
    holders.set(phrase, found.size)
    yield
  }
  const few = phrases.filter(phrase => (holders.get(phrase) ?? 0) < ENOUGH_HOLDERS)
  const relaxed = preferring(plan, few)
  const isEmpty = few.length < phrases.length && (yield* allowedEntries(relaxed, context))?.size === 0
  const preferred = isEmpty ? phrases : few
  if (preferred.length === 0) return plan
  const shown = preferred.map(phrase => `"${phrase.text}" (${holders.get(phrase)} visible)`).join(', ')
  const why = isEmpty ? 'no entry fulfils all conditions' : `fewer than ${ENOUGH_HOLDERS} entries hold it`
  context.note({
    code: 'phrase_preferred',
    message: `Raises what holds it and is not required, because ${why}: ${shown}. phrase=require requires it.`,
  })
  return preferring(plan, preferred)
}

function preferring(plan: Plan, preferred: readonly Operand[]): Plan {
  const { parsed } = plan
  const phrases = parsed.phrases.filter(phrase => !preferred.includes(phrase))
  return { ...plan, parsed: { ...parsed, phrases, preferred } }
}
