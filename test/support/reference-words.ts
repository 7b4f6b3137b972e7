/**
 * The word index in its plainest form: reads the whole store at every refresh, keeps words in maps, and answers by
 * looking at every chunk. Slow and obviously right; the oracle of the real one's tests.
 */
import { must } from '../../src/base/assert.ts'
import { Bitset } from '../../src/base/bitset.ts'
import { editDistance } from '../../src/base/near-names.ts'
import type { Steps } from '../../src/base/turns.ts'
import {
  bestFirst,
  bestOfEntries,
  type Hit,
  type NearTerm,
  type SearchScope,
  type TermMatch,
  type TermWeight,
  type WordIndex,
  type WordSearch,
  type WordTerm,
} from '../../src/index/contract.ts'
import { eachTitleWord, entryLanguage } from '../../src/index/words/builder.ts'
import { heaviestFirst, phraseWords, type QuestionWord, questionWords, stemOf } from '../../src/index/words/lists.ts'
import { nearestFirst } from '../../src/index/words/vocabulary.ts'
import { idf, TITLE_WEIGHT, termScore } from '../../src/math/bm25.ts'
import type { Chunk, ChunkKey, Entry, EntryKey } from '../../src/model/entry.ts'
import type { PartitionId } from '../../src/model/partition.ts'
import type { StoreReader } from '../../src/store/store.ts'
import { stem } from '../../src/text/stem.ts'
import type { Language } from '../../src/text/stopwords.ts'
import { tokenise } from '../../src/text/tokenise.ts'

interface Row {
  readonly entry: EntryKey
  readonly chunk: ChunkKey
  readonly partition: PartitionId
  readonly language: Language
  readonly length: number
  /** By stem. */
  readonly tf: ReadonlyMap<string, number>
}

/** Stems by place; each title line and the content is a field of its own. */
interface EntryFields {
  readonly partition: PartitionId
  readonly language: Language
  readonly fields: readonly (readonly ReadonlySet<string>[])[]
}

interface State {
  readonly rows: Row[]
  readonly entries: Map<EntryKey, EntryFields>
}

/** What was serialised, by its number. */
const saved: State[] = []

export function openReferenceWordIndex(): WordIndex {
  return new ReferenceWordIndex()
}

class ReferenceWordIndex implements WordIndex {
  readonly name = 'words'
  readonly byteLength = 0
  #position = 0
  #rows: Row[] = []
  #entries = new Map<EntryKey, EntryFields>()

  get position(): number {
    return this.#position
  }

  refresh(reader: StoreReader): number {
    const changes = reader.lastSeq() - this.#position
    if (changes !== 0) this.rebuild(reader)
    return Math.max(0, changes)
  }

  rebuild(reader: StoreReader): void {
    this.#rows = []
    this.#entries = new Map()
    this.#position = reader.lastSeq()
    for (const key of reader.scanEntries(0, Number.MAX_SAFE_INTEGER)) {
      const entry = reader.entry(key) as Entry
      const language = entryLanguage(entry)
      const chunks = reader.chunksOf(key)
      for (const chunk of chunks) this.#rows.push(rowOf(entry, chunk, language))
      this.#entries.set(key, { partition: entry.partition, language, fields: fieldsOf(entry, chunks, language) })
    }
  }

  serialise(): readonly Uint8Array[] {
    const number = saved.push({ rows: this.#rows, entries: this.#entries }) - 1
    return [new TextEncoder().encode(`${number}`)]
  }

  /** Only what was serialised in this process: it is a stand-in, not a format. */
  restore(bytes: Uint8Array, position: number): void {
    const { rows, entries } = must(saved[Number(new TextDecoder().decode(bytes))], 'a state that was serialised')
    this.#rows = rows
    this.#entries = entries
    this.#position = position
  }

  search(request: WordSearch): readonly Hit[] {
    const words = this.#weighed(request.terms, request)
    const meanLength = this.#meanLength(request)
    const found = this.#allowedRows(request).filter(row => words.some(word => tfOf(word, row) > 0))
    const hits = found.map(row => ({ entry: row.entry, chunk: row.chunk, score: scoreOf(words, row, meanLength) }))
    return [...bestOfEntries(hits).values()].sort(bestFirst).slice(0, Math.max(0, request.k))
  }

  *searchInSteps(request: WordSearch): Steps<readonly Hit[]> {
    const hits = this.search(request)
    yield
    return hits
  }

  score(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): readonly Hit[] {
    const words = this.#weighed(terms, scope)
    const meanLength = this.#meanLength(scope)
    const hits = this.#allowedRows(scope).map(row => {
      return { entry: row.entry, chunk: row.chunk, score: scoreOf(words, row, meanLength) }
    })
    const best = bestOfEntries(hits)
    return entries.flatMap(entry => best.get(entry) ?? [])
  }

  *scoreInSteps(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): Steps<readonly Hit[]> {
    const hits = this.score(terms, entries, scope)
    yield
    return hits
  }

  scoreChunks(terms: readonly WordTerm[], entry: EntryKey, scope: SearchScope): readonly Hit[] {
    const words = this.#weighed(terms, scope)
    const meanLength = this.#meanLength(scope)
    return this.#allowedRows(scope)
      .filter(row => row.entry === entry)
      .map(row => ({ entry, chunk: row.chunk, score: scoreOf(words, row, meanLength) }))
      .sort((a, b) => a.chunk - b.chunk)
  }

