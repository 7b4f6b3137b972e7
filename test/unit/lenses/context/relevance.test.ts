/** Rank `relevance` of /context/query: anchors by all that speaks for them. The documented order is held by query.test.ts. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { sha256 } from '../../../../src/base/canonical.ts'
import { type ConceptDraft, putConcept, putProvenance } from '../../../../src/lenses/context/mind/rows.ts'
import { foldName } from '../../../../src/lenses/context/names.ts'
import { FILES } from '../../../../src/lenses/context/tables.ts'
import { toUnit } from '../../../../src/math/vector.ts'
import { recompute } from '../../../../src/model/explanation.ts'
import { audience } from '../../../../src/model/partition.ts'
import { draftOf, wholeChunk } from '../../../support/entries.ts'
import { seededUniform } from '../../../support/seeded.ts'
import { openToyEmbedder, TOY_KEY, TOY_MODEL } from '../../../support/toy-embedder.ts'
import { type ContextWorld, idsOf, it, openWorld } from './world.ts'

interface Reported {
  readonly id: number
  readonly name: string
  readonly relevance: string
  readonly match: string | null
  readonly score?: number | null
  readonly parts?: Readonly<Record<'total' | 'name' | 'path' | 'doc' | 'text' | 'passage' | 'meaning', number>>
}

const RELEVANT = { mode: 'hybrid', rank: 'relevance', depth: 0 }

async function reported(world: ContextWorld, params: object): Promise<readonly Reported[]> {
  const { concepts } = await world.query({ ...RELEVANT, ...params, explain: true })
  return concepts as unknown as readonly Reported[]
}

/** Concepts as an indexer makes them. */
function put(world: ContextWorld, ...drafts: readonly Omit<ConceptDraft, 'type'>[]): void {
  world.host.store.write(0, writer => {
    for (const draft of drafts) {
      const made = putConcept(writer, { type: 'Function', ...draft }, { audience: audience('private'), now: 0 })
      if (draft.url) putProvenance(writer, made, draft.url)
    }
  })
}

function putFile(world: ContextWorld, url: string, content: string): void {
  world.host.store.write(0, writer => {
    const draft = draftOf({ id: url, kind: 'code', origin: url, content })
    const { key: entry } = writer.put(draft, wholeChunk(draft))
    writer.table(FILES).put({ entry, url, hash: '0', size: content.length, mtime: 0, indexed_hash: '0' })
  })
}

