/** The reference that the product is held against: one conversation in memory, every message scored. */
import type { Embedder } from '../../../src/embed/embedder.ts'
import type { Conversation, Message } from '../../../src/lenses/conversations/model.ts'
import { resolvedDates } from '../../../src/lenses/conversations/reading/dates.ts'
import { Bm25, type Bm25Parameters } from './bm25.ts'
import { asksWhen, hasTime, isAboutAssistant, namedIn } from './cues.ts'
import type { Found } from './measures.ts'
import type { SetLanguage } from './question-set.ts'
import { ASSISTANT, finalScores, type Ingredients, PEOPLE, type Scored } from './ranking.ts'
import { blocksOf, bodyOf, chunksOf, type UnitParts, unitsOf } from './units.ts'

interface System extends Ingredients {
  readonly unit: UnitParts
  /** BM25 over chunks, of which the best stands for its message. */
  readonly chunks: boolean
  readonly bm25: Bm25Parameters
}

const SHORT_TURNS: Bm25Parameters = { k1: 0.9, b: 0.4 }
const USUAL: Bm25Parameters = { k1: 1.2, b: 0.75 }
export const NO_PARTS: UnitParts = { date: false, previous: false, speaker: false, resolved: false }
const ALL_PARTS: UnitParts = { date: true, previous: true, speaker: true, resolved: true }

export const DEFAULTS: Readonly<Record<Conversation['profile'], System>> = {
  people: { ...PEOPLE, unit: ALL_PARTS, chunks: false, bm25: SHORT_TURNS },
  assistant: { ...ASSISTANT, unit: NO_PARTS, chunks: true, bm25: USUAL },
}

/** One text of the word index: a message, or a chunk of one. */
interface Indexed {
  readonly message: number
  readonly text: string
}

export class ReferenceIndex {
  readonly #conversation: Conversation
  readonly #language: SetLanguage
  readonly #system: System
  readonly #embedder: Embedder
  readonly #indexed: readonly Indexed[]
  readonly #words: Bm25
  readonly #blocks: ReturnType<typeof blocksOf>
  readonly #blockWords: Bm25
  readonly #vectors: readonly Float32Array[]
  readonly #hasTime: readonly boolean[]

  private constructor(
    conversation: Conversation,
    language: SetLanguage,
    system: System,
    embedder: Embedder,
    vectors: readonly Float32Array[],
  ) {
    this.#conversation = conversation
    this.#language = language
    this.#system = system
    this.#embedder = embedder
    this.#vectors = vectors
    const units = unitsOf(conversation, system.unit)
    this.#indexed = units.flatMap((unit, message) =>
      (system.chunks ? chunksOf(unit) : [unit]).map(text => ({ message, text })),
    )
    this.#words = new Bm25(
      this.#indexed.map(({ text }) => text),
      system.bm25,
      language,
    )
    this.#blocks = system.block > 0 ? blocksOf(conversation) : []
    this.#blockWords = new Bm25(
      this.#blocks.map(({ text }) => text),
      system.bm25,
      language,
    )
    const dates = resolvedDates(conversation)
    this.#hasTime = conversation.messages.map((message, at) => hasTime(message, dates[at] ?? [], language))
  }

  static async of(
    conversation: Conversation,
    language: SetLanguage,
    profile: Conversation['profile'],
    embedder: Embedder,
  ) {
    const system = DEFAULTS[profile]
    const vectors = await embedder.embed(unitsOf(conversation, system.unit), 'passage')
    return new ReferenceIndex(conversation, language, system, embedder, vectors)
  }

  /** Every message that anything speaks for, the best first; of equals the earlier. */
  async ask(question: string): Promise<readonly Found[]> {
    const { messages } = this.#conversation
    const excerpts = messages.map(bodyOf)
    const scored = await this.#scored(question, excerpts)
    const scores = finalScores(scored, this.#system)
    return messages
      .map(({ id }, at) => ({ id, text: excerpts[at] as string, score: scores[at] as number, at }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.at - b.at)
      .map(({ id, text }) => ({ id, text }))
  }

  /** With chunks, `excerpts` get the best of each message. */
  async #scored(question: string, excerpts: string[]): Promise<readonly Scored[]> {
    const { messages, participants } = this.#conversation
    const words = this.#bestOf(question, excerpts)
    const blocks = this.#bestBlocks(question)
    const cosines = await this.#cosines(question)
    const named = namedIn(question, participants)
    const isAskedWhen = asksWhen(question, this.#language)
    const isAboutUser = !isAboutAssistant(question, this.#language)
    return messages.map(
      ({ session, speaker, role }: Message, at): Scored => ({
        session,
        bm25: words[at] as number,
        cosine: cosines[at] ?? 0,
        block: blocks[at] as number,
        named: named !== null && speaker === named,
        timed: isAskedWhen && this.#hasTime[at] === true,
        user: isAboutUser && role === 'user',
      }),
    )
  }

  #bestOf(question: string, excerpts: string[]): Float64Array {
    const best = new Float64Array(excerpts.length).fill(-1)
    for (const [at, score] of this.#words.scores(question).entries()) {
      const { message, text } = this.#indexed[at] as Indexed
      if (score <= (best[message] as number)) continue
      best[message] = score
      if (this.#system.chunks) excerpts[message] = text
    }
    return best
  }

  #bestBlocks(question: string): Float64Array {
    const best = new Float64Array(this.#conversation.messages.length)
    for (const [at, score] of this.#blockWords.scores(question).entries()) {
      const { start, end } = this.#blocks[at] as { start: number; end: number }
      for (let message = start; message < end; message++) best[message] = Math.max(best[message] as number, score)
    }
    return best
  }

  async #cosines(question: string): Promise<readonly number[]> {
    const [asked] = (await this.#embedder.embed([question], 'query')) as [Float32Array]
    return this.#vectors.map(vector => vector.reduce((sum, value, at) => sum + value * (asked[at] as number), 0))
  }
}
