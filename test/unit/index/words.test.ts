/** The word index on sizes and states that random small histories do not reach. */
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce, type Steps } from '../../../src/base/turns.ts'
import { BLOCK } from '../../../src/index/words/segment.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { AUDIENCE_NAMES } from '../../support/index-world.ts'
import { openReferenceWordIndex } from '../../support/reference-words.ts'
import { textOf, WordWorld, word, wordEdits, wordQuestions } from '../../support/word-world.ts'
import { answers, forest, terms } from './forest.ts'

describe('lists of many blocks', () => {
  it('answers as brute force does: built, replayed in steps, with dead rows, merged, restored', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(1200)
    world.apply(edits.slice(0, 900))
    const built = openWordIndex()
    built.refresh(world.store)
    const reference = openReferenceWordIndex()
    reference.refresh(world.store)
    expect(answers(built, world)).toEqual(answers(reference, world))

    // Deaths in the big segment, births in small ones; asking in between fills what is remembered of both.
    for (let at = 0; at < 300; at += 50) {
      world.apply(edits.slice(900 + at, 950 + at))
      world.apply(edits.slice(at * 2, at * 2 + 30).map(edit => ({ ...edit, do: 'delete' })))
      built.refresh(world.store)
      built.search({ terms: terms('alder', 'birch'), k: 3, partitions: world.partitionsOf('ann') })
    }
    reference.refresh(world.store)
    const expected = answers(reference, world)
    expect(answers(built, world)).toEqual(expected)
    const restored = openWordIndex()
    restored.restore(Buffer.concat(built.serialise()), built.position)
    expect(answers(restored, world)).toEqual(expected)
    expect(answers(built, world)).toEqual(expected)
  })
})

describe('gaps', () => {
  it('answers as brute force does after the dead were taken out again and again, restored and merged', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(1100, 11)
    world.apply(edits.slice(0, 900))
    let index = openWordIndex()
    index.refresh(world.store)
    for (let round = 0; round < 6; round++) {
      // Every seventh, and a run of neighbours: blocks that lose one, many and all of their rows.
      const gone = edits.slice(0, 900).filter((_, at) => at % 7 === round || Math.floor(at / 40) === round * 3)
      world.apply(gone.map(edit => ({ ...edit, do: 'delete' })))
      world.apply(edits.slice(900 + round * 30, 930 + round * 30))
      index.refresh(world.store)
      const image = Buffer.concat(index.serialise())
      const reference = openReferenceWordIndex()
      reference.refresh(world.store)
      const expected = answers(reference, world)
      expect(answers(index, world)).toEqual(expected)
      if (round % 2 === 0) continue
      const restored = openWordIndex()
      restored.restore(image, index.position)
      expect(answers(restored, world)).toEqual(expected)
      index = restored
    }
  })

  it.each([0, 126, 127, 128, 255, 256, 299])('takes the one row %i out of a list of three blocks', at => {
    const world = new WordWorld(openMemoryStore())
    world.apply(Array.from({ length: 300 }, (_, n) => textOf(`e${n}`, 'common')))
    const index = openWordIndex()
    index.refresh(world.store)
    world.apply([textOf(`e${at}`, '', { do: 'delete' })])
    index.refresh(world.store)
    const restored = openWordIndex()
    restored.restore(Buffer.concat(index.serialise()), index.position)
    const scope = { partitions: world.partitionsOf('public') }
    for (const one of [index, restored]) {
      expect(one.weigh(terms('common'), scope)).toMatchObject([{ df: 299 }])
      expect(one.search({ ...scope, terms: terms('common'), k: 300 })).toHaveLength(299)
    }
  })

  it('leaves neither a word nor a key of what is gone, and all of the rest as it was', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(500, 12).map((edit, at) =>
      at % 5 === 0 ? { ...edit, content: `${edit.content} only${at}x` } : edit,
    )
    world.apply(edits)
    const index = openWordIndex()
    index.refresh(world.store)
    const before = Buffer.concat(index.serialise())
    expect(before.includes('only55x')).toBe(true)
    world.apply(edits.filter((_, at) => at % 50 === 5).map(edit => ({ ...edit, do: 'delete' })))
    index.refresh(world.store)
    const after = Buffer.concat(index.serialise())
    for (let at = 0; at < 500; at += 5) expect(after.includes(`only${at}x`), `only${at}x`).toBe(at % 50 !== 5)
    expect(after.length).toBeLessThan(before.length)
  })
})

describe('a word that no chunk has whole', () => {
  it('is not a term of the index, so that looking for words spelled alike still answers', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply([textOf('a', 'the the cancion ', { chunk: 5, overlap: 12 }), textOf('b', 'gone')])
    const index = openWordIndex()
    index.refresh(world.store)
    world.apply([textOf('b', '', { do: 'delete' })])
    index.refresh(world.store)
    const scope = { partitions: world.partitionsOf('public') }
    expect(index.nearTerms('cancoin', 2, scope, 3)).toEqual([])
    expect(index.nearTerms('teh', 2, scope, 3)).toMatchObject([{ term: 'the' }])
  })
})

