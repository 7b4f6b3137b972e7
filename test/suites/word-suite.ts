/**
 * What every word index must do: what every index must, answer like the brute-force one, bit for bit, and score by the
 * formula. What counts as a word, and as a phrase, is in `word-text-suite.ts`.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WordIndex } from '../../src/index/contract.ts'
import type { Store } from '../../src/store/store.ts'
import {
  textOf,
  type WordEdit,
  type WordQuestion,
  WordWorld,
  word,
  wordEdits,
  wordQuestions,
} from '../support/word-world.ts'
import { indexSuite } from './index-suite.ts'
import { wordTextSuite } from './word-text-suite.ts'

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

    indexSuite<WordIndex, WordWorld, WordEdit, WordQuestion>({
      openWorld: () => new WordWorld(parts.openStore()),
      openIndex: parts.openIndex,
      edits: wordEdits,
      questions: wordQuestions,
      requester,
      asAnn: question => ({ ...question, partitions: ['public', 'ann'] }),
      asBob: edit => ({ ...edit, id: `hidden-${edit.id}`, audience: 'bob' }),
      put: (id, audience) => textOf(id, 'one two three', { chunk: 4, audience }),
      remove: (id, audience) => textOf(id, '', { do: 'delete', audience }),
      prune: textOf('', '', { do: 'prune' }),
      find: (index, scope) => index.search({ ...scope, terms: [word('one')], k: 5 }),
      runs: Math.ceil(parts.runs * 0.4),
    })
    wordTextSuite(parts)

    it('answers as brute force does, after any history', () => {
      fc.assert(
        fc.property(wordEdits(), wordQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), referenceOf(world)]
          for (const question of asked) {
            const ask = requester(question, world)
            expect(ask(index)).toEqual(ask(reference))
          }
        }),
        { numRuns: parts.runs },
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

    it('finds nothing for no terms, and where no entries are wanted', () => {
      const world = worldAfter([textOf('a', 'one')])
      const index = indexOf(world)
      const request = { terms: [word('one')], k: 5, partitions: world.partitionsOf('public') }
      expect(index.search(request)).toHaveLength(1)
      expect(index.search({ ...request, k: 0 })).toEqual([])
      expect(index.search({ ...request, k: Number.NaN })).toEqual([])
      expect(index.search({ ...request, terms: [] })).toEqual([])
      expect(index.search({ ...request, terms: [word(' -- ')] })).toEqual([])
      expect(index.weigh([word('nobody')], request)).toEqual([
        { term: 'nobody', boost: 1, df: 0, idf: expect.any(Number) },
      ])
    })

    it('counts the chunks with a word once, in a partition named twice', () => {
      const world = worldAfter([textOf('a', 'one')])
      const [partition] = world.partitionsOf('public') as [number]
      expect(indexOf(world).weigh([word('one')], { partitions: [partition, partition] })[0]?.df).toBe(1)
    })

    it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('refuses the boost %s', boost => {
      const index = indexOf(worldAfter([]))
      const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
      expect(() => index.search({ terms: [{ text: 'a', boost }], k: 1, partitions: [] })).toThrow(refusal)
    })
  })
}

function requester(question: WordQuestion, world: WordWorld): (index: WordIndex) => unknown {
  const request = world.request(question)
  const { terms, phrase } = question
  const entries = question.entries.map(pick => world.entryAt(pick))
  return index => {
    const hits = index.search(request)
    return {
      hits,
      scores: index.score(terms, entries, request),
      chunks: entries.map(entry => index.scoreChunks(terms, entry, request)),
      weights: index.weigh(terms, request),
      leaves: hits.slice(0, 3).map(hit => index.explain(terms, hit.chunk, request)),
      phrase: [...index.entriesWith(phrase, request)],
      someHold: [1, 2].map(most => index.entriesWith(phrase, request, most).size),
      words: terms.map(term => [...index.entriesWith(term.text, request)]),
      count: index.count(request),
      near: ['cst', 'conection', 'qeury', 'cancoin', 'muzyka'].flatMap(word =>
        [1, 2].map(most => index.nearTerms(word, most, request, 3)),
      ),
    }
  }
}
