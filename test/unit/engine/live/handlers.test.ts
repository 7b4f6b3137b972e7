/** What whoever subscribed does and hears: handlers that throw or are slow, and asking that fails. */
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../../src/model/errors.ts'
import type { LiveEvent } from '../../../../src/model/live.ts'
import { ScriptedWorld } from './scripted.ts'

const numbers = (events: readonly LiveEvent[]) => events.map(({ seq }) => seq)

describe('handlers (BQ-166)', () => {
  it('that throw are told of, counted, and stop nothing', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const failing = await world.watch(
      {},
      {
        onEvent: ({ id }) => {
          if (id === 'a') throw new Error('no')
          return Promise.reject(new Error('not this either'))
        },
        onError: () => {
          throw new Error('nor this')
        },
      },
    )
    const other = await world.watch()
    expect(failing.events.length).toBe(2)
    expect(failing.errors).toEqual([new Error('no'), new Error('not this either')])
    expect(failing.subscription.handlerErrors).toBe(4)
    expect(other.events.length).toBe(2)
  })

  it('never overlap, and who is slow gets fewer events that say as much', async () => {
    const world = new ScriptedWorld()
    let [running, most] = [0, 0]
    let free = Promise.withResolvers<void>()
    const slow = await world.watch(
      { debounceMs: 100 },
      {
        onEvent: async () => {
          running += 1
          most = Math.max(most, running)
          await free.promise
          running -= 1
        },
      },
    )
    for (let at = 1; at <= 50; at++) {
      world.write([`a${at}`, `b${at}`])
      await world.timers.pass(100)
    }
    expect(numbers(slow.events)).toEqual([1])
    expect(slow.question.asked).toBeLessThan(4)
    free.resolve()
    free = Promise.withResolvers<void>()
    free.resolve()
    await world.timers.pass(1000)
    expect(most).toBe(1)
    expect(slow.listener.texts).toEqual(['a50', 'b50'])
    expect(slow.events.length).toBe(3)
  })
})

describe('failing to ask', () => {
  it('is told, and tried again at the next change, or after a while', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch()
    const failure = new QuerentError('store_locked', 'busy')
    watch.question.fails = failure
    world.write(['a'])
    await world.timers.pass(1000)
    expect([watch.errors, watch.subscription.handlerErrors]).toEqual([[failure], 0])
    watch.question.fails = null
    await world.timers.pass(1000)
    expect(watch.news()).toEqual(['added a now_matches'])
    watch.question.fails = failure
    for (const at of [1, 2, 3, 4, 5]) {
      world.write([`a${at}`])
      await world.timers.pass(1000)
    }
    watch.question.fails = null
    await world.timers.pass(3000)
    world.write(['a9'])
    await world.timers.pass(1000)
    expect(watch.news()).toEqual(['updated a content_changed'])
  })

  it('because the viewer may not any more ends it', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch()
    watch.question.fails = new QuerentError('denied', 'gone')
    world.write(['a'])
    await world.timers.pass(1000)
    expect([watch.ends, watch.errors]).toEqual([['unauthorized'], []])
  })
})
