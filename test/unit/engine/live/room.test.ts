/** Many subscriptions beside each other: how many one may have, and whose turn it is. */
import { describe, expect, it } from 'vitest'
import { OPTIONS } from './items.ts'
import { ScriptedQuestion, ScriptedWorld, Watch } from './scripted.ts'

describe('limits (BQ-167)', () => {
  it('refuses one more than a viewer may have, paused ones counted, the local owner not limited', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 2 })
    const [first] = [await world.watch(), await world.watch()]
    first?.subscription.pause()
    await expect(world.watch()).rejects.toMatchObject({ code: 'rate_limited', details: { limit: 2 } })
    const asOwner = () => {
      const watch = new Watch(new ScriptedQuestion(world, 'owner'))
      return world.live.subscribe(watch.question, OPTIONS, watch.handlers)
    }
    await Promise.all([asOwner(), asOwner(), asOwner()])
    expect([world.live.count({ id: 'ann' }), world.live.count()]).toEqual([2, 5])
    first?.subscription.cancel()
    await world.watch()
  })

  it('has one room for all keys that are no agent here', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 2 })
    const as = (viewer: string) => {
      const watch = new Watch(new ScriptedQuestion(world, viewer))
      return world.live.subscribe(watch.question, OPTIONS, watch.handlers)
    }
    const [first] = await Promise.all([as('did:key:zone'), as('did:key:ztwo')])
    await expect(as('did:key:zthree')).rejects.toMatchObject({ code: 'rate_limited', details: { limit: 2 } })
    expect(world.live.count({ id: 'did:key:zone' })).toBe(1)
    await as('ann')
    first?.cancel()
    const both = await Promise.allSettled([as('did:key:zfour'), as('did:key:zfive')])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })

  it('also refuses those that begin at the same time', async () => {
    const world = new ScriptedWorld()
    const results = await Promise.allSettled(Array.from({ length: 53 }, () => world.watch()))
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(50)
  })
})

describe('fairness', () => {
  it('asks one question at a time and lets others run between, however many have to be asked', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 1000 })
    let [asking, most] = [0, 0]
    const order: number[] = []
    for (let at = 0; at < 300; at++) {
      const watch = new Watch(new ScriptedQuestion(world))
      const ask = () => ScriptedQuestion.prototype.ask.call(watch.question)
      watch.question.ask = async () => {
        asking += 1
        most = Math.max(most, asking)
        await Promise.resolve()
        asking -= 1
        order.push(at)
        return ask()
      }
      await world.live.subscribe(watch.question, OPTIONS, watch.handlers)
    }
    await world.timers.settle()
    order.length = 0
    let rounds = 0
    const count = setInterval(() => (rounds += 1), 0)
    world.write(['a'])
    await world.timers.pass(1000)
    clearInterval(count)
    expect(most).toBe(1)
    expect(order).toEqual(Array.from({ length: 300 }, (_, at) => at))
    expect(rounds).toBeGreaterThan(0)
  })
})
