/**
 * Explains the place of an entry or passage in the answer to a query: its reasons, why it ranks above another, or the first stage of the
 * query that dropped it.
 */
import { must } from '../base/assert.ts'
import type { Bitset } from '../base/bitset.ts'
import type { Steps } from '../base/turns.ts'
import { type ItemKey, itemKey, type Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { FieldName, Filter } from '../model/filter.ts'
import { crossings } from '../model/formula.ts'
import type { Comparison, Dropped, ExplainAnswer } from '../model/page.ts'
import { noSuchEntry, stillVisible } from './access.ts'
import { demands, withWords } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { inOrder } from './diversify.ts'
import { weightNumbers, weightsWith } from './formula.ts'
import { positionOf } from './passage.ts'
import { whyListed } from './present.ts'
import { NOTHING_SPEAKS } from './score.ts'
import type { Plan, Retrieval, Stages } from './stage.ts'
import { rankedOf, type Survey, scoredOf, survey, type Target } from './survey.ts'

export interface ExplainTarget {
  readonly id: string
  readonly passage?: number | undefined
  readonly over?: string | undefined
  readonly over_passage?: number | undefined
}

/**
 * What is to be explained: an entry by its id, or the passage at a position of the entry. `field`: the input field that holds the position,
 * for error messages.
 */
interface Wanted {
  readonly id: string
  readonly passage: number | undefined
  readonly field: string
}

/**
 * Explains the place of an entry or passage in an answer. Rejects with `not_found` for an id that does not exist or is not visible (both
 * give the same error) and for a position at which the entry has no passage, and with `invalid_argument` where a passage is named but
 * entries are ranked.
 */
export async function explainEntry(
  { id, passage, over: overId, over_passage }: ExplainTarget,
  stages: Stages,
  context: QueryContext,
): Promise<ExplainAnswer> {
  const wanted: Wanted = { id, passage, field: 'passage' }
  const overWanted: Wanted | null =
    overId === undefined ? null : { id: overId, passage: over_passage, field: 'over_passage' }
  const found = requireTargets(wanted, context)
  const overFound = overWanted === null ? [] : requireTargets(overWanted, context)
  const surveyed = await survey(stages, [...found, ...overFound], context)
  const { target, dropped } = await dropOf(wanted, found, surveyed, context)
  const over = overWanted === null ? null : foremost(requireStillVisible(overWanted, overFound, context), surveyed)
  const ranked = rankedOf(target, surveyed)
  const scored = scoredOf(target, surveyed)
  const explanation = scored === undefined ? null : surveyed.ranking.scoring.explain(scored)
  const one = { id, ...positionIn(target, passage, surveyed, context), target }
  const other =
    overId === undefined || over === null
      ? null
      : { id: overId, ...positionIn(over, over_passage, surveyed, context), target: over }
  const why = scored === undefined ? '' : reasonFor(scored, surveyed, context)
  const name = sentenceStart(named(one))
  return {
    id,
    ...(one.passage !== undefined && { passage: one.passage }),
    rank: ranked?.rank ?? null,
    score: scored?.score ?? null,
    explanation,
    dropped,
    over: other === null ? null : await compare(one, other, surveyed, stages, context),
    sentence:
      dropped === null
        ? `${name} has rank ${must(ranked, 'what was not dropped').rank}: ${why}.`
        : `${name} is not among the results: ${dropped.reason}`,
  }
}

/**
 * The stage that dropped the best-ranked of the targets (entries with the requested id) that are still visible after the last pause; null:
 * it was not dropped. Rejects with `not_found` where no target is visible.
 */
async function dropOf(
  wanted: Wanted,
  found: readonly Target[],
  surveyed: Survey,
  context: QueryContext,
): Promise<{ readonly target: Target; readonly dropped: Dropped | null }> {
  for (;;) {
    const target = foremost(requireStillVisible(wanted, found, context), surveyed)
    const dropped = await context.turns.run(firstDrop(target, surveyed, context))
    if (foremost(requireStillVisible(wanted, found, context), surveyed) === target) return { target, dropped }
  }
}

function requireTargets(wanted: Wanted, context: QueryContext): readonly Target[] {
  const { id, passage, field } = wanted
  if (passage !== undefined && context.query.group !== 'passage') {
    throw invalidArgument(field, passage, 'none, because entries are ranked; set query.group to passage')
  }
  const keys = context.reader.find(id, context.look().partitions)
  if (keys.length === 0) throw noSuchEntry(context.reader, id, context.look())
  if (passage === undefined) return keys.map(entry => ({ entry }))
  const targets = keys.flatMap(entry => {
    const chunk = context.reader.chunksOf(entry).find(each => positionOf(each) === passage)
    return chunk === undefined ? [] : [{ entry, passage: chunk.key }]
  })
  if (targets.length > 0) return targets
  // A missing passage is reported only after the second access check, as for a missing entry: an entry that is hidden by now must not be
  // revealed.
  requireStillVisible(
    wanted,
    keys.map(entry => ({ entry })),
    context,
  )
  throw new QuerentError('not_found', `${field}: the entry ${JSON.stringify(id)} has no passage ${passage}`, {
    id,
    [field]: passage,
  })
}

/**
 * Second access check: those of the targets that are visible now, by the entries as stored now and the viewer's current access. Throws
 * `not_found` where none is.
 */
function requireStillVisible(wanted: Wanted, targets: readonly Target[], context: QueryContext): readonly Target[] {
  const accessScope = context.look()
  const entries = context.reader.entries(targets.map(({ entry }) => entry))
  const visible = new Set(entries.filter(entry => stillVisible(entry, accessScope)).map(({ key }) => key))
  if (visible.size === 0) throw noSuchEntry(context.reader, wanted.id, accessScope)
  return targets.filter(({ entry }) => visible.has(entry))
}

/** The best-ranked of several targets; entries of different holders can have the same id. */
function foremost(targets: readonly Target[], survey: Survey): Target {
  const ranks = targets.map(target => rankedOf(target, survey)?.rank ?? Number.POSITIVE_INFINITY)
  return targets[ranks.indexOf(Math.min(...ranks))] as Target
}

/** Position, in its entry, of the requested passage, or else of the entry's best-ranked passage; none where entries are ranked. */
function positionIn(
  target: Target,
  asked: number | undefined,
  surveyed: Survey,
  { reader, query }: QueryContext,
): { readonly passage?: number } {
  if (query.group !== 'passage') return {}
  if (asked !== undefined) return { passage: asked }
  const key = scoredOf(target, surveyed)?.passage
  const [chunk] = key === undefined ? [] : reader.chunks([key])
  return chunk === undefined ? {} : { passage: positionOf(chunk) }
}

function reasonFor(scored: Scored, { plan, ranking }: Survey, context: QueryContext): string {
  if (plan.mode !== 'list') return ranking.scoring.why(scored)
  return whyListed(must(context.reader.entry(scored.entry), 'the entry that was found'))
}

/**
 * The first stage of the query that dropped a visible entry, and why; null when the entry is among the results of this page or an earlier
 * one. Pauses after each word and phrase that is looked up.
 */
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
  if (retrieval.stoodFor?.has(entry)) {
    return { stage: 'retrieve', reason: 'The document of the same file is shown in its place.' }
  }
  if (!reached.has(entry)) return unreached(target, survey)
  if (scoredOf(target, survey) === undefined) return { stage: 'score', reason: NOTHING_SPEAKS }
  if (ranked === undefined) return { stage: 'diversify', reason: 'Others of its group, or unlike it, were preferred.' }
  return { stage: 'page', reason: `It has rank ${ranked.rank}; the page ends at ${end}.` }
}

