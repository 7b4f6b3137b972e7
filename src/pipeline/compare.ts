/** Why one entry stands over another: the gap, what it is made of, and what would turn it round. */
import { crossing, type Line, wordShare } from '../math/fusion.ts'
import type { Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Comparison } from '../model/explain-answer.ts'
import type { QueryContext } from './context.ts'
import { cosineOf, type Formula } from './formula.ts'
import { inOrder } from './order.ts'
import { formulaOf } from './score.ts'
import type { Plan, Stages } from './stage.ts'
import { rankedOf, type Survey, scoredOf } from './survey.ts'

export interface Compared {
  readonly id: string
  readonly entry: EntryKey
}

export function compare(
  one: Compared,
  other: Compared,
  survey: Survey,
  stages: Stages,
  context: QueryContext,
): Comparison {
  const [a, b] = [scoredOf(one.entry, survey), scoredOf(other.entry, survey)]
  const gap = (a?.score ?? 0) - (b?.score ?? 0)
  const byComponent = differences(a?.components ?? {}, b?.components ?? {})
  const swap = a === undefined || b === undefined ? null : findSwap(a, b, survey, stages, context)
  return {
    id: other.id,
    rank: rankedOf(other.entry, survey)?.rank ?? null,
    gap,
    by_component: byComponent,
    swap,
    sentence: sentenceOf(one, other, { a, b, gap, byComponent, swap }),
  }
}

function differences(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return Object.fromEntries(names.map(name => [name, (a[name] ?? 0) - (b[name] ?? 0)]))
}

/** Weights are told to six decimals, rounded to the side where the two have changed places. */
const STEP = 1e-6

/** Solved from the formula, and then proved by scoring both again with the changed weight. */
function findSwap(a: Scored, b: Scored, survey: Survey, stages: Stages, context: QueryContext): Comparison['swap'] {
  const { plan } = survey
  if (plan.mode !== 'hybrid') return null
  const formula = formulaOf(survey.retrieval, plan, context)
  const at = crossing(lineOf(a, formula), lineOf(b, formula))
  if (at === null) return null
  const from = plan.weights.meaning
  const outward = at < from ? Math.floor(at / STEP) : Math.ceil(at / STEP)
  const direction = at < from ? -1 : 1
  for (const steps of [outward, outward + direction]) {
    const to = Number((steps * STEP).toFixed(6))
    if (to >= 0 && to <= 1 && to !== from && changesPlaces(a, b, to, survey, stages, context)) {
      return { weight: 'meaning_weight', from, to }
    }
  }
  return null
}

function lineOf(scored: Scored, formula: Formula): Line {
  const { words = 0, meaning = 0 } = scored.components
  const relevance = words + meaning
  return {
    share: wordShare(scored.signals['words'] ?? 0, formula.bmTop),
    cosine: cosineOf(scored, formula),
    boost: relevance > 0 ? scored.score / relevance : 1,
  }
}

function changesPlaces(
  a: Scored,
  b: Scored,
  meaning: number,
  survey: Survey,
  stages: Stages,
  context: QueryContext,
): boolean {
  const plan: Plan = { ...survey.plan, weights: { words: Number((1 - meaning).toFixed(12)), meaning } }
  const candidates = survey.retrieval.candidates.filter(({ entry }) => entry === a.entry || entry === b.entry)
  const { scored } = stages.score({ ...survey.retrieval, candidates }, plan, context)
  return firstOf(scored, context) !== firstOf([a, b], context)
}

function firstOf(scored: readonly Scored[], context: QueryContext): EntryKey | undefined {
  return inOrder(scored, keys => context.reader.identities(keys))[0]?.entry
}

interface Findings {
  readonly a: Scored | undefined
  readonly b: Scored | undefined
  readonly gap: number
  readonly byComponent: Readonly<Record<string, number>>
  readonly swap: Comparison['swap']
}

function sentenceOf(one: Compared, other: Compared, { a, b, gap, byComponent, swap }: Findings): string {
  if (a === undefined || b === undefined) {
    const missing = a === undefined ? one.id : other.id
    return `"${missing}" is not in the answer, so there is nothing to compare.`
  }
  const where =
    gap === 0 ? 'has the same score as' : `stands ${Math.abs(gap).toFixed(4)} ${gap > 0 ? 'above' : 'below'}`
  const parts = Object.entries(byComponent).filter(([, part]) => part !== 0)
  const made = parts.map(([name, part]) => `${name} ${part > 0 ? '+' : '−'}${Math.abs(part).toFixed(4)}`).join(', ')
  const first = `"${one.id}" ${where} "${other.id}"${made === '' ? '' : ` (${made})`}.`
  if (swap === null) return `${first} No share of meaning would make them change places.`
  return `${first} With ${swap.weight} ${swap.to} instead of ${swap.from} they would change places.`
}
