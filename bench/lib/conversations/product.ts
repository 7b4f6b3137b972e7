/** The product itself on the questions of a set: conversations imported through the engine, questions asked by operation. */
import { writeFileSync } from 'node:fs'
import type { Embedder } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { Conversation } from '../../../src/lenses/conversations/model.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { lent } from '../local-embedder.ts'
import type { Found } from './measures.ts'
import { type Judged, judge } from './quality.ts'
import { type QuestionSet, recordsOf } from './question-set.ts'

/** As somebody asks: a question about how something is now has its answers put in order after they were chosen. */
const FIRST = 10
/** For what comes behind them: more do not fit the budget of tokens, of which each message takes ten at least. */
const LIMIT = 200

export interface ChatAnswer {
  readonly messages: readonly { readonly id: string; readonly conversation: string; readonly text: string }[]
}

export interface ChatQuestion {
  readonly text: string
  readonly conversations?: readonly string[]
  readonly limit?: number
  readonly mode?: 'hybrid' | 'words' | 'meaning'
  readonly touch?: boolean
}

type Ask = (question: ChatQuestion) => Promise<ChatAnswer>

/** Asks as the owner of the store. */
export function chatRequester(engine: Engine): Ask {
  const catalog = makeCatalog(engine)
  const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
  return async question =>
    (await callOperation(catalog, engine, 'conversations.query', question, context)) as ChatAnswer
}

export interface Product extends AsyncDisposable {
  /** Each question asked of its conversation. */
  within(): Promise<readonly Judged[]>
  /** Each asked of all conversations of the set at once. */
  everywhere(): Promise<readonly Judged[]>
}

/** An engine of its own that has the conversations of the set, and their vectors. */
export async function openProduct(set: QuestionSet, embedder: Embedder): Promise<Product> {
  const folder = tempFolder()
  const options = { home: folder.file('home'), create: true, embedder: lent(embedder), background: false }
  const engine = await openEngine(options)
  await importAll(engine, set.conversations, folder.file('chats.jsonl'))
  await engine.embedded()
  const ask = chatRequester(engine)
  return {
    within: () =>
      judge(set, ({ conversation, text }) => rankedBy(ask, conversation, { text, conversations: [conversation] })),
    everywhere: () => judge(set, ({ conversation, text }) => rankedBy(ask, conversation, { text })),
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      folder[Symbol.dispose]()
    },
  }
}

async function rankedBy(ask: Ask, conversation: string, question: ChatQuestion): Promise<readonly Found[]> {
  const first = await ask({ ...question, touch: false, limit: FIRST })
  const all = await ask({ ...question, touch: false, limit: LIMIT })
  const ids = new Set(first.messages.map(({ id }) => id))
  return [...first.messages, ...all.messages.filter(({ id }) => !ids.has(id))].map(found => ({
    // Within their conversations messages of two may have one id.
    id: found.conversation === conversation ? found.id.slice(conversation.length + 1) : found.id,
    text: found.text,
  }))
}

export async function importAll(engine: Engine, conversations: readonly Conversation[], file: string): Promise<void> {
  const lines = conversations.flatMap(recordsOf).map(record => `${JSON.stringify(record)}\n`)
  writeFileSync(file, lines.join(''))
  const { added, errors } = await engine.add({ paths: [file], chat: { format: 'jsonl' } })
  if (errors.length > 0 || added !== lines.length) {
    throw new Error(`${added} of ${lines.length} messages were imported: ${JSON.stringify(errors.slice(0, 3))}`)
  }
}