function* brokenCondition(entry: EntryKey, { plan }: Survey, context: QueryContext): Steps<Dropped> {
  const { memo, reader, accessScope } = context
  if (plan.filter !== null && !memo.matching(reader, accessScope, plan.filter).has(entry)) {
    return { stage: 'filter', reason: brokenFilter(entry, plan.filter, context) }
  }
  if (memo.invalid(reader, plan.query.asOf).has(entry)) {
    return { stage: 'validity', reason: 'It is not valid at the time of the query.' }
  }
  for (const { operand, how } of demands(plan)) {
    const holders: Bitset = yield* withWords(operand, null, context)
    if (!holders.has(entry)) return { stage: how, reason: `It does not contain "${operand.text}".` }
    yield
  }
  for (const operand of plan.parsed.mustNot) {
    const holders: Bitset = yield* withWords(operand, null, context)
    if (holders.has(entry))
      return { stage: 'exclusion', reason: `It contains "${operand.text}", which the query excludes.` }
    yield
  }
  return { stage: 'exclusion', reason: 'It contains something that the query excludes.' }
}

function brokenFilter(entry: EntryKey, filter: Filter, context: QueryContext): string {
  const { memo, reader, accessScope } = context
  const parts = filter.op === 'and' ? filter.of : [filter]
  const broken = parts.filter(part => !memo.matching(reader, accessScope, part).has(entry))
  const fields = [...new Set(broken.flatMap(fieldsOf))]
  return `It does not match the condition on ${fields.join(', ')}.`
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
  if (retrieval.missing !== undefined) return unreachedBy(retrieval.missing, target, survey)
  const legs = plan.mode === 'hybrid' ? 'by words nor by meaning' : `by ${plan.mode}`
  const best = `It is ${plan.mode === 'hybrid' ? 'neither ' : 'not '}among the best ${legs}`
  const ranked = rankedOf(target, survey)
  if (ranked !== undefined)
    return { stage: 'retrieve', reason: `${best}; in a deeper search it has rank ${ranked.rank}.` }
  const words = retrieval.complete ? 'and nothing in it matches' : 'and time was up before a deeper search'
  return { stage: 'retrieve', reason: `${best}, ${words}.` }
}

