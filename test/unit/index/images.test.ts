/** What whoever can write a snapshot file, its checksums included, cannot make an index do: grow beyond all measure. */
import { afterAll, describe, expect, it } from 'vitest'
import type { Index, WordIndex } from '../../../src/index/contract.ts'
import { openLinkIndex } from '../../../src/index/links.ts'
import { openPointIndex } from '../../../src/index/points.ts'
import { loadSnapshot, saveSnapshot } from '../../../src/index/snapshot.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { GRAPH, LinkWorld } from '../../support/link-world.ts'
import { COLUMNS, POINTS, PointWorld } from '../../support/point-world.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { MODEL, randomUnits, VectorStore } from '../../support/vector-stores.ts'
import { textOf, WordWorld } from '../../support/word-world.ts'

const WIDTH = 16
const IDS = [...'abcdef']

interface Subject {
  readonly store: Store
  open(): Index
  /** Where the key of some entry is in an image (4 bytes). */
  keyAt(image: Buffer): number
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  words: {
    store: withWords(),
    open: () => openWordIndex(),
    keyAt: image => headerEnd(image),
  },
  vectors: {
    store: withVectors(),
    open: () => openVectorIndex({ model: MODEL, dimensions: WIDTH, source: () => [] }),
    keyAt: image => headerEnd(image),
  },
  points: {
    store: withPoints(),
    open: () => openPointIndex({ name: 'places', table: POINTS, columns: COLUMNS }),
    keyAt: image => image.length - 4,
  },
  links: {
    store: withLinks(),
    open: () => openLinkIndex(GRAPH),
    keyAt: image => {
      // Behind four arrays of doubles.
      const { arrays } = headerOf(image) as unknown as { readonly arrays: readonly number[] }
      return headerEnd(image) + arrays.slice(0, 4).reduce((sum, size) => sum + size, 0)
    },
  },
}

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

describe.each(Object.entries(SUBJECTS))('an image of %s', (name, { store, open, keyAt }) => {
  const filled = () => {
    const index = open()
    index.rebuild(store)
    return index
  }
  const image = () => Buffer.concat(filled().serialise())
  /** As `loadSnapshot` finds these bytes in a file that is sound in all else. */
  const load = (bytes: Uint8Array) => {
    const whole = filled()
    const { name: ofIndex, position } = whole
    const path = folder.file(`${name}.snapshot`)
    saveSnapshot(path, { ...whole, name: ofIndex, position, serialise: () => [bytes] } as unknown as Index, store)
    const index = open()
    return { loaded: loadSnapshot(path, index, store), index }
  }

  it('is taken as it was written', () => {
    expect(load(image()).loaded).toEqual({ ok: true })
  })

  it.each([2 ** 32 - 1, 2 ** 31 - 1, 10 ** 8, store.lastSeq() + 1])('is refused with the entry key %d', key => {
    const bytes = image()
    bytes.writeUInt32LE(key, keyAt(bytes))
    const { loaded, index } = load(bytes)
    expect(loaded).toEqual({ ok: false, reason: 'refused' })
    expect(index.byteLength).toBeLessThan(1e6)
    expect(index.position).toBe(0)
  })

  it('is taken with the newest key that an entry can have had', () => {
    const bytes = image()
    bytes.writeUInt32LE(store.lastSeq(), keyAt(bytes))
    expect(load(bytes).loaded).toEqual({ ok: true })
  })
})

describe('an image of vectors', () => {
  it.each([
    [
      'counts that make up for each other',
      [
        [1, 1e9, []],
        [2, 6 - 1e9, []],
      ],
    ],
    [
      'half a row',
      [
        [1, 5.5, []],
        [2, 0.5, []],
      ],
    ],
    ['no counts', 6],
  ])('is refused with %s', (_, blocks) => {
    const { store, open } = SUBJECTS['vectors'] as Subject
    const index = open()
    index.rebuild(store)
    const bytes = Buffer.concat(index.serialise())
    const json = Buffer.from(JSON.stringify({ ...headerOf(bytes), blocks }))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(json.length)
    const crafted = Buffer.concat([length, json, bytes.subarray(headerEnd(bytes))])
    expect(() => open().restore(crafted, index.position)).toThrow('counts of rows')
  })
})

describe('an image of words', () => {
  // A number of runs, and the first head behind it: partitions skipped, chunks, bytes of postings and of places.
  it.each([
    ['a hundred million runs', [255, 0, 0, 0, 6]],
    ['a thousand million chunks in a run', [1, 0, 255, 0, 0, 0, 64]],
  ])('with a term of %s makes no question take long', (_, crafted) => {
    const { store, open } = SUBJECTS['words'] as Subject
    const index = open() as WordIndex
    index.rebuild(store)
    const bytes = Buffer.concat(index.serialise())
    // Behind the term is the start of its places, in one byte.
    bytes.set(crafted, bytes.indexOf('aquick') + 'aquick'.length + 1)
    index.restore(bytes, index.position)
    const scope = { partitions: store.partitions().map(({ id }) => id) }
    const terms = [{ text: 'quick', boost: 1 }]
    const started = performance.now()
    index.search({ ...scope, terms, k: 5 })
    index.score(terms, [1, 2, 3], scope)
    index.nearTerms('quick', 1, scope, 5)
    index.entriesWith('quick fox', scope)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

function headerEnd(image: Buffer): number {
  return 4 + image.readUInt32LE(0)
}

function headerOf(image: Buffer): Readonly<Record<string, number>> {
  return JSON.parse(image.subarray(4, headerEnd(image)).toString())
}

function withWords(): Store {
  const world = new WordWorld(openMemoryStore())
  world.apply(IDS.map(id => textOf(id, `quick fox ${id}`)))
  return world.store
}

function withVectors(): Store {
  const world = new VectorStore()
  for (const vector of randomUnits(IDS.length, WIDTH, 1)) world.add([vector])
  return world.store
}

function withPoints(): Store {
  const world = new PointWorld(openMemoryStore())
  world.apply(IDS.map((id, at) => ({ do: 'put', id, audience: 'public', point: [at, 0, 0] })))
  return world.store
}

function withLinks(): Store {
  const world = new LinkWorld(openMemoryStore())
  const links = [{ to: 1, sort: 'CALLS', width: 1 }]
  world.apply(IDS.map((_, at) => ({ do: 'put', node: at + 1, isPublic: true, links })))
  return world.store
}
