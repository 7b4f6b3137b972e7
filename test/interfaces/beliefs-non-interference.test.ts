/**
 * What a viewer may not see changes not one byte of what HTTP answers it of the lens `beliefs`, headers included (BQ-111).
 * The same histories as without the interface. The long form, 10,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { afterAll, expect, it, vi } from 'vitest'
import { hiddenStories } from '../support/beliefs-hidden.ts'
import { findInterference } from '../support/beliefs-hidden-world.ts'
import { openOverHttp } from '../support/beliefs-over-http.ts'
import { assertUntil } from '../support/until-met.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 10_000 : 12
vi.mock('../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../support/kept-keys.ts')
  return keptKeys(original)
})

const logged = vi.fn()
afterAll(() => expect(logged).not.toHaveBeenCalled())

it(`no hidden history changes an answer (${RUNS} histories; 10,000 with QUERENT_LONG=1)`, async () => {
  const statuses = new Map<string, number>()
  const property = fc.asyncProperty(hiddenStories(), async story => {
    for (const answer of await findInterference(story, engine => openOverHttp(engine, logged))) {
      const status = answer.slice(0, 3)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  await assertUntil(property, { numRuns: RUNS }, () =>
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(['200', '400'])),
  )
  if (LONG) process.stderr.write(`${JSON.stringify([...statuses])}\n`)
  expect([...statuses.keys()]).not.toContain('500')
}, 7_200_000)
