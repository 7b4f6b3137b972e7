import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Recent } from '../../../src/base/recent.ts'

it('makes a value once, and forgets what was asked for longest ago', () => {
  const made: string[] = []
  const recent = new Recent<string, string>(2)
  const get = (key: string) =>
    recent.get(key, () => {
      made.push(key)
      return key.toUpperCase()
    })
  expect([get('a'), get('b'), get('a'), get('c'), get('a'), get('b')]).toEqual(['A', 'B', 'A', 'C', 'A', 'B'])
  expect(made).toEqual(['a', 'b', 'c', 'b'])
  expect(recent.size).toBe(2)
  recent.clear()
  expect(recent.size).toBe(0)
})

it('forgets the keys that are named', () => {
  const recent = new Recent<number, number>(9)
  for (const key of [1, 2, 3, 4]) recent.get(key, () => key)
  recent.forget(key => key % 2 === 0)
  expect([1, 2, 3, 4].map(key => recent.get(key, () => 0))).toEqual([1, 0, 3, 0])
})

it('forgets what was asked for longest ago when all take too much together, and what takes too much alone', () => {
  const recent = new Recent<string, number>(9, { max: 10, of: size => size })
  const kept = () => recent.entries().map(([key]) => key)
  for (const [key, size] of [
    ['a', 4],
    ['b', 4],
    ['c', 2],
  ] as const)
    recent.set(key, size)
  expect(kept()).toEqual(['a', 'b', 'c'])
  recent.find('a')
  recent.set('d', 3)
  expect(kept()).toEqual(['a', 'c', 'd'])
  recent.set('d', 5)
  expect(kept()).toEqual(['a', 'd'])
  recent.delete('a')
  recent.set('e', 5)
  expect(kept()).toEqual(['d', 'e'])
  recent.set('f', 11)
  expect(kept()).toEqual([])
})

it('keeps what a list in order of use would keep, whatever is asked, set, deleted and forgotten', () => {
  const key = fc.nat(7)
  const act = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('get' as const, 'set' as const, 'find' as const), key }) },
    fc.record({ do: fc.constantFrom('delete' as const, 'forget' as const), key }),
    fc.record({ do: fc.constant('clear' as const), key }),
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 100, size: 'max' }), fc.nat(4), (acts, capacity) => {
      const recent = new Recent<number, number>(capacity)
      let kept: [number, number][] = []
      for (const [at, step] of acts.entries()) {
        const known = kept.find(([one]) => one === step.key)
        const without = kept.filter(([one]) => one !== step.key)
        if (step.do === 'find') {
          expect(recent.find(step.key)).toBe(known?.[1])
          if (known !== undefined) kept = [...without, known]
        } else if (step.do === 'get') {
          expect(recent.get(step.key, () => at)).toBe(known?.[1] ?? at)
          kept = [...without, [step.key, known?.[1] ?? at]]
        } else if (step.do === 'set') {
          recent.set(step.key, at)
          kept = [...without, [step.key, at]]
        } else if (step.do === 'delete') {
          recent.delete(step.key)
          kept = without
        } else if (step.do === 'forget') {
          recent.forget(one => one <= step.key)
          kept = kept.filter(([one]) => one > step.key)
        } else {
          recent.clear()
          kept = []
        }
        kept = kept.slice(Math.max(0, kept.length - capacity))
        expect(recent.size).toBe(kept.length)
      }
      for (const [one, value] of kept) expect(recent.find(one)).toBe(value)
    }),
    { numRuns: 500 },
  )
})

it.each(['set', 'drop'])('lets go of what was replaced, with room left or not: %s', async how => {
  const recent = new Recent<number, object>(10)
  const given: WeakRef<object>[] = []
  const keep = (key: number): void => {
    const value = { size: given.length }
    given.push(new WeakRef(value))
    recent.set(key, value)
  }
  if (how === 'drop') for (let key = 0; key < 20; key++) keep(key)
  for (let round = 0; round < 1000; round++) keep(round % 2)
  // What a WeakRef has shown stays until the task ends.
  await new Promise(resolve => setImmediate(resolve))
  collect()
  expect(given.filter(value => value.deref() !== undefined).length).toBeLessThan(100)
})

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void
