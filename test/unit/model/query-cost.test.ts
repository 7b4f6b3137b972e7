import { expect, it } from 'vitest'
import { costOfText } from '../../../src/model/query-input.ts'

it('QE-019: the length of a query is counted at any depth, code point by code point, without the tokens of earlier answers', () => {
  let deep: unknown = '🦊'.repeat(2_000)
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(costOfText({ text: deep, cursor: 'x'.repeat(50_000) })).toBe(1)
  expect(costOfText({ text: 'x'.repeat(1_000) })).toBe(0)
})
