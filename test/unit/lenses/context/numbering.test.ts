import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { JsonObject } from '../../../../src/base/canonical.ts'
import { setCounter } from '../../../../src/lenses/context/counters.ts'
import { CONCEPTS } from '../../../../src/lenses/context/tables.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'
import { type ContextWorld, it, openWorld } from './world.ts'

const ann = { id: 'ann' }
const bob = { id: 'bob' }
const owner = { id: 'owner' }
const RANGE = 2 ** 32

async function create(world: ContextWorld, name: string, viewer = owner, visibility = 'private'): Promise<number> {
  const { id } = await world.do('/mind/concepts/create', { name, type: 'Entity', visibility }, viewer)
  return id as number
}

async function link(world: ContextWorld, source: number, target: number, viewer = owner): Promise<number> {
  const { id } = await world.do('/mind/edges/create', { source, target, relation: 'R' }, viewer)
  return id as number
}

describe('numbers of concepts and links (CX-050)', () => {
  it('ascend from 1 for the local owner, and are never used again', async ({ world }) => {
    expect([await create(world, 'A'), await create(world, 'B')]).toEqual([1, 2])
    await create(world, 'Hers', ann)
    await create(world, 'Open', owner, 'public')
    expect(await link(world, 1, 2)).toBe(1)
    await world.do('/mind/concepts/delete', { id: 2 })
    expect(await create(world, 'C')).toBe(3)
    expect(await link(world, 1, 3)).toBe(2)
  })

  it('ascend within each audience, and are unique over all of them', async ({ world }) => {
    const made: number[] = []
    for (const [name, viewer, visibility] of [
      ['a', ann, 'private'],
      ['b', bob, 'private'],
      ['a', ann, 'private'],
      ['p', ann, 'public'],
      ['o', owner, 'private'],
      ['p', bob, 'public'],
    ] as const) {
      made.push(await create(world, name, viewer, visibility))
    }
    const [a1, b1, a2, p1, o1, p2] = made as [number, number, number, number, number, number]
    expect(new Set(made).size).toBe(made.length)
    expect([a2 - a1, p2 - p1, o1]).toEqual([1, 1, 1])
    expect([a1, b1, p1].map(id => id % RANGE)).toEqual([1, 1, 1])
    expect(made.every(id => Number.isSafeInteger(id) && id > 0)).toBe(true)
    const { concepts } = await world.do('/mind/concepts/list', {}, ann)
    const ids = (concepts as { id: number }[]).map(({ id }) => id)
    expect(ids).toEqual([a1, a2, p1, p2].sort((a, b) => a - b))
    // Links that ann draws among concepts that ann alone sees are numbered apart from those that all see.
    expect([await link(world, a1, a2, ann), await link(world, p1, p1, ann)].map(id => id % RANGE)).toEqual([1, 1])
  })

  it('go on after those of a store that counted over everything', async ({ world }) => {
    const mine = await create(world, 'Mine')
    const open = await create(world, 'Open', owner, 'public')
    const { store, clock } = world.host
    store.write(clock.now(), writer => {
      const [row] = writer.table(CONCEPTS).scan({ id: open })
      writer.table(CONCEPTS).put({ ...row, id: 2 })
      writer.announce(row?.['entry'] as number)
      setCounter(writer, 'next_concept', 3)
    })
    expect(mine).toBe(1)
    expect(await world.do('/mind/concepts/get', { id: 2 })).toMatchObject({ name: 'Open' })
    expect(await create(world, 'Next')).toBe(3)
    expect(await create(world, 'Open too', owner, 'public')).toBeGreaterThan(RANGE)
    expect(await link(world, 1, 3)).toBe(1)
  })
})

const NAMES = ['AuthService', 'UserLogin', 'CarPark', 'VehicleStore', 'quick_fox', 'Teapot']

/** What somebody does; concepts are named by their place among those they made, so that numbers cannot help. */
const deed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('create'), name: fc.constantFrom(...NAMES), open: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('link'), from: fc.nat(5), to: fc.nat(5), weight: fc.nat(2) }) },
  fc.record({ do: fc.constant('place'), at: fc.nat(5), file: fc.constantFrom('a', 'b') }),
  fc.record({ do: fc.constant('rename'), at: fc.nat(5), name: fc.constantFrom(...NAMES) }),
  fc.record({ do: fc.constant('delete'), at: fc.nat(5) }),
)
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never