describe('a long question', () => {
  it('QE-019: is read in a step for each word, and answered the same whether or not it was, and when the index changes meanwhile', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(300)
    world.apply(edits.slice(0, 200))
    const index = openWordIndex()
    index.refresh(world.store)
    const partitions = world.partitionsOf('ann')
    const asked = terms('alder', 'birch', 'cedar', 'elm', 'fir', 'nobody')
    const ask = () => index.search({ terms: asked, k: 20, partitions })
    const fresh = () => index.search({ terms: [...asked], k: 20, partitions })
    const steps = index.prepare?.(asked, { partitions })
    let count = 0
    while (steps?.next(true).done === false) count++
    expect(count).toBe(asked.length)
    expect(ask()).toEqual(fresh())
    const other = [...asked]
    const begun = index.prepare?.(other, { partitions })
    begun?.next(false)
    world.apply(edits.slice(200))
    world.apply(edits.slice(0, 30).map(edit => ({ ...edit, do: 'delete' })))
    index.refresh(world.store)
    expect(begun?.next(true).done).toBe(true)
    expect(index.search({ terms: other, k: 20, partitions })).toEqual(fresh())
    expect(ask()).toEqual(fresh())
  })
})

describe('a search in steps', () => {
  it('QE-019: reads so many postings in each, however many words and rows the question has', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply(forest(1200))
    const partitions = world.partitionsOf(...AUDIENCE_NAMES)
    const asked = Array.from({ length: 400 }, (_, rank) => word(`tree${rank}`))
    const stepsOf = (step: number) => {
      const index = openWordIndex(step)
      index.refresh(world.store)
      const search = index.searchInSteps({ terms: asked, k: 10, partitions })
      const score = index.scoreInSteps(asked, world.store.scanEntries(0, 300), { partitions })
      const dfs = index.weigh(asked, { partitions }).map(({ df }) => df)
      const postings = dfs.reduce((sum, df) => sum + df, 0)
      return { search: countOf(search), score: countOf(score), postings, words: dfs.filter(df => df > 0).length }
    }
    const [fine, coarse] = [stepsOf(200), stepsOf(2_000)]
    expect(fine.search).toBeGreaterThan(fine.postings / 2 / (200 + BLOCK))
    expect(fine.search).toBeGreaterThan(3 * coarse.search)
    expect(fine.score).toBeGreaterThanOrEqual(fine.words)
    expect(stepsOf(1e9)).toMatchObject({ search: 0, score: 0 })
  })

  it('QE-019: finds what it would have found undisturbed, whatever is searched and changed between its steps', () => {
    const steps = fc.constantFrom(1, 7, 60)
    fc.assert(
      fc.property(wordEdits(), wordEdits(12), wordQuestions(), steps, (before, later, questions, step) => {
        const world = new WordWorld(openMemoryStore())
        world.apply(before)
        const index = openWordIndex(step)
        index.refresh(world.store)
        const requests = questions.map(question => world.request(question))
        const entries = Array.from({ length: 12 }, (_, pick) => world.entryAt(pick))
        const phrases = questions.map(({ phrase }) => phrase)
        const expected = requests.map((request, at) => [
          index.search(request),
          index.score(request.terms, entries, request),
          index.entriesWith(phrases[at] ?? '', request),
        ])
        const begun = requests.map((request, at): Steps<unknown>[] => [
          index.searchInSteps(request),
          index.scoreInSteps(request.terms, entries, request),
          index.entriesWithInSteps(phrases[at] ?? '', request),
        ])
        const at = begun.map(both => both.map(steps => steps.next(false)))
        // One step of each by turns, an edit after each round; what is asked in between uses what the others let go of.
        for (let round = 0; at.flat().some(({ done }) => done !== true); round++) {
          for (const [of, both] of begun.entries()) {
            for (const [which, steps] of both.entries()) {
              const result = at[of]?.[which]
              if (result?.done !== true) (at[of] as unknown[])[which] = steps.next(true)
            }
          }
          world.apply(later.slice(round, round + 1))
          index.refresh(world.store)
          if (round % 3 === 0) for (const request of requests) index.search(request)
          if (round % 5 === 4 && index.letGo !== undefined) atOnce(index.letGo())
        }
        expect(at.map(both => both.map(({ value }) => value))).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('gives up nothing of its own to others when it is never finished', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply(forest(400))
    const index = openWordIndex(50)
    index.refresh(world.store)
    const request = { terms: terms('alder', 'birch', 'cedar'), k: 20, partitions: world.partitionsOf('public') }
    const expected = index.search(request)
    for (let left = 0; left < 10; left++) index.searchInSteps(request).next(false)
    expect(index.search(request)).toEqual(expected)
    expect(expected).toHaveLength(20)
  })
})

function countOf(steps: Steps<unknown>): number {
  let count = 0
  while (steps.next(false).done !== true) count++
  return count
}

describe('against FTS5', () => {
  it('finds the entries with a word or phrase that SQLite finds', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply(forest(400, 9).map(edit => ({ ...edit, title: '', audience: 'public' })))
    const index = openWordIndex()
    index.refresh(world.store)
    const database = new DatabaseSync(':memory:')
    database.exec("create virtual table texts using fts5(content, tokenize = 'unicode61')")
    const insert = database.prepare('insert into texts(rowid, content) values (cast(? as integer), ?)')
    for (const key of world.store.scanEntries(0, 1e6)) insert.run(key, world.store.entry(key)?.content ?? '')
    const match = database.prepare('select rowid from texts where texts match ? order by rowid')
    const scope = { partitions: world.partitionsOf('public') }
    let found = 0
    for (const phrase of [
      'alder',
      'tree57',
      'nobody',
      'alder birch',
      'birch alder alder',
      'cedar elm fir',
      'tree31 alder',
    ]) {
      const expected = match.all(`"${phrase}"`).map(row => row['rowid'])
      expect([...index.entriesWith(phrase, scope)], phrase).toEqual(expected)
      found += expected.length
    }
    database.close()
    expect(found).toBeGreaterThan(100)
  })
})
