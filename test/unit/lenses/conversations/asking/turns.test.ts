/** QE-019: a question over messages yields to others while it reads, scores and answers; what they do changes nothing for it. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Bitset } from '../../../../../src/base/bitset.ts'
import { atOnce, type Steps } from '../../../../../src/base/turns.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { weighConversation } from '../../../../../src/lenses/conversations/asking/conversation-scores.ts'
import { askedWords, questionOf } from '../../../../../src/lenses/conversations/asking/question.ts'
import { type Transcript, Transcripts } from '../../../../../src/lenses/conversations/asking/transcripts.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

const WORDS = ['kiln', 'barn', 'clay', 'sand', 'door', 'goat', 'rain', 'roof']
const textOf = (at: number, length = 3) =>
  `${Array.from({ length }, (_, word) => WORDS[(at * (word + 3) + (at >> 3)) % WORDS.length]).join(' ')} ${at}`

async function say(engine: Engine, conversation: string, count: number, more: object = {}, length = 3): Promise<void> {
  for (let at = 0; at < count; at++) {
    const message = { text: textOf(at, length), conversation, id: `m${at}`, speaker: at % 3 === 0 ? 'Mira' : 'Tom' }
    await call(engine, 'remember', { ...message, visibility: 'public', ...more }, 'ana')
  }
}

/** While `work` goes on, every look at the clock is 20 ms later than the one before: each step is followed by a pause. */
async function pausingAtEachStep<T>(work: () => Promise<T>): Promise<T> {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 20))
  try {
    return await work()
  } finally {
    clock.mockRestore()
  }
}

describe('questions over messages that pause at every step', () => {
  const QUESTIONS = [
    { text: 'When did Mira put clay in the kiln?', limit: 40, explain: true },
    { text: 'goat on the roof', limit: 40, neighbours: 2 },
    { text: 'rain', conversations: ['c1', 'c2'], limit: 40 },
    { text: 'sand at the barn door', max_tokens: 200 },
  ].map(question => ({ ...question, touch: false, timeout_ms: 300_000 }))

  async function world(): Promise<Engine> {
    const engine = await openTestEngine({ embedder: openToyEmbedder() })
    for (const conversation of ['c0', 'c1', 'c2']) await say(engine, conversation, 30)
    await say(engine, 'chat', 20, { profile: 'assistant' })
    await engine.embedded()
    return engine
  }

  it('QE-019: are answered as one after the other, whatever hidden messages come in between', async () => {
    const ask = (of: Engine, question: object) => call(of, 'conversations.query', question, 'ben')
    const plain = []
    {
      await using quiet = await world()
      for (const question of QUESTIONS) plain.push(await ask(quiet, question))
    }
    await using engine = await world()
    let [turns, written, isOver] = [0, 0, false]
    const write = async () => {
      for (; !isOver; turns++) {
        await new Promise(setImmediate)
        if (turns % 10 !== 0) continue
        const message = { text: 'clay kiln goat rain', conversation: `c${written % 3}`, id: `hidden${written++}` }
        await call(engine, 'remember', message, 'ana')
      }
    }
    const all = () => Promise.all(QUESTIONS.map(question => ask(engine, question)))
    const [answers, again] = await pausingAtEachStep(async () => {
      const writing = write()
      // What is read and made for the first ones serves the second ones.
      const both = [await all(), await all()] as const
      isOver = true
      await writing
      return both
    })
    const withoutCursor = (each: readonly { cursor: unknown }[]) => each.map(one => ({ ...one, cursor: null }))
    expect(withoutCursor(answers)).toEqual(withoutCursor(plain))
    expect(withoutCursor(again)).toEqual(withoutCursor(plain))
    expect(answers.map(({ messages }) => messages.length)).toEqual([40, 40, 40, expect.any(Number)])
    // At least one for each message that was found, compared and shown.
    expect(turns).toBeGreaterThan(2 * 3 * 120)
    expect(written).toBeGreaterThan(10)
  })

  it('show no message that is deleted or hidden at a pause, and each as it is at the last one', async () => {
    // The writes take turns too: the latest turn from which they are over before the answer is.
    for (let back = 10; ; back += 10) {
      await using engine = await openTestEngine()
      await say(engine, 'c0', 20)
      const question = { text: 'clay kiln goat rain', limit: 20, touch: false, timeout_ms: 300_000 }
      const before = await call(engine, 'conversations.query', question, 'ben')
      const [gone, secret, changed] = before.messages.map(({ id }: { id: string }) => id.replace('c0/', ''))
      let [turns, isOver, isInTime] = [0, false, false]
      const withChangeAt = (turn: number) =>
        pausingAtEachStep(async () => {
          isOver = false
          const answer = call(engine, 'conversations.query', question, 'ben').finally(() => {
            isOver = true
          })
          for (turns = 0; !isOver; turns++) {
            await new Promise(setImmediate)
            if (turns !== turn) continue
            await call(engine, 'delete', { ids: [`c0/${gone}`] }, 'ana')
            const kept = { conversation: 'c0', speaker: 'Mira' }
            await call(engine, 'remember', { ...kept, id: secret, text: 'kiln', visibility: 'private' }, 'ana')
            await call(engine, 'remember', { ...kept, id: changed, text: 'clay kiln, written again' }, 'ana')
            isInTime = !isOver
          }
          return answer
        })
      await withChangeAt(-1)
      expect(turns).toBeGreaterThan(Math.max(2 * 20, back))
      const { messages } = await withChangeAt(turns - back)
      if (!isInTime) continue
      const ids = messages.map(({ id }: { id: string }) => id)
      expect(ids).not.toContain(`c0/${gone}`)
      expect(ids).not.toContain(`c0/${secret}`)
      expect(messages.find(({ id }: { id: string }) => id === `c0/${changed}`)?.text).toBe('clay kiln, written again')
      return
    }
  })
})

