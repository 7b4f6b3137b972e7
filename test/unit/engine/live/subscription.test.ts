/** Subscriptions at work, on time that is moved by hand: how they begin, the grid, losses, pauses, bounds of time. */
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../../src/model/errors.ts'
import type { LiveEvent } from '../../../../src/model/live.ts'
import { OPTIONS } from './items.ts'
import { ScriptedQuestion, ScriptedWorld, START, Watch } from './scripted.ts'

describe('beginning (BQ-156, BQ-162)', () => {
  it('tells the present answer first, in rank order, and what a subscription is', async () => {
    const world = new ScriptedWorld()
    world.write(['b', 'a'])
    const watch = await world.watch()
    expect(watch.events.map(({ type, reason, id, item }) => [type, reason, id, item])).toEqual([
      ['added', 'initial', 'b', { title: 'b' }],
      ['added', 'initial', 'a', { title: 'a' }],
    ])
    expect(watch.events[0]).toMatchObject({ seq: 1, timestamp: '2026-03-01T00:00:00.000Z', text: expect.any(String) })
    expect(watch.subscription).toMatchObject({
      query: { text: 'letters' },
      createdAt: START,
      status: 'active',
      eventsDelivered: 2,
      lastEventAt: START,
      began: 'anew',
    })
  })

  it('rejects with what asking rejects with, and keeps nothing', async () => {
    const world = new ScriptedWorld()
    const question = new ScriptedQuestion(world)
    question.fails = new QuerentError('store_locked', 'busy')
    const asked = world.live.subscribe(question, OPTIONS, new Watch(question).handlers)
    await expect(asked).rejects.toMatchObject({ code: 'store_locked' })
    expect(world.live.count()).toBe(0)
    expect(world.timers.waiting).toBe(0)
  })

  it('misses nothing that is committed while it begins', async () => {
    const world = new ScriptedWorld()
    const question = new ScriptedQuestion(world)
    const watch = new Watch(question)
    const asked = world.live.subscribe(question, OPTIONS, watch.handlers)
    await world.timers.turn()
    world.write(['a'])
    watch.subscription = await asked
    await world.timers.pass(1000)
    expect(watch.news()).toEqual(['added a now_matches'])
  })
})

describe('the grid (BQ-160, BQ-169)', () => {
  it('tells at its points alone, whenever things happened', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch()
    await world.timers.pass(1700)
    world.write(['a'])
    await world.timers.pass(299)
    expect(watch.news()).toEqual([])
    await world.timers.pass(1)
    expect(watch.news()).toEqual(['added a now_matches'])
  })

  it('asks once a window, and not at all for what nobody may see', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch()
    const hiddenOnly = await world.watch()
    for (let at = 0; at < 10; at++) {
      world.writeHidden()
      await world.timers.pass(150)
    }
    expect([watch.question.asked, hiddenOnly.events]).toEqual([1, []])
    world.write(['a'])
    world.write(['a', 'b'])
    world.writeHidden()
    await world.timers.pass(2000)
    expect(watch.question.asked).toBe(2)
    expect(watch.news()).toEqual(['added a now_matches', 'added b now_matches'])
  })

  it('with a debounce of 0 tells when it looks next', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch({ debounceMs: 0 })
    world.write(['a'])
    await world.timers.pass(50)
    expect(watch.news()).toEqual(['added a now_matches'])
  })

  it('looks at fixed times, and only while somebody listens', async () => {
    const world = new ScriptedWorld({ pollMs: 100 })
    const watch = await world.watch({ debounceMs: 0 })
    await world.timers.pass(130)
    world.writeHidden()
    world.write(['a'])
    world.writeHidden()
    await world.timers.pass(69)
    expect(watch.news()).toEqual([])
    await world.timers.pass(1)
    expect(watch.news()).toEqual(['added a now_matches'])
    watch.subscription.cancel()
    expect(world.timers.waiting).toBe(0)
  })
})

