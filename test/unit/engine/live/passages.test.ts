/** A watch over passages (QE-008): each comes, changes and goes by itself, named by its entry and its position in it. */
import { expect, it } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { LiveEvent, WatchInput } from '../../../../src/model/live.ts'
import { openTestEngine, TEST_NOW } from '../../../support/engines.ts'
import { ManualTimers } from '../../../support/manual-timers.ts'

const ANN = { id: 'ann' }
const BOB = { id: 'bob' }

/** Each long enough to be a chunk. */
const manual = (...sentences: readonly string[]): string =>
  sentences.map((sentence, at) => `# Part ${at + 1}\n\n${`${sentence} `.repeat(24).trim()}\n`).join('\n')

it('QE-008: a passage that comes, changes or goes is reported alone, also to one who comes back with a token', async () => {
  const [timers, clock] = [new ManualTimers(), new SettableClock(TEST_NOW)]
  await using engine = await openTestEngine({ embedder: 'none', clock, live: { timers } })
  const put = (content: string, visibility: 'public' | 'private' = 'public') => {
    clock.set(clock.now() + 1)
    return engine.put({ entries: [{ id: 'manual', kind: 'document', content, visibility }] }, { viewer: BOB })
  }
  const heard: LiveEvent[] = []
  const input: WatchInput = { text: 'fox', group: 'passage', any: true, debounce_ms: 0, max_events_per_minute: 600 }
  const watch = async (token?: string) => {
    const handlers = { onEvent: (event: LiveEvent) => void heard.push(event) }
    const resumed = { ...input, ...(token !== undefined && { resume_token: token }) }
    const subscription = await engine.subscribe(resumed, handlers, { viewer: ANN })
    await timers.pass(0)
    return subscription
  }
  const news = async () => {
    await timers.pass(1000)
    return heard.splice(0).map(({ type, id, passage, reason }) => `${type} ${id} ${passage} ${reason}`)
  }

  await put(manual('The fox sleeps in the den.', 'It rains on the road.', 'A fox and a dog jump.'))
  const first = await watch()
  expect((await news()).sort()).toEqual(['added manual 1 initial', 'added manual 3 initial'])

  await put(manual('The fox sleeps in the hut.', 'It rains on the road.', 'A fox and a dog jump.'))
  expect(await news()).toEqual(['updated manual 1 content_changed'])
  await put(manual('The fox sleeps in the hut.', 'A fox on the road at night.', 'A fox and a dog jump.'))
  expect(await news()).toEqual(['added manual 2 new_match'])

  const token = first.resumeToken()
  first.cancel()
  await put(manual('The hen sleeps in the hut.', 'A fox on the road at night.', 'A fox and a cat jump.'))
  expect(await watch(token)).toMatchObject({ began: 'continued' })
  expect(await news()).toEqual(['removed manual 1 no_match', 'updated manual 3 content_changed'])

  await put(manual('The hen sleeps in the hut.', 'A fox on the road at night.', 'A fox and a cat jump.'), 'private')
  expect((await news()).sort()).toEqual(['removed manual 2 unavailable', 'removed manual 3 unavailable'])
})
