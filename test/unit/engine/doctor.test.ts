import { beforeEach, describe, expect, it } from 'vitest'
import { type DoctorInput, examine } from '../../../src/engine/care/care.ts'
import type { Index, PointIndex, WordIndex } from '../../../src/index/contract.ts'
import { openPointIndex } from '../../../src/index/points.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { audience } from '../../../src/model/partition.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { failingEmbedder } from '../../support/embedders.ts'
import { openTestEngine } from '../../support/engines.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { COLUMNS, POINTS, PointWorld } from '../../support/point-world.ts'
import { seededUniform } from '../../support/seeded.ts'
import { openToyEmbedder, TOY_KEY, TOY_MODEL, toyVector } from '../../support/toy-embedder.ts'

const WORDS = ['fox', 'car', 'road', 'garden', 'tulip', 'rain', 'quick', 'dog', 'moon', 'river']

let store: Store
beforeEach(() => {
  store = openMemoryStore()
  const random = seededUniform(3)
  const word = () => WORDS[Math.floor(random() * WORDS.length)]
  store.write(1, writer => {
    for (let at = 0; at < 120; at++) {
      const of = audience(at % 3 ? 'private' : 'public', at % 2 ? 'ann' : 'bob')
      const draft = draftOf({ id: `e${at}`, content: `${word()} ${word()} ${word()} ${at}`, audience: of })
      const { key } = writer.put(draft, wholeChunk(draft))
      const [chunk] = writer.chunksOf(key)
      writer.putVectors(TOY_KEY, [{ chunk: chunk?.key ?? 0, vector: toyVector(draft.content) }])
    }
  })
})

const openWords = () => openWordIndex()
const openVectors = () =>
  openVectorIndex({
    model: TOY_KEY,
    dimensions: TOY_MODEL.dimensions,
    source: chunks => store.vectors(TOY_KEY, chunks),
  })
const fresh = (index: Index): Index => (index.name === 'words' ? openWords() : openVectors())

type Given = Partial<DoctorInput> & { readonly indexes?: readonly Index[] }

function input({ indexes = [openWords(), openVectors()], ...fields }: Given = {}): DoctorInput {
  return {
    ...{ store, home: null, embedder: openToyEmbedder(), embedderError: null, refused: null, jobs: new Map(), fresh },
    names: indexes.map(({ name }) => name),
    indexOf: wanted => {
      const index = indexes.find(({ name }) => name === wanted) as Index
      store.read(reader => index.refresh(reader))
      return index
    },
    ...{ storeFile: null, loaded: null, renew: async () => undefined },
    lenses: [],
    tables: [],
    hostOf: () => {
      throw new Error('not asked in these tests')
    },
    signal: new AbortController().signal,
    ...fields,
  }
}

/** The findings that something is wrong, by check. */
async function complaints(fields: Given = {}): Promise<Readonly<Record<string, string>>> {
  const found = await examine(input(fields))
  for (const { ok, help } of found) expect(help === null).toBe(ok)
  return Object.fromEntries(found.filter(({ ok }) => !ok).map(({ check, message }) => [check, message]))
}