describe('while it is being asked', () => {
  it('a change is kept for the next point, and a loss is reported at once', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const watch = await world.watch()
    watch.news()
    const answered = Promise.withResolvers<void>()
    const { question } = watch
    question.ask = async () => {
      const state = await ScriptedQuestion.prototype.ask.call(question)
      await answered.promise
      return state
    }
    world.write(['a2', 'b'])
    await world.timers.pass(1000)
    world.write(['a3', 'b', 'c'])
    world.hide(['b'])
    await world.timers.pass(1500)
    expect(watch.news()).toEqual(['removed b unavailable'])
    answered.resolve()
    await world.timers.pass(499)
    expect(watch.listener.texts).toEqual(['a2'])
    await world.timers.pass(1)
    expect(watch.listener.texts).toEqual(['a3', 'c'])
  })
})

describe('losses (BQ-161)', () => {
  it('are reported at once, outside of the grid, by the id alone; nothing follows, also not when the item changes', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const watch = await world.watch({ debounceMs: 60_000 })
    watch.news()
    world.hide(['a'])
    await world.timers.pass(50)
    const [lost] = watch.events
    expect(watch.news()).toEqual(['removed a unavailable'])
    expect([lost?.item, lost?.details]).toEqual([undefined, {}])
    world.write(['a2', 'b'])
    await world.timers.pass(120_000)
    expect(watch.news()).toEqual([])
    world.show(['a'])
    await world.timers.pass(60_000)
    expect(watch.news()).toEqual(['added a now_matches'])
  })

  it('stop an item that was on its way', async () => {
    const world = new ScriptedWorld()
    const taken = Promise.withResolvers<void>()
    const watch = await world.watch({}, { onEvent: () => taken.promise })
    world.write(['a', 'b', 'c'])
    await world.timers.pass(1000)
    expect(watch.news()).toEqual(['added a now_matches'])
    world.hidden.add('b')
    taken.resolve()
    await world.timers.pass(1000)
    expect(watch.news()).toEqual(['added c now_matches'])
  })
})

describe('pausing and ending (BQ-163)', () => {
  it('while paused asks nothing and tells nothing, then the net difference', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const watch = await world.watch()
    watch.news()
    watch.subscription.pause()
    for (const texts of [['a2', 'b'], ['a3'], ['a4', 'c']]) {
      world.write(texts)
      await world.timers.pass(1500)
    }
    expect([watch.news(), watch.question.asked, watch.question.checked]).toEqual([[], 1, 1])
    expect(watch.subscription.status).toBe('paused')
    watch.subscription.resume()
    await world.timers.settle()
    expect(watch.news()).toEqual(['removed b no_match', 'updated a content_changed', 'added c now_matches'])
  })

  it('cancelled: no handler but onEnd, once, whatever was on its way', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const watch = new Watch(new ScriptedQuestion(world), {
      onEvent: () => {
        watch.subscription.cancel()
        throw new Error('after the end')
      },
    })
    watch.subscription = await world.live.subscribe(watch.question, OPTIONS, watch.handlers)
    await world.timers.pass(5000)
    watch.subscription.cancel()
    watch.subscription.resume()
    world.write(['c'])
    await world.timers.pass(5000)
    expect([watch.news(), watch.errors, watch.ends]).toEqual([['added a initial'], [], ['cancelled']])
    expect(watch.subscription.status).toBe('cancelled')
    expect(world.live.count()).toBe(0)
  })

  it('ends with the engine, and with the right to ask: of a question it alone, of a viewer all, without content (BQ-167)', async () => {
    const world = new ScriptedWorld()
    const [one, two] = [await world.watch(), await world.watch()]
    const other = new Watch(new ScriptedQuestion(world, 'bob'))
    other.subscription = await world.live.subscribe(other.question, OPTIONS, other.handlers)
    two.subscription.pause()
    one.question.mayAsk = false
    world.writeHidden()
    await world.timers.pass(50)
    expect([one.ends, two.ends, other.ends]).toEqual([['unauthorized'], [], []])
    world.live.endAll(two.question.viewer)
    expect([one.ends, two.ends, other.ends]).toEqual([['unauthorized'], ['unauthorized'], []])
    world.live.close()
    expect(other.ends).toEqual(['closed'])
    await expect(world.live.subscribe(other.question, OPTIONS, other.handlers)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })
})

