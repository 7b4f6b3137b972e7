/** The labelled conversations that come with the repository (bench/data/conversations). */
import { readdirSync, readFileSync } from 'node:fs'
import type { Conversation, Message } from '../../../src/lenses/conversations/model.ts'
import { type Reading, readAll } from '../../../src/lenses/conversations/reading/read.ts'

export const FOLDER: URL = new URL('../../data/conversations/', import.meta.url)
const QUESTIONS = 'questions.jsonl'

export interface LabelledQuestion {
  readonly id: string
  readonly conversation: string
  readonly language: 'en' | 'es'
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
    problems: problems.map(({ path, line, message }) => `${path}:${line ?? ''}: ${message}`),
  }
}

export interface Question {
  readonly id: string
  /** Id of the conversation that it is asked of. */
  readonly conversation: string
  readonly category: string
  readonly text: string
  /** Ids of the messages that answer it; none where nothing does. */
  readonly gold: ReadonlySet<string>
}

export interface QuestionSet {
  readonly name: string
  readonly conversations: readonly Conversation[]
  readonly questions: readonly Question[]
  /** What could not be read or counted, each with its place. */
  readonly problems: readonly string[]
}

/** Category of the questions that no message answers; nothing is measured on them. */
export const UNANSWERABLE = 'unanswerable'

/** One message, in fields that the product's reader of JSONL knows. */
export interface MessageRecord {
  readonly id: string
  readonly conversation: string
  readonly session?: string | undefined
  readonly speaker: string
  readonly role?: string | undefined
  readonly at?: string | undefined
  readonly text: string
  readonly attachments?: readonly { readonly kind: string; readonly caption: string }[] | undefined
}

/** As the product itself reads them. */
export function readRecords(name: string, records: readonly MessageRecord[]): Promise<Reading> {
  const lines = records.map(record => `${JSON.stringify(record)}\n`)
  const bytes = new TextEncoder().encode(lines.join(''))
  return readAll([{ path: name, bytes: () => [bytes] }], { format: 'jsonl' })
}

/** What the reader of JSONL makes the same conversation of again. */
export function recordsOf({ messages }: Conversation): readonly MessageRecord[] {
  return messages.map(({ id, conversation, session, speaker, role, at, zone, text, attachments }) => ({
    ...{ id, conversation, session, speaker, text },
    ...(role !== null && { role }),
    ...(at !== null && { at: writtenTime(at, zone) }),
    attachments: attachments.flatMap(({ kind, caption }) => (caption === null ? [] : [{ kind, caption }])),
  }))
}

function writtenTime(at: number, zone: Message['zone']): string {
  if (zone === null) return new Date(at).toISOString().slice(0, -1)
  const clock = new Date(at + zone * 60_000).toISOString().slice(0, -1)
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0')
  return `${clock}${zone < 0 ? '-' : '+'}${two(Math.abs(zone) / 60)}:${two(Math.abs(zone) % 60)}`
}
