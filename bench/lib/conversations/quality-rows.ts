/** Rows of the bench: the ladder of ingredients on one set, each line against the one before, and what is left out. */
import type { Embedder } from '../../../src/embed/embedder.ts'
import type { Profile } from '../../../src/lenses/conversations/model.ts'
import type { Row } from '../report.ts'
import type { Interval } from './bootstrap.ts'
import { LADDERS, OTHERS, WITHOUT } from './ladder.ts'
import { openProduct } from './product.ts'
import { byCategory, gain, type Judged, meanOf, meanOfCategories, recallInterval } from './quality.ts'
import type { QuestionSet } from './question-set.ts'
import { DEFAULTS } from './reference.ts'
import { judgeReference, ofProfile } from './reference-quality.ts'

export const PROFILES: readonly Profile[] = ['people', 'assistant']

/** Those profiles of a set that it has questions of. */
export function partsOf(set: QuestionSet): readonly { readonly profile: Profile; readonly part: QuestionSet }[] {
  return PROFILES.map(profile => ({ profile, part: ofProfile(set, profile) })).filter(({ part }) =>
    part.questions.some(({ gold }) => gold.size > 0),
  )
}

export interface Ladder {
  readonly rows: readonly Row[]
  /** The default on each question. */
  readonly whole: readonly Judged[]
}

export async function ladderOf(part: QuestionSet, profile: Profile, embedder: Embedder): Promise<Ladder> {
  const called = `${part.name}, ${profile}`
  const rows: Row[] = []
  let whole: readonly Judged[] = []
  for (const { name, system } of LADDERS[profile]) {
    const judged = await judgeReference(part, system, embedder)
    const step = rows.length === 0 ? '' : `; ${gained(gain(whole, judged))} to the line before`
    rows.push(recallRow(`${called}: ${name}`, judged, step))
    whole = judged
  }
  rows.push(...wholeRows(called, part, whole))
  for (const { name, system } of WITHOUT[profile]) {
    const judged = await judgeReference(part, system, embedder)
    rows.push(
      recallRow(`${called}, default without ${name}`, judged, `; ${gained(gain(whole, judged))} to the default`),
    )
  }
  for (const { name, system } of OTHERS[profile]) {
    const judged = await judgeReference(part, system, embedder)
    rows.push(recallRow(`${called}, ${name}`, judged, `; the default: ${gained(gain(judged, whole))}`))
  }
  return { rows, whole }
}

/** The default in parts. */
function wholeRows(called: string, part: QuestionSet, whole: readonly Judged[]): readonly Row[] {
  const { low, high } = recallInterval(whole)
  const languages = [...new Set(part.languages.values())].sort()
  const inLanguage = (language: string) =>
    whole.filter(({ question }) => part.languages.get(question.conversation) === language)
  return [
    {
      name: `${called}, default, mean of categories: R@10`,
      unit: '',
      value: meanOfCategories(whole, 'recallAt10'),
      note: `over all ${whole.length} questions ${shown(meanOf(whole, 'recallAt10'))} [${shown(low)}, ${shown(high)}]`,
    },
    ...[...byCategory(whole)].map(([category, group]) => groupRow(`${called}, default, ${category}`, group)),
    ...(languages.length > 1
      ? languages.map(language => groupRow(`${called}, default, ${language}`, inLanguage(language)))
      : []),
  ]
}

function groupRow(name: string, group: readonly Judged[]): Row {
  return recallRow(name, group, `; ${group.length} questions`)
}

/** `more` is said after the other measures. */
function recallRow(name: string, judged: readonly Judged[], more: string): Row {
  const of = (measure: 'reciprocalRank' | 'hitAt10' | 'recallInBudget') => shown(meanOf(judged, measure))
  return {
    name: `${name}: R@10`,
    unit: '',
    value: meanOf(judged, 'recallAt10'),
    note: `MRR ${of('reciprocalRank')}, hit@10 ${of('hitAt10')}, R@2k ${of('recallInBudget')}${more}`,
  }
}

/** Of a set of long messages: the reference, with one vector a message, and the product, with one a piece. */
export async function longMessageRows(set: QuestionSet, embedder: Embedder): Promise<readonly Row[]> {
  const whole = await judgeReference(set, DEFAULTS.assistant, embedder)
  await using product = await openProduct(set, embedder)
  const within = await product.within()
  return [
    recallRow(`${set.name}, default (one vector a message)`, whole, ''),
    recallRow(
      `${set.name}, the product (one vector a piece)`,
      within,
      `; ${gained(gain(whole, within))} to the default`,
    ),
  ]
}

/** The product may differ from the default by so much of R@10. */
export const TOLERANCE = 0.01

export async function productRows(
  part: QuestionSet,
  profile: Profile,
  whole: readonly Judged[],
  embedder: Embedder,
): Promise<readonly Row[]> {
  await using product = await openProduct(part, embedder)
  const within = await product.within()
  const called = `${part.name}, ${profile}, the product`
  const difference = meanOf(within, 'recallAt10') - meanOf(whole, 'recallAt10')
  const more = `; ${gained(gain(whole, within))} to the default of the reference`
  return [
    {
      ...recallRow(called, within, more),
      goal: `within ${TOLERANCE} of the default`,
      ok: Math.abs(difference) <= TOLERANCE,
    },
    recallRow(`${called}, asked of all conversations at once`, await product.everywhere(), ''),
  ]
}

function gained({ mean, low, high }: Interval): string {
  return `${signed(mean)} [${signed(low)}, ${signed(high)}]`
}

function signed(value: number): string {
  return `${value < -0.0005 ? '-' : '+'}${shown(Math.abs(value))}`
}

function shown(value: number): string {
  return value.toFixed(3).replace(/^0/, '')
}
