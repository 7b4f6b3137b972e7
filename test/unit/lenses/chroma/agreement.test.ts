/**
 * The lens agrees with a second, slow, plain implementation on random histories: ids and their order, computed fields,
 * rows, warnings, refusals, reports of cycles and checks, statistics, and at the end everything that is stored
 * (CQ-008, CQ-011, CQ-013, CQ-014, CQ-031, CQ-032, CQ-041, CQ-045, CQ-049, CQ-050, CQ-051, CQ-052, CQ-053, CQ-054, CQ-056,
 * CQ-057, CQ-058, CQ-059, CQ-060, CQ-061, CQ-062, CQ-063, CQ-064, CQ-065, CQ-066, CQ-067, CQ-068, CQ-069, CQ-070, CQ-073,
 * CQ-074, CQ-075, CQ-076, CQ-098, CQ-099, CQ-101, CQ-102, CQ-126, CQ-127, CQ-128, CQ-130, CQ-134, CQ-135, CQ-136, CQ-137,
 * CQ-138, CQ-139, CQ-140, CQ-141, CQ-142, CQ-148). In memory, and with two engines that take turns on one file and are opened again. The long form,
 * 1,000 histories each: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { chromaStories } from '../../../support/chroma-acts.ts'
import { ChromaTwin, type TwinFigures } from '../../../support/chroma-twin.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { assertUntil } from '../../../support/until-met.ts'

const LONG = process.env['QUERENT_LONG'] === '1'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

it.each([
  ['in memory', 40],
  ['in a file', 10],
])(
  'agrees with the plain implementation, %s (%i histories; 1,000 with QUERENT_LONG=1)',
  async (where, runs) => {
    const figures = { hits: 0, emptyAnswers: 0, refused: 0, ascended: 0, rotten: 0, moved: 0, swapped: 0 }
    let stories = 0
    await assertUntil(
      fc.asyncProperty(chromaStories(), fc.nat(), async (story, seed) => {
        const file = where === 'in memory' ? null : folder.file(`${++stories}.db`)
        await new ChromaTwin(file, seed, figures).play(story)
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
function assertTested({ swapped: _, ...figures }: TwinFigures): void {
  for (const [name, count] of Object.entries(figures)) expect(count, name).toBeGreaterThan(0)
}
