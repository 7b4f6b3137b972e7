/** First stage of the query pipeline, parse: converts the query's text to search terms, conditions, and the text to embed. */
import type { Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { type Filter, LINKED, TIME_FIELDS } from '../model/filter.ts'
import type { FieldToken, Operand, ParsedQuery, QueryToken } from '../model/plan.ts'
import type { Query } from '../model/query.ts'
import type { StoreReader } from '../store/store.ts'
import { wordsIn } from '../text/lenient-query.ts'
import { type ParseOptions, parsedFrom, parseQuery } from '../text/query-parser.ts'
import { allowedEntries, withWords } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { weightsWith } from './formula.ts'
import { NoteLinks } from './note-links.ts'
import { allOf } from './resolve-query.ts'
import type { Plan } from './stage.ts'

/**
 * The parse stage: converts the query's text to a plan. Throws `invalid_argument` for a blank query without a filter, and in strict syntax
 * `query_syntax` with a position.
 */
export function parse(query: Query, context: QueryContext): Plan {
  return parseWith({}, query, context)
}

/**
 * Parses like the default parse stage, for a lens whose query grammar differs. `allowEmpty`: the lens adds conditions of its own, so the
 * query needs no text.
 */
export function parseWith(
  grammar: Partial<Pick<ParseOptions, 'allowsLoneSigns' | 'allowEmpty'>>,
  query: Query,
  context: QueryContext,
): Plan {
  const options: ParseOptions = {
    ...grammar,
    fields: context.fields,
    now: query.asOf,
    allowEmpty: query.filter !== null || grammar.allowEmpty === true,
    syntax: query.syntax,
  }
  const { parsed, unknown } = withLinks(
    withFieldsThatExist(parseQuery(query.text, options), query, options, context),
    context,
  )
  for (const note of parsed.notes) context.note(note)
  const isList = parsed.terms.length === 0 && parsed.must.length === 0 && parsed.residual.trim() === ''
  return {
    query,
    parsed,
    mode: isList ? 'list' : query.mode,
    filter: allOf([query.filter, parsed.filter].filter(filter => filter !== null)),
    terms: parsed.terms.map(({ text, boost }) => ({ text, boost })),
    vector: null,
    weights: weightsWith(0),
    except: null,
    facts: unknown.length === 0 ? {} : { [UNKNOWN_NOTES]: unknown },
  }
}

/**
 * Parsing in lenient syntax, in which it depends on the entries visible to the viewer which conditions in the text apply: a condition that
 * no visible entry can meet is searched as text, and a phrase that only few entries contain raises these entries instead of excluding
 * others. Hidden entries have no influence.
 */

/**
 * Number of visible entries that must contain a phrase before the phrase is required; with fewer, it only raises the entries that contain
 * it.
 */
const ENOUGH_HOLDERS = 10

/**
 * Decides which conditions in a query's text apply. A condition on a value that no visible entry has is searched as text, as in `tag:v1
 * release notes`. Always kept as conditions: those of a query without other text, negated ones, comparisons, and conditions on a time.
 */
export function withFieldsThatExist(
  parsed: ParsedQuery,
  { syntax }: Query,
  options: ParseOptions,
  context: QueryContext,
): ParsedQuery {
  const hasText = parsed.residual.trim() !== ''
  if (syntax !== 'lenient' || !hasText || parsed.fields.length === 0) return parsed
  const { memo, reader, accessScope } = context
  const filters = new Map(parsed.fields.map(({ position, filter }) => [position, filter]))
  const isUnknown = (token: QueryToken): token is FieldToken => {
    const filter = token.kind === 'field' && token.sign !== '-' ? filters.get(token.position) : undefined
    return filter !== undefined && namesValues(filter) && memo.matching(reader, accessScope, filter).size === 0
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

/**
 * Whether a condition tests for certain values, which the user may not have meant as a condition; comparisons, ranges and times are
 * certainly meant as conditions.
 */
function namesValues(filter: Filter): boolean {
  switch (filter.op) {
    case 'or':
      return filter.of.every(namesValues)
    case 'eq':
    case 'in':
    case 'contains':
      return !TIME_FIELDS.includes(filter.field) && filter.field !== LINKED
    default:
      return false
  }
}

/** Key in a plan's facts (results of parsing, shown in the trace) for the names given with `linked:` that no visible entry has. */
export const UNKNOWN_NOTES = 'unknown_notes'

/**
 * Replaces each `linked:name` condition by a condition on ids: those of the visible entries that link to, or are linked from, the visible
 * entries called `name`.
 */
function withLinks(
  parsed: ParsedQuery,
  { reader, accessScope }: QueryContext,
): { readonly parsed: ParsedQuery; readonly unknown: readonly string[] } {
  if (!parsed.fields.some(({ field }) => field === LINKED)) return { parsed, unknown: [] }
  const links = new NoteLinks(reader, accessScope)
  const unknown: string[] = []
  const resolved = (filter: Filter): Filter => {
    if (filter.op === 'and' || filter.op === 'or') return { ...filter, of: filter.of.map(resolved) }
    if (filter.op === 'not') return { op: 'not', of: resolved(filter.of) }
    if (filter.op !== 'eq' || filter.field !== LINKED) return filter
    const name = String(filter.value)
    const called = links.called(name)
    if (called.length === 0) unknown.push(name)
    return {
      op: 'or',
      of: named(
        called.flatMap(entry => links.linkedWith(entry)),
        reader,
      ),
    }
  }
  const fields = parsed.fields.map(condition => ({ ...condition, filter: resolved(condition.filter) }))
  return { parsed: { ...parsed, fields, filter: allOf(fields.map(({ filter }) => filter)) }, unknown }
}

/** Filters that exactly these entries meet. Each filter tests holder and id, since an id is unique only within its holder. */
function named(entries: readonly EntryKey[], reader: StoreReader): readonly Filter[] {
  const byHolder = Map.groupBy(reader.identities([...new Set(entries)]), ({ holder }) => holder)
  return [...byHolder].map(([holder, of]) => ({
    op: 'and',
    of: [
      { op: 'eq', field: 'holder', value: holder },
      { op: 'in', field: 'id', values: of.map(({ id }) => id) },
    ],
  }))
}

/**
 * Decides about quoted phrases without a `+` or `-` sign: those that enough visible entries contain stay required (`phrases`), the others
 * only raise scores (`preferred`). A generator that pauses after each phrase, so that other work can run.
 */
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
  const why = isEmpty ? 'no entry matches all conditions' : `fewer than ${ENOUGH_HOLDERS} entries contain it`
  context.note({
    code: 'phrase_preferred',
    message: `Not required, but entries that contain it rank higher, because ${why}: ${shown}. phrase=require requires it.`,
  })
  return preferring(plan, preferred)
}

function preferring(plan: Plan, preferred: readonly Operand[]): Plan {
  const { parsed } = plan
  const phrases = parsed.phrases.filter(phrase => !preferred.includes(phrase))
  return { ...plan, parsed: { ...parsed, phrases, preferred } }
}

/** A parsed query for a text whose operators, field names and conditions are not interpreted: all of it is text to embed. */
export function unparsed(text: string): ParsedQuery {
  return {
    text,
    tokens: [],
    terms: [],
    phrases: [],
    preferred: [],
    must: [],
    mustNot: [],
    fields: [],
    filter: null,
    residual: text,
    boosts: [],
    notes: [],
  }
}
