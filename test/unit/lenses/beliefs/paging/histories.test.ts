/**
 * Pages of one question, with whatever is written between them (BQ-143, BQ-144, BQ-145, BQ-147, BQ-148): the short form here,
 * 1,000 histories each with QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { afterAll, expect, it, vi } from 'vitest'
import {
  broken,
  type PagingFigures,
  PagingWorld,
  pagingStories,
  quietActs,
} from '../../../../support/beliefs-paging.ts'
import { PATIENCE_MS } from '../../../../support/patience.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { assertUntil } from '../../../../support/until-met.ts'

vi.mock('../../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../../support/kept-keys.ts')
  return keptKeys(original)
})

const LONG = process.env['QUERENT_LONG'] === '1'
const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

const NONE: PagingFigures = { stories: 0, pages: 0, results: 0, gone: 0, expired: 0, goneOnAfterRestart: 0 }

let files = 0

/** Until `isMet` is content with the figures too. */
async function playAll(
  runs: number,
  kind: 'writes' | 'quiet' | 'broken',
  inFile: boolean,
  isMet: (figures: PagingFigures) => void,
): Promise<PagingFigures> {
  const figures = { ...NONE }
  const isQuiet = kind === 'quiet'
  const between = isQuiet ? quietActs() : kind === 'broken' ? broken() : undefined
  const property = fc.asyncProperty(pagingStories(between), fc.nat(), async (story, seed) => {
    const file = inFile ? folder.file(`${++files}.db`) : null
    await new PagingWorld(file, story.embedder, seed % 8, figures).play(story, isQuiet)
  })
  await assertUntil(property, { numRuns: LONG ? 1000 : runs }, () => {
    expect(figures.pages).toBeGreaterThan(figures.stories)
    isMet(figures)
  })
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
  return figures
}

it(
  'whatever is written between pages, they are what there was, less what has gone (40 histories; 1,000 with QUERENT_LONG=1)',
  async () => {
    const { expired } = await playAll(40, 'writes', false, ({ gone }) => expect(gone).toBeGreaterThan(0))
    expect(expired).toBe(0)
  },
  PATIENCE_MS,
)

it(
  'another engine goes on alike where nothing has changed that counts, whatever its requester used (15 histories; 1,000 with QUERENT_LONG=1)',
  async () => {
    const wentOn = ({ goneOnAfterRestart }: PagingFigures) => expect(goneOnAfterRestart).toBeGreaterThan(0)
    const { expired } = await playAll(15, 'quiet', true, wentOn)
    expect(expired).toBe(0)
  },
  PATIENCE_MS,
)

it(
  'another engine goes on exactly or says that it cannot (15 histories; 1,000 with QUERENT_LONG=1)',
  async () => {
    await playAll(15, 'broken', true, ({ expired }) => expect(expired).toBeGreaterThan(0))
  },
  PATIENCE_MS,
)
