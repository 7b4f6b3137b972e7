import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Held } from '../../../src/pipeline/held.ts'
import { HeldOrders } from '../../../src/pipeline/held-orders.ts'

const BOUNDS = { most: 4, bytes: 100, lifetimeMs: 1_000 }

describe('what is held', () => {
  it('is given to its viewer alone, and until it expires', () => {
    const held = new Held<object>(BOUNDS)
    const value = {}
    held.hold('a', 'ann', value, 10, 0)
    expect([held.find('a', 'bob', 1), held.find('b', 'ann', 1), held.find('a', 'ann', 999)]).toEqual([
      null,
      null,
      value,
    ])
    expect(held.find('a', 'ann', 1_000)).toBeNull()
    expect([held.size, held.bytes]).toEqual([0, 0])
  })

  it('stays within its bounds: those asked for longest ago go, and a body is weighed once', () => {
    const act = fc.record({
      text: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      body: fc.nat({ max: 3 }),
      bytes: fc.integer({ min: 1, max: 120 }),
      how: fc.constantFrom('hold', 'hold', 'find', 'release'),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), acts => {
        const held = new Held<{ body: object }>(BOUNDS)
        const bodies = [{}, {}, {}, {}]
        /** Oldest first. */
        let plain: { text: string; body: object }[] = []
        const weights = new Map<object, number>()
        const weigh = () => {
          const kept = new Set(plain.map(({ body }) => body))
          for (const body of bodies) if (!kept.has(body)) weights.delete(body)
          return [...weights.values()].reduce((sum, bytes) => sum + bytes, 0)
        }
        for (const { text, body: at, bytes, how } of acts) {
          const body = bodies[at] as object
          const known = plain.find(one => one.text === text)
          plain = plain.filter(one => one.text !== text)
          if (how === 'hold') {
            held.hold(text, 'ann', { body }, bytes, 0, body)
            weigh()
            if (bytes <= BOUNDS.bytes) {
              plain.push({ text, body })
              if (!weights.has(body)) weights.set(body, bytes)
              while (plain.length > BOUNDS.most || weigh() > BOUNDS.bytes) plain.shift()
            }
          } else if (how === 'find') {
            expect(held.find(text, 'ann', 0)?.body).toBe(known?.body)
            if (known !== undefined) plain.push(known)
          } else {
            held.release(text)
          }
          expect([held.size, held.bytes]).toEqual([plain.length, weigh()])
        }
        held.clear()
        expect([held.size, held.bytes]).toEqual([0, 0])
      }),
    )
  })
})

describe('an order that is not whole yet', () => {
  const order = { rest: [] } as never

  it('is made once, when it is asked for', () => {
    const orders = new HeldOrders()
    let made = 0
    const later = orders.later(() => {
      made++
      return order
    })
    expect([made, later.get(), later.get(), made]).toEqual([0, order, order, 1])
    orders.settle()
    expect([later.get(), made]).toEqual([order, 1])
  })

  it('is made before the indexes change: the newest ones; the others never are', () => {
    const orders = new HeldOrders()
    const made: number[] = []
    const all = Array.from({ length: 40 }, (_, at) =>
      orders.later(() => {
        made.push(at)
        return order
      }),
    )
    orders.settle()
    expect(made).toEqual(Array.from({ length: 32 }, (_, at) => at + 8))
    expect(all.map(one => one.get()).filter(one => one === null)).toHaveLength(8)
    expect(made).toHaveLength(32)
  })

  it('that cannot be made is nobody else’s trouble', () => {
    const orders = new HeldOrders()
    const broken = orders.later(() => {
      throw new Error('broken')
    })
    orders.settle()
    expect(broken.get()).toBeNull()
  })
})
