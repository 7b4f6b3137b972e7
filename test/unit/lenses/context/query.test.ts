import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { Context } from '../../../../src/lenses/context/operations.ts'
import { dot } from '../../../../src/math/vector.ts'
import { watched } from '../../../support/context-work.ts'
import { openToyEmbedder, toyVector } from '../../../support/toy-embedder.ts'
import { idsOf, it, openWorld } from './world.ts'

const code = (field: string, wanted: string) => ({ status: 'error', errors: { [field]: [{ code: wanted }] } })

describe('parameters of /context/query', () => {
  it.each([
    [{}, 'required'],
    [{ query: null }, 'required'],
    [{ query: '' }, 'required'],
    [{ query: ' \t\n' }, 'required'],
    [{ query: 7 }, 'invalid'],
    [{ query: ['auth'] }, 'invalid'],
  ])('%j is %s (CX-007, CX-010, CX-011)', async (params, expected) => {
    await using world = await openWorld()
    expect(await world.call('/context/query', params)).toMatchObject(code('query', expected))
  })

  it('are checked in order, the first fault deciding (CX-012, CX-013)', async () => {
    await using world = await openWorld({ empty: true })
    const ask = (params: object) => world.call('/context/query', params)
    const bad = { mode: 'fuzzy', depth: 'x', limit: Number.NaN }
    expect(await ask(bad)).toMatchObject(code('query', 'required'))
    expect(await ask({ ...bad, query: 'a' })).toMatchObject(code('body', 'not_initialized'))
    await world.do('/body/init')
    expect(await ask({ ...bad, query: 'a' })).toMatchObject(code('mind', 'not_initialized'))
    await world.do('/mind/init')
    expect((await ask({ ...bad, query: 'a' })).errors).toEqual({
      mode: [{ code: 'invalid', message: 'mode must be one of: semantic, exact, hybrid' }],
      depth: [{ code: 'invalid', message: 'depth must be a number' }],
      limit: [{ code: 'invalid', message: 'limit must be a number' }],
    })
    expect(await ask({ query: 'ab', mode: 'semantic', depth: 'x' })).toMatchObject(code('depth', 'invalid'))
    expect((await ask({ query: ' ab ', mode: 'semantic' })).errors).toEqual({
      query: [{ code: 'too_short', message: 'semantic search requires query length >= 3' }],
    })
    expect(await ask({ query: '😀😀😀', mode: 'semantic' })).toMatchObject({ status: 'success' })
  })

  it('become query_error where something breaks later (CX-013)', async ({ world }) => {
    await world.concepts('A')
    const host = {
      ...world.host,
      index: () => {
        throw new Error('no index today')
      },
    }
    expect((await new Context(host).call('/context/query', { query: 'a' })).errors).toEqual({
      query: [{ code: 'query_error', message: 'failed to query context: no index today' }],
    })
  })

  it('cut depth to 0, 1 or 2 (CX-008)', async ({ world }) => {
    await world.concepts('Anchor', 'B', 'C', 'D')
    await world.edges([1, 2], [2, 3], [3, 4])
    const reach = async (depth: unknown) => idsOf(await world.query({ query: 'anchor', depth })).length
    expect(await Promise.all([-3, 0, 0.9, 1, 1.9, 2, 9, null, undefined].map(reach))).toEqual([
      ...[1, 1, 1, 2, 2, 3, 3, 2, 2],
    ])
  })

  it('cut limit to 1 to 50, anchors and neighbours together (CX-009)', async ({ world }) => {
    await world.concepts(...Array.from({ length: 60 }, (_, i) => `Auth${i}`), 'Other')
    await world.edges([1, 61])
    const count = async (limit: unknown) => idsOf(await world.query({ query: 'auth', limit })).length
    expect(await Promise.all([-1, 0, 1, 3.7, 500, null].map(count))).toEqual([1, 1, 1, 3, 50, 10])
    expect(idsOf(await world.query({ query: 'auth0', limit: 2 }))).toEqual([1, 61])
  })
})

