/** Why one result ranks above another: the gap, what it is made of, and which weights would swap the two. */
import { type ItemKey, itemKey, type Scored } from '../model/candidate.ts'
import { crossings } from '../model/formula.ts'
import type { Comparison } from '../model/page.ts'
import type { QueryContext } from './context.ts'
import { weightNumbers } from './formula.ts'
import { inOrder } from './order.ts'
import type { Plan, Stages } from './stage.ts'
import { rankedOf, type Survey, scoredOf, type Target } from './survey.ts'
import { weightsWith } from './weights.ts'

export interface Compared {
  readonly id: string
  /** Where passages are ranked: position in the entry, from 1. */
  readonly passage?: number | undefined
  readonly target: Target
}

/** As sentences name it: `"manual"`, or `passage 3 of "manual"`. */
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
const NOT_KNOWN = 'What other weights would do to them is not known in this lens.'

function adviceOf(swap: Comparison['swap']): string {
  if (swap === null) return 'No share of meaning would make them change places.'
  return `With ${swap.weight} ${swap.to} instead of ${swap.from} they would change places.`
}

interface Trial {
  readonly survey: Survey
  readonly stages: Stages
  readonly context: QueryContext
}

/** Swaps that scoring again did not confirm; then the search ends. */
const MAX_PROOFS = 16

/** Found from the formula, and then proved by scoring both again with the changed weight: what is lifted while not all is embedded is in no formula. */
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

/** The two scored again, in this order, with another share of meaning. */
async function scoredWith(
  meaning: number,
  pair: readonly Scored[],
  { survey, stages, context }: Trial,
): Promise<readonly Scored[]> {
  const plan: Plan = { ...survey.plan, weights: weightsWith(meaning) }
  const { retrieval, ranking } = survey
  // While not all is embedded, a score may depend on those of others.
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

/** With a capital letter, where it begins with a word. */
export function sentenceStart(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

interface Findings {
  readonly a: Scored | undefined
  readonly b: Scored | undefined
  readonly gap: number
  readonly byComponent: Readonly<Record<string, number>>
  readonly isByScore: boolean
  /** What would swap them, in a sentence. */
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
