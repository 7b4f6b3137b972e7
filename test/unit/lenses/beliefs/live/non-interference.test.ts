/**
 * What a subscriber may not see changes no byte of its event stream, no number in it, and never makes its question be asked
 * again: hidden beliefs that come, change and go, memberships and trust of others (BQ-169, BQ-111). The long form, 1,000
 * stories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { LiveBeliefQuery } from '../../../../../src/lenses/beliefs/live/live-belief-query.ts'
import type { BeliefQuery } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import {
  FADE,
  type HiddenStory,
  hiddenStories,
  isOfFading,
  REQUESTER,
  SECRETS,
} from '../../../../support/beliefs-hidden.ts'
import { HiddenWorld, LIBRARY } from '../../../../support/beliefs-hidden-world.ts'
import { ManualTimers } from '../../../../support/manual-timers.ts'
import { assertUntil } from '../../../../support/until-met.ts'

vi.mock('../../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../../support/kept-keys.ts')
  return keptKeys(original)
})

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 1000 : 8

it(`no hidden history changes an event stream (${RUNS} stories; 1,000 with QUERENT_LONG=1)`, async () => {
  const figures = { lines: 0, asked: 0 }
  const property = fc.asyncProperty(hiddenStories(['beliefs.query']), async story => {
    const plain = await streamOf(story, false)
    const laced = await streamOf(story, true)
    expect(laced).toEqual(plain)
    figures.lines += plain.lines.length
    figures.asked += plain.asked
  })
  await assertUntil(property, { numRuns: RUNS, endOnFailure: true }, () => {
    expect(figures.lines).toBeGreaterThan(RUNS)
    expect(figures.asked).toBeGreaterThan(RUNS)
  })
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
}, 7_200_000)

/** Every event as it is sent, the moment of machine time at which it came, and how often the questions were asked. */
async function streamOf(
  story: HiddenStory,
  isLaced: boolean,
): Promise<{ readonly lines: readonly string[]; readonly asked: number }> {
  const timers = new ManualTimers()
  const world = await HiddenWorld.open(story.embedder, LIBRARY, { live: { timers } })
  const ask = vi.spyOn(LiveBeliefQuery.prototype, 'ask')
  const lines: string[] = []
  try {
    if (isLaced) for (const secret of SECRETS) await world.hide(secret)
    const beliefs = beliefsOf(world.engine, { id: REQUESTER })
    const queries = story.requests.map(({ input }) => input as unknown as BeliefQuery)
    for (const [at, query] of queries.entries()) {
      const { offset: _, ...options } = { offset: 0, ...query.options }
      const event = (reported: object) => void lines.push(`${at} ${timers.now()} ${JSON.stringify(reported)}`)
      // Ids and tokens are sealed with what the store was made with, which is the same in both.
      await beliefs.subscribe({ ...query, options }, event, { include_reranks: true, max_events_per_minute: 600 })
    }
    const base = [...story.before, ...FADE, ...story.after]
    for (const [at, act] of base.entries()) {
      const due = story.hidden.filter(one => (isOfFading(one.act) ? base.length - 1 : one.at % base.length) === at)
      if (isLaced) for (const one of due) await world.hide(one.act)
      await timers.pass(1500)
      await world.act(act, isLaced)
      await timers.pass(1500)
    }
    return { lines, asked: ask.mock.calls.length }
  } finally {
    ask.mockRestore()
    await world.close()
  }
}