describe('search by name', () => {
  it('finds the query in names, in any case, by id; relevance is direct without a mode (CX-015, CX-017, CX-031)', async ({
    world,
  }) => {
    await world.concepts('Zauth', 'AuthService', 'ÜBERAUTH', 'Other')
    const { concepts } = await world.query({ query: '  aUTH ' })
    expect(concepts.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(concepts[1]).toStrictEqual({ id: 2, name: 'AuthService', type: 'Entity', relevance: 'direct' })
    expect(idsOf(await world.query({ query: 'überAuth', mode: 'exact' }))).toEqual([3])
  })

  it('then by words in common, most first (CX-018)', async ({ world }) => {
    await world.concepts('Service', 'AuthService', 'UserAuthService')
    expect(idsOf(await world.query({ query: 'user auth' }))).toEqual([3, 2])
    expect(idsOf(await world.query({ query: 'user auth auth', limit: 1 }))).toEqual([3])
    expect(idsOf(await world.query({ query: 'user auth', mode: 'exact' }))).toEqual([])
    expect(idsOf(await world.query({ query: 'user auth', mode: 'hybrid' }))).toEqual([3, 2])
  })

  it.each([
    ['straße', 'STRASSE', true],
    ['ὀδυσσεύς', 'ὈΔΥΣΣΕΎΣ', true],
    ['e\u0301', 'É', true],
    ['über2Größe', 'ÜBER2GRÖSSE', true],
    ['σίσυφος', 'ΣίσυφοςΆλφα', true],
    ['of auth', 'user_auth-service.ts', true],
    ['authentication', 'OAuth_auth', true],
    ['authentication', 'AutThing', false],
    ['au x', 'AuthService', false],
    ['servers', 'HTTPServer', false],
    ['äöü login', 'ÄÖÜXThing', true],
    ['$%', 'Name', false],
  ])(
    'by %s finds %s: %s, by words of at least so many letters, over all of Unicode (CX-017 to CX-019)',
    async (query, name, isFound) => {
      await using world = await openWorld()
      await world.concepts(name, 'Something')
      expect(idsOf(await world.query({ query, depth: 0 }))).toEqual(isFound ? [1] : [])
    },
  )

  it('finds AuthService for authentication, as the worked example has it (CX-019)', async ({ world }) => {
    await world.concepts('AuthService', 'LoginHandler')
    await world.edges([2, 1])
    const { concepts, graph } = await world.query({ query: 'authentication' })
    expect(concepts).toEqual([
      { id: 1, name: 'AuthService', type: 'Entity', relevance: 'direct' },
      { id: 2, name: 'LoginHandler', type: 'Entity', relevance: 'neighbor' },
    ])
    expect(graph).toEqual({ nodes: [1, 2], edges: [{ source: 2, target: 1, relation: 'DEPENDS_ON' }] })
  })

  it('finds nothing as a success (CX-039)', async ({ world }) => {
    await world.concepts('A')
    expect(await world.query({ query: 'zzz' })).toEqual({ concepts: [], files: [], graph: { nodes: [], edges: [] } })
  })

  it.each([
    ['"'],
    ["'"],
    ['%'],
    ['_'],
    ['\\'],
    ['*'],
    ['a OR b'],
    ['NEAR('],
    ['-x'],
    ['kind:concept'],
    ["'; drop table entries; --"],
  ])('takes %j as it is written (CX-040)', async sign => {
    await using world = await openWorld({ embedder: openToyEmbedder() })
    await world.concepts('Plain', `Name ${sign} more`)
    for (const mode of [null, 'exact', 'hybrid']) {
      expect(idsOf(await world.query({ query: sign, mode, depth: 0 }))[0]).toBe(2)
    }
    expect(await world.call('/context/query', { query: `${sign}  `, mode: 'semantic' })).toMatchObject({
      ...(sign.length < 3 ? { status: 'error' } : { status: 'success' }),
    })
  })
})

describe('a query that no name could hold (CX-040)', () => {
  it.each([['\u0000'], ['a\ud800b'], ['x'.repeat(200_000)]])('finds nothing, and breaks nothing', async query => {
    await using world = await openWorld({ embedder: openToyEmbedder() })
    await world.concepts('Teapot')
    for (const mode of [null, 'exact', 'hybrid']) {
      expect(await world.query({ query, mode })).toMatchObject({ concepts: [] })
    }
  })
})

describe('expansion', () => {
  it('goes to targets, then to sources, each by id (CX-026)', async ({ world }) => {
    await world.concepts('Anchor', 'B', 'C', 'D', 'E')
    await world.edges([1, 5], [1, 3], [4, 1], [2, 1])
    expect(idsOf(await world.query({ query: 'anchor' }))).toEqual([1, 3, 5, 2, 4])
    expect(idsOf(await world.query({ query: 'anchor', limit: 3 }))).toEqual([1, 3, 5])
  })

  it('goes on from what it added, in that order (CX-027)', async ({ world }) => {
    await world.concepts('Anchor', 'B', 'C', 'D', 'E')
    await world.edges([1, 3], [1, 2], [3, 4], [2, 5])
    expect(idsOf(await world.query({ query: 'anchor', depth: 2 }))).toEqual([1, 2, 3, 5, 4])
  })

  it('heeds no direction and no relation, and bears cycles (CX-028)', async ({ world }) => {
    await world.concepts('Anchor', 'B')
    await world.edges([1, 1], [1, 2], [2, 1, 'ODD'], [2, 2])
    const { concepts, graph } = await world.query({ query: 'anchor', depth: 2 })
    expect(concepts.map(({ id }) => id)).toEqual([1, 2])
    expect(graph.edges).toEqual([
      { source: 1, target: 1, relation: 'DEPENDS_ON' },
      { source: 1, target: 2, relation: 'DEPENDS_ON' },
      { source: 2, target: 1, relation: 'ODD' },
      { source: 2, target: 2, relation: 'DEPENDS_ON' },
    ])
  })

  it('passes over edges whose end is gone, however it went (CX-028)', async ({ world }) => {
    await world.concepts('Anchor', 'B', 'C')
    await world.edges([1, 2], [1, 3])
    await world.engine.delete({ ids: ['concept:2'] })
    const { concepts, graph } = await world.query({ query: 'anchor' })
    expect(concepts.map(({ id }) => id)).toEqual([1, 3])
    expect(graph.edges).toEqual([{ source: 1, target: 3, relation: 'DEPENDS_ON' }])
    expect(await world.do('/mind/edges/list')).toMatchObject({ total: 1 })
  })

  it('is what a plain search breadth first finds, on any graph (CX-026, CX-027)', async () => {
    const edges = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 })), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(
        edges,
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 1, max: 12 }),
        async (pairs, depth, limit) => {
          await using world = await openWorld()
          await world.concepts('Hit1', 'Hit2', 'C', 'D', 'E', 'F', 'G', 'H', 'I')
          if (pairs.length > 0) await world.edges(...pairs)
          expect(idsOf(await world.query({ query: 'hit', depth, limit }))).toEqual(
            breadthFirst(pairs, [1, 2], depth, limit),
          )
        },
      ),
      { numRuns: 25 },
    )
  })

  it('can go by weight instead (CX-029)', async ({ world }) => {
    await world.concepts('Anchor', 'Weak', 'Strong', 'Behind')
    await world.edges([1, 2, 'R', 0.1], [1, 3, 'R', 1], [3, 4, 'R', 1])
    const ask = { query: 'anchor', depth: 2 }
    expect(idsOf(await world.query(ask))).toEqual([1, 2, 3, 4])
    expect(idsOf(await world.query({ ...ask, rank: 'weighted' }))).toEqual([1, 3, 4, 2])
    expect(idsOf(await world.query({ ...ask, rank: 'weighted', limit: 2 }))).toEqual([1, 3])
    expect(await world.call('/context/query', { ...ask, rank: 'best' })).toMatchObject(code('rank', 'invalid'))
  })
})

