/**
 * What a viewer may not see changes not one byte of what it is answered: by every operation of the lens that reads, those that
 * write where they are refused, and the engine's own, which meet beliefs as entries; with vectors and with words alone, and
 * with the store changing between the two checks of a question (BQ-090 to BQ-099, BQ-101, BQ-108, BQ-109, BQ-111, BQ-112).
 * The long form, 10,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { beliefsLens } from '../../../../src/lenses/beliefs/beliefs-lens.ts'
import { hiddenStories } from '../../../support/beliefs-hidden.ts'
import { findInterference, LIBRARY } from '../../../support/beliefs-hidden-world.ts'
import { assertUntil } from '../../../support/until-met.ts'

vi.mock('../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../support/kept-keys.ts')
  return keptKeys(original)
})

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 10_000 : 25

it(`no hidden history changes an answer of the lens (${RUNS} histories; 10,000 with QUERENT_LONG=1)`, async () => {
  const figures = { answers: 0, withBeliefs: 0, errors: 0 }
  const property = fc.asyncProperty(hiddenStories(), async story => {
    for (const answer of await findInterference(story, LIBRARY)) {
      figures.answers++
      if (answer.includes('"content"')) figures.withBeliefs++
      if (answer.startsWith('{"error"')) figures.errors++
    }
  })
  await assertUntil(property, { numRuns: RUNS }, () => {
    // Answers that say nothing are the same in any two worlds.
    expect(figures.withBeliefs).toBeGreaterThan(figures.answers / 10)
    expect(figures.errors).toBeGreaterThan(0)
  })
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
}, 7_200_000)

it('no operation of the lens is left out', () => {
  const asked = new Set(fc.sample(hiddenStories(), 300).flatMap(story => story.requests.map(one => one.operation)))
  /** Writes that show nothing but what was written, and are for the owner or for whom they are about. */
  const others = [
    'trust.set',
    'trust.remove',
    'agents.create',
    'agents.update',
    'federations.create',
    'federations.leave',
    // That hidden beliefs change no byte of it has a test of its own: nodes/answering.test.ts.
    'nodes.query',
    // Likewise: nodes/notices.test.ts.
    'nodes.changes',
    // That of it is in aggregates/non-interference.test.ts: noise is drawn for each.
    'federations.aggregate',
    // For the local owner.
    ...['peers.add', 'peers.list', 'peers.remove'],
    // What the owner lets this node tell anybody.
    ...['peers.about'],
    // Has no answer but events, which have a test of their own: live/non-interference.test.ts.
    'beliefs.watch',
  ]
  const operations = beliefsLens.operations?.map(({ name }) => name) ?? []
  expect(operations.filter(name => !asked.has(name)).sort()).toEqual(others.sort())
})
