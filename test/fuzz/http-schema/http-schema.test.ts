/**
 * Requests made from `/openapi.json` and changed into wrong ones, of a server in a process of its own. 400 of them; 10,000 with
 * QUERENT_LONG=1, with the built-in model. QUERENT_FUZZ_SEED makes others.
 */
import { expect, it } from 'vitest'
import { fuzz } from '../engine/fuzz.ts'
import { describedTarget } from './target.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const REQUESTS = LONG ? 10_000 : 400
const SEED = Number(process.env['QUERENT_FUZZ_SEED'] ?? 1)

it(`${REQUESTS} requests from the document, seed ${SEED}: never 500, always as declared`, {
  timeout: REQUESTS * 1_000,
}, async () => {
  await using described = await describedTarget(LONG ? 'local' : 'none')
  const { target, tally } = described
  const { inputs, findings } = await fuzz(target, { seed: SEED, corpus: [], goesOn: tried => tried < REQUESTS })
  const statuses = [...tally.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
  process.stdout.write(
    `seed ${SEED}: ${inputs} requests, ${statuses.join(', ')}; 200 from ${tally.answered.size} of ${tally.described} operations\n`,
  )
  expect(findings).toEqual([])
  expect(inputs).toBe(REQUESTS)
  expect(tally.answered.size).toBeGreaterThan(tally.described * (LONG ? 0.9 : 0.5))
})
