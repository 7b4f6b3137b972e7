/**
 * Snapshots of every kind of index, their checksums put right, so that the readers behind them are reached: what is taken
 * answers, and can be written and taken again; nothing asks for memory without end.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import type { Index, LinkIndex, PointIndex, SearchScope, VectorIndex, WordIndex } from '../../../src/index/contract.ts'
import { openLinkIndex } from '../../../src/index/links.ts'
import { openPointIndex } from '../../../src/index/points.ts'
import { loadSnapshot, saveSnapshot } from '../../../src/index/snapshot.ts'
import type { CellLimits } from '../../../src/index/vectors/cells.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import { audience } from '../../../src/model/partition.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import type { Store, StoreWriter } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { GRAPH } from '../../support/link-world.ts'
import { COLUMNS, POINTS } from '../../support/point-world.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { toyVector } from '../../support/toy-embedder.ts'
import { bytesNear, type Target } from '../inputs.ts'
import { assertRefusal, must } from '../oracles.ts'

/** An index, and a search of each sort that it has. */
interface Subject {
  open(store: Store): Index
  ask(index: Index, scope: SearchScope, entry: number): unknown
}

const [FOR_ALL, OWN] = [audience('public', 'ann'), audience('private', 'ann')]
const MODEL = 'toy@toy'
const DIMENSIONS = toyVector('').length
const WORDS = ['fox', 'garden', 'parseQuery', 'canciones', '$D020']

function openVectors(store: Store, cells?: CellLimits): Index {
  const source = (chunks: readonly number[]) => store.vectors(MODEL, chunks)
  return openVectorIndex({ model: MODEL, dimensions: DIMENSIONS, source, cells })
}

function askVectors(index: Index, scope: SearchScope, entry: number): unknown {
  const vectors = index as VectorIndex
  const vector = toyVector('fox')
  return [
    vectors.search({ ...scope, vector, k: 5, approximate: true }),
    vectors.search({ ...scope, vector, k: 5, approximate: false }),
    vectors.score(vector, [entry], scope),
    vectors.count(scope),
    vectors.has(entry, scope),
  ]
}

const SUBJECTS: readonly Subject[] = [
  {
    open: () => openWordIndex(),
    ask: (index, scope, entry) => {
      const words = index as WordIndex
      const terms = WORDS.map(text => ({ text, boost: 1 }))
      return [
        words.search({ ...scope, terms, k: 5 }),
        words.score(terms, [entry], scope),
        words.entriesWith('quick fox', scope),
        words.weigh(terms, scope),
        words.count(scope),
      ]
    },
  },
  { open: store => openVectors(store), ask: askVectors },
  // As large partitions are kept.
  { open: store => openVectors(store, { dividedFrom: 2, pivotEvery: 2, prunedFrom: 2 }), ask: askVectors },
  {
    open: () => openPointIndex({ name: 'places', table: POINTS, columns: COLUMNS }),
    ask: (index, scope, entry) => {
      const points = index as PointIndex
      return [
        points.search({ ...scope, point: [0.5, 0, 0.1], k: 3 }),
        points.search({ ...scope, point: [0, 0, 0], k: Number.POSITIVE_INFINITY, maxDistance: 1 }),
        points.count(scope),
        points.pointOf(entry),
        points.blockOf(entry),
        [...points.entries(scope.partitions)],
      ]
    },
  },
  {
    open: () => openLinkIndex(GRAPH),
    ask: (index, scope) => {
      const links = index as LinkIndex
      return [
        links.out(1, scope),
        links.in(2, scope).map(({ relation }) => links.relationName(relation)),
        links.count(scope),
      ]
    },
  },
]

const ENTRIES = 6

export const snapshots: Target<Uint8Array> = {
  // The first byte says which index, the rest is its payload.
  near: good =>
    fc.oneof(
      ...good.map(([sort = 0, ...payload]) =>
        bytesNear([Uint8Array.from(payload)]).map(bytes => Uint8Array.of(sort, ...bytes)),
      ),
    ),
  seeds: SUBJECTS.map((subject, sort) => Uint8Array.of(sort, ...payloadOf(subject))),
  open: async () => {
    const folder = tempFolder()
    const path = folder.file('one.snapshot')
    const store = smallStore()
    const files = SUBJECTS.map(subject => {
      saveSnapshot(path, indexOf(subject, store), store)
      return readFileSync(path)
    })
    return {
      try: bytes => {
        const sort = (bytes[0] ?? 0) % SUBJECTS.length
        writeFileSync(path, withPayload(files[sort] as Buffer, bytes.subarray(1)))
        tryFile(store, path, SUBJECTS[sort] as Subject)
      },
      close: () => rmSync(folder.path, { recursive: true, force: true }),
    }
  },
}

function tryFile(store: Store, path: string, subject: Subject): void {
  const index = subject.open(store)
  const loaded = loadSnapshot(path, index, store)
  if (!loaded.ok) {
    must(loaded.reason === 'refused', `a whole file is reported as ${loaded.reason}`)
    index.rebuild(store)
  }
  askAll(subject, index, store)
  if (loaded.ok) subject.open(store).restore(Buffer.concat(index.serialise()), index.position)
}

function askAll(subject: Subject, index: Index, store: Store): void {
  try {
    for (let entry = 1; entry <= ENTRIES; entry += 2)
      subject.ask(index, { partitions: store.partitions().map(({ id }) => id) }, entry)
  } catch (thrown) {
    assertRefusal(thrown)
  }
}

/** The file with another payload, its length and both checksums put right. */
function withPayload(file: Buffer, payload: Uint8Array): Uint8Array {
  const length = file.readUInt32LE(12)
  const header = JSON.parse(file.subarray(20, 20 + length).toString()) as Readonly<Record<string, unknown>>
  const json = Buffer.from(JSON.stringify({ ...header, length: payload.length, crc: crc32(payload) }))
  const prefix = Buffer.from(file.subarray(0, 20))
  prefix.writeUInt32LE(json.length, 12)
  prefix.writeUInt32LE(crc32(json), 16)
  return Buffer.concat([prefix, json, payload])
}

function payloadOf(subject: Subject): Uint8Array {
  return Buffer.concat(indexOf(subject, smallStore()).serialise())
}

function indexOf(subject: Subject, store: Store): Index {
  const index = subject.open(store)
  index.rebuild(store)
  return index
}

function smallStore(): Store {
  const store = openMemoryStore()
  store.write(0, writer => {
    for (let at = 1; at <= ENTRIES; at++) put(writer, at)
  })
  return store
}

function put(writer: StoreWriter, at: number): void {
  const content = `quick ${WORDS.slice(0, at).join(' ')} ${at}`
  const draft = draftOf({
    id: `e${at}`,
    title: WORDS[at % 5] as string,
    content,
    audience: at % 2 === 0 ? FOR_ALL : OWN,
  })
  const entry = writer.put(draft, wholeChunk(draft)).key
  const vectors = writer.chunksOf(entry).map(({ key }) => ({ chunk: key, vector: toyVector(content) }))
  writer.putVectors(MODEL, vectors)
  writer.table(POINTS).put({ entry, note: null, x: at / 10, y: -at / 20, z: at === 4 ? null : 0.1 })
  writer.table(GRAPH.nodes).put({ entry, number: at })
  writer.table(GRAPH.edges).put({ id: at, entry, a: at, b: (at % ENTRIES) + 1, sort: 'road', width: at / 3 })
  writer.announce(entry)
}
