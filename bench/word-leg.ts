/** The word leg alone: searches, scores and phrases over 100,000 generated chunks; building, restoring, memory. */
import type { WordTerm } from '../src/index/contract.ts'
import { openWordIndex } from '../src/index/words.ts'
import type { Chunk, Entry, EntryKey } from '../src/model/entry.ts'
import type { PartitionId } from '../src/model/partition.ts'
import type { StoreReader } from '../src/store/store.ts'
import { latency, type Row, timed } from './lib/report.ts'
import { ZipfTexts } from './lib/text-data.ts'

export const name = 'word-leg'

const CHUNKS = 100_000
/** Entries a leg brings before fusion. */
const DEPTH = 100
/** Partitions of very different sizes: the first has half of all chunks, the next a quarter, and so on. */
const PARTITIONS = 12
const EVERYTHING = Array.from({ length: PARTITIONS }, (_, at) => at + 1)

/** Why the memory row has no goal of its own: the goal is for words and vectors together, in the whole query's benchmark. */
const FLATTER = 'generated words repeat less than those of prose, which takes about 2.4 bytes a word'

export async function run(): Promise<readonly Row[]> {
  return [60, 200].flatMap(measure)
}

function measure(words: number): Row[] {
  const texts = new ZipfTexts(7)
  const reader = readerOf(Array.from({ length: CHUNKS }, () => entryOf(texts, words)))
  const index = openWordIndex()
  const build = timed(() => index.rebuild(reader))
  const image = new Uint8Array(Buffer.concat(index.serialise()))
  const restored = openWordIndex()
  const restore = timed(() => restored.restore(image, index.position))
  const memory = restored.byteLength / CHUNKS
  const of = `${CHUNKS / 1000}k chunks of ${words} words`
  const scope = { partitions: EVERYTHING }
  const questions = (count: number) => Array.from({ length: 1000 }, () => termsOf(texts, count))
  const rows: Row[] = []
  for (const terms of [1, 3, 8]) {
    const times = timesOf(questions(terms), asked => restored.search({ ...scope, terms: asked, k: DEPTH }))
    rows.push(latency(`words: ${terms} terms, ${of}`, times))
  }
  const few = { partitions: [5] }
  const private_ = timesOf(questions(3), asked => restored.search({ ...few, terms: asked, k: DEPTH }))
  const entries = Array.from({ length: 200 }, (_, at) => 1 + ((at * 7919) % CHUNKS))
  const scored = timesOf(questions(8), asked => restored.score(asked, entries, scope))
  const phrases = Array.from({ length: 1000 }, () => texts.question(2))
  const found = timesOf(phrases, phrase => restored.entriesWith(phrase, scope))
  return [
    ...rows,
    latency(`words: 3 terms in a partition of 3 %, ${of}`, private_),
    latency(`words: score of 200 entries, 8 terms, ${of}`, scored),
    latency(`words: phrase of 2 words, ${of}`, found),
    { name: `words: build, ${of}`, unit: 's', value: build / 1000 },
    { name: `words: restore, ${of}`, unit: 'ms', value: restore },
    { name: `words: memory, ${of}`, unit: 'bytes a chunk', value: memory, note: FLATTER },
  ]
}

function timesOf<T>(asked: readonly T[], ask: (one: T) => unknown): number[] {
  for (const one of asked.slice(0, 300)) ask(one)
  return asked.map(one => timed(() => ask(one)))
}

function termsOf(texts: ZipfTexts, count: number): readonly WordTerm[] {
  return texts
    .question(count)
    .split(' ')
    .map(text => ({ text, boost: 1 }))
}

type Text = Pick<Entry, 'title' | 'content'>

function entryOf(texts: ZipfTexts, words: number): Text {
  return { title: texts.prose(5), content: texts.prose(words) }
}

/** Just what an index reads while it rebuilds; each entry is one chunk. */
function readerOf(entries: readonly Text[]): StoreReader {
  const reader: Partial<StoreReader> = {
    lastSeq: () => entries.length,
    scanEntries: (after, limit) => {
      return Array.from({ length: Math.min(limit, entries.length - after) }, (_, at) => after + at + 1)
    },
    entry: key => ({ ...entries[key - 1], key, partition: partitionOf(key) }) as Entry,
    chunksOf: (key): Chunk[] => {
      const end = entries[key - 1]?.content.length ?? 0
      return [{ key, entry: key, ordinal: 0, start: 0, end, startLine: 1, endLine: 1, headings: [] }]
    },
  }
  return reader as StoreReader
}

function partitionOf(key: EntryKey): PartitionId {
  return Math.min(PARTITIONS, 1 + 31 - Math.clz32(key & -key))
}
