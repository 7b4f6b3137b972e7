/** How well a system answers the questions of a set: one measure a question, then means and intervals. */
import { type Interval, intervalOf } from './bootstrap.ts'
import { type Found, type Measures, measuresOf } from './measures.ts'
import type { Question, QuestionSet } from './question-set.ts'

export interface Judged extends Measures {
  readonly question: Question
}

/** Ranks the messages of the question's conversation. */
export type Ask = (question: Question) => Promise<readonly Found[]>

/** Of those questions that something answers, in order. */
export async function judge(set: Pick<QuestionSet, 'questions'>, ask: Ask): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  for (const question of set.questions) {
    if (question.gold.size > 0) judged.push({ question, ...measuresOf(await ask(question), question.gold) })
  }
  return judged
}

export function meanOf(judged: readonly Judged[], measure: keyof Measures): number {
  return judged.reduce((sum, one) => sum + one[measure], 0) / judged.length
}

/** The mean of the categories' means: a category of few questions counts as much as one of many. */
export function meanOfCategories(judged: readonly Judged[], measure: keyof Measures): number {
  const groups = byCategory(judged)
  return [...groups.values()].reduce((sum, group) => sum + meanOf(group, measure), 0) / groups.size
}

/** In alphabetical order. */
export function byCategory(judged: readonly Judged[]): ReadonlyMap<string, readonly Judged[]> {
  const groups = Map.groupBy(judged, ({ question }) => question.category)
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Of R@10, over whole conversations. */
export function recallInterval(judged: readonly Judged[]): Interval {
  return intervalOf(inConversations(judged, ({ recallAt10 }) => recallAt10))
}

/** What R@10 gains from one system to another on the same questions, over whole conversations. */
export function gain(before: readonly Judged[], after: readonly Judged[]): Interval {
  const earlier = new Map(before.map(({ question, recallAt10 }) => [question.id, recallAt10]))
  return intervalOf(
    inConversations(after, ({ question, recallAt10 }) => recallAt10 - (earlier.get(question.id) as number)),
  )
}

function inConversations(judged: readonly Judged[], value: (one: Judged) => number): readonly (readonly number[])[] {
  return [...Map.groupBy(judged, ({ question }) => question.conversation).values()].map(group => group.map(value))
}
