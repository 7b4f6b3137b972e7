/**
 * What every word index must do: answer like the brute-force one, bit for bit, after any history of edits, whether it
 * replayed the feed, rebuilt or was restored; and not notice what it is not asked about.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bitset } from '../base/bitset.ts'
import type { WordIndex, WordTerm } from '../index/contract.ts'
import type { Store } from '../store/store.ts'
import { tokenise } from '../text/tokenise.ts'
import { textOf, type WordEdit, type WordQuestion, WordWorld, wordEdits, wordQuestions } from './word-world.ts'

export interface WordSuiteParts {
  readonly openStore: () => Store
  readonly openIndex: () => WordIndex
  /** The same, by brute force. */
  readonly openReference: () => WordIndex
  /** Random histories for the largest property; others take a share. */
  readonly runs: number
}

export function wordSuite(name: string, parts: WordSuiteParts): void {
  const timeout = Math.max(30_000, parts.runs * 200)
  describe(`${name}: the word index contract`, { timeout }, () => {
    const worldAfter = (history: readonly WordEdit[]) => {
      const world = new WordWorld(parts.openStore())
      world.apply(history)
      return world
    }
    const indexOf = (world: WordWorld) => {
      const index = parts.openIndex()
      index.refresh(world.store)
      return index
    }
    const referenceOf = (world: WordWorld) => {
      const reference = parts.openReference()
      reference.rebuild(world.store)
      return reference
    }

    it('answers as brute force does, after any history', () => {
      fc.assert(
        fc.property(wordEdits(), wordQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), referenceOf(world)]
          for (const question of asked) {
            expect(answersOf(index, world, question)).toEqual(answersOf(reference, world, question))
          }
        }),
        { numRuns: parts.runs },
      )
    })

    it('answers alike after replaying the feed, after a rebuild and after being restored', () => {
      fc.assert(
        fc.property(
          fc.array(wordEdits(10), { maxLength: 8 }),
          wordEdits(8),
          wordQuestions(),
          (histories, last, asked) => {
            const world = worldAfter([])
            const replayed = indexOf(world)
            for (const history of histories) {
              world.apply(history)
              replayed.refresh(world.store)
              for (const question of asked) replayed.search(world.request(question))
            }
            const restored = parts.openIndex()
            const unaligned = Buffer.concat([Buffer.from('x'), ...replayed.serialise()]).subarray(1)
            if (name === 'brute force') restored.rebuild(world.store)
            else restored.restore(unaligned, replayed.position)
            expect(restored.position).toBe(replayed.position)
            world.apply(last)
            replayed.refresh(world.store)
            restored.refresh(world.store)
            const rebuilt = referenceOf(world)
            for (const question of asked) {
              const expected = answersOf(rebuilt, world, question)
              expect(answersOf(replayed, world, question)).toEqual(expected)
              expect(answersOf(restored, world, question)).toEqual(expected)
            }
          },
        ),
        { numRuns: Math.ceil(parts.runs * 0.4) },
      )
    })

    it('does not notice edits in partitions that it is not asked about', () => {
      fc.assert(
        fc.property(
          wordEdits(),
          fc.array(wordEdits(8), { maxLength: 3 }),
          wordQuestions(),
          (history, hidden, asked) => {
            const world = worldAfter(history)
            const index = indexOf(world)
            const questions = asked.map(question => ({ ...question, partitions: ['public', 'ann'] as const }))
            // Entries are named before the edits: hidden ones may come between them later.
            const entries = asked.flatMap(question => question.entries.map(pick => world.entryAt(pick)))
            const fixed = questions.map(question => ({ ...world.request(question), phrase: question.phrase }))
            const ask = () =>
              JSON.stringify(
                fixed.map(request => [
                  index.search(request),
                  index.score(request.terms, entries, request),
                  index.weigh(request.terms, request),
                  [...index.entriesWith(request.phrase, request)],
                  index.count(request),
                  index.complete('c', request, 5),
                ]),
              )
            const before = ask()
            for (const step of hidden) {
              world.apply(step.map(edit => ({ ...edit, id: `hidden-${edit.id}`, audience: 'bob' as const })))
              index.refresh(world.store)
            }
            expect(ask()).toEqual(before)
          },
        ),
        { numRuns: Math.ceil(parts.runs * 0.4) },
      )
    })

    it('ranks by the formula: a worked example', () => {
      // N 3, mean length 4. cat: df 2, idf ln(1 + 1.5/2.5) = 0.470004. fish: df 1, idf ln(1 + 2.5/1.5) = 0.980829.
      const world = worldAfter([
        textOf('a', 'cat eats fish', { title: 'cat' }),
        textOf('b', 'dog bites cat cat cat'),
        textOf('c', 'birds sing songs'),
      ])
      const index = indexOf(world)
      const scope = { partitions: world.partitionsOf('public') }
      const terms = [word('cat'), word('fish')]
      expect(index.weigh(terms, scope)).toEqual([
        { term: 'fish', boost: 1, df: 1, idf: expect.closeTo(0.980829, 6) },
        { term: 'cat', boost: 1, df: 2, idf: expect.closeTo(0.470004, 6) },
      ])
      // a: cat has tf 3 (once in the text, twice for the title), length 4: .470004 · 3 · 2.2 / 4.2 + .980829 · 2.2 / 2.2
      // b: cat has tf 3, length 5: .470004 · 6.6 / (3 + 1.2 · (.25 + .75 · 5/4))
      expect(index.search({ ...scope, terms, k: 5 })).toEqual([
        { entry: world.key('a'), chunk: expect.any(Number), score: expect.closeTo(1.719406, 6) },
        { entry: world.key('b'), chunk: expect.any(Number), score: expect.closeTo(0.701022, 6) },
      ])
    })

    it('explains a score by leaves that add up to it, exactly', () => {
      fc.assert(
        fc.property(wordEdits(), wordQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const index = indexOf(world)
          for (const { terms, partitions } of asked) {
            const scope = { partitions: world.partitionsOf(...partitions) }
            for (const hit of index.search({ ...scope, terms, k: 3 })) {
              const leaves = index.explain(terms, hit.chunk, scope)
              expect(leaves.reduce((sum, leaf) => sum + leaf.score, 0)).toBe(hit.score)
            }
          }
        }),
        { numRuns: Math.ceil(parts.runs * 0.2) },
      )
    })

    it('finds a phrase across chunk borders, and only where its words follow each other in one field', () => {
      const world = worldAfter([
        textOf('a', 'one two three four five six', { chunk: 10 }),
        textOf('b', 'one three two four', { title: 'two three', headings: ['four five'] }),
        textOf('c', 'one two', { title: 'three' }),
      ])
      const index = indexOf(world)
      const scope = { partitions: world.partitionsOf('public') }
      const found = (phrase: string) => [...index.entriesWith(phrase, scope)]
      expect(found('two three four')).toEqual([world.key('a')])
      expect(found('two three')).toEqual([world.key('a'), world.key('b')])
      expect(found('four five')).toEqual([world.key('a'), world.key('b')])
      expect(found('three four')).toEqual([world.key('a')])
      expect(found('two one')).toEqual([])
      expect(found('one two three')).toEqual([world.key('a')])
      expect(found('')).toEqual([])
    })

    it('finds a phrase in exactly the texts whose words, in order, hold it', () => {
      fc.assert(
        fc.property(wordEdits(12), wordQuestions(), (history, asked) => {
          const world = worldAfter(history.map(edit => ({ ...edit, do: 'put', title: '', headings: [], overlap: 3 })))
          const index = indexOf(world)
          const scope = { partitions: world.partitionsOf('public', 'ann', 'bob', 'lab') }
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
        { numRuns: Math.ceil(parts.runs * 0.4) },
      )
    })

    it('keeps stop words in phrases, and in questions that have nothing else', () => {
      const world = worldAfter([textOf('a', 'to be or not to be'), textOf('b', 'the cat'), textOf('c', 'be not to or')])
      const index = indexOf(world)
      const scope = { partitions: world.partitionsOf('public') }
      expect([...index.entriesWith('to be or not to be', scope)]).toEqual([world.key('a')])
      const alone = index.search({ ...scope, terms: ['to', 'be'].map(word), k: 5 })
      expect(alone.map(hit => hit.entry)).toEqual([world.key('a'), world.key('c')])
      expect(index.weigh(['the', 'cat', 'to'].map(word), scope).map(weight => weight.term)).toEqual(['cat'])
    })

    it('finds words with and without accents, in any of their forms, in the language of the entry', () => {
      const world = worldAfter([
        textOf('es', 'Las canciones que los niños cantan en el jardín están en el archivo de la canción'),
        textOf('plain', 'La cancion que el nino canta no esta en los archivos de las canciones'),
        textOf('en', 'The connections that the engine is computing were connected before'),
      ])
      const index = indexOf(world)
      const scope = { partitions: world.partitionsOf('public') }
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
      const world = worldAfter([
        textOf('camel', 'export function parseQuery(text) {}'),
        textOf('snake', 'def parse_query(text):'),
        textOf('words', 'how to parse a long query'),
      ])
      const index = indexOf(world)
      const scope = { partitions: world.partitionsOf('public') }
      const found = (text: string) => index.search({ ...scope, terms: [word(text)], k: 5 }).map(hit => hit.entry)
      // The shorter text first.
      expect(found('parsequery')).toEqual([world.key('snake'), world.key('camel')])
      expect(found('parse_query').slice(0, 2).sort()).toEqual([world.key('camel'), world.key('snake')])
      expect(found('query')).toHaveLength(3)
    })

    it('rebuilds when the feed no longer reaches back to where it stands', () => {
      const world = worldAfter([textOf('a', 'one')])
      const index = indexOf(world)
      world.apply([
        textOf('a', '', { do: 'delete' }),
        textOf('b', 'two'),
        textOf('', '', { do: 'prune' }),
        textOf('c', 'three'),
      ])
      index.refresh(world.store)
      expect(index.position).toBe(world.store.lastSeq())
      expect(index.count({ partitions: world.partitionsOf('public') })).toBe(2)
    })

    it('reports changes applied, and none the second time', () => {
      const world = worldAfter([])
      const index = indexOf(world)
      world.apply([textOf('a', 'one')])
      expect(index.refresh(world.store)).toBe(1)
      expect(index.refresh(world.store)).toBe(0)
    })

    it('follows an entry that moves to another partition', () => {
      const world = worldAfter([textOf('a', 'one two three', { chunk: 4, audience: 'ann' })])
      const index = indexOf(world)
      const key = world.key('a', 'ann')
      world.move(key, 'public')
      index.refresh(world.store)
      const there = world.partitionsOf('public')
      const before = world.partitionsOf('ann')
      const holder = world.store.entry(key)?.partition
      expect(index.count({ partitions: before })).toBe(holder === before[0] ? 4 : 0)
      expect(index.count({ partitions: there })).toBe(holder === there[0] ? 4 : 0)
    })

    it('finds nothing for no terms, no partitions, unknown partitions, or an empty allowance', () => {
      const world = worldAfter([textOf('a', 'one')])
      const index = indexOf(world)
      const request = { terms: [word('one')], k: 5, partitions: world.partitionsOf('public') }
      expect(index.search(request)).toHaveLength(1)
      expect(index.search({ ...request, k: 0 })).toEqual([])
      expect(index.search({ ...request, k: Number.NaN })).toEqual([])
      expect(index.search({ ...request, terms: [] })).toEqual([])
      expect(index.search({ ...request, terms: [word(' -- ')] })).toEqual([])
      expect(index.search({ ...request, partitions: [] })).toEqual([])
      expect(index.search({ ...request, partitions: [999] })).toEqual([])
      expect(index.search({ ...request, allow: new Bitset() })).toEqual([])
      expect(index.weigh([word('nobody')], request)).toEqual([
        { term: 'nobody', boost: 1, df: 0, idf: expect.any(Number) },
      ])
    })

    it('counts a partition named twice once', () => {
      const world = worldAfter([textOf('a', 'one')])
      const index = indexOf(world)
      const [partition] = world.partitionsOf('public') as [number]
      const twice = { partitions: [partition, partition] }
      expect(index.count(twice)).toBe(1)
      expect(index.weigh([word('one')], twice)[0]?.df).toBe(1)
    })

    it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('refuses the boost %s', boost => {
      const index = indexOf(worldAfter([]))
      const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
      expect(() => index.search({ terms: [{ text: 'a', boost }], k: 1, partitions: [] })).toThrow(refusal)
    })
  })
}

function word(text: string): WordTerm {
  return { text, boost: 1 }
}

function answersOf(index: WordIndex, world: WordWorld, question: WordQuestion): unknown {
  const request = world.request(question)
  const { terms } = question
  const hits = index.search(request)
  return {
    hits,
    scores: index.score(
      terms,
      question.entries.map(pick => world.entryAt(pick)),
      request,
    ),
    weights: index.weigh(terms, request),
    leaves: hits.slice(0, 3).map(hit => index.explain(terms, hit.chunk, request)),
    phrase: [...index.entriesWith(question.phrase, request)],
    words: terms.map(term => [...index.entriesWith(term.text, request)]),
    count: index.count(request),
    completions: ['', 'c', 'parse'].map(prefix => index.complete(prefix, request, 4)),
  }
}

function sequence(text: string): string[] {
  return tokenise(text)
    .filter(token => !token.alias)
    .map(token => token.term)
}
