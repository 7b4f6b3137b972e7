/** CQ-098: through the index, rows and their order are those of a full scan. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { QueryOptions } from '../../../../../src/lenses/chroma/model.ts'
import type { ExportedNode } from '../../../../../src/lenses/chroma/nodes/nodes.ts'
import { NOW, openWorld, type World } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400
/** By mode: relevance, recency, strength, and the days of recency. */
const MODES: Readonly<Record<string, readonly [number, number, number, number]>> = {
  Sparse: [0.6, 0.3, 0.1, 1.5],
  Adaptive: [0.5, 0.3, 0.2, 3],
  Spacey: [0.5, 0.2, 0.3, 2],
  Eidetic: [0.4, 0.2, 0.4, 7],
}

const tags = fc
  .tuple(fc.nat(2), fc.uniqueArray(fc.nat(11), { minLength: 6, maxLength: 8 }), fc.nat(2))
  .map(([core, mids, outer]) => [`#c${core}`, ...mids.map(mid => `#m${mid}`), `#o${outer}`])
const node = fc.record({
  hashtags: tags,
  mode_name: fc.constantFrom(...Object.keys(MODES)),
  created_at: fc.integer({ min: NOW - 9 * DAY, max: NOW - DAY }),
  idle: fc.integer({ min: 0, max: DAY }),
  strength_raw: fc.nat(300).map(tenths => tenths / 10),
  rotten: fc.boolean(),
  group: fc.nat(3),
})
const share = fc.nat(10)
const options = fc.record(
  {
    k: fc.integer({ min: 1, max: 12 }),
    maxDistance: fc.constantFrom(null, 0, 10, 40, 200),
    temporalRange: fc.constantFrom(null, [NOW - 5 * DAY, NOW - 2 * DAY] as const),
    metadataFilters: fc.constantFrom(null, { group: 1 }, { group: [0, 2] }, { group: { $gte: 2 } }, { group: 9 }),
    includeRotten: fc.boolean(),
    scoreWeights: fc.option(
      fc.tuple(share, share).map(([a, b]) => ({
        relevance: a / 20,
        recency: b / 20,
        strength: 1 - a / 20 - b / 20,
      })),
    ),
  },
  { requiredKeys: ['k'] },
)

it('CQ-098, CQ-056, CQ-065: ranks and filters as a plain scan does (QUERENT_LONG=1: 500 cases)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(node, { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(tags, options), { minLength: 1, maxLength: 6 }),
      async (nodes, asks) => {
        await using world = await openWorld()
        await world.chroma.importNodes({ version: 1, nodes: nodes.map(documentOf) } as never)
        const stored = (await world.chroma.exportNodes()).nodes
        for (const [hashtags, given] of asks) {
          const rows = await world.chroma.query(hashtags, { ...(given as QueryOptions), updateAccess: false })
          const expected = scan(world, stored, hashtags, given as QueryOptions)
          expect(rows.map(({ entry_id, distance, score }) => [entry_id, distance, score])).toEqual(expected)
        }
      },
    ),
    { numRuns: process.env['QUERENT_LONG'] === '1' ? 500 : 25 },
  )
})

function documentOf(
  { idle, group, ...given }: typeof node extends fc.Arbitrary<infer T> ? T : never,
  at: number,
): object {
  return {
    ...given,
    entry_id: `n${at}`,
    label: `Node ${at}`,
    content: 'Text',
    metadata: { group },
    last_accessed: given.created_at + idle,
    decay_health: 1,
    ascension: false,
    access_count: 0,
  }
}

function scan(
  world: World,
  nodes: readonly ExportedNode[],
  hashtags: readonly string[],
  options: QueryOptions,
): unknown {
  const [l, a, b] = world.chroma.computeNodeColor(hashtags)
  const {
    k = 5,
    maxDistance = null,
    temporalRange = null,
    metadataFilters = null,
    includeRotten,
    scoreWeights = null,
  } = options
  return nodes
    .filter(({ rotten }) => includeRotten === true || !rotten)
    .filter(({ created_at, last_accessed }) => {
      const [start, end] = temporalRange ?? [0, NOW]
      return [created_at, last_accessed].some(time => start <= time && time <= end)
    })
    .filter(({ metadata }) => fulfils(Number(metadata?.['group']), metadataFilters?.['group']))
    .map(one => {
      const [x, y, z] = one.color as [number, number, number]
      const distance = Math.sqrt((x - l) ** 2 + (y - a) ** 2 + (z - b) ** 2)
      const [relevance, recency, strength, tau] = MODES[one.mode_name] as [number, number, number, number]
      const weights = scoreWeights ?? { relevance, recency, strength }
      const days = (NOW - one.last_accessed) / DAY
      const sum =
        weights.relevance * Math.exp(-distance / 20) +
        weights.recency * Math.exp(-days / tau) +
        weights.strength * (one.strength_raw / (one.strength_raw + 5))
      return { id: one.entry_id, distance, score: expect.closeTo(sum, 12), sum }
    })
    .filter(({ distance }) => maxDistance === null || distance <= maxDistance)
    .sort((one, other) => other.sum - one.sum || one.distance - other.distance || (one.id < other.id ? -1 : 1))
    .slice(0, k ?? 5)
    .map(({ id, distance, score }) => [id, distance, score])
}

function fulfils(group: number, condition: unknown): boolean {
  if (condition === undefined) return true
  if (Array.isArray(condition)) return condition.includes(group)
  if (typeof condition === 'object') return group >= (condition as { $gte: number }).$gte
  return group === condition
}