describe('anchors by relevance', () => {
  it('begin with the name that is the question, whatever the names and in every mode', async () => {
    const words = fc.array(fc.constantFrom('car', 'Vehicle', 'Teapot', 'login', 'Fast'), { minLength: 1, maxLength: 3 })
    const names = fc.uniqueArray(
      words.map(list => list.join('')),
      { selector: foldName, minLength: 1, maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(names, fc.nat(), fc.constantFrom(null, 'exact', 'hybrid'), async (all, pick, mode) => {
        await using world = await openWorld({ embedder: openToyEmbedder() })
        await world.concepts(...all)
        const wanted = all[pick % all.length] as string
        const [first] = await reported(world, { query: ` ${wanted.toLowerCase()} `, mode })
        expect(first).toMatchObject({ name: wanted, match: 'whole' })
      }),
      { numRuns: 20 },
    )
  })

  it('then stand by the sum of their parts, best first', async ({ embedded: world }) => {
    await world.concepts('Vehicle', 'CarPark', 'FastVehicle', 'VehicleStoreOfCars', 'Teapot', 'Car')
    const found = await reported(world, { query: 'fast vehicle' })
    const totals = found.map(({ parts }) => parts?.total ?? 0)
    expect(found[0]).toMatchObject({ name: 'FastVehicle' })
    expect(totals.length).toBeGreaterThan(3)
    expect(totals).toEqual(totals.toSorted((a, b) => b - a))
    for (const { parts } of found) {
      const { total, ...each } = parts as NonNullable<Reported['parts']>
      const sum = Object.values(each).reduce((all, part) => all + part, 0)
      expect(Math.abs(sum - total)).toBeLessThanOrEqual(0.004)
    }
  })

  it('prefer the rare word of a name, and the name with less beside it', async ({ world }) => {
    await world.concepts('UserStore', 'UserList', 'UserPage', 'UserView', 'TokenStoreListPage', 'TokenView')
    expect(idsOf(await world.query({ query: 'user token', mode: 'hybrid', depth: 0 }))[0]).toBe(1)
    expect(idsOf(await world.query({ ...RELEVANT, query: 'user token' })).slice(0, 1)).toEqual([6])
  })

  it('pass over words that every text has, unless there are no others', async ({ world }) => {
    await world.concepts('TheEnd', 'Token')
    expect(idsOf(await world.query({ ...RELEVANT, query: 'where is the token' }))).toEqual([2])
    expect(idsOf(await world.query({ ...RELEVANT, query: 'the' }))).toEqual([1])
  })

  it.each([
    ['doc', { doc: 'Forgets what was used longest ago.' }, 'forgets longest'],
    ['path', { url: 'file:///src/eviction/a.ts' }, 'eviction'],
    ['text', { text: 'const limit = capacity - size' }, 'capacity'],
  ] as const)('are found by their %s alone, and say so', async (part, draft, query) => {
    await using world = await openWorld()
    put(world, { name: 'Other', url: 'file:///src/b.ts' }, { name: 'Recent', url: 'file:///src/c.ts', ...draft })
    const found = await reported(world, { query })
    expect(found.map(({ name, match }) => [name, match])).toEqual([['Recent', 'text']])
    expect(found[0]?.parts?.[part]).toBeGreaterThan(0)
    expect(found[0]?.parts).toMatchObject({ name: 0, meaning: 0 })
  })

  it('are found by the passage of a file that they stand in', async ({ world }) => {
    const url = 'file:///src/a.ts'
    putFile(world, url, 'function one() {\n}\n// a semaphore\n')
    put(world, { name: 'one', url, startLine: 1, endLine: 3 }, { name: 'two', url: 'file:///src/b.ts' })
    const found = await reported(world, { query: 'semaphore' })
    expect(found).toMatchObject([{ name: 'one', relevance: 'semantic', parts: { passage: expect.any(Number) } }])
    expect(found[0]?.parts?.passage).toBeGreaterThan(0)
    expect(await world.query({ query: 'semaphore', mode: 'hybrid', depth: 0 })).toMatchObject({ concepts: [] })
  })

  it('put what is in a file before the file', async ({ world }) => {
    const url = 'file:///src/cache.ts'
    world.host.store.write(0, writer => {
      const at = { audience: audience('private'), now: 0 }
      putConcept(writer, { name: 'cache', type: 'Module', url }, at)
      putConcept(writer, { name: 'cache', type: 'Class', url }, at)
    })
    expect(idsOf(await world.query({ ...RELEVANT, query: 'the cache' }))).toEqual([2, 1])
  })
})

describe('labels and keys by relevance', () => {
  it('are those of every rank: exact by name, semantic by meaning, both, with the cosine (CX-016)', async ({
    embedded: world,
  }) => {
    await world.concepts('Vehicle', 'Car', 'VehicleRegistrationOfficeForm', 'Teapot')
    const ask = { query: 'vehicle', mode: 'hybrid', depth: 0 }
    const plain = await world.query(ask)
    const byRelevance = await world.query({ ...ask, rank: 'relevance' })
    const byId = ({ id: a }: { id: number }, { id: b }: { id: number }) => a - b
    expect(byRelevance.concepts.toSorted(byId)).toStrictEqual(plain.concepts.toSorted(byId))
    // Meaning the same in one word is nearer than four words of which one is the question.
    expect(idsOf(byRelevance)).toEqual([1, 2, 3])
  })

  it('without a mode are direct, found by name; exact finds what holds the question', async ({ embedded: world }) => {
    await world.concepts('Car', 'AutomobileClubMember', 'Automobile', 'Teapot')
    const ask = { query: 'automobile club', rank: 'relevance', depth: 0 }
    expect((await world.query(ask)).concepts).toStrictEqual([
      { id: 2, name: 'AutomobileClubMember', type: 'Entity', relevance: 'direct' },
      { id: 3, name: 'Automobile', type: 'Entity', relevance: 'direct' },
    ])
    expect(idsOf(await world.query({ ...ask, mode: 'exact' }))).toEqual([])
    expect(idsOf(await world.query({ ...ask, query: 'automobile', mode: 'exact' }))).toEqual([3, 2])
  })

  it('in mode semantic are by cosine, as in every rank (CX-020)', async ({ embedded: world }) => {
    await world.concepts('Teapot', 'FastCar', 'Vehicle', 'CarPark')
    const ask = { query: 'quick automobile', mode: 'semantic', depth: 0 }
    expect(await world.query({ ...ask, rank: 'relevance' })).toEqual(await world.query(ask))
  })

  it('tell of a missing embedder, and answer by names and words (CX-074)', async ({ world }) => {
    await world.concepts('Car')
    const { status, meta, result } = await world.call('/context/query', { ...RELEVANT, query: 'car' })
    expect(status).toBe('success')
    expect(meta['warnings']).toEqual([expect.stringMatching(/words only: there is no embedder/)])
    expect(result).toMatchObject({ concepts: [{ id: 1, relevance: 'exact' }] })
    const short = await world.call('/context/query', { ...RELEVANT, query: 'ca' })
    expect(short.meta).not.toHaveProperty('warnings')
    expect(short.result).toMatchObject({ concepts: [{ id: 1 }] })
  })
})

describe('neighbours by relevance', () => {
  it('come by how close they are to all anchors', async ({ world }) => {
    await world.concepts('AuthOne', 'AuthTwo', 'OfOne', 'OfBoth')
    await world.edges([1, 3], [1, 4], [2, 4])
    expect(idsOf(await world.query({ query: 'auth', ...RELEVANT, depth: 1 }))).toEqual([1, 2, 4, 3])
    expect(idsOf(await world.query({ query: 'auth', mode: 'hybrid' }))).toEqual([1, 2, 3, 4])
  })

  it('displace names that share a word, but none that holds the question (CX-023)', async ({ world }) => {
    await world.concepts('LoginOne', 'LoginTwo', 'LoginThree', 'LoginFour', 'LoginFive', 'Lamp', 'Desk')
    await world.edges([1, 6], [2, 6], [3, 6], [4, 6], [5, 6], [1, 7], [2, 7], [3, 7], [4, 7], [5, 7])
    const ask = { ...RELEVANT, depth: 1, limit: 5 }
    expect(idsOf(await world.query({ ...ask, query: 'login' })).toSorted()).toEqual([1, 2, 3, 4, 5])
    expect(
      idsOf(await world.query({ ...ask, query: 'login form' }))
        .slice(3)
        .toSorted(),
    ).toEqual([6, 7])
    expect(idsOf(await world.query({ ...ask, query: 'login form', depth: 0 })).toSorted()).toEqual([1, 2, 3, 4, 5])
  })
})

describe('the verdict (QE-005)', () => {
  const asked = async (world: ContextWorld, params: object) => {
    const { meta, result } = await world.call('/context/query', { ...RELEVANT, ...params })
    const { concepts } = result as unknown as { readonly concepts: readonly { readonly name: string }[] }
    return { verdict: meta['verdict'], reason: meta['reason'], names: concepts.map(({ name }) => name) }
  }

  it('is in `meta` by relevance and where reasons are asked for; results are shown in any case', async ({
    embedded: world,
  }) => {
    await world.concepts('FastVehicle', 'TeapotLamp')
    expect(await asked(world, { query: 'vehicle' })).toMatchObject({ verdict: 'answered', reason: undefined })
    expect(await asked(world, { query: 'zebra', mode: null })).toEqual({
      ...{ verdict: 'nothing_relevant', reason: 'No name contains any part of the query.', names: [] },
    })
    expect(await asked(world, { query: 'vehicle of a zebra', mode: null })).toMatchObject({
      ...{ verdict: 'weak', names: ['FastVehicle'] },
    })
    const { meta } = await world.call('/context/query', { query: 'vehicle', mode: 'hybrid' })
    expect(meta).not.toHaveProperty('verdict')
    expect((await world.call('/context/query', { query: 'vehicle', explain: true })).meta).toMatchObject({
      verdict: 'answered',
    })
  })

  it('is that of the pipeline, which keeps what came nearest apart', async ({ world }) => {
    put(world, { name: 'one', text: 'const limit = capacity - size' }, { name: 'two', text: 'const sum = a + b' })
    const text = 'capital of mongolia'
    const page = await world.engine.query({ text, lens: 'context' })
    expect(page).toMatchObject({ verdict: 'nothing_relevant', verdict_by: 'words', items: [] })
    expect(await asked(world, { query: text })).toMatchObject({ verdict: page.verdict, names: [] })
    const near = await world.engine.query({ text: 'capacity of mongolia', lens: 'context' })
    expect([...near.items, ...(near.nearest ?? [])].map(({ title }) => title)).toEqual(['one'])
  })
})

describe('while not all has a vector', () => {
  const NAMES = 'amber birch cedar delta ember fjord grove heron islet jetty kelp larch'.split(' ')

  /** Concepts of random words, and a vector for those that are drawn. */
  async function drawn(seed: number, share: number): Promise<ContextWorld> {
    const embed = (texts: readonly string[]) => Promise.resolve(texts.map(anyVector))
    const world = await openWorld({ embedder: { model: TOY_MODEL, embed, close: () => Promise.resolve() } })
    const uniform = seededUniform(seed)
    const words = (count: number) => Array.from({ length: count }, () => NAMES[Math.floor(uniform() * NAMES.length)])
    const drafts = Array.from({ length: 30 }, () => ({ name: words(2).join('_'), text: words(6).join(' ') }))
    put(world, ...drafts)
    const { store } = world.host
    const chance = seededUniform(seed * 7919)
    const chunks = store.chunksWithoutVector(TOY_KEY, 100).filter(() => chance() < share)
    const vectors = chunks.map(({ key: chunk }) => ({ chunk, vector: anyVector(`${chunk}`) }))
    store.write(0, writer => writer.putVectors(TOY_KEY, vectors))
    return world
  }

  /** Nothing about it follows from the words: the hardest case for ranking without it. Eight dimensions give cosines of all sizes. */
  function anyVector(text: string): Float32Array {
    const uniform = seededUniform(Number.parseInt(sha256(text).slice(0, 8), 16))
    const parts = Float64Array.from({ length: TOY_MODEL.dimensions }, (_, at) => (at < 8 ? uniform() - 0.5 : 0))
    return toUnit(parts) as Float32Array
  }

  it('a concept among the first three by words and with all embedded stays there, whatever has vectors (QE-007)', async () => {
    let watched = 0
    for (const seed of [1, 2, 3, 4]) {
      await using whole = await drawn(seed, 1)
      for (const share of [0, 0.2, 0.5, 0.9]) {
        await using partly = await drawn(seed, share)
        for (const text of ['amber birch', 'cedar', 'heron islet jetty', 'larch delta']) {
          const first = async (world: ContextWorld, mode: 'words' | 'hybrid') => {
            const query = {
              text,
              mode,
              lens: 'context',
              any: true,
              limit: 3,
              options: { depth: 0, limit: 50 },
            } as const
            return (await world.engine.query(query)).items.map(({ id }) => id)
          }
          const byWords = await first(whole, 'words')
          const both = (await first(whole, 'hybrid')).filter(id => byWords.includes(id))
          expect(await first(partly, 'hybrid'), `${seed}, ${share}, ${text}`).toEqual(expect.arrayContaining(both))
          watched += both.length
        }
      }
    }
    expect(watched).toBeGreaterThan(25)
  })

  it('is ranked by the cosine that its words let expect, and says so', async () => {
    await using world = await drawn(1, 0.5)
    const query = { text: 'amber birch', lens: 'context', any: true, explain: true, options: { depth: 0 } } as const
    const { items, notes } = await world.engine.query(query)
    expect(notes.map(({ code }) => code)).toEqual(['partly_embedded'])
    expect(JSON.stringify(items)).toContain('no vector yet')
    for (const { score, explanation } of items) {
      expect(recompute(explanation as NonNullable<typeof explanation>)).toBeCloseTo(score, 10)
    }
  })
})
