/** Conversations and questions about them, each with the messages that answer it. */

import type { Conversation } from '../../../src/lenses/conversations/model.ts'
import { type Reading, readAll } from '../../../src/lenses/conversations/reading/read.ts'

export type SetLanguage = 'en' | 'es'

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
  readonly languages: ReadonlyMap<string, SetLanguage>
  /** What could not be read or counted, each with its place. */
  readonly problems: readonly string[]
}

/** Nothing is measured on a question that nothing answers. */
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
