/**
 * Conversations imported through the engine, the questions of a set sent to `conversations.query`, and how well the messages
 * that answer them are found.
 */
import { writeFileSync } from 'node:fs'
import type { Embedder } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { Conversation, Profile } from '../../../src/lenses/conversations/model.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { lent } from '../local-embedder.ts'
import { type Question, type QuestionSet, recordsOf } from './labelled-set.ts'

/** Results of a usual query. One about how something is now orders its results after they were chosen: by the limit. */
const FIRST = 10
/** Results of a second query, behind the first ones: more do not fit the budget of tokens, of which each takes at least ten. */
const LIMIT = 200
/** R@10 that the product reaches on the labelled set: a hundredth less than was measured. */
export const MIN_RECALL: Readonly<Record<Profile, number>> = { people: 0.69, assistant: 0.77 }

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
  within(): Promise<readonly Measures[]>
  /** Each asked of all conversations of the set at once. */
  everywhere(): Promise<readonly Measures[]>
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

interface Found {
  readonly id: string
  /** As it is returned: the message, or its best excerpt. */
  readonly text: string
}

export interface Measures {
  readonly recallAt10: number
  readonly hitAt10: number
  readonly reciprocalRank: number
  /** Share of the gold messages among the hits that fit `BUDGET` tokens. */
  readonly recallInBudget: number
}

const BUDGET = 2000
const CHARACTERS_A_TOKEN = 4
const TOKENS_A_MESSAGE = 10

/** Of one question that has gold messages. */
export function measuresOf(ranked: readonly Found[], gold: ReadonlySet<string>): Measures {
  const share = (hits: readonly Found[]) => hits.filter(({ id }) => gold.has(id)).length / gold.size
  const recallAt10 = share(ranked.slice(0, FIRST))
  const at = ranked.findIndex(({ id }) => gold.has(id))
  return {
    recallAt10,
    hitAt10: recallAt10 > 0 ? 1 : 0,
    reciprocalRank: at < 0 ? 0 : 1 / (at + 1),
    recallInBudget: share(withinBudget(ranked)),
  }
}

/** The first hits up to the one that no longer fits. */
function withinBudget(ranked: readonly Found[]): readonly Found[] {
  let left = BUDGET
  const end = ranked.findIndex(({ text }) => {
    left -= text.length / CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE
    return left < 0
  })
  return end < 0 ? ranked : ranked.slice(0, end)
}

/** Ranks the messages of the question's conversation. */
type Rank = (question: Question) => Promise<readonly Found[]>

/** Of those questions that something answers, in order. */
async function judge(set: QuestionSet, rank: Rank): Promise<readonly Measures[]> {
  const judged: Measures[] = []
  for (const question of set.questions) {
    if (question.gold.size > 0) judged.push(measuresOf(await rank(question), question.gold))
  }
  return judged
}

/** The part of a set whose conversations are of one profile. */
export function ofProfile(set: QuestionSet, profile: Profile): QuestionSet {
  const conversations = set.conversations.filter(one => one.profile === profile)
  const ids = new Set(conversations.map(({ id }) => id))
  return { ...set, conversations, questions: set.questions.filter(({ conversation }) => ids.has(conversation)) }
}

export function meanOf(judged: readonly Measures[], measure: keyof Measures): number {
  return judged.reduce((sum, one) => sum + one[measure], 0) / judged.length
}
