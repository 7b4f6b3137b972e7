/** Any number of index runs, watchers and edits at once leave what one run alone leaves (CX-075). */
import { expect, it } from 'vitest'
import { overlapContext } from './context-overlap.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const ROUNDS = Number(process.env['QUERENT_ROUNDS'] ?? (LONG ? 1000 : 12))

it(`leave what one run alone leaves, in ${ROUNDS} rounds (QUERENT_LONG=1: 1,000)`, {
  timeout: ROUNDS * 20_000,
}, async () => {
  const { rounds, wrong, ...figures } = await overlapContext(ROUNDS, Date.now() & 0xffff)
  console.log(rounds, figures, wrong.length)
  expect(wrong.slice(0, 20)).toEqual([])
  expect(rounds).toBe(ROUNDS)
})