describe('a conversation that is read for the first time', () => {
  const partitionsOf = (engine: Engine) =>
    engine
      .host('conversations')
      .store.partitions()
      .map(({ id }) => id)

  it('QE-019: is read in a step for every few thousand characters', async () => {
    await using engine = await openTestEngine()
    await say(engine, 'long', 60, {}, 300)
    const transcripts = new Transcripts(engine.host('conversations').store)
    const steps = transcripts.ofNamed(['long'], partitionsOf(engine))
    let count = 0
    let step = steps.next(true)
    for (; step.done !== true; step = steps.next(true)) count++
    expect(step.value.map(({ spoken }) => spoken.length)).toEqual([60])
    expect(count).toBeGreaterThanOrEqual((60 * 300 * 5) / 8_000)
    expect(countOf(transcripts.ofNamed(['long'], partitionsOf(engine)))).toBeLessThanOrEqual(1)
  })

  it('QE-019: is what the store has at the end, whatever is said, changed and deleted between the steps of two who read it', async () => {
    const change = fc.record({
      do: fc.constantFrom('say' as const, 'say' as const, 'change' as const, 'hide' as const, 'delete' as const),
      at: fc.nat({ max: 24 }),
      every: fc.integer({ min: 1, max: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), async changes => {
        await using engine = await openTestEngine()
        await say(engine, 'talk', 25, {}, 150)
        const transcripts = new Transcripts(engine.host('conversations').store)
        const partitions = partitionsOf(engine)
        const gone = new Set<string>()
        const first = engine.host('conversations').store.newestEntry()
        const readers = [
          transcripts.ofNamed(['talk'], partitions),
          transcripts.around([first - 1], partitions, { atLeast: 1, atMost: 10, messages: 1_000 }),
        ]
        const results = readers.map(reader => reader.next(false))
        for (let round = 1; results.some(({ done }) => done !== true); round++) {
          for (const [at, reader] of readers.entries()) if (results[at]?.done !== true) results[at] = reader.next(true)
          const next = changes[0]
          if (next === undefined || round % next.every !== 0) continue
          changes = changes.slice(1)
          const id = next.do === 'say' ? `late${round}` : `m${next.at}`
          const message = { conversation: 'talk', id, text: `${textOf(round, 40)} again`, speaker: 'Tom' }
          if (next.do === 'delete' && !gone.has(id)) {
            gone.add(id)
            await call(engine, 'delete', { ids: [`talk/${id}`] }, 'ana')
          } else {
            gone.delete(id)
            const visibility = next.do === 'hide' ? 'private' : 'public'
            await call(engine, 'remember', { ...message, visibility }, 'ana')
          }
        }
        const fresh = new Transcripts(engine.host('conversations').store)
        const stated = (of: Transcripts) => shown(atOnce(of.ofNamed(['talk'], partitionsOf(engine))))
        expect(stated(transcripts)).toEqual(stated(fresh))
      }),
      { numRuns: 25 },
    )
  })

  it('QE-019: is scored as it was at the first step, whatever is said in it between the steps', async () => {
    await using engine = await openTestEngine()
    await say(engine, 'talk', 60)
    const transcripts = new Transcripts(engine.host('conversations').store)
    const partitions = partitionsOf(engine)
    const [transcript] = atOnce(transcripts.ofNamed(['talk'], partitions)) as [Transcript]
    const scoresOf = function* () {
      const weighed = yield* weighConversation(transcript, {
        question: questionOf('clay in the kiln'),
        words: askedWords([{ text: 'clay in the kiln', boost: 1 }]),
        meaning: null,
        weights: { words: 1, meaning: 0 },
        holders: new Map(),
        invalid: new Bitset(),
      })
      const { ranks, possible } = yield* weighed.scores()
      return { scores: [...ranks.scores], possible }
    }
    const expected = atOnce(scoresOf())
    // One moment was made before; that of the other is made while messages come.
    for (const isMade of [true, false]) {
      if (!isMade) transcript.append([])
      const before = isMade ? expected : atOnce(scoresOf())
      if (!isMade) transcript.append([])
      const steps = scoresOf()
      let step = steps.next(false)
      for (let late = 0; step.done !== true; late++) {
        const message = { text: 'clay kiln', conversation: 'talk', id: `late${isMade}${late}`, visibility: 'public' }
        await call(engine, 'remember', message, 'ana')
        expect(atOnce(transcripts.ofNamed(['talk'], partitions))[0]).toBe(transcript)
        atOnce(scoresOf())
        step = steps.next(true)
      }
      expect(step.value).toEqual(before)
    }
    expect(transcript.spoken.length).toBeGreaterThan(65)
  })
})

function shown(transcripts: readonly Transcript[]): unknown {
  return transcripts
    .map(({ partition, spoken, unitMessages, units, entries }) => ({
      ...{ partition, spoken, unitMessages, entries: [...entries] },
      lengths: unitMessages.map((_, unit) => [units.lengthOf(unit, false), units.lengthOf(unit, true)]),
    }))
    .filter(({ spoken }) => spoken.length > 0)
    .sort((a, b) => a.partition - b.partition)
}

function countOf(steps: Steps<unknown>): number {
  let count = 0
  while (steps.next(false).done !== true) count++
  return count
}
