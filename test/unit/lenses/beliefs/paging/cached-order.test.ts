/** The order that pages go on in: of the moment of the first, whatever is written meanwhile. */
import { describe, expect, it } from 'vitest'
import { ordersOf } from '../../../../../src/lenses/beliefs/paging/cached-order.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { type Asked, ids, LIST, MINUTE, World } from './world.ts'

describe('BQ-144: a cursor fixes the moment', () => {
  it('at which time, validity and presets are judged, and after which nothing comes in', async () => {
    const world = await World.open()
    await world.fill(6)
    const until = new Date(world.clock.now() + MINUTE).toISOString()
    await world.call('beliefs.put', 'bob', { id: 'brief', content: 'fox', visibility: 'public', valid_until: until })
    const whole = await world.ask({ limit: 50 })
    const first = await world.ask({ limit: 1 })
    world.wait(5 * MINUTE)
    await world.call('beliefs.put', 'bob', { id: 'late', content: 'fox honey', visibility: 'public' })
    // Limits may change from page to page.
    const second = await world.ask({ limit: 2, cursor: first.next_cursor as string })
    const rest = await world.ask({ limit: 100, cursor: second.next_cursor as string })
    expect([first, second, rest].flatMap(page => page.beliefs)).toEqual(whole.beliefs)
    expect(ids(whole)).toContain('brief')
    expect(new Set([first.as_of, second.as_of, rest.as_of]).size).toBe(1)
  })
})

describe('BQ-145: what is lost between pages', () => {
  it('is left out, and the others keep their order', async () => {
    const world = await World.open()
    await world.fill(12)
    const whole = ids(await world.ask({ limit: 50 }))
    const first = await world.ask({ limit: 3 })
    const [deleted, replaced] = whole.slice(4, 6) as [string, string]
    const holder = (id: string) => (Number(id.slice(1)) % 2 === 0 ? 'bob' : 'cyd')
    await world.call('beliefs.delete', holder(deleted), { belief_id: deleted })
    await world.call('beliefs.supersede', holder(replaced), { belief_id: replaced, id: 'new', content: 'fox honey' })
    await world.member('cyd', 'suspended')
    const isShared = (id: string) => Number(id.slice(1)) % 3 === 0
    const expected = whole
      .slice(3)
      .filter(id => id !== deleted && id !== replaced && !(holder(id) === 'cyd' && isShared(id)))
    const rest = await world.ask({ limit: 50, cursor: first.next_cursor as string })
    expect(ids(rest)).toEqual(expected)
    expect(expected.length).toBeLessThan(whole.length - 3 - 2)
    // A page is not filled with what was passed.
    expect(ids(await world.ask({ limit: 2, cursor: first.next_cursor as string }))).toEqual(expected.slice(0, 2))
  })

  it('does not bring up a copy that stood behind it', async () => {
    const world = await World.open()
    await world.fill(3)
    for (const [by, id] of [
      ['ann', 'mine'],
      ['bob', 'copy'],
    ] as const) {
      await world.call('beliefs.put', by, { id, content: 'sea', visibility: 'public' })
    }
    const whole = ids(await world.ask({ limit: 50 }))
    expect([whole.includes('mine'), whole.includes('copy')]).toEqual([true, false])
    const before = whole.indexOf('mine')
    const first = await world.ask({ limit: Math.max(1, before) })
    await world.call('beliefs.delete', 'ann', { belief_id: 'mine' })
    const rest = await world.ask({ limit: 50, cursor: first.next_cursor as string })
    expect(ids(rest)).toEqual(whole.slice(Math.max(1, before)).filter(id => id !== 'mine'))
  })
})

describe('BQ-148: an order that diversity picked', () => {
  it('goes on as it was picked, though what it was picked from changes', async () => {
    const world = await World.open()
    await world.fill(20)
    const diversity = { enabled: true, lambda: 0.4, max_per_holder: 3 }
    const whole = await world.ask({ limit: 50, diversity })
    const first = await world.ask({ limit: 4, diversity })
    const passedOver = Array.from({ length: 20 }, (_, at) => `b${at}`).filter(id => !ids(whole).includes(id))
    expect(passedOver.length).toBeGreaterThan(0)
    for (const id of passedOver) {
      await world.call('beliefs.delete', Number(id.slice(1)) % 2 === 0 ? 'bob' : 'cyd', { belief_id: id })
    }
    await world.call('beliefs.put', 'bob', { id: 'late', content: 'fox honey', visibility: 'public' })
    const second = await world.ask({ limit: 2, diversity, cursor: first.next_cursor as string })
    const rest = await world.ask({ limit: 50, diversity, cursor: second.next_cursor as string })
    expect([first, second, rest].flatMap(page => page.beliefs)).toEqual(whole.beliefs)
  })

  it('is at most a thousand long', async () => {
    const world = await World.open()
    await world.fill(1_030)
    const diversity = { enabled: true, lambda: 1 }
    const pages: Asked[] = []
    for (let cursor: string | undefined; ; cursor = pages.at(-1)?.next_cursor) {
      pages.push(await world.ask({ limit: 400, diversity, ...(cursor !== undefined && { cursor }) }))
      if (pages.at(-1)?.next_cursor === undefined) break
    }
    expect(pages.map(page => page.beliefs.length)).toEqual([400, 400, 200])
    // BQ-043: the nearest thousand are all that take part.
    expect(pages.map(page => page.total_count)).toEqual([1_000, 1_000, 1_000])
    expect(pages.map(page => page.count_exact)).toEqual([false, false, false])
  })
})

describe('an order that is held', () => {
  it('weighs what was made of it, once, however it is read', async () => {
    const world = await World.open()
    await world.fill(1500)
    const { next_cursor: cursor } = await world.ask({ limit: 5 }, LIST)
    const held = ordersOf(stateOf(world.engine.host('beliefs')))
    const first = held.bytes
    expect(first).toBeGreaterThan(0)
    for (const limit of [5, 300]) await world.ask({ limit, cursor }, LIST)
    const { next_cursor: last } = await world.ask({ limit: 600 }, LIST)
    expect(await world.ask({ limit: 1000, cursor: last }, LIST)).not.toHaveProperty('next_cursor')
    expect([held.bytes, held.size]).toEqual([first, 1])
  })

  it('stays though another asks for very many: of who holds most the oldest goes', async () => {
    const world = await World.open()
    await world.fill(12)
    const whole = ids(await world.ask({ limit: 50 }))
    const first = await world.ask({ limit: 2 })
    const second = await world.ask({ limit: 2, cursor: first.next_cursor })
    const held = ordersOf(stateOf(world.engine.host('beliefs')))
    // A millisecond makes another moment, and so another order.
    const loud: string[] = []
    for (let at = 0; at < 1010; at++) {
      world.wait(1)
      loud.push((await world.ask({ limit: 2 }, LIST, 'dan')).next_cursor as string)
    }
    expect(held.size).toBeLessThan(1010)
    // Where it is not held it could not be found again now.
    await world.call('trust.set', 'ann', { target: 'bob', trust_level: 0 })
    await world.call('trust.set', 'dan', { target: 'bob', trust_level: 0.3 })
    expect(ids(await world.ask({ limit: 50, cursor: second.next_cursor as string }))).toEqual(whole.slice(4))
    expect(await world.refused({ cursor: loud[0] }, LIST, 'dan')).toMatchObject({ reason: 'cursor_expired' })
    expect(ids(await world.ask({ cursor: loud.at(-1) }, LIST, 'dan')).length).toBeGreaterThan(0)
  })
})
