/** Resume tokens: whose they are, how long they are good, and that nothing is missed or heard twice on the way (BQ-165). */
import { describe, expect, it } from 'vitest'
import { OPTIONS } from './items.ts'
import { ScriptedQuestion, ScriptedWorld, Watch } from './scripted.ts'

const MINUTE = 60_000

/** Goes on with a token as a subscriber who has what the former one had. */
async function goOn(world: ScriptedWorld, token: string, former?: Watch, viewer = 'ann'): Promise<Watch> {
  const watch = new Watch(new ScriptedQuestion(world, viewer))
  for (const [id, text] of former?.listener.known ?? []) watch.listener.known.set(id, text)
  watch.subscription = await world.live.subscribe(watch.question, { ...OPTIONS, resumeToken: token }, watch.handlers)
  await world.timers.settle()
  return watch
}

async function begun(texts: readonly string[]): Promise<{ world: ScriptedWorld; watch: Watch; token: string }> {
  const world = new ScriptedWorld()
  world.write(texts)
  const watch = await world.watch()
  return { world, watch, token: watch.subscription.resumeToken() }
}

const jump = (world: ScriptedWorld, ms: number) => world.clock.set(world.clock.now() + ms)
const ideographs = (count: number) => Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + at))

it('A token goes on with what has changed since, under the same id and the numbers that follow, in place of what was left.', async () => {
  const { world, watch, token } = await begun(['a', 'b'])
  expect(token).toBe(watch.events.at(-1)?.resume_token)
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('ann')
  world.write(['a2', 'c'])
  const next = await goOn(world, token)
  expect([watch.ends, world.live.count()]).toEqual([['cancelled'], 1])
  expect(next.subscription).toMatchObject({ id: watch.subscription.id, began: 'continued' })
  expect(next.events.map(({ seq }) => seq)).toEqual([3, 4, 5])
  expect(next.news()).toEqual(['removed b no_match', 'updated a content_changed', 'added c now_matches'])
})

it('Another process goes on from the token alone.', async () => {
  const { world, watch } = await begun(['a', 'b', 'c'])
  // Behind the second of three events: the third is still to come.
  const [, second] = watch.events
  world.restart()
  world.hide(['a'])
  const next = await goOn(world, second?.resume_token as string)
  expect(next.events[0]).toMatchObject({ subscription_id: watch.subscription.id, seq: 3 })
  expect(next.news()).toEqual(['removed a unavailable', 'added c now_matches'])
})

it('Ten minutes after it was given a token begins again: what is gone, then all there is, and no number comes twice.', async () => {
  const { world, watch, token } = await begun(['a', 'b'])
  world.write(['a', 'c'])
  jump(world, 10 * MINUTE)
  const inTime = await goOn(world, token)
  expect(inTime.subscription.began).toBe('continued')
  jump(world, 1)
  const late = await goOn(world, token, watch)
  expect(late.subscription.began).toBe('resync')
  expect(late.events[0]?.seq).toBe(5)
  expect(late.news()).toEqual(['removed b resync', 'added a resync', 'added c resync'])
  expect(late.listener.texts).toEqual(['a', 'c'])
})

it.each([
  [1000, 'continued'],
  [1001, 'resync'],
])('After %i events a token has %s.', async (events, began) => {
  const { world, watch, token } = await begun(['a'])
  const { subscription } = await world.watch({ debounceMs: 0, resumeToken: token })
  for (let at = 1; at <= events; at++) {
    world.write([`a${at}`])
    await world.timers.pass(100)
  }
  expect(subscription.eventsDelivered).toBe(events)
  const next = await goOn(world, token, watch)
  expect(next.subscription.began).toBe(began)
  expect(next.listener.texts).toEqual([`a${events}`])
})

