/** A federation that shows no holders tells nothing that depends on who they are (BQ-104): another holds, all is the same. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Call, hiddenStories, REQUESTER, type Request } from '../../../support/beliefs-hidden.ts'
import { HiddenWorld, LIBRARY } from '../../../support/beliefs-hidden-world.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 12
const IDS = ['v0', 'v1', 'v2', 'v3', 'v4']
/** A different text each: how many say the same is reported (BQ-102). */
const CONTENTS = ['fox honey', 'fox honey garden', 'old fox', 'honey is not old', 'honey is old']

/** What tells of others than the holders in question, or is no question. */
const OPERATIONS = [
  ...['query', 'explain', 'count', 'facets', 'similar', 'contradictions', 'batch', 'context_query'],
  ...['derivation', 'get'],
].map(name => `beliefs.${name}`)

async function reported(holders: readonly string[], requests: readonly Request[]): Promise<readonly string[]> {
  const world = await HiddenWorld.open('toy', LIBRARY)
  try {
    for (const [at, id] of IDS.entries()) {
      const sources = at === 2 ? [{ belief_id: 'v0' }] : []
      const more = { derivation: { type: 'inference', sources }, visibility: 'federated', federation_ids: ['vault'] }
      const input = { id, content: CONTENTS[at], ...more }
      await world.act({ by: holders[at] as string, operation: 'beliefs.put', input })
    }
    // Later, so that use is noted.
    await world.act({ waits: 3_600_000 })
    const answers: string[] = []
    for (const request of requests) answers.push(await world.ask(request, false))
    // Asking has used somebody's edges: whose is in sight of who owns them.
    const edges: Call = { by: REQUESTER, operation: 'trust.list', input: {} }
    return [...answers, await world.ask(edges, false)]
  } finally {
    await world.close()
  }
}

it(
  `${RUNS} times (1,000 with QUERENT_LONG=1)`,
  async () => {
    const holders = fc.array(fc.constantFrom('bob', 'cyd'), { minLength: 5, maxLength: 5 })
    const requests = hiddenStories(OPERATIONS).map(story => story.requests.map(({ gap: _, ...request }) => request))
    const wide = requests.map(some => [
      ...some,
      {
        by: REQUESTER,
        operation: 'beliefs.query',
        input: { semantic: 'fox', options: { scope: { federated: true } } },
      },
    ])
    const property = fc.asyncProperty(holders, holders, wide, async (some, others, asked) => {
      const [one, other] = [await reported(some, asked), await reported(others, asked)]
      for (const [at, answer] of one.entries()) expect([asked[at], other[at]]).toEqual([asked[at], answer])
    })
    await fc.assert(property, { numRuns: RUNS })
  },
  PATIENCE_MS,
)
