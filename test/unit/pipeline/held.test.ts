import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Held } from '../../../src/pipeline/held.ts'

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

  it('stays within its bounds: those asked for longest ago go', () => {
    const act = fc.record({
      text: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      bytes: fc.integer({ min: 1, max: 120 }),
      how: fc.constantFrom('hold', 'hold', 'find', 'release'),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), acts => {
        const held = new Held<object>(BOUNDS)
        /** Oldest first. */
        let plain: { text: string; value: object; bytes: number }[] = []
        const weight = () => plain.reduce((sum, { bytes }) => sum + bytes, 0)
        for (const { text, bytes, how } of acts) {
          const known = plain.find(one => one.text === text)
          plain = plain.filter(one => one.text !== text)
          if (how === 'hold') {
            const value = {}
            held.hold(text, 'ann', value, bytes, 0)
            if (bytes <= BOUNDS.bytes) plain.push({ text, value, bytes })
            while (plain.length > BOUNDS.most || weight() > BOUNDS.bytes) plain.shift()
          } else if (how === 'find') {
            expect(held.find(text, 'ann', 0)).toBe(known?.value ?? null)
            if (known !== undefined) plain.push(known)
          } else {
            held.release(text)
          }
          expect([held.size, held.bytes]).toEqual([plain.length, weight()])
        }
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