describe('time (BQ-158)', () => {
  it('passing alone asks nothing; a bound that is crossed does, forwards and backwards', async () => {
    const world = new ScriptedWorld()
    world.write(['a'])
    const watch = new Watch(new ScriptedQuestion(world))
    watch.question.until = START + 5000
    watch.subscription = await world.live.subscribe(watch.question, OPTIONS, watch.handlers)
    await world.timers.pass(3000)
    world.clock.set(START + 4999)
    await world.timers.pass(3000)
    expect(watch.question.asked).toBe(1)
    watch.question.until = Number.POSITIVE_INFINITY
    world.clock.set(START + 5000)
    await world.timers.pass(3000)
    expect(watch.question.asked).toBe(2)
    world.clock.set(START + 1000)
    await world.timers.pass(3000)
    expect(watch.question.asked).toBe(3)
    expect(watch.news()).toEqual(['added a initial'])
  })
})

describe('handlers (BQ-166)', () => {
  it('that throw are reported, counted, and stop nothing', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const throws = (text: string) => () => {
      throw new Error(text)
    }
    const onEvent = ({ id }: LiveEvent) => (id === 'a' ? throws('no')() : Promise.reject(new Error('not this either')))
    const failing = await world.watch({}, { onEvent, onError: throws('nor this') })
    const other = await world.watch()
    expect([failing.events.length, other.events.length]).toEqual([2, 2])
    expect(failing.errors).toEqual([new Error('no'), new Error('not this either')])
    expect(failing.subscription.handlerErrors).toBe(4)
  })

  it('never overlap, and a slow one gets fewer events that say as much', async () => {
    const world = new ScriptedWorld()
    let [running, most] = [0, 0]
    const free = Promise.withResolvers<void>()
    const onEvent = async () => {
      most = Math.max(most, ++running)
      await free.promise
      running -= 1
    }
    const slow = await world.watch({ debounceMs: 100 }, { onEvent })
    for (let at = 1; at <= 50; at++) {
      world.write([`a${at}`, `b${at}`])
      await world.timers.pass(100)
    }
    expect(slow.events.map(({ seq }) => seq)).toEqual([1])
    expect(slow.question.asked).toBeLessThan(4)
    free.resolve()
    await world.timers.pass(1000)
    expect([most, slow.events.length, slow.listener.texts]).toEqual([1, 3, ['a50', 'b50']])
  })
})

