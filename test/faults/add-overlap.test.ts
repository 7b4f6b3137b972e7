/** Several runs of `add` over one folder at once leave what one alone leaves. */
import { expect, it } from 'vitest'
import { overlapAdds } from './add-overlap.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const ROUNDS = Number(process.env['QUERENT_ROUNDS'] ?? (LONG ? 500 : 8))

it(`leave what one alone leaves, in ${ROUNDS} rounds (QUERENT_LONG=1: 500)`, { timeout: ROUNDS * 20_000 }, async () => {
  const { rounds, wrong } = await overlapAdds(ROUNDS, Date.now() & 0xffff)
  expect(wrong.slice(0, 20)).toEqual([])
  expect(rounds).toBe(ROUNDS)
})