describe('the graph of an answer', () => {
  it('lists edges by source in the order of nodes, then target, then relation; equal ones once (CX-037, CX-038)', async ({
    world,
  }) => {
    await world.concepts('B', 'Anchor', 'C')
    await world.edges([2, 3, 'Z'], [2, 3, 'A'], [2, 3, 'A', 0.5], [1, 2], [3, 1])
    const { graph } = await world.query({ query: 'anchor' })
    expect(graph).toStrictEqual({
      nodes: [2, 3, 1],
      edges: [
        { source: 2, target: 3, relation: 'A' },
        { source: 2, target: 3, relation: 'Z' },
        { source: 3, target: 1, relation: 'DEPENDS_ON' },
        { source: 1, target: 2, relation: 'DEPENDS_ON' },
      ],
    })
    const alone = await world.query({ query: 'anchor', limit: 1 })
    expect(alone.graph).toEqual({ nodes: [2], edges: [] })
  })

  it('has no edge to itself where a node is alone (CX-038)', async ({ world }) => {
    await world.concepts('Anchor')
    await world.edges([1, 1])
    expect((await world.query({ query: 'anchor' })).graph).toEqual({ nodes: [1], edges: [] })
  })

  it('says why when it is asked to, and only then (CX-030)', async ({ world }) => {
    await world.concepts('Anchor', 'B')
    await world.edges([1, 2, 'R', 0.5])
    const { concepts, graph } = await world.query({ query: 'anchor', explain: true })
    expect(concepts).toStrictEqual([
      { id: 1, name: 'Anchor', type: 'Entity', relevance: 'direct', hops: 0, via: null, match: 'name', score: null },
      { id: 2, name: 'B', type: 'Entity', relevance: 'neighbor', hops: 1, via: 1, match: null, score: null },
    ])
    expect(graph.edges).toStrictEqual([{ source: 1, target: 2, relation: 'R', weight: 0.5 }])
  })
})

