/**
 * The goals in milliseconds of questions over a large code base (CX-041) are the bench's (`npm run bench -- context-query`):
 * what a machine needs is no matter for a test. What makes them hold is: that a question does the same little work on the
 * store however large the code base is. That is counted here, on the very size that the goals are set for.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CODE_BASE_FILES, fillCode, randomQuestion } from '../../bench/lib/random-code.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { LinkIndex } from '../../src/index/contract.ts'
import { Context } from '../../src/lenses/context/operations.ts'
import type { LensHost } from '../../src/lenses/lens.ts'
import { type Work, watched } from '../support/context-work.ts'
import { openTestEngine } from '../support/engines.ts'
import { seededUniform } from '../support/seeded.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

const LIMIT = 10
const QUESTIONS = 8
/** With how many more rows the store may give of the large code base: there the parts' best are less often the same. */
const KINDS = [
  ['by name', { depth: 2, limit: LIMIT }, LIMIT],
  ['hybrid', { depth: 2, limit: LIMIT, mode: 'hybrid' }, LIMIT],
  ['by relevance', { depth: 1, limit: LIMIT, mode: 'hybrid', rank: 'relevance', snippet: 'passage' }, 100],
] as const

const engines: Engine[] = []
let small: Engine
let large: Engine

async function filled(files: number): Promise<Engine> {
  const engine = await openTestEngine({ embedder: openToyEmbedder() })
  engines.push(engine)
  await fillCode(engine, files, seededUniform(7))
  return engine
}

beforeAll(async () => {
  small = await filled(CODE_BASE_FILES / 20)
  large = await filled(CODE_BASE_FILES)
})

afterAll(async () => {
  for (const engine of engines) await engine.close()
})

/** The most that any of the questions took of each, once the lens has read the store. */
async function maxOf(engine: Engine, params: object): Promise<Work> {
  const { host, work } = watched(engine.host('context'))
  const context = new Context(host)
  const uniform = seededUniform(11)
  const most: Work = { calls: 0, rows: 0, scans: 0, links: 0 }
  for (let i = 0; i <= QUESTIONS; i++) {
    Object.assign(work, { calls: 0, rows: 0, scans: 0, links: 0 })
    const { status } = await context.call('/context/query', { query: randomQuestion(uniform), ...params })
    expect(status).toBe('success')
    // The first one reads the concepts into memory.
    if (i === 0) continue
    for (const name of Object.keys(most) as (keyof Work)[]) most[name] = Math.max(most[name], work[name])
  }
  return most
}

describe('questions over 2,000 files, 20,000 concepts and 60,000 links (CX-041)', () => {
  it('is the size it says', async () => {
    const host: LensHost = large.host('context')
    const links = host.index('links') as LinkIndex
    const { partitions } = host.accessScope({ id: 'owner' })
    expect(links.count({ partitions })).toEqual({ nodes: 20_000, links: 60_000 })
    const { result } = await new Context(host).call('/graph/summary')
    expect(result).toMatchObject({ concepts: { total: 20_000 }, edges: { total: 60_000 } })
  })

  it.each(KINDS)(
    '%s: asks the store as often as over a twentieth of it, and reads no table as a whole',
    async (_, params, more) => {
      const [few, many] = [await maxOf(small, params), await maxOf(large, params)]
      expect(many.calls).toBe(few.calls)
      expect(many.scans).toBe(0)
      // A row for each link to a file and each file that is shown, and what the hybrid's third leg looks at.
      expect(many.rows).toBeLessThanOrEqual(few.rows + more)
    },
  )

  it.each(KINDS)('%s: follows the links of as many concepts as it may return', async (_, params) => {
    const { links } = await maxOf(large, params)
    expect(links).toBeGreaterThan(0)
    // Both ways from each to expand it, and once more for the links that are shown; the hybrid may choose again as it fills up.
    expect(links).toBeLessThanOrEqual(LIMIT * (2 * LIMIT + 1))
  })
})