describe('asking that fails', () => {
  it('is reported, and tried again at the next change, or after a second, two, four', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch({ debounceMs: 0 })
    const failure = new QuerentError('store_locked', 'busy')
    watch.question.fails = failure
    world.write(['a'])
    await world.timers.pass(4000)
    expect([watch.errors, watch.subscription.handlerErrors]).toEqual([[failure, failure, failure], 0])
    watch.question.fails = null
    world.write(['a2'])
    await world.timers.pass(100)
    expect(watch.news()).toEqual(['added a now_matches'])
  })

  it('because the viewer may not any more ends that subscription and no other (BQ-167)', async () => {
    const world = new ScriptedWorld()
    const [watch, other] = [await world.watch(), await world.watch()]
    watch.question.fails = new QuerentError('denied', 'gone')
    world.write(['a'])
    await world.timers.pass(1000)
    expect([watch.ends, watch.errors, other.ends, other.news()]).toEqual([
      ['unauthorized'],
      [],
      [],
      ['added a now_matches'],
    ])
  })

  it('for want of time is given up, holds up nobody else, and what it says too late counts for nothing (BQ-192)', async () => {
    const world = new ScriptedWorld()
    const [watch, other] = [await world.watch(), await world.watch()]
    const late = Promise.withResolvers<void>()
    const { question } = watch
    question.ask = async () => {
      const state = world.state
      await late.promise
      return state
    }
    world.write(['a'])
    await world.timers.pass(6500)
    expect(watch.errors).toMatchObject([{ code: 'deadline_exceeded', details: { timeout_ms: 5000 } }])
    expect(other.news()).toEqual(['added a now_matches'])
    question.ask = ScriptedQuestion.prototype.ask
    world.write(['b'])
    await world.timers.pass(1000)
    late.resolve()
    await world.timers.pass(5000)
    expect(watch.news()).toEqual(['added b now_matches'])
  })

  it('does not count the time that loading takes before the first answer (BQ-192)', async () => {
    const world = new ScriptedWorld()
    const question = new ScriptedQuestion(world)
    const loaded = Promise.withResolvers<void>()
    const watch = new Watch(question)
    const subscribed = world.live.subscribe(
      Object.assign(question, { load: () => loaded.promise }),
      OPTIONS,
      watch.handlers,
    )
    await world.timers.pass(60_000)
    expect(question.asked).toBe(0)
    loaded.resolve()
    await expect(subscribed).resolves.toMatchObject({ status: 'active' })
    expect(question.asked).toBe(1)
  })

  it('at first is left at once by a caller who goes, whose place is free then (BQ-192)', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 2 })
    const question = new ScriptedQuestion(world)
    const signals: AbortSignal[] = []
    question.ask = (signal?: AbortSignal) => {
      if (signal !== undefined) signals.push(signal)
      return new Promise(() => undefined)
    }
    const [asked, queued] = [new AbortController(), new AbortController()]
    const both = [asked, queued].map(({ signal }) =>
      world.live.subscribe(question, OPTIONS, new Watch(question).handlers, signal).catch(error => error),
    )
    await world.timers.settle()
    await expect(world.watch()).rejects.toMatchObject({ code: 'rate_limited' })
    queued.abort()
    expect(await both[1]).toMatchObject({ code: 'cancelled' })
    asked.abort()
    expect(await both[0]).toMatchObject({ code: 'cancelled' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await Promise.all([world.watch(), world.watch()])
    expect(world.live.count()).toBe(2)
  })

  it('to look up what may be seen shows nothing until it works again (BQ-155, BQ-161)', async () => {
    const world = new ScriptedWorld()
    const taken = Promise.withResolvers<void>()
    const watch = await world.watch({ debounceMs: 0 }, { onEvent: () => taken.promise })
    world.write(['a', 'b', 'c'])
    await world.timers.pass(100)
    expect(watch.news()).toEqual(['added a now_matches'])
    const failure = new Error('database is locked')
    watch.question.lost = () => {
      throw failure
    }
    world.hidden.add('b')
    taken.resolve()
    await world.timers.pass(5000)
    // After one, two and four seconds.
    expect([watch.news(), watch.errors]).toEqual([[], [failure, failure, failure]])
    watch.question.lost = ScriptedQuestion.prototype.lost
    await world.timers.pass(5000)
    expect(watch.news()).toEqual(['added c now_matches'])
  })
})

describe('many subscriptions', () => {
  it('are refused beyond what a requester may have, paused ones counted, the local owner not limited (BQ-167)', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 2 })
    const as = (viewer: string) => {
      const watch = new Watch(new ScriptedQuestion(world, viewer))
      return world.live.subscribe(watch.question, OPTIONS, watch.handlers)
    }
    const refused = { code: 'rate_limited', details: { limit: 2 } }
    const [first] = await Promise.all([as('ann'), as('ann'), as('owner'), as('owner'), as('owner')])
    first?.pause()
    await expect(as('ann')).rejects.toMatchObject(refused)
    expect([world.live.count({ id: 'ann' }), world.live.count()]).toEqual([2, 5])
    first?.cancel()
    await as('ann')
    // Keys that are no agent here are one requester together.
    const [key] = await Promise.all([as('did:key:zone'), as('did:key:ztwo')])
    await expect(as('did:key:zthree')).rejects.toMatchObject(refused)
    key?.cancel()
    const both = await Promise.allSettled([as('did:key:zfour'), as('did:key:zfive')])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })

  it('are asked one at a time, in their order, and others run between', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 1000 })
    let [asking, most, rounds] = [0, 0, 0]
    const order: number[] = []
    for (let at = 0; at < 300; at++) {
      const watch = await world.watch()
      watch.question.ask = async () => {
        most = Math.max(most, ++asking)
        await Promise.resolve()
        asking -= 1
        order.push(at)
        return ScriptedQuestion.prototype.ask.call(watch.question)
      }
    }
    const count = setInterval(() => (rounds += 1), 0)
    world.write(['a'])
    await world.timers.pass(1000)
    clearInterval(count)
    expect([most, order]).toEqual([1, Array.from({ length: 300 }, (_, at) => at)])
    expect(rounds).toBeGreaterThan(0)
  })
})