describe('search by meaning', () => {
  const cosine = (a: string, b: string) => Math.round(dot(toyVector(a), toyVector(b)) * 1000) / 1000

  it('scores by cosine with three decimals (CX-014, CX-016, CX-020)', async ({ embedded: world }) => {
    await world.concepts('FastCar', 'Teapot')
    const { concepts } = await world.query({ query: 'quick automobile', mode: 'semantic', depth: 0 })
    const score = cosine('quick automobile', 'FastCar\nFast Car\nEntity')
    expect(concepts).toStrictEqual([{ id: 1, name: 'FastCar', type: 'Entity', relevance: 'semantic', score }])
    expect(score).toBeGreaterThan(0.5)
  })

  it('drops what is far, in itself or beside the best (CX-021)', async ({ embedded: world }) => {
    await world.concepts('Car', 'CarTeapotLampDesk', 'Teapot')
    expect(idsOf(await world.query({ query: 'vehicle', mode: 'semantic', depth: 0 }))).toEqual([1])
  })

  it('in hybrid keeps names first, marked both where they are meant too (CX-016, CX-022)', async ({
    embedded: world,
  }) => {
    await world.concepts('Vehicle', 'Car', 'VehicleRegistrationOfficeForm', 'Teapot')
    const { concepts } = await world.query({ query: 'vehicle', mode: 'hybrid', depth: 0 })
    expect(concepts.map(({ id, relevance }) => [id, relevance])).toEqual([
      [1, 'both'],
      [3, 'exact'],
      [2, 'semantic'],
    ])
    expect(concepts[0]).toHaveProperty('score', cosine('vehicle', 'Vehicle\nVehicle\nEntity'))
    expect(concepts[1]).not.toHaveProperty('score')
  })

  it('leaves room for neighbours, and takes it back where there are none (CX-023)', async ({ embedded: world }) => {
    await world.concepts('Car', 'Car', 'Car', 'Car', 'Car', 'Teapot', 'Lamp')
    const ask = { query: 'vehicle', mode: 'semantic', limit: 5 }
    expect(idsOf(await world.query(ask)).length).toBe(5)
    await world.edges([1, 6], [2, 6], [3, 6], [4, 6], [5, 6], [6, 7])
    expect(idsOf(await world.query({ ...ask, depth: 0 }))).toEqual([1, 2, 3, 4, 5])
    expect(idsOf(await world.query({ ...ask, depth: 2 }))).toEqual([1, 2, 3, 6, 7])
    expect(idsOf(await world.query(ask))).toEqual([1, 2, 3, 4, 6])
  })

  it('lets neighbours displace no name (CX-023)', async ({ embedded: world }) => {
    await world.concepts('Vehicle', 'Vehicle', 'Vehicle', 'Vehicle', 'Car', 'Lamp')
    await world.edges([1, 6])
    const ask = { query: 'vehicle', mode: 'hybrid', limit: 4 }
    expect(idsOf(await world.query(ask))).toEqual([1, 2, 3, 4])
    expect(idsOf(await world.query({ ...ask, limit: 6 }))).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('does without an embedder, and says so (CX-020, CX-074)', async ({ world }) => {
    await world.concepts('Car')
    for (const mode of ['semantic', 'hybrid']) {
      const { status, meta, result } = await world.call('/context/query', { query: 'car', mode })
      expect(status).toBe('success')
      expect(meta['warnings']).toEqual([expect.stringContaining('no embedder')])
      expect(result).toMatchObject({ concepts: mode === 'hybrid' ? [{ id: 1, relevance: 'exact' }] : [] })
    }
    for (const mode of [null, 'exact']) {
      expect((await world.call('/context/query', { query: 'car', mode })).meta).not.toHaveProperty('warnings')
    }
    expect((await world.call('/context/query', { query: 'ca', mode: 'hybrid' })).meta).not.toHaveProperty('warnings')
  })

  it('does with an embedder that fails, and says so (CX-020)', async () => {
    const toy = openToyEmbedder()
    let isBroken = false
    const embedder = {
      ...toy,
      embed: (texts: readonly string[]) => (isBroken ? Promise.reject(new Error('gone')) : toy.embed(texts, 'query')),
    }
    await using world = await openWorld({ embedder })
    await world.concepts('Car')
    isBroken = true
    const { result, meta } = await world.call('/context/query', { query: 'car', mode: 'hybrid' })
    expect(result).toMatchObject({ concepts: [{ id: 1, relevance: 'exact' }] })
    expect(meta['warnings']).toEqual([expect.stringContaining('gone')])
  })

  it('searches concepts alone: /mind/search (CX-053)', async ({ embedded: world }) => {
    await world.concepts('Teapot', 'Car')
    await world.engine.put({ entries: [{ content: 'vehicle vehicle' }], wait: true })
    const score = cosine('vehicle', 'Car\nCar\nEntity')
    expect(await world.do('/mind/search', { query: 'vehicle', limit: 1 })).toEqual({
      matches: [{ id: 2, name: 'Car', type: 'Entity', score }],
    })
  })
})

describe('reading', () => {
  it('takes as many looks at the store for many concepts as for few (CX-042)', async () => {
    const looksFor = async (count: number): Promise<number> => {
      await using world = await openWorld({ embedder: openToyEmbedder() })
      await world.concepts(...Array.from({ length: count }, (_, i) => `Auth${i}`))
      await world.edges(...Array.from({ length: count - 1 }, (_, i) => [i + 1, i + 2] as const))
      const links = Array.from({ length: count }, (_, i) => ({ concept_id: i + 1, file_url: 'file:///a.ts' }))
      for (const link of links) await world.do('/mind/provenance/create', link)
      const ask = { query: 'auth', mode: 'hybrid', depth: 2, limit: count, max_tokens: 1000 }
      const { host, work } = watched(world.host)
      const context = new Context(host)
      // The first one reads the concepts into memory.
      await context.call('/context/query', ask)
      work.calls = 0
      await context.call('/context/query', ask)
      return work.calls
    }
    // On a busy machine a page pauses and looks again, at most four times and three looks each.
    expect(await looksFor(40)).toBeLessThanOrEqual((await looksFor(3)) + 12)
  })
})

function breadthFirst(
  edges: readonly (readonly [number, number])[],
  anchors: readonly number[],
  depth: number,
  limit: number,
): number[] {
  const found = anchors.slice(0, limit)
  let from = [...found]
  for (let hop = 0; hop < depth; hop++) {
    const next: number[] = []
    for (const at of from) {
      const targets = edges.filter(([source]) => source === at).map(([, target]) => target)
      const sources = edges.filter(([, target]) => target === at).map(([source]) => source)
      for (const to of [...targets.sort((a, b) => a - b), ...sources.sort((a, b) => a - b)]) {
        if (found.includes(to) || found.length >= limit) continue
        found.push(to)
        next.push(to)
      }
    }
    from = next
  }
  return found
}