it('A state that is too large for a token is kept by its process, after each event, and begins again in another.', async () => {
  const many = ideographs(90)
  const { world, watch } = await begun(many)
  const tokens = watch.events.map(({ resume_token }) => resume_token)
  expect(Math.max(...tokens.map(token => token.length))).toBeLessThan(4096)
  const half = await goOn(world, tokens[44] as string)
  expect(half.subscription.began).toBe('continued')
  expect(half.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 45 }, (_, at) => 46 + at))
  world.write(many.slice(1))
  await world.timers.pass(1000)
  world.restart()
  const late = await goOn(world, half.events.at(-1)?.resume_token as string, half)
  expect(late.subscription.began).toBe('resync')
  expect(late.events.length).toBe(89)
  expect(late.events.every(({ reason, type }) => reason === 'resync' && type === 'added')).toBe(true)
})

it('The large states of one viewer push out none of another.', async () => {
  const { world, watch, token } = await begun(ideographs(90))
  for (let at = 0; at < 210; at++) {
    const loud = new Watch(new ScriptedQuestion(world, 'owner'))
    await world.live.subscribe(loud.question, OPTIONS, loud.handlers)
  }
  await world.timers.settle()
  expect((await goOn(world, token, watch)).subscription.began).toBe('continued')
})

describe('A subscriber for whom nothing changes', () => {
  it.each([
    [10 * MINUTE, 'continued'],
    [10 * MINUTE + 1, 'resync'],
  ])('is given a token a minute, with which another process has %i ms later %s.', async (ms, began) => {
    const world = new ScriptedWorld()
    world.write(['a'])
    const tokens: string[] = []
    const watch = await world.watch({}, { onToken: token => void tokens.push(token) })
    for (let minute = 0; minute < 5; minute++) {
      jump(world, MINUTE)
      await world.timers.pass(MINUTE)
    }
    expect(tokens.length).toBe(5)
    world.restart()
    jump(world, ms)
    expect((await goOn(world, tokens.at(-1) as string, watch)).subscription.began).toBe(began)
  })

  it('is given none that is not needed: after an event a minute later, while paused, not taken or at its end none.', async () => {
    const world = new ScriptedWorld()
    const times: number[] = []
    let gate: PromiseWithResolvers<void> | null = null
    const wanted = () => gate?.promise ?? null
    const watch = await world.watch({ debounceMs: 0 }, { wanted, onToken: () => void times.push(world.timers.now()) })
    await world.timers.pass(30_000)
    world.write(['a'])
    await world.timers.pass(70_000)
    expect(times).toEqual([90_050])
    watch.subscription.pause()
    await world.timers.pass(2 * MINUTE)
    watch.subscription.resume()
    gate = Promise.withResolvers<void>()
    await world.timers.pass(2 * MINUTE)
    expect(times.length).toBe(1)
    gate.resolve()
    gate = null
    await world.timers.pass(50)
    expect(times.length).toBe(2)
    watch.subscription.cancel()
    expect(world.timers.waiting).toBe(0)
  })
})

it("Refuses another viewer's, another query's, an altered and an invented token, all in the same words (resume_invalid).", async () => {
  const { world, token } = await begun(['a'])
  const as = (viewer: string, question: string, resumeToken: string) => {
    const watch = new Watch(new ScriptedQuestion(world, viewer, question))
    return world.live.subscribe(watch.question, { ...OPTIONS, resumeToken }, watch.handlers).catch(error => error)
  }
  const altered = `${token.slice(0, -2)}${token.endsWith('A') ? 'B' : 'A'}${token.slice(-1)}`
  const failures = [
    await as('bob', 'letters', token),
    await as('ann', 'digits', token),
    ...(await Promise.all([altered, `${token}=`, 'AAAA', ''].map(wrong => as('ann', 'letters', wrong)))),
  ]
  const { message } = failures[0] as Error
  for (const failure of failures) expect(failure).toMatchObject({ code: 'resume_invalid', message })
  expect(world.live.count()).toBe(1)
})
