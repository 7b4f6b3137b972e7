/** The reference on the questions of a set. */
import type { Embedder } from '../../../src/embed/embedder.ts'
import type { Profile } from '../../../src/lenses/conversations/model.ts'
import { type Judged, judge } from './quality.ts'
import type { QuestionSet } from './question-set.ts'
import { ReferenceIndex, type System } from './reference.ts'

/** The part of a set whose conversations are of one profile. */
export function ofProfile(set: QuestionSet, profile: Profile): QuestionSet {
  const conversations = set.conversations.filter(one => one.profile === profile)
  const ids = new Set(conversations.map(({ id }) => id))
  return { ...set, conversations, questions: set.questions.filter(({ conversation }) => ids.has(conversation)) }
}

export async function judgeReference(set: QuestionSet, system: System, embedder: Embedder): Promise<readonly Judged[]> {
  const indexes = new Map<string, ReferenceIndex>()
  for (const conversation of set.conversations) {
    const language = set.languages.get(conversation.id) ?? 'en'
    indexes.set(conversation.id, await ReferenceIndex.of(conversation, language, system, embedder))
  }
  return judge(set, ({ conversation, text }) => {
    const index = indexes.get(conversation)
    if (index === undefined) throw new Error(`a question of ${set.name} is about ${conversation}, which is not there`)
    return index.ask(text)
  })
}