  weigh(terms: readonly WordTerm[], scope: SearchScope): readonly TermWeight[] {
    return this.#weighed(terms, scope).map(({ term, boost, df, idf }) => ({ term, boost, df, idf }))
  }

  explain(terms: readonly WordTerm[], chunk: ChunkKey, scope: SearchScope): readonly TermMatch[] {
    const row = this.#allowedRows(scope).find(candidate => candidate.chunk === chunk)
    if (row === undefined) return []
    const meanLength = this.#meanLength(scope)
    return this.#weighed(terms, scope).map(word => {
      const { term, boost, df, idf } = word
      const tf = tfOf(word, row)
      const score = termScore(boost * idf, tf, row.length, meanLength)
      return { term, boost, df, idf, tf, length: row.length, meanLength, score }
    })
  }

  *entriesWithInSteps(phrase: string, scope: SearchScope, most?: number): Steps<Bitset> {
    const found = this.entriesWith(phrase, scope, most)
    yield
    return found
  }

  entriesWith(phrase: string, scope: SearchScope, most: number = Number.POSITIVE_INFINITY): Bitset {
    const words = phraseWords(phrase)
    const found = new Bitset()
    if (words.length === 0) return found
    for (const [entry, { partition, language, fields }] of this.#entries) {
      if (!scope.partitions.includes(partition) || scope.allow?.has(entry) === false) continue
      const stems = words.map(word => stem(word, language))
      const inField = (field: readonly ReadonlySet<string>[]) =>
        field.some((_, at) => stems.every((wanted, next) => field[at + next]?.has(wanted) === true))
      if (fields.some(inField)) found.add(entry)
      if (found.size >= most) break
    }
    return found
  }

  count(scope: SearchScope): number {
    return this.#allowedRows(scope).length
  }

  nearTerms(word: string, most: number, scope: SearchScope, limit: number): readonly NearTerm[] {
    const found = new Map<string, { distance: number; df: number; chunk: ChunkKey }>()
    for (const { tf, chunk, language } of this.#visibleRows(scope)) {
      for (const term of tf.keys()) {
        const distance = editDistance(stem(word, language), term, most)
        if (distance > most) continue
        const known = found.get(term) ?? { distance, df: 0, chunk }
        const nearest = Math.min(distance, known.distance)
        found.set(term, { distance: nearest, df: known.df + 1, chunk: Math.min(chunk, known.chunk) })
      }
    }
    return [...found]
      .map(([term, near]) => ({ term, ...near }))
      .sort(nearestFirst)
      .slice(0, Math.max(0, limit))
  }

  /** The rows that statistics are taken over: those of the partitions, whatever is allowed. */
  #visibleRows(scope: SearchScope): Row[] {
    return this.#rows.filter(row => scope.partitions.includes(row.partition))
  }

  #allowedRows(scope: SearchScope): Row[] {
    return this.#visibleRows(scope).filter(row => scope.allow?.has(row.entry) !== false)
  }

  #meanLength(scope: SearchScope): number {
    const rows = this.#visibleRows(scope)
    return rows.reduce((total, row) => total + row.length, 0) / rows.length
  }

  #weighed(terms: readonly WordTerm[], scope: SearchScope): (QuestionWord & TermWeight)[] {
    const rows = this.#visibleRows(scope)
    const weighed = questionWords(terms).map(word => {
      const df = rows.filter(row => tfOf(word, row) > 0).length
      return { ...word, df, idf: idf(rows.length, df) }
    })
    return weighed.sort(heaviestFirst)
  }
}

function scoreOf(words: readonly (QuestionWord & TermWeight)[], row: Row, meanLength: number): number {
  return words.reduce((sum, word) => {
    return sum + termScore(word.boost * word.idf, tfOf(word, row), row.length, meanLength)
  }, 0)
}

function rowOf(entry: Entry, chunk: Chunk, language: Language): Row {
  const tf = new Map<string, number>()
  const count = (term: string, times: number) => {
    const key = stem(term, language)
    tf.set(key, (tf.get(key) ?? 0) + times)
  }
  let length = eachTitleWord(entry, chunk, term => count(term, TITLE_WEIGHT))
  for (const { term, start, alias } of tokenise(entry.content)) {
    if (start < chunk.start || start >= chunk.end) continue
    count(term, 1)
    if (!alias) length++
  }
  return { entry: entry.key, chunk: chunk.key, partition: entry.partition, language, length, tf }
}

function fieldsOf(entry: Entry, chunks: readonly Chunk[], language: Language): ReadonlySet<string>[][] {
  const lines = new Set(chunks.flatMap(chunk => [entry.title, ...chunk.headings].flatMap(text => text.split('\n'))))
  const isCovered = (start: number) => chunks.some(chunk => start >= chunk.start && start < chunk.end)
  return [
    ...[...lines].map(line => stemsByPlace(line, language, () => true)),
    stemsByPlace(entry.content, language, isCovered),
  ]
}

function stemsByPlace(text: string, language: Language, counts: (start: number) => boolean): Set<string>[] {
  const places: Set<string>[] = []
  for (const { term, start, alias } of tokenise(text)) {
    if (!alias) places.push(new Set())
    if (counts(start)) places.at(-1)?.add(stem(term, language))
  }
  return places
}

function tfOf(word: QuestionWord, row: Row): number {
  const key = stemOf(word, row.language)
  return key === null ? 0 : (row.tf.get(key) ?? 0)
}
