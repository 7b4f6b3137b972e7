/** Conversations kept in memory answer as those read again, after every change; and what is hidden changes no score. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import {
  KeptThreads,
  type Thread,
  type Transcript,
  Transcripts,
} from '../../../../../src/lenses/conversations/asking/transcripts.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'

const WORDS = ['kiln', 'barn', 'clay', 'sand', 'door', 'horno', 'granero', 'march', 'roses', 'where']
const SPEAKERS = ['Mira', 'Tom', 'Ana']
const QUESTIONS = ['where is the kiln', 'When did Mira sand the door?', 'horno granero', 'roses clay march']

const text = fc
  .tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }), fc.constantFrom('.', '?', ' last week.'))
  .map(([words, end]) => words.join(' ') + end)
const put = fc.record({
  kind: fc.constant('say' as const),
  id: fc.option(
    fc.integer({ min: 0, max: 9 }).map(id => `m${id}`),
    { nil: undefined },
  ),
  conversation: fc.constantFrom('home', 'work'),
  session: fc.constantFrom('s1', 's2'),
  speaker: fc.constantFrom(...SPEAKERS),
  role: fc.constantFrom(undefined, undefined, undefined, 'user', 'assistant'),
  visibility: fc.constantFrom('private', 'private', 'private', 'public'),
  text,
})
const change = fc.oneof(
  { weight: 8, arbitrary: put },
  fc.record({ kind: fc.constant('delete' as const), id: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ kind: fc.constant('publish' as const), id: fc.integer({ min: 0, max: 9 }) }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

type TestEngine = Awaited<ReturnType<typeof openTestEngine>>

async function make(engine: TestEngine, one: Change, viewer: string, minute: number): Promise<void> {
  if (one.kind === 'say') {
    const { kind, id = `r${minute}`, ...input } = one
    await call(engine, 'remember', { ...input, id, at: Date.UTC(2025, 2, 14, 10, minute) }, viewer)
    return
  }
  for (const conversation of ['home', 'work']) {
    const id = `${conversation}/m${one.id}`
    if (one.kind === 'delete') await call(engine, 'delete', { ids: [id] }, viewer).catch(() => {})
    else {
      const entry = await call(engine, 'get', { id }, viewer).catch(() => null)
      if (entry === null || entry.holder !== viewer) continue
      const { collection, kind, title, content } = entry
      await call(engine, 'put', { entries: [{ id, collection, kind, title, content, visibility: 'public' }] }, viewer)
    }
  }
}

async function answersFor(engine: TestEngine, viewer: string): Promise<unknown> {
  const reported: unknown[] = []
  for (const question of QUESTIONS) {
    for (const more of [{}, { conversations: ['home'] }, { as_of: '2025-03-14T10:04:30Z' }]) {
      const asked = { text: question, touch: false, explain: true, limit: 50, neighbours: 1, ...more }
      reported.push({ ...(await call(engine, 'conversations.query', asked, viewer)), cursor: null })
    }
  }
  return reported
}

describe('conversations in memory', () => {
  it('answer as those that are read again, after every change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 14 }), async changes => {
        await using kept = await openTestEngine()
        for (const [at, one] of changes.entries()) {
          await make(kept, one, 'owner', at)
          await answersFor(kept, 'owner')
        }
        await using fresh = await openTestEngine()
        for (const [at, one] of changes.entries()) await make(fresh, one, 'owner', at)
        expect(await answersFor(kept, 'owner')).toEqual(await answersFor(fresh, 'owner'))
      }),
      { numRuns: 12 },
    )
  })

  it('change no byte by what others hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ mine: fc.boolean(), change }), { minLength: 1, maxLength: 16 }),
        async steps => {
          const hidden = ({ mine, change: one }: { mine: boolean; change: Change }) =>
            !mine && one.kind !== 'publish' && !(one.kind === 'say' && one.visibility === 'public')
          const shown = async (all: boolean) => {
            await using engine = await openTestEngine()
            for (const [at, step] of steps.entries()) {
              if (hidden(step) ? all : step.mine) await make(engine, step.change, step.mine ? 'ana' : 'ben', at)
            }
            return await answersFor(engine, 'ana')
          }
          expect(await shown(true)).toEqual(await shown(false))
        },
      ),
      { numRuns: 12 },
    )
  })

  it('are found by the next question of another engine on the same store', async () => {
    const store = openMemoryStore()
    await using one = await openTestEngine({ store })
    await using other = await openTestEngine({ store })
    const ask = async () => {
      const { messages } = await call(other, 'conversations.query', { text: 'kiln', conversations: ['home'] })
      return messages.length
    }
    expect(await ask()).toBe(0)
    for (let count = 1; count < 4; count++) {
      await call(one, 'remember', { text: `The kiln, ${count}.`, conversation: 'home' })
      expect(await ask()).toBe(count)
    }
    await call(one, 'put', { entries: [{ id: 'note', content: 'kiln' }] })
    expect(await ask()).toBe(3)
  })

  it('are read one after the other, so many in any case, until there are messages enough', async () => {
    await using engine = await openTestEngine()
    for (const conversation of ['a', 'b', 'c']) {
      for (const text of ['kiln', 'barn']) await call(engine, 'remember', { text, conversation })
    }
    const { store } = engine.host('conversations')
    const transcripts = new Transcripts(store)
    const partitions = store.partitions().map(({ id }) => id)
    const named = atOnce(transcripts.ofNamed(['a', 'b', 'c'], partitions))
    const entries = named.flatMap(({ spoken }) => spoken.map(({ entry }) => entry))
    // What has no row of the lens is in no conversation.
    const asked = [...entries.slice(0, 1), store.newestEntry() + 1, ...entries.slice(1)]
    const read = (atLeast: number, messages: number, atMost = 3) => {
      const bounds = { atLeast, atMost, messages }
      // As many as another process finds, which has read none of them yet.
      const [known, fresh] = [transcripts, new Transcripts(store)].map(each =>
        atOnce(each.around(asked, partitions, bounds)),
      )
      expect(fresh?.transcripts.map(({ spoken }) => spoken)).toEqual(known?.transcripts.map(({ spoken }) => spoken))
      return [known?.transcripts.length, known?.isAll]
    }
    expect([1, 2, 3, 100].map(messages => read(0, messages))).toEqual([
      [0, false],
      [1, false],
      [1, false],
      [3, true],
    ])
    expect([read(1, 1), read(2, 2), read(3, 0)]).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ])
    expect([read(0, 100, 2), read(3, 100, 1)]).toEqual([
      [2, false],
      [1, false],
    ])
    expect(atOnce(transcripts.ofNamed(['a', 'b', 'c'], []))).toEqual([])
  })

  it('hold nothing that is no message any more', async () => {
    await using engine = await openTestEngine()
    await call(engine, 'remember', { text: 'The kiln.', conversation: 'home', id: 'a' })
    await call(engine, 'remember', { text: 'A kiln.', conversation: 'home', id: 'b' })
    await call(engine, 'put', { entries: [{ id: 'home/a', kind: 'note', content: 'The kiln.' }] })
    const { messages } = await call(engine, 'conversations.query', { text: 'kiln', conversations: ['home'] })
    expect(messages).toMatchObject([{ id: 'home/b' }])
  })
})

function threadOf(...entries: readonly number[]): { readonly thread: Thread; readonly spoken: { entry: number }[] } {
  const spoken = entries.map(entry => ({ entry }))
  return { thread: new Map([[1, { spoken } as unknown as Transcript]]), spoken }
}

it('keeps the threads used last, as many as have so many messages, and knows whose a message is', () => {
  const kept = new KeptThreads(4)
  const made: string[] = []
  const use = (id: string, thread: Thread) => {
    kept.get(id, () => {
      made.push(id)
      return thread
    })
    kept.forgetOldest()
  }
  const [a, b, c] = [threadOf(1, 2), threadOf(3), threadOf(4)]
  use('a', a.thread)
  use('b', b.thread)
  use('c', c.thread)
  use('a', a.thread)
  expect(made).toEqual(['a', 'b', 'c'])
  c.spoken.push({ entry: 5 })
  kept.grown('c', c.thread)
  kept.forgetOldest()
  expect([1, 2, 3, 4, 5].map(entry => kept.threadOf(entry))).toEqual(['a', 'a', undefined, 'c', 'c'])
  use('d', threadOf(6, 7, 8, 9, 10).thread)
  expect(kept.entries().map(([id]) => id)).toEqual(['d'])
  expect(kept.threadOf(5)).toBeUndefined()
  kept.clear()
  expect(kept.threadOf(6)).toBeUndefined()
})
