import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Held } from '../../../src/pipeline/held.ts'
import { CachedOrders } from '../../../src/pipeline/later-pages.ts'

const BOUNDS = { most: 4, bytes: 100, lifetimeMs: 1_000 }

const settle = (orders: CachedOrders) => {
  while (orders.settleSome());
}

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

describe('what is held for several', () => {
  const holds = fc.array(
    fc.record({
      who: fc.constantFrom('loud', 'ann', 'bob'),
      text: fc.nat({ max: 40 }),
      bytes: fc.integer({ min: 1, max: 20 }),
    }),
    { maxLength: 80, size: 'max' },
  )

  it('stays where somebody holds no more than an even share, whatever others ask for', () => {
    fc.assert(
      fc.property(holds, acts => {
        const held = new Held<object>({ most: 9, bytes: 90, lifetimeMs: 1_000 })
        const weights = new Map<string, number>()
        for (const { who, text, bytes } of acts) {
          const own = [...weights].filter(([name]) => name.startsWith(`${who} `) && name !== `${who} ${text}`)
          const total = own.reduce((sum, [, weight]) => sum + weight, bytes)
          // All but one keep to their share.
          if (who !== 'loud' && (own.length >= 3 || total > 30)) continue
          weights.set(`${who} ${text}`, bytes)
          held.hold(`${who} ${text}`, who, {}, bytes, 0)
          expect(held.size).toBeLessThanOrEqual(9)
          expect(held.bytes).toBeLessThanOrEqual(90)
          for (const name of weights.keys()) {
            const [whose] = name.split(' ') as [string]
            if (whose !== 'loud') expect(held.find(name, whose, 0)).not.toBeNull()
          }
        }
      }),
    )
  })

  it('counts several as one where they are', () => {
    const held = new Held<object>({ most: 4, bytes: 100, lifetimeMs: 1_000 }, viewer => viewer.slice(0, 3))
    held.hold('a1', 'ann', {}, 1, 0)
    held.hold('a2', 'ann', {}, 1, 0)
    for (let key = 0; key < 9; key++) held.hold(`k${key}`, `key${key}`, {}, 1, 0)
    expect([held.find('a1', 'ann', 0), held.find('a2', 'ann', 0)]).not.toContain(null)
    expect([held.find('k8', 'key8', 0), held.find('k7', 'key7', 0)]).not.toContain(null)
    expect([held.size, held.find('k6', 'key6', 0)]).toEqual([4, null])
  })
})

describe('an order that is not whole yet', () => {
  const order = { rest: [] } as never

  it('is made before the indexes change, with hundreds of others', () => {
    const orders = new CachedOrders()
    const all = Array.from({ length: 300 }, () => orders.later(() => order, 'ann', 200))
    settle(orders)
    expect(all.filter(one => one.get() === null)).toEqual([])
  })

  it('is never made where there are too many: of who asked most, the oldest', () => {
    const bounds = { most: 40, bytes: 40 * 100_000, lifetimeMs: 1_000 }
    for (const settled of [bounds, { ...bounds, most: 1_000 }]) {
      const orders = new CachedOrders(undefined, bounds, settled)
      const made: string[] = []
      const later = (name: string, viewer: string) => {
        const make = () => {
          made.push(name)
          return order
        }
        return orders.later(make, viewer, 200)
      }
      const few = Array.from({ length: 5 }, (_, at) => later(`few ${at}`, 'ann'))
      const many = Array.from({ length: 90 }, (_, at) => later(`many ${at}`, 'loud'))
      settle(orders)
      expect(few.map(one => one.get() === null)).not.toContain(true)
      expect(many.map(one => one.get() === null)).toEqual(many.map((_, at) => at < 90 - 35))
      expect(made).toHaveLength(40)
      // What makes the others is let go of: they would never be what they were.
      expect(many[0]?.get()).toBeNull()
    }
  })

  it('that cannot be made is nobody else’s trouble', () => {
    const orders = new CachedOrders()
    const make = () => {
      throw new Error('broken')
    }
    const broken = orders.later(make, 'ann', 200)
    settle(orders)
    expect(broken.get()).toBeNull()
  })
})