/** An index with some methods replaced. */
function twisted<T extends object>(index: T, methods: (inner: T) => Partial<T>): T {
  const replaced = methods(index) as Record<PropertyKey, unknown>
  return new Proxy(index, {
    get: (inner, name) => {
      const value = name in replaced ? replaced[name] : Reflect.get(inner, name, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
}

describe('doctor', () => {
  it('finds nothing wrong with what is sound, and says what it looked at', async () => {
    const found = await examine(input())
    expect(found.map(({ check, ok, message }) => [check, ok, message])).toEqual([
      ['pages', true, 'every page and index is sound'],
      ['tables', true, 'every table is what it was declared as'],
      ['references', true, 'every row belongs to something that exists'],
      ['rows', true, 'every row is as it was written'],
      ['lookups', true, 'filters find the tags and metadata that entries have'],
      ['vector rows', true, 'every vector belongs to a passage and can be compared'],
      ['tallies', true, 'the counts of passages and vectors are right'],
      ['feed', true, 'no change is missing'],
      ['index words', true, '120 rows, the same as a rebuild'],
      [`index vectors-${TOY_KEY}`, true, '120 rows, the same as a rebuild'],
      ['vectors', true, '120 of 120 chunks have a vector'],
      ['embedder', true, 'toy answers with 128 dimensions'],
    ])
  })

  it('leaves updating an index in use to its owner, which may be writing a snapshot of it', async () => {
    const words = openWords()
    store.read(reader => words.refresh(reader))
    let updates = 0
    const counted = twisted<WordIndex>(words, inner => ({
      refresh: reader => {
        updates++
        return inner.refresh(reader)
      },
    }))
    const indexOf = (name: string) => (name === 'words' ? counted : openVectors())
    const found = await examine(input({ names: ['words'], indexOf }))
    expect(found).toContainEqual(expect.objectContaining({ check: 'index words', ok: true }))
    expect(updates).toBe(0)
  })

  it('finds nothing wrong with an empty store, or without an embedder', async () => {
    store = openMemoryStore()
    expect(await complaints()).toEqual({})
    expect(await complaints({ embedder: null, indexes: [openWords()] })).toEqual({})
  })

  it('finds an index that missed a change', async () => {
    const words = openWords()
    store.read(reader => words.refresh(reader))
    const stuck = twisted<WordIndex>(words, () => ({ refresh: () => 0 }))
    const draft = draftOf({ id: 'late', content: 'late' })
    store.write(2, writer => writer.put(draft, wholeChunk(draft)))
    expect(await complaints({ indexes: [stuck] })).toMatchObject({ 'index words': '120 rows, a rebuild has 121' })
  })

  it('finds points that are missing', async () => {
    const world = new PointWorld(openMemoryStore())
    for (let at = 0; at < 60; at++) {
      world.apply([{ do: 'put', id: `p${at}`, audience: at % 2 ? 'ann' : 'public', point: [at % 7, at % 5, at] }])
    }
    store = world.store
    const openPoints = () => openPointIndex({ name: 'places', table: POINTS, columns: COLUMNS })
    const reported = async (methods: (inner: PointIndex) => Partial<PointIndex>) => {
      const points = openPoints()
      store.read(reader => points.refresh(reader))
      return examine(input({ indexes: [twisted(points, methods)], fresh: openPoints }))
    }
    const message = async (methods: (inner: PointIndex) => Partial<PointIndex>) =>
      (await reported(methods)).find(({ check }) => check === 'index places')?.message
    expect(await message(() => ({}))).toBe('60 rows, the same as a rebuild')
    world.apply([{ do: 'put', id: 'late', audience: 'ann', point: [1, 1, 1] }])
    expect(await message(() => ({ count: () => 60 }))).toBe('60 rows, a rebuild has 61')
  })

  it('finds missing vectors and an embedder that fails', async () => {
    const draft = draftOf({ id: 'late', content: 'late' })
    store.write(2, writer => writer.put(draft, wholeChunk(draft)))
    const embedder = failingEmbedder(openToyEmbedder(), () => true)
    const refused = { count: 1, message: 'too long' }
    expect(await complaints({ embedder, refused })).toEqual({
      vectors: '120 of 121 chunks have a vector; the embedder refuses 1: too long',
      embedder: 'the embedding worker ended unexpectedly',
    })
    expect(await complaints({ embedder: null, embedderError: 'no model', indexes: [] })).toEqual({
      embedder: 'no model',
    })
  })

  it('tells of a damaged store, and what cannot be looked at because of it', async () => {
    const corrupt = new QuerentError('store_corrupt', 'store.db: damaged')
    const damaged: Store = twisted(store, () => ({
      check: async () => [
        { check: 'pages', ok: false, message: 'page 7 is damaged', help: 'Restore a backup.', isRepairable: false },
      ],
      read: () => {
        throw corrupt
      },
    }))
    expect(await complaints({ store: damaged })).toEqual({ pages: 'page 7 is damaged', indexes: 'store.db: damaged' })
  })

  it('goes on where the files of the home cannot be looked at', async () => {
    const found = await complaints({ home: '/nowhere', storeFile: '/nowhere/store.db' })
    expect(Object.keys(found)).toEqual(['store', 'home'])
    expect(found['home']).toContain('/nowhere')
  })

  it('does not wait for ever for an embedder', async () => {
    const stop = new AbortController()
    const embed = () => {
      stop.abort()
      return new Promise<never>(() => {})
    }
    const never = { ...openToyEmbedder(), embed }
    expect(await complaints({ embedder: never, signal: stop.signal })).toEqual({ embedder: 'toy has not answered' })
  })

  it('is the owner’s alone', async () => {
    await using engine = await openTestEngine()
    await expect(engine.doctor({}, { viewer: { id: 'ann' } })).rejects.toMatchObject({ code: 'denied' })
    expect((await engine.doctor()).ok).toBe(true)
  })
})
