/** Why one entry stands over another: the gap, what it is made of, and what would turn it round. */
import { crossing, type Line, wordShare } from '../math/fusion.ts'
import { type ItemKey, itemKey, type Scored } from '../model/candidate.ts'
import type { Comparison } from '../model/explain-answer.ts'
import type { QueryContext } from './context.ts'
import { cosineOf, formulaOf } from './formula.ts'
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

export function compare(
  one: Compared,
  other: Compared,
  survey: Survey,
  stages: Stages,
  context: QueryContext,
): Comparison {
  const [a, b] = [scoredOf(one.target, survey), scoredOf(other.target, survey)]
  const gap = (a?.score ?? 0) - (b?.score ?? 0)
  const byComponent = differences(a?.components ?? {}, b?.components ?? {})
  const trial = { survey, stages, context }
  const isByScore = a?.order === undefined && b?.order === undefined
  const isWeighed = a !== undefined && b !== undefined && isByScore && survey.plan.mode === 'hybrid'
  const swap = isWeighed && movesWithWeights(a, b, trial) ? findSwap(a, b, trial) : null
  const advice = !isByScore ? NOT_BY_SCORE : isWeighed && !movesWithWeights(a, b, trial) ? NOT_KNOWN : adviceOf(swap)
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

/** Whether scoring again with other weights gives other scores: not where a lens works the weights in when it retrieves. */
function movesWithWeights(a: Scored, b: Scored, trial: Trial): boolean {
  const [byWords, byMeaning] = [scoredWith(0, [a, b], trial), scoredWith(1, [a, b], trial)]
  return byWords.some(({ score }, at) => score !== byMeaning[at]?.score)
}

/** Weights are told to six decimals, rounded to the side where the two have changed places. */
const STEPS = 1e6

interface Trial {
  readonly survey: Survey
  readonly stages: Stages
  readonly context: QueryContext
}

/** Solved from the formula, and then proved by scoring both again with the changed weight. */
function findSwap(a: Scored, b: Scored, trial: Trial): Comparison['swap'] {
  const { plan } = trial.survey
  const from = plan.weights.meaning
  const before = firstOf([a, b], trial)
  for (const at of crossings(a, b, trial).sort((x, y) => Math.abs(x - from) - Math.abs(y - from))) {
    const direction = at < from ? -1 : 1
    const outward = direction < 0 ? Math.floor(at * STEPS) : Math.ceil(at * STEPS)
    for (const steps of [outward, outward + direction]) {
      const to = steps / STEPS
      const isShare = to >= 0 && to <= 1 && to !== from
      if (isShare && firstOf(scoredWith(to, [a, b], trial), trial) !== before) {
        return { weight: 'meaning_weight', from, to }
      }
    }
  }
  return null
}

/** Where the scores may be equal. Use lifts only what is relevant, so each of the two may have its boost there or not. */
function crossings(a: Scored, b: Scored, trial: Trial): number[] {
  const { survey, context } = trial
  const formula = formulaOf(survey.retrieval.statistics, survey.plan, context)
  const [evenA, evenB] = scoredWith(0.5, [a, b], trial)
  const linesOf = (scored: Scored, even: Scored | undefined): Line[] => {
    const share = wordShare(scored.signals['words'] ?? 0, formula.bmTop)
    const cosine = cosineOf(scored, formula)
    return [...new Set([1, boostIn(even ?? scored)])].map(boost => ({ share, cosine, boost }))
  }
  const pairs = linesOf(a, evenA).flatMap(left => linesOf(b, evenB).map(right => [left, right] as const))
  return [...pairs, lineThrough(a, b, trial)].map(([left, right]) => crossing(left, right)).filter(at => at !== null)
}

/** Of any formula that is linear in the weights: through its scores by words alone and by meaning alone. */
function lineThrough(a: Scored, b: Scored, trial: Trial): readonly [Line, Line] {
  const [[a0, b0], [a1, b1]] = [scoredWith(0, [a, b], trial), scoredWith(1, [a, b], trial)]
  const line = (words: Scored | undefined, meaning: Scored | undefined): Line => ({
    ...{ share: words?.score ?? 0, cosine: meaning?.score ?? 0, boost: 1 },
  })
  return [line(a0, a1), line(b0, b1)]
}

function boostIn({ score, components }: Scored): number {
  const { words = 0, meaning = 0, partly_embedded: partlyEmbedded = 0 } = components
  const relevance = words + meaning
  return relevance > 0 ? (score - partlyEmbedded) / relevance : 1
}

/** The two scored again, in this order, with another share of meaning. */
function scoredWith(meaning: number, pair: readonly Scored[], { survey, stages, context }: Trial): readonly Scored[] {
  const plan: Plan = { ...survey.plan, weights: weightsWith(meaning) }
  const { retrieval, ranking } = survey
  // While not all is embedded, a score may depend on those of others.
  const isPartly = retrieval.statistics['expectedBase'] !== undefined
  const isByPassage = plan.query.group === 'passage'
  const candidates = isPartly && !isByPassage ? retrieval.candidates : pair
  const { scored, rate, adjust } = stages.score({ ...retrieval, candidates }, plan, context)
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
