/** Resume tokens: whose they are, how long they are good, and that nothing is missed or heard twice on the way (BQ-165). */
import { describe, expect, it } from 'vitest'
import { OPTIONS } from './items.ts'
import { ScriptedQuestion, ScriptedWorld, Watch } from './scripted.ts'

const MINUTE = 60_000

/** Goes on with a token as a subscriber who knows what the former one knew. */
async function goOn(world: ScriptedWorld, token: string, former?: Watch): Promise<Watch> {
  const watch = new Watch(new ScriptedQuestion(world))
  for (const [id, text] of former?.listener.known ?? []) watch.listener.known.set(id, text)
  watch.subscription = await world.live.subscribe(watch.question, { ...OPTIONS, resumeToken: token }, watch.handlers)
  await world.timers.settle()
  return watch
}

async function begun(texts: readonly string[]): Promise<{ world: ScriptedWorld; watch: Watch; token: string }> {
  const world = new ScriptedWorld()
  world.write(texts)
  const watch = await world.watch()
  const token = watch.events.at(-1)?.resume_token ?? watch.subscription.resumeToken()
  return { world, watch, token }
}

describe('going on', () => {
  it('tells what has changed since, under the same id and the numbers that follow', async () => {
    const { world, watch, token } = await begun(['a', 'b'])
    watch.subscription.cancel()
    world.write(['a2', 'c'])
    const next = await goOn(world, token)
    expect(next.subscription).toMatchObject({ id: watch.subscription.id, began: 'continued' })
    expect(next.events.map(({ seq }) => seq)).toEqual([3, 4, 5])
    expect(next.news()).toEqual(['removed b no_match', 'updated a content_changed', 'added c now_matches'])
  })

  it('does so in another process too, from the token alone', async () => {
    const { world, watch } = await begun(['a', 'b', 'c'])
    // Behind the second of three events: the third is still to come.
    const [, second] = watch.events
    world.restart()
    world.hide(['a'])
    const next = await goOn(world, second?.resume_token as string)
    expect(next.events[0]).toMatchObject({ subscription_id: watch.subscription.id, seq: 3 })
    expect(next.news()).toEqual(['removed a unavailable', 'added c now_matches'])
  })

  it('takes the place of the subscription that was left behind', async () => {
    const { world, watch, token } = await begun(['a'])
    const next = await goOn(world, token)
    expect([watch.ends, next.news(), world.live.count()]).toEqual([['cancelled'], [], 1])
  })

  it('gives the same token for the same state, and none that can be read', async () => {
    const { watch } = await begun(['a'])
    expect(watch.subscription.resumeToken()).toBe(watch.subscription.resumeToken())
    expect(watch.events[0]?.resume_token).toMatch(/^[\w-]+$/)
    const bytes = Buffer.from(watch.events[0]?.resume_token as string, 'base64url').toString('latin1')
    expect(bytes).not.toContain('ann')
  })
})

describe('beginning anew (resync)', () => {
  it('after ten minutes: what is gone, then all there is, whatever was known', async () => {
    const { world, watch, token } = await begun(['a', 'b'])
    watch.subscription.cancel()
    world.write(['a', 'c'])
    world.clock.set(world.clock.now() + 10 * MINUTE)
    const inTime = await goOn(world, token)
    expect(inTime.subscription.began).toBe('continued')
    inTime.subscription.cancel()
    // It was told more since: reckoned from the token, to the minute.
    world.clock.set(world.clock.now() + MINUTE + 1)
    const late = await goOn(world, token, watch)
    expect(late.subscription.began).toBe('resync')
    expect(late.events[0]?.seq).toBe(5)
    expect(late.news()).toEqual(['removed b resync', 'added a resync', 'added c resync'])
    expect(late.listener.texts).toEqual(['a', 'c'])
  })

  it.each([
    [1000, 'continued'],
    [1001, 'resync'],
  ])('after %i events: %s', async (events, began) => {
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

  it('where the state was too large for a token and its process is gone; not where it is there', async () => {
    const many = Array.from({ length: 90 }, (_, at) => String.fromCodePoint(0x4e00 + at))
    const { world, watch } = await begun(many)
    const tokens = watch.events.map(({ resume_token }) => resume_token)
    expect(Math.max(...tokens.map(token => token.length))).toBeLessThan(4096)
    const half = await goOn(world, tokens[44] as string)
    expect(half.subscription.began).toBe('continued')
    expect(half.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 45 }, (_, at) => 46 + at))
    world.write(many.slice(1))
    await world.timers.pass(1000)
    const end = half.events.at(-1)?.resume_token as string
    world.restart()
    const late = await goOn(world, end, half)
    expect(late.subscription.began).toBe('resync')
    expect(late.events.length).toBe(89)
    expect(late.events.every(({ reason, type }) => reason === 'resync' && type === 'added')).toBe(true)
  })
})

