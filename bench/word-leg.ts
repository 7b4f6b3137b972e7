/** The word leg alone: 100,000 chunks of Zipf-distributed words, three in five of them distinct to a chunk as in prose. */
import type { WordTerm } from '../src/index/contract.ts'
import { openWordIndex } from '../src/index/words.ts'
import type { Chunk, Entry, EntryKey } from '../src/model/entry.ts'
import type { StoreReader } from '../src/store/store.ts'
import { seededUniform } from '../src/testing/seeded.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'word-leg'

const CHUNKS = 100_000
/** Distinct words, and how steeply they fall: close to English prose of this size. */
const VOCABULARY = 200_000
const EXPONENT = 1.0
const PARTITION = 1
const DEPTH = 100

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const words of [60, 200]) rows.push(...measure(words))
  return rows
}

function measure(wordsOfChunk: number): Row[] {
  const texts = new Texts(seededUniform(7))
  const reader = readerOf(texts, wordsOfChunk)
  const index = openWordIndex()
  const build = timed(() => index.rebuild(reader))
  const image = joined(index.serialise())
  const restored = openWordIndex()
  const restore = timed(() => restored.restore(image, index.position))
  const of = `${CHUNKS / 1000}k chunks of ${wordsOfChunk} words`
  const scope = { partitions: [PARTITION] }
  const queries = (terms: number) => Array.from({ length: 1000 }, () => texts.question(terms))
  const rows: Row[] = []
  for (const terms of [1, 3, 8]) {
    const times = timesOf(queries(terms), asked => restored.search({ ...scope, terms: asked, k: DEPTH }))
    rows.push(latency(`word leg, ${terms} terms, k ${DEPTH}, ${of}`, times))
  }
  const entries = Array.from({ length: 200 }, () => 1 + Math.floor(texts.uniform() * CHUNKS))
  const scored = timesOf(queries(8), asked => restored.score(asked, entries, scope))
  rows.push(latency(`scores of 200 entries, 8 terms, ${of}`, scored))
  const phrases = queries(2).map(([first, second]) => `${first?.text} ${second?.text}`)
  const found = timesOf(phrases, phrase => restored.entriesWith(phrase, scope))
  rows.push(latency(`phrase of 2 words, ${of}`, found))
  return [
    ...rows,
    { name: `build, ${of}`, unit: 's', value: build / 1000 },
    { name: `restore, ${of}`, unit: 'ms', value: restore },
    { name: `memory of words, ${of}`, unit: 'bytes a chunk', value: restored.byteLength / CHUNKS },
  ]
}

function timesOf<T>(asked: readonly T[], ask: (one: T) => unknown): number[] {
  for (const one of asked.slice(0, 300)) ask(one)
  return asked.map(one => timed(() => ask(one)))
}

function latency(name: string, times: readonly number[]): Row {
  const p50 = percentile(times, 0.5)
  return { name, unit: 'ms', value: p50, p50, p99: percentile(times, 0.99) }
}

class Texts {
  readonly uniform: () => number
  readonly #share = new Float64Array(VOCABULARY)

  constructor(uniform: () => number) {
    this.uniform = uniform
    let sum = 0
    for (let rank = 0; rank < VOCABULARY; rank++) {
      sum += 1 / (rank + 2.7) ** EXPONENT
      this.#share[rank] = sum
    }
  }

  text(words: number): string {
    let text = ''
    for (let at = 0; at < words; at++) text += `${wordOf(this.#rank())} `
    return text
  }

  /** Words as people ask: of the text, but none of the hundred commonest. */
  question(terms: number): readonly WordTerm[] {
    return Array.from({ length: terms }, () => {
      let rank = this.#rank()
      while (rank < 100) rank = this.#rank()
      return { text: wordOf(rank), boost: 1 }
    })
  }

  #rank(): number {
    const aim = this.uniform() * (this.#share[VOCABULARY - 1] as number)
    let low = 0
    let high = VOCABULARY - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#share[middle] as number) < aim) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Pronounceable, and its own stem: consonants and vowels by the digits of the rank. */
function wordOf(rank: number): string {
  let word = ''
  for (let rest = rank + 7; rest > 0; rest = Math.floor(rest / 75)) {
    word += 'bcdfgklmnprtvxz'.charAt(rest % 15) + 'aeiou'.charAt(Math.floor(rest / 15) % 5)
  }
  return `${word}k`
}

/** Just what an index reads while it rebuilds; each entry is one chunk. */
function readerOf(texts: Texts, words: number): StoreReader {
  const entryOf = (key: EntryKey): Entry => {
    const title = texts.text(5)
    const content = texts.text(words)
    return { key, partition: PARTITION, title, content } as Entry
  }
  let current = entryOf(1)
  const reader: Partial<StoreReader> = {
    lastSeq: () => CHUNKS,
    scanEntries: (after, limit) => {
      return Array.from({ length: Math.min(limit, CHUNKS - after) }, (_, at) => after + at + 1)
    },
    entry: key => {
      current = entryOf(key)
      return current
    },
    chunksOf: (key): Chunk[] => [
      { key, entry: key, ordinal: 0, start: 0, end: current.content.length, startLine: 1, endLine: 1, headings: [] },
    ],
  }
  return reader as StoreReader
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
