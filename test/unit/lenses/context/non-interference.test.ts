import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openToyEmbedder } from '../../../../src/testing/toy-embedder.ts'
import { type ContextWorld, openWorld } from './world.ts'

const ann = { id: 'ann' }
const bob = { id: 'bob' }

const NAMES = ['AuthService', 'UserLogin', 'CarPark', 'VehicleStore', 'quick_fox', 'Teapot']

const names = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 6 })
const links = fc.array(
  fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 11 }), fc.constantFrom('CALLS', 'USES', 'EXTENDS')),
  {
    maxLength: 12,
  },
)
const questions = fc.array(
  fc.record({
    query: fc.constantFrom('auth', 'vehicle', 'user login', 'fast vixen', 'e'),
    mode: fc.constantFrom(null, 'exact', 'semantic', 'hybrid'),
    rank: fc.constantFrom('breadth', 'weighted', 'closeness', 'relevance'),
    depth: fc.nat({ max: 2 }),
    limit: fc.integer({ min: 1, max: 8 }),
    explain: fc.boolean(),
    max_tokens: fc.constantFrom(null, 40),
  }),
  { minLength: 1, maxLength: 4 },
)

describe('hidden concepts, links and files', () => {
  it('change nothing that another viewer is told', async () => {
    await fc.assert(
      fc.asyncProperty(names, links, names, links, questions, async (seen, among, hidden, across, asked) => {
        await using world = await openWorld({ embedder: openToyEmbedder() })
        const open = await create(world, seen, ann, 'public')
        await join(world, among, open, open, ann)
        const ask = async () => {
          const answers: unknown[] = []
          for (const params of asked) answers.push(await told(world, '/context/query', params))
          for (const path of ['/graph/summary', '/graph/viz', '/mind/concepts/list', '/mind/edges/list']) {
            answers.push(await told(world, path, {}))
          }
          answers.push(await told(world, '/graph/neighbors', { id: open[0] }))
          answers.push(await told(world, '/mind/search', { query: 'vehicle' }))
          answers.push(await told(world, '/mind/provenance/list', { file_url: 'file:///a.ts' }))
          return answers
        }
        const before = await ask()
        const secret = await create(world, hidden, bob, 'private')
        await join(world, across, secret, [...open, ...secret], bob)
        await world.engine.put({ entries: [{ content: 'auth vehicle', kind: 'code', origin: 'file:///a.ts' }] })
        expect(await ask()).toEqual(before)
      }),
      { numRuns: 25 },
    )
  })
})

/** Their ids. */
async function create(
  world: ContextWorld,
  wanted: readonly string[],
  viewer: { readonly id: string },
  visibility: string,
): Promise<readonly number[]> {
  const concepts = wanted.map(name => ({ name, type: 'Entity', visibility }))
  const { concepts: made } = await world.do('/mind/concepts/create-many', { concepts }, viewer)
  const ids = (made as readonly { id: number }[]).map(({ id }) => id)
  for (const id of ids) {
    await world.do('/mind/provenance/create', { concept_id: id, file_url: 'file:///a.ts' }, viewer)
  }
  return ids
}

async function join(
  world: ContextWorld,
  drawn: readonly (readonly [number, number, string])[],
  sources: readonly number[],
  targets: readonly number[],
  viewer: { readonly id: string },
): Promise<void> {
  for (const [a, b, relation] of drawn) {
    const edge = { source: sources[a % sources.length], target: targets[b % targets.length], relation }
    await world.do('/mind/edges/create', edge, viewer)
  }
}

async function told(world: ContextWorld, path: string, params: unknown): Promise<unknown> {
  const { meta, ...rest } = await world.call(path, params, ann)
  return { ...rest, warnings: meta['warnings'] ?? null }
}