const QUESTIONS: readonly (readonly [string, JsonObject])[] = [
  ['/context/query', { query: 'auth', depth: 2, explain: true }],
  ['/context/query', { query: 'vehicle', mode: 'hybrid', rank: 'weighted', explain: true }],
  ['/context/query', { query: 'user login', mode: 'semantic', rank: 'weighted', max_tokens: 60 }],
  ['/context/query', { query: 'e', mode: 'exact', limit: 3 }],
  ['/context/query', { query: 'fast vehicle', mode: 'hybrid', rank: 'relevance', depth: 2, explain: true, limit: 4 }],
  ['/context/query', { query: 'user login', rank: 'relevance', max_tokens: 40 }],
  ['/context/definition', { name: 'CarPark' }],
  ['/context/references', { name: 'AuthService' }],
  ['/context/callers', { name: 'Teapot' }],
  ['/mind/concepts/list', {}],
  ['/mind/edges/list', {}],
  ['/mind/provenance/list', {}],
  ['/mind/search', { query: 'vehicle' }],
  ['/graph/summary', {}],
  ['/graph/viz', { format: 'mermaid' }],
  ['/body/fts/search', { query: 'auth' }],
  ['/no/such', {}],
]

describe('what a viewer cannot see', () => {
  it('changes no byte of what it receives, numbers included', async () => {
    const steps = fc.array(fc.record({ seen: deed, hidden: fc.array(deed, { maxLength: 3 }) }), {
      minLength: 1,
      maxLength: 10,
    })
    await fc.assert(
      fc.asyncProperty(steps, async all => {
        await using alone = await openWorld({ embedder: openToyEmbedder() })
        await using crowded = await openWorld({ embedder: openToyEmbedder() })
        const [annAlone, annCrowded] = [new Somebody(alone, ann), new Somebody(crowded, ann)]
        const others = [new Somebody(crowded, bob, annCrowded), new Somebody(crowded, owner, annCrowded)]
        for (const { seen, hidden } of all) {
          for (const [at, each] of hidden.entries()) await others[at % 2]?.does({ ...each, open: false } as Deed)
          await crowded.engine.put({ entries: [{ content: 'auth vehicle', kind: 'code', origin: 'file:///a' }] })
          expect(await annCrowded.does(seen)).toEqual(await annAlone.does(seen))
        }
        for (const [path, params] of QUESTIONS) {
          expect(await annCrowded.asks(path, params)).toEqual(await annAlone.asks(path, params))
        }
        for (const text of ['auth', 'fast vehicle']) {
          expect(await annCrowded.queries(text)).toEqual(await annAlone.queries(text))
        }
        for (const id of annAlone.made) {
          for (const path of ['/graph/neighbors', '/mind/concepts/get']) {
            expect(await annCrowded.asks(path, { id })).toEqual(await annAlone.asks(path, { id }))
          }
        }
      }),
      { numRuns: 20 },
    )
  })
})

class Somebody {
  /** Numbers of its own concepts, in the order they were made. */
  readonly made: number[] = []
  readonly #world: ContextWorld
  readonly #viewer: { readonly id: string }
  /** Whose concepts it links to as well, where it sees them. */
  readonly #other: Somebody | null

  constructor(world: ContextWorld, viewer: { readonly id: string }, other: Somebody | null = null) {
    this.#world = world
    this.#viewer = viewer
    this.#other = other
  }

  async does(deed: Deed): Promise<unknown> {
    const own = (at: number) => this.made[at % this.made.length] ?? 1
    const any = (at: number) => [...this.made, ...(this.#other?.made ?? [])].at(at) ?? own(at)
    switch (deed.do) {
      case 'create': {
        const { name, open } = deed as { name: string; open: boolean }
        const visibility = open ? 'public' : 'private'
        const reported = await this.asks('/mind/concepts/create', { name, type: 'Entity', visibility })
        const { result } = reported as { result: { id: number } | null }
        if (result !== null) this.made.push(result.id)
        return reported
      }
      case 'link': {
        const { from, to, weight } = deed as { from: number; to: number; weight: number }
        const edge = { source: own(from), target: any(to), relation: 'CALLS', weight }
        return this.asks('/mind/edges/create', edge)
      }
      case 'place': {
        const { at, file } = deed as { at: number; file: string }
        return this.asks('/mind/provenance/create', { concept_id: own(at), file_url: `file:///${file}` })
      }
      case 'rename': {
        const { at, name } = deed as { at: number; name: string }
        return this.asks('/mind/concepts/update', { id: own(at), name })
      }
      default: {
        const { at } = deed as { at: number }
        const id = own(at)
        const found = await this.asks('/mind/concepts/delete', { id })
        if (this.made.includes(id)) this.made.splice(this.made.indexOf(id), 1)
        return found
      }
    }
  }

  /** The page of the pipeline, the count, and why each result is there. */
  async queries(text: string): Promise<unknown> {
    const [{ engine }, context] = [this.#world, { viewer: this.#viewer }]
    const query = { text, lens: 'context', explain: true }
    const page = await engine.query(query, context)
    const reasons = []
    for (const { id } of page.items) reasons.push(await engine.explain({ query, id }, context))
    const { cursor: _, ...shown } = page
    return { shown, reasons, count: await engine.count(query, context) }
  }

  /** The whole envelope, but for the time it took. */
  async asks(path: string, params: JsonObject): Promise<unknown> {
    const { meta, ...answer } = await this.#world.call(path, params, this.#viewer)
    return { ...answer, meta: { ...meta, duration_ms: 0 } }
  }
}
