/**
 * What does not concern a question through the pipeline leaves its answer as it is: over random writes, no answer is another
 * where it was said that nothing concerns it. The long form, 1,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { LocalLiveQueries } from '../../../../src/engine/live/live-queries.ts'
import type { LiveQuery, LiveState, Subscription } from '../../../../src/model/live.ts'
import { audience } from '../../../../src/model/partition.ts'
import type { QueryInput } from '../../../../src/model/query-input.ts'
import { known, questions } from '../../../support/ask-arbitraries.ts'
import { openTestEngine, PLAIN_LENS, TEST_NOW } from '../../../support/engines.ts'
import { draftOf, wholeChunk } from '../../../support/entries.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'
import { assertUntil } from '../../../support/until-met.ts'

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 12
const ANN = { id: 'ann' }

/** Live queries as the engine makes them, run by the test alone. */
async function standing(engine: Engine, input: QueryInput): Promise<LiveQuery> {
  let made: LiveQuery | undefined
  const subscribing = vi.spyOn(LocalLiveQueries.prototype, 'subscribe').mockImplementation(async question => {
    made = question
    return { cancel: () => {} } as Subscription
  })
  const { as_of: _, ...asked } = input
  await engine.subscribe({ ...asked, debounce_ms: 0 }, { onEvent: () => {} }, { viewer: ANN })
  subscribing.mockRestore()
  return made as LiveQuery
}

const drafts = known(
  fc.constantFrom(audience('public', 'bob'), audience('private', 'ann'), audience('private', 'bob')),
  fc.integer({ min: 0, max: 25 }).map(number => `e${number}`),
).map(({ draft }) => draft)

const acts = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), draft: drafts }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'embed' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'use' as const }) },
)

/** Lists by conditions as well: few of the usual questions are. */
const lists = fc.record({
  text: fc.constantFrom(
    'tag:red',
    'collection:notes',
    'kind:code -tag:blue',
    'collection:code tag:blue',
    'kind:note -fox',
  ),
  per_collection: fc.constantFrom(undefined, undefined, 1),
  diversity: fc.constantFrom(undefined, undefined, 0.7),
})

const stood = fc.record({
  input: fc.oneof<fc.Arbitrary<QueryInput>[]>(questions(), lists, lists),
  limit: fc.constantFrom(1, 3, 50),
  lens: fc.constantFrom('default', PLAIN_LENS.name),
})

const reported = ({ items }: LiveState) => items.map(({ key, id, version, rank }) => [key, id, version, rank])

function nothingMissed(figures = { spared: 0, different: 0 }): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(
    fc.array(drafts, { maxLength: 15 }),
    fc.array(acts, { minLength: 3, maxLength: 12 }),
    fc.array(stood, { minLength: 4, maxLength: 4 }),
    async (first, steps, asked) => {
      const clock = new SettableClock(TEST_NOW)
      const engine = await openTestEngine({ embedder: openToyEmbedder(), clock, lenses: [PLAIN_LENS] })
      const { store } = engine.host('default')
      const put = (draft: (typeof first)[number]) =>
        store.write(clock.now(), writer => writer.put(draft, wholeChunk(draft)))
      for (const draft of first) put(draft)
      await engine.embedded()
      const { signal } = new AbortController()
      const all: { question: LiveQuery; twin: LiveQuery; last: LiveState }[] = []
      for (const { input, limit, lens } of asked) {
        const given = { ...input, limit, lens, mode: input.mode === 'meaning' ? 'hybrid' : input.mode } as QueryInput
        const [question, twin] = [await standing(engine, given), await standing(engine, given)]
        all.push({ question, twin, last: await question.ask(signal) })
      }
      for (const step of steps) {
        if (step.do === 'put') put(step.draft)
        else if (step.do === 'embed') await engine.embedded()
        else if (step.do === 'use') await engine.query({ text: 'fox', limit: 3 }, { viewer: ANN })
        else {
          const keys = store.scanEntries(0, 100)
          const key = keys[step.at % Math.max(1, keys.length)]
          if (key !== undefined) store.write(clock.now(), writer => writer.delete(key))
        }
        for (const one of all) {
          const isConcerned = one.question.concerned(one.last)
          const fresh = await one.twin.ask(signal)
          const isOther = JSON.stringify(reported(fresh)) !== JSON.stringify(reported(one.last))
          figures.spared += Number(!isConcerned)
          figures.different += Number(isOther)
          // Use is no change that is reported by itself: where it counts, the next report includes it.
          if (!isConcerned && step.do !== 'use') expect(reported(fresh)).toEqual(reported(one.last))
          if (isConcerned || step.do === 'use') one.last = await one.question.ask(signal)
        }
      }
      await engine.close()
    },
  )
}

it(`never misses a change of the answer, and spares asking (${RUNS} histories; 1,000 with QUERENT_LONG=1)`, {
  timeout: PATIENCE_MS,
}, async () => {
  const figures = { spared: 0, different: 0 }
  await assertUntil(nothingMissed(figures), { numRuns: RUNS }, () => {
    expect(figures.spared).toBeGreaterThan(RUNS)
    expect(figures.different).toBeGreaterThan(RUNS)
  })
})

it('leaves aside what does not fulfil the conditions of a list, and vectors where words are asked for', async () => {
  const engine = await openTestEngine({ embedder: openToyEmbedder() })
  const texts = ['collection:notes', 'fox', 'fox'] as const
  const all: { question: LiveQuery; last: LiveState | null }[] = []
  for (const [at, text] of texts.entries()) {
    const question = await standing(engine, { text, ...(at === 1 && { mode: 'words' }) })
    all.push({ question, last: null })
  }
  const concerned = async () => {
    const found = all.map(({ question, last }) => last === null || question.concerned(last))
    for (const one of all) one.last = await one.question.ask(new AbortController().signal)
    return found
  }
  const { store } = engine.host('default')
  // By the store itself: the engine would embed it at once.
  const put = (id: string, collection: string) => {
    const draft = draftOf({ id, collection, content: `a fox ${id}`, audience: audience('public', 'owner') })
    store.write(TEST_NOW, writer => writer.put(draft, wholeChunk(draft)))
  }
  // A partition that becomes visible concerns all of them.
  put('z', 'code')
  await concerned()
  put('a', 'code')
  expect(await concerned()).toEqual([false, true, true])
  await engine.embedded()
  expect(await concerned()).toEqual([false, false, true])
  put('a', 'notes')
  expect((await concerned())[0]).toBe(true)
  // Out of what it was in.
  put('a', 'code')
  expect((await concerned())[0]).toBe(true)
  await engine.delete({ ids: ['a'] })
  expect((await concerned())[0]).toBe(false)
  await engine.close()
})