describe('a quiet one, whose connection is lost long after its last event', () => {
  const LONG = 60 * MINUTE
  const jump = (world: ScriptedWorld, ms: number) => world.clock.set(world.clock.now() + ms)

  it.each([
    [10 * MINUTE, 'continued'],
    [10 * MINUTE + 1, 'resync'],
  ])('may come back to its process %i ms after the loss: %s', async (ms, began) => {
    const { world, watch, token } = await begun(['a'])
    jump(world, LONG)
    watch.subscription.cancel()
    jump(world, ms)
    world.write(['a', 'b'])
    const next = await goOn(world, token, watch)
    expect(next.subscription.began).toBe(began)
    expect(next.news().at(-1)).toBe(began === 'continued' ? 'added b now_matches' : 'added b resync')
  })

  it('may do so while nobody has noticed yet, and again after that', async () => {
    const { world, token } = await begun(['a'])
    jump(world, LONG)
    const next = await goOn(world, token)
    expect([next.subscription.began, next.events]).toEqual(['continued', []])
    jump(world, LONG)
    next.subscription.cancel()
    jump(world, 10 * MINUTE)
    expect((await goOn(world, token)).subscription.began).toBe('continued')
  })

  it.each([
    [10 * MINUTE, 'continued'],
    [11 * MINUTE + 1, 'resync'],
  ])('is given a token a minute, for another process as well, %i ms later: %s', async (ms, began) => {
    const world = new ScriptedWorld()
    world.write(['a'])
    const tokens: string[] = []
    const watch = await world.watch({}, { onToken: token => void tokens.push(token) })
    for (let minute = 0; minute < 30; minute++) {
      await world.timers.pass(MINUTE)
      jump(world, MINUTE)
    }
    expect(tokens.length).toBe(30)
    world.restart()
    jump(world, ms - MINUTE)
    const next = await goOn(world, tokens.at(-1) as string, watch)
    expect(next.subscription.began).toBe(began)
  })

  it('is told none that is not needed: after an event a minute later, while paused and at its end none', async () => {
    const world = new ScriptedWorld()
    const hours: number[] = []
    const watch = await world.watch({ debounceMs: 0 }, { onToken: () => void hours.push(world.timers.now()) })
    await world.timers.pass(30_000)
    world.write(['a'])
    await world.timers.pass(70_000)
    expect(hours).toEqual([90_050])
    watch.subscription.pause()
    await world.timers.pass(10 * MINUTE)
    watch.subscription.resume()
    await world.timers.pass(MINUTE)
    expect(hours.length).toBe(2)
    watch.subscription.cancel()
    expect(world.timers.waiting).toBe(0)
  })

  it('is told none while nobody takes it, and at once when somebody does', async () => {
    const world = new ScriptedWorld()
    let taken: PromiseWithResolvers<void> | null = Promise.withResolvers<void>()
    const tokens: string[] = []
    await world.watch({}, { wanted: () => taken?.promise ?? null, onToken: token => void tokens.push(token) })
    await world.timers.pass(5 * MINUTE)
    expect(tokens).toEqual([])
    const { resolve } = taken
    taken = null
    resolve()
    await world.timers.settle()
    expect(tokens.length).toBe(1)
  })

  it('hears nothing by it of what it may not see', async () => {
    const heard = async (hidden: boolean) => {
      const world = new ScriptedWorld()
      world.write(['a'])
      const told: (readonly [number, string])[] = []
      await world.watch({}, { onToken: token => void told.push([world.timers.now(), token]) })
      for (let at = 0; at < 20; at++) {
        if (hidden) world.writeHidden()
        if (at === 7) world.write(['a', 'b'])
        await world.timers.pass(17_000)
      }
      return told
    }
    expect(await heard(true)).toEqual(await heard(false))
  })
})

describe('refusing (resume_invalid)', () => {
  const refused = { code: 'resume_invalid' }

  it("another viewer's, another question's, an altered and a made-up token, all in the same words", async () => {
    const { world, token } = await begun(['a'])
    const as = (viewer: string, question: string, resumeToken: string) => {
      const watch = new Watch(new ScriptedQuestion(world, viewer, question))
      return world.live.subscribe(watch.question, { ...OPTIONS, resumeToken }, watch.handlers)
    }
    const altered = `${token.slice(0, -2)}${token.endsWith('A') ? 'B' : 'A'}${token.slice(-1)}`
    const failures = await Promise.all(
      [
        as('bob', 'letters', token),
        as('ann', 'digits', token),
        as('ann', 'letters', altered),
        as('ann', 'letters', `${token}=`),
        as('ann', 'letters', 'AAAA'),
        as('ann', 'letters', ''),
      ].map(asked =>
        asked.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    )
    for (const failure of failures)
      expect(failure).toMatchObject({ ...refused, message: (failures[0] as Error).message })
    expect(world.live.count()).toBe(1)
  })
})
