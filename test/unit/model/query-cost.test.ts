import { expect, it } from 'vitest'
import { costOfText } from '../../../src/model/query-cost.ts'

it('counts the texts of a query at any depth, also deeper than a call stack, but for tokens of earlier answers (BQ-190)', () => {
  const long = 'fox '.repeat(500)
  expect(costOfText({ text: long })).toBe(1)
  expect(costOfText({ text: 'a', cursor: long, resume_token: long })).toBe(0)
  let deep: unknown = long
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  expect(costOfText({ filter: { value: deep } })).toBe(1)
})
