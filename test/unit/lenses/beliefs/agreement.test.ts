/**
 * The lens agrees with a second, slow, plain implementation on random histories: ids and their order, every part of every
 * score to 1e-9, counts, sources, pseudonyms, refusals, histories, chains, trust (BQ-003 to BQ-006, BQ-012 to BQ-021, BQ-023,
 * BQ-036 to BQ-039, BQ-042 to BQ-064, BQ-070 to BQ-092, BQ-098, BQ-099, BQ-102, BQ-104, BQ-130, BQ-131). In memory, and with
 * two engines that take turns on one file. The long form, 1,000 histories each: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { beliefsStories } from '../../../support/beliefs-acts.ts'
import { type BeliefsFigures, BeliefsTwin, NO_FIGURES } from '../../../support/beliefs-twin.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { assertUntil } from '../../../support/until-met.ts'

const LONG = process.env['QUERENT_LONG'] === '1'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

it.each([
  ['in memory', 20],
  ['in a file', 8],
])(
  'agrees with the plain implementation, %s (%i histories; 1,000 with QUERENT_LONG=1)',
  async (where, runs) => {
    const figures = { ...NO_FIGURES }
    let stories = 0
    await assertUntil(
      fc.asyncProperty(beliefsStories(), fc.nat(), async (story, seed) => {
        const file = where === 'in memory' ? null : folder.file(`${++stories}.db`)
        await new BeliefsTwin(file, seed, figures).play(story)
      }),
      { numRuns: LONG ? 1000 : runs },
      () => assertTested(figures),
    )
    if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
    // Rounding excuses next to nothing.
    expect(figures.swapped).toBeLessThan(figures.hits / 100)
  },
  PATIENCE_MS,
)

/** A generator that came to ask nothing of interest would agree with anything. */
function assertTested({ swapped: _, ...figures }: BeliefsFigures): void {
  for (const [name, count] of Object.entries(figures)) expect(count, name).toBeGreaterThan(0)
}