function unreachedBy(missing: NonNullable<Retrieval['missing']>, target: Target, survey: Survey): Dropped {
  const ranked = rankedOf(target, survey)
  const rank = ranked === undefined ? '.' : `; in a deeper search it has rank ${ranked.rank}.`
  const reason = ranked === undefined ? missing(target.entry) : null
  return { stage: 'retrieve', reason: reason ?? `It is not among the best${rank}` }
}

// Explains why one result ranks above another: the difference of the scores, its parts by component, and the change of a weight that would
// swap them.

export interface Compared {
  readonly id: string
  /** Position of the passage in its entry, from 1; only where passages are ranked. */
  readonly passage?: number | undefined
  readonly target: Target
}

/** Name of a result in sentences: `"manual"`, or `passage 3 of "manual"`. */
export function named({ id, passage }: Pick<Compared, 'id' | 'passage'>): string {
  return passage === undefined ? `"${id}"` : `passage ${passage} of "${id}"`
}

export async function compare(
  one: Compared,
  other: Compared,
  survey: Survey,
  stages: Stages,
  context: QueryContext,
): Promise<Comparison> {
  const [a, b] = [scoredOf(one.target, survey), scoredOf(other.target, survey)]
  const gap = (a?.score ?? 0) - (b?.score ?? 0)
  const { components } = survey.ranking.scoring
  const componentsOf = (scored: Scored | undefined) => (scored === undefined ? {} : components(scored))
  const byComponent = differences(componentsOf(a), componentsOf(b))
  const trial = { survey, stages, context }
  const isByScore = a?.order === undefined && b?.order === undefined
  const isWeighed = survey.ranking.scoring.measure.numbers['weight_meaning'] !== undefined
  const isHybrid = a !== undefined && b !== undefined && isByScore && survey.plan.mode === 'hybrid'
  const swap = isHybrid && isWeighed ? await findSwap(a, b, trial) : null
  const advice = !isByScore ? NOT_BY_SCORE : isHybrid && !isWeighed ? NOT_KNOWN : adviceOf(swap)
  return {
    id: other.id,
    ...(other.passage !== undefined && { passage: other.passage }),
    rank: rankedOf(other.target, survey)?.rank ?? null,
    gap,
    by_component: byComponent,
    swap,
    sentence: sentenceOf(one, other, { a, b, gap, byComponent, isByScore, advice }),
  }
}

