/** Messages without a vector are ranked by their words, on equal terms with those that have one (QE-007). */
import { expect, it } from 'vitest'
import { type Embedder, modelKey } from '../../../../../src/embed/embedder.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { toUnit } from '../../../../../src/math/vector.ts'
import { recompute } from '../../../../../src/model/explanation.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { seededNormal, seededUniform } from '../../../../support/seeded.ts'
import { TOY_MODEL } from '../../../../support/toy-embedder.ts'

const WORDS = 'amber birch cedar delta ember fjord grove heron islet jetty kelp larch'.split(' ')

/** Nothing about a vector follows from the words: the hardest case for ranking without it. */
const anyVectors: Embedder = {
  model: TOY_MODEL,
  embed: texts => Promise.resolve(texts.map(anyVector)),
  close: () => Promise.resolve(),
}

function anyVector(text: string): Float32Array {
  let seed = 2166136261
  for (const unit of text) seed = Math.imul(seed ^ (unit.codePointAt(0) as number), 16777619)
  const normal = seededNormal(seed >>> 0)
  // Eight dimensions are enough for cosines of all sizes.
  return toUnit(Float64Array.from({ length: TOY_MODEL.dimensions }, (_, at) => (at < 8 ? normal() : 0))) as Float32Array
}

/** Two conversations of people and one with an assistant, whose messages are embedded as `isEmbedded` says. */
async function engineOf(seed: number, isEmbedded: (message: number) => boolean): Promise<Engine> {
  const engine = await openTestEngine({ embedder: anyVectors })
  const uniform = seededUniform(seed)
  const pick = (most: number) => Math.floor(uniform() * most)
  for (let at = 0; at < 45; at++) {
    const text = Array.from({ length: 2 + pick(6) }, () => WORDS[pick(WORDS.length)]).join(' ')
    const who = at % 3 === 2 ? { role: at % 2 === 0 ? 'user' : 'assistant' } : { speaker: `s${pick(3)}` }
    await call(engine, 'remember', { text, conversation: `c${at % 3}`, id: `${at}`, wait: false, ...who })
  }
  const { store } = engine.host('conversations')
  const key = modelKey(TOY_MODEL)
  const chunks = store.chunksWithoutVector(key, Number.MAX_SAFE_INTEGER).filter((_, at) => isEmbedded(at))
  const vectors = chunks.map(chunk => ({ chunk: chunk.key, vector: anyVector(`chunk ${chunk.key}`) }))
  store.write(1, writer => writer.putVectors(key, vectors))
  return engine
}

async function idsOf(engine: Engine, input: object): Promise<readonly string[]> {
  const { messages, nearest = [] } = await call(engine, 'conversations.query', { touch: false, limit: 20, ...input })
  return [...messages, ...nearest].map(({ id }: { id: string }) => id)
}

it('QE-007: a message among the first three by words and with all embedded stays there, whatever has vectors', async () => {
  let watched = 0
  for (let seed = 1; seed <= 4; seed++) {
    const uniform = seededUniform(seed * 7919)
    const questions = Array.from({ length: 6 }, () => ({
      text: Array.from({ length: 1 + Math.floor(uniform() * 3) }, () => WORDS[Math.floor(uniform() * 12)]).join(' '),
      ...(uniform() < 0.5 && { conversations: [`c${Math.floor(uniform() * 3)}`] }),
    }))
    await using whole = await engineOf(seed, () => true)
    for (const share of [0, 0.1, 0.5, 0.9]) {
      await using partly = await engineOf(seed, () => uniform() < share)
      for (const question of questions) {
        const byWords = (await idsOf(whole, { ...question, mode: 'words' })).slice(0, 3)
        const first = (await idsOf(whole, question)).slice(0, 3)
        const both = byWords.filter(id => first.includes(id))
        for (const limit of [3, 20]) {
          const now = (await idsOf(partly, { ...question, limit })).slice(0, 3)
          expect(now, `seed ${seed}, ${share}, ${JSON.stringify(question)}`).toEqual(expect.arrayContaining(both))
          watched += both.length
        }
      }
    }
  }
  expect(watched).toBeGreaterThan(100)
})

it('QE-007: the explanation of a message without a vector makes its score again, and says what it lacks', async () => {
  await using engine = await engineOf(5, message => message % 2 === 0)
  const { messages } = await call(engine, 'conversations.query', { text: 'amber kelp', explain: true, limit: 20 })
  expect(messages.length).toBeGreaterThan(5)
  for (const { score, explanation } of messages) expect(recompute(explanation)).toBeCloseTo(score, 9)
  const reasons = messages.map(({ why }: { why: string }) => why).join('\n')
  expect(reasons).toContain('not embedded yet')
  expect(reasons).toContain('cosine')
})

it('QE-007: pages joined are the order of one long page while not all is embedded', async () => {
  await using engine = await engineOf(6, message => message % 3 === 0)
  const question = { text: 'amber kelp heron', touch: false }
  const whole = await call(engine, 'conversations.query', { ...question, limit: 15 })
  const joined: string[] = []
  let cursor: string | null = null
  do {
    const page: { messages: { id: string }[]; cursor: string | null } = await call(engine, 'conversations.query', {
      ...{ ...question, limit: 4 },
      ...(cursor !== null && { cursor }),
    })
    joined.push(...page.messages.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null && joined.length < 15)
  expect(joined.slice(0, 15)).toEqual(whole.messages.map(({ id }: { id: string }) => id))
})
