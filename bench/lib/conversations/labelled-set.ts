/** The labelled conversations that come with the repository (bench/data/conversations). */
import { readdirSync, readFileSync } from 'node:fs'
import { readAll } from '../../../src/lenses/conversations/reading/read.ts'
import type { QuestionSet, SetLanguage } from './question-set.ts'

export const FOLDER: URL = new URL('../../data/conversations/', import.meta.url)
const QUESTIONS = 'questions.jsonl'

export interface LabelledQuestion {
  readonly id: string
  readonly conversation: string
  readonly language: SetLanguage
  readonly category: string
  readonly question: string
  readonly answer: string
  readonly gold: readonly string[]
}

export function labelledQuestions(): readonly LabelledQuestion[] {
  return readFileSync(new URL(QUESTIONS, FOLDER), 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as LabelledQuestion)
}

/** Names of the files, a conversation each. */
export function conversationFiles(): readonly string[] {
  return readdirSync(FOLDER)
    .filter(name => name.endsWith('.jsonl') && name !== QUESTIONS)
    .sort()
}

export async function labelledSet(): Promise<QuestionSet> {
  const files = conversationFiles().map(path => ({ path, bytes: () => [readFileSync(new URL(path, FOLDER))] }))
  const { conversations, problems } = await readAll(files, { format: 'jsonl' })
  const questions = labelledQuestions()
  return {
    name: 'labelled',
    conversations,
    questions: questions.map(({ id, conversation, category, question, gold }) => ({
      ...{ id, conversation, category },
      text: question,
      gold: new Set(gold),
    })),
    languages: new Map(questions.map(({ conversation, language }) => [conversation, language])),
    problems: problems.map(({ path, line, message }) => `${path}:${line ?? ''}: ${message}`),
  }
}
