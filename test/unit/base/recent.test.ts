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

it('forgets the keys it is told to', () => {
  const recent = new Recent<number, number>(9)
  for (const key of [1, 2, 3, 4]) recent.get(key, () => key)
  recent.forget(key => key % 2 === 0)
  expect([1, 2, 3, 4].map(key => recent.get(key, () => 0))).toEqual([1, 0, 3, 0])
})
