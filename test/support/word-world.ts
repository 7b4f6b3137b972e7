/**
 * A small store of texts, for suites of word indexes. The vocabulary is small, so that words meet, scores tie and phrases
 * occur; chunks overlap and cut anywhere, words included.
 */
import fc from 'fast-check'
import { Bitset } from '../../src/base/bitset.ts'
import type { WordSearch, WordTerm } from '../../src/index/contract.ts'
import type { ChunkDraft, EntryDraft, EntryKey } from '../../src/model/entry.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { draftOf } from './entries.ts'
import { AUDIENCE_NAMES, AUDIENCES, type AudienceName, deleteHeld, IndexWorld } from './index-world.ts'

const WORDS: readonly string[] = [
  ...['the', 'of', 'cat', 'cats', 'running', 'run', 'connection', 'connected', 'news'],
  ...['parseQuery', 'parse_query', 'query', 'parse', 'node.js', 'nodejs', 'HTTPServer', 'config.maxRows'],
  ...['$D020', '0xD020', 'd020', '3.14', 'v1.2.3', 'C++', "don't", 'well-known', 'U.S.'],
  ...['canción', 'cancion', 'canciones', 'el', 'los', 'búsqueda', 'por', 'palabras', 'que', 'están'],
  ...['der', 'Hund', 'nicht', 'und', 'Straße', '東京都', 'の', 'музыка', '🦊', 'a\u0007b', 'co\u00adoperate', '\u0301'],
]

export interface WordEdit {
  readonly do: 'put' | 'delete' | 'prune'
  readonly id: string
  readonly audience: AudienceName
  readonly title: string
  readonly content: string
  /** Length of a chunk and what it shares with the one before. */
  readonly chunk: number
  readonly overlap: number
  readonly headings: readonly string[]
}

export interface WordQuestion {
  readonly terms: readonly WordTerm[]
  readonly phrase: string
  readonly k: number
  readonly partitions: readonly AudienceName[]
  /** Which entries to allow, or null for all; by the order of their keys, as `entries`. */
  readonly allow: readonly number[] | null
  readonly entries: readonly number[]
}

function sentences(maxLength: number): fc.Arbitrary<string> {
  const word = fc.constantFrom(...WORDS)
  const space = fc.constantFrom(' ', ' ', ' ', '\n', '. ', '')
  return fc.array(fc.tuple(word, space), { maxLength, size: 'max' }).map(parts => parts.flat().join(''))
}

export function wordEdits(maxLength = 25): fc.Arbitrary<WordEdit[]> {
  const edit = fc.record({
    do: fc.constantFrom('put' as const, 'put' as const, 'put' as const, 'delete' as const, 'prune' as const),
    id: fc.constantFrom(...'abcdefghijkl'),
    audience: fc.constantFrom(...AUDIENCE_NAMES),
    title: sentences(4),
    content: sentences(40),
    chunk: fc.integer({ min: 5, max: 90 }),
    overlap: fc.nat({ max: 30 }),
    headings: fc.array(sentences(3), { maxLength: 2 }),
  })
  return fc.array(edit, { maxLength, size: 'max' })
}

export function wordQuestions(): fc.Arbitrary<WordQuestion[]> {
  const picks = fc.array(fc.nat({ max: 40 }), { maxLength: 20 })
  const term = fc.record({
    text: fc.oneof(fc.constantFrom(...WORDS), sentences(2)),
    boost: fc.constantFrom(1, 1, 2.5, 0),
  })
  const question = fc.record({
    terms: fc.array(term, { maxLength: 6 }),
    phrase: sentences(4),
    k: fc.oneof(fc.nat({ max: 6 }), fc.constant(1e9)),
    partitions: fc.subarray([...AUDIENCE_NAMES]),
    allow: fc.option(picks),
    entries: fc.uniqueArray(fc.nat({ max: 40 }), { maxLength: 10 }),
  })
  return fc.array(question, { minLength: 1, maxLength: 4 })
}

/** An edit that puts one entry as one chunk. */
export function textOf(id: string, content: string, fields: Partial<WordEdit> = {}): WordEdit {
  return {
    ...{ do: 'put', id, audience: 'public', title: '', content, chunk: Math.max(1, content.length) },
    ...{ overlap: 0, headings: [] },
    ...fields,
  }
}

/** A term of a question, as it mostly is. */
export function word(text: string): WordTerm {
  return { text, boost: 1 }
}

export class WordWorld extends IndexWorld<WordEdit> {
  constructor(store: Store) {
    super(store, edit)
  }

  key(id: string, name: AudienceName = 'public'): EntryKey {
    return this.store.find(id, this.partitionsOf(name))[0] ?? -1
  }

  request({ terms, k, partitions, allow }: WordQuestion): WordSearch {
    return {
      terms,
      k,
      partitions: this.partitionsOf(...partitions),
      allow: allow === null ? undefined : Bitset.of(allow.map(pick => this.entryAt(pick))),
    }
  }
}

function edit(writer: StoreWriter, change: WordEdit): void {
  switch (change.do) {
    case 'put': {
      const { id, title, content } = change
      const draft = draftOf({ id, title, content, audience: AUDIENCES[change.audience] })
      writer.put(draft, chunksOf(draft, change))
      break
    }
    case 'delete':
      deleteHeld(writer, change.id, change.audience)
      break
    case 'prune':
      writer.pruneChanges(writer.lastSeq())
  }
}

function chunksOf({ content }: EntryDraft, { chunk, overlap, headings }: WordEdit): readonly ChunkDraft[] {
  const chunks: ChunkDraft[] = []
  const step = Math.max(1, chunk - overlap)
  for (let start = 0; start === 0 || start + overlap < content.length; start += step) {
    const end = Math.min(content.length, start + chunk)
    chunks.push({ start, end, startLine: 1, endLine: 1, headings: headings.slice(chunks.length % 2) })
    if (end === content.length) break
  }
  return chunks
}
