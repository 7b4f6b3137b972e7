/** What a word index takes for a word of an entry, and for a phrase. A part of `word-suite.ts`. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WordIndex } from '../../src/index/contract.ts'
import type { Store } from '../../src/store/store.ts'
import { tokenise } from '../../src/text/tokenise.ts'
import { AUDIENCE_NAMES } from '../support/index-world.ts'
import { textOf, type WordEdit, WordWorld, word, wordEdits, wordQuestions } from '../support/word-world.ts'

export interface WordTextParts {
  readonly openStore: () => Store
  readonly openIndex: () => WordIndex
  readonly runs: number
}

export function wordTextSuite({ openStore, openIndex, runs }: WordTextParts): void {
  const reported = (edits: readonly WordEdit[]) => {
    const world = new WordWorld(openStore())
    world.apply(edits)
    const index = openIndex()
    index.refresh(world.store)
    return { world, index, scope: { partitions: world.partitionsOf('public') } }
  }

  it('finds a phrase across chunk borders, and only where its words follow each other in one field', () => {
    const { world, index, scope } = reported([
      textOf('a', 'one two three four five six', { chunk: 10 }),
      textOf('b', 'one three two four', { title: 'two three', headings: ['four five'] }),
      textOf('c', 'one two', { title: 'three' }),
    ])
    const found = (phrase: string) => [...index.entriesWith(phrase, scope)]
    expect(found('two three four')).toEqual([world.key('a')])
    expect(found('two three')).toEqual([world.key('a'), world.key('b')])
    expect(found('four five')).toEqual([world.key('a'), world.key('b')])
    expect(found('three four')).toEqual([world.key('a')])
    expect(found('two one')).toEqual([])
    expect(found('one two three')).toEqual([world.key('a')])
    expect(found('')).toEqual([])
  })

  it('finds a phrase in every text whose words, in order, hold it', () => {
    fc.assert(
      fc.property(wordEdits(12), wordQuestions(), (history, asked) => {
        const { world, index } = reported(
          history.map(edit => ({ ...edit, do: 'put', title: '', headings: [], overlap: 3 })),
        )
        const scope = { partitions: world.partitionsOf(...AUDIENCE_NAMES) }
        for (const { phrase } of asked) {
          const words = sequence(phrase)
          for (const key of world.store.scanEntries(0, 1000)) {
            const content = sequence(world.store.entry(key)?.content ?? '')
            const holds = words.length > 0 && ` ${content.join(' ')} `.includes(` ${words.join(' ')} `)
            // The index goes by stems and by aliases too, so it may find more, never less.
            if (holds) expect(index.entriesWith(phrase, scope).has(key)).toBe(true)
          }
        }
      }),
      { numRuns: Math.ceil(runs * 0.4) },
    )
  })

  it('keeps stop words in phrases, and in questions that have nothing else', () => {
    const { world, index, scope } = reported([
      textOf('a', 'to be or not to be'),
      textOf('b', 'the cat'),
      textOf('c', 'be not to or'),
    ])
    expect([...index.entriesWith('to be or not to be', scope)]).toEqual([world.key('a')])
    const alone = index.search({ ...scope, terms: ['to', 'be'].map(word), k: 5 })
    expect(alone.map(hit => hit.entry)).toEqual([world.key('a'), world.key('c')])
    expect(index.weigh(['the', 'cat', 'to'].map(word), scope).map(weight => weight.term)).toEqual(['cat'])
  })

  it('finds words with and without accents, in any of their forms, in the language of the entry', () => {
    const { world, index, scope } = reported([
      textOf('es', 'Las canciones que los niños cantan en el jardín están en el archivo de la canción'),
      textOf('plain', 'La cancion que el nino canta no esta en los archivos de las canciones'),
      textOf('en', 'The connections that the engine is computing were connected before'),
    ])
    const found = (text: string) =>
      index
        .search({ ...scope, terms: [word(text)], k: 5 })
        .map(hit => hit.entry)
        .sort()
    for (const form of ['canción', 'cancion', 'CANCIONES', 'niño', 'nino', 'archivo']) {
      expect(found(form), form).toEqual([world.key('es'), world.key('plain')])
    }
    for (const form of ['connection', 'connecting', 'compute', 'engines'])
      expect(found(form), form).toEqual([world.key('en')])
  })

  it('finds an identifier by itself, by its parts and in another spelling', () => {
    const { world, index, scope } = reported([
      textOf('camel', 'export function parseQuery(text) {}'),
      textOf('snake', 'def parse_query(text):'),
      textOf('words', 'how to parse a long query'),
    ])
    const found = (text: string) => index.search({ ...scope, terms: [word(text)], k: 5 }).map(hit => hit.entry)
    // The shorter text first.
    expect(found('parsequery')).toEqual([world.key('snake'), world.key('camel')])
    expect(found('parse_query').slice(0, 2).sort()).toEqual([world.key('camel'), world.key('snake')])
    expect(found('query')).toHaveLength(3)
  })
}

function sequence(text: string): string[] {
  return tokenise(text)
    .filter(token => !token.alias)
    .map(token => token.term)
}
