/** How well a system answers the questions of a set: measures of each question, and their means. */
import type { Embedder } from '../../../src/embed/embedder.ts'
import type { Profile } from '../../../src/lenses/conversations/model.ts'
import { type Found, type Measures, measuresOf } from './measures.ts'
import type { Question, QuestionSet } from './question-set.ts'
import { ReferenceIndex } from './reference.ts'

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

/** The reference on a set whose conversations are of one profile. */
export async function judgeReference(
  set: QuestionSet,
  profile: Profile,
  embedder: Embedder,
): Promise<readonly Judged[]> {
  const indexes = new Map<string, ReferenceIndex>()
  for (const conversation of set.conversations) {
    const language = set.languages.get(conversation.id) ?? 'en'
    indexes.set(conversation.id, await ReferenceIndex.of(conversation, language, profile, embedder))
  }
  return judge(set, ({ conversation, text }) => {
    const index = indexes.get(conversation)
    if (index === undefined) throw new Error(`a question of ${set.name} is about ${conversation}, which is not there`)
    return index.ask(text)
  })
}

/** The part of a set whose conversations are of one profile. */
export function ofProfile(set: QuestionSet, profile: Profile): QuestionSet {
  const conversations = set.conversations.filter(one => one.profile === profile)
  const ids = new Set(conversations.map(({ id }) => id))
  return { ...set, conversations, questions: set.questions.filter(({ conversation }) => ids.has(conversation)) }
}

export function meanOf(judged: readonly Judged[], measure: keyof Measures): number {
  return judged.reduce((sum, one) => sum + one[measure], 0) / judged.length
}

/** In alphabetical order. */
export function byCategory(judged: readonly Judged[]): ReadonlyMap<string, readonly Judged[]> {
  const groups = Map.groupBy(judged, ({ question }) => question.category)
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The product may differ from the reference by so much of R@10. */
export const TOLERANCE = 0.01