function differences(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return Object.fromEntries(names.map(name => [name, (a[name] ?? 0) - (b[name] ?? 0)]))
}

const NOT_BY_SCORE = 'Their ranks do not follow from scores alone.'
const NOT_KNOWN = 'This lens cannot tell what other weights would change.'

function adviceOf(swap: Comparison['swap']): string {
  if (swap === null) return 'No weighting would swap them.'
  return `With ${swap.weight} ${swap.to} instead of ${swap.from} they would swap places.`
}

interface Trial {
  readonly survey: Survey
  readonly stages: Stages
  readonly context: QueryContext
}

/**
 * Largest number of computed swaps (weights at which two results change places) that may prove wrong when both results are scored again;
 * after that, the search for a swap ends.
 */
const MAX_PROOFS = 16

/**
 * Finds the change of the weight of meaning that swaps two results. It is computed from the formula and then confirmed by scoring both
 * results again, because a score that was raised while some entries have no vector is not covered by the formula.
 */
async function findSwap(a: Scored, b: Scored, trial: Trial): Promise<Comparison['swap']> {
  const { plan, ranking } = trial.survey
  const from = plan.weights.meaning
  const before = firstOf([a, b], trial)
  const numbersAt = (share: number) => weightNumbers(weightsWith(share))
  let proofs = 0
  for (const to of crossings(ranking.scoring.measure, [a.signals, b.signals], numbersAt, from)) {
    if (firstOf(await scoredWith(to, [a, b], trial), trial) !== before) return { weight: 'meaning_weight', from, to }
    if (++proofs >= MAX_PROOFS) return null
  }
  return null
}

/** Scores the two results again with another weight of meaning, and returns them in the given order. */
async function scoredWith(
  meaning: number,
  pair: readonly Scored[],
  { survey, stages, context }: Trial,
): Promise<readonly Scored[]> {
  const plan: Plan = { ...survey.plan, weights: weightsWith(meaning) }
  const { retrieval, ranking } = survey
  // While some entries have no vector, the score of an entry may depend on the scores of others, so all candidates are scored again.
  const isPartly = retrieval.statistics['expectedBase'] !== undefined
  const isByPassage = plan.query.group === 'passage'
  const candidates = isPartly && !isByPassage ? retrieval.candidates : pair
  const { scored, rate, adjust } = await stages.score({ ...retrieval, candidates }, plan, context)
  const all = isByPassage && isPartly && rate ? (adjust?.(rate(ranking.scoring.scored)) ?? scored) : scored
  return isPartly ? pair.flatMap(one => all.find(other => itemKey(other) === itemKey(one)) ?? []) : scored
}

function firstOf(pair: readonly Scored[], { context }: Trial): ItemKey | undefined {
  return inOrder(pair, context).map(itemKey)[0]
}

/** The text with its first letter as a capital; a text that begins with a quotation mark stays the same. */
export function sentenceStart(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

interface Findings {
  readonly a: Scored | undefined
  readonly b: Scored | undefined
  readonly gap: number
  readonly byComponent: Readonly<Record<string, number>>
  readonly isByScore: boolean
  /** A sentence that says which weight would swap the two results. */
  readonly advice: string
}

function sentenceOf(one: Compared, other: Compared, findings: Findings): string {
  const { a, b, gap, byComponent, isByScore, advice } = findings
  if (a === undefined || b === undefined) {
    const missing = named(a === undefined ? one : other)
    return `${sentenceStart(missing)} is not in the answer, so there is nothing to compare.`
  }
  const verb = isByScore ? 'ranks' : 'scores'
  const where =
    gap === 0 ? 'has the same score as' : `${verb} ${Math.abs(gap).toFixed(4)} ${gap > 0 ? 'above' : 'below'}`
  const parts = Object.entries(byComponent).filter(([, part]) => part !== 0)
  const made = parts.map(([name, part]) => `${name} ${part > 0 ? '+' : '−'}${Math.abs(part).toFixed(4)}`).join(', ')
  return `${sentenceStart(named(one))} ${where} ${named(other)}${made === '' ? '' : ` (${made})`}. ${advice}`
}
