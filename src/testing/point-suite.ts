/**
 * What every point index must do: answer like brute force, to the last bit, after any history of edits, whether it
 * replayed the feed, rebuilt or was restored; and not notice what it is not asked about.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bitset } from '../base/bitset.ts'
import type { PointIndex } from '../index/contract.ts'
import type { Store } from '../store/store.ts'
import {
  BlockWorth,
  type PointEdit,
  type PointQuestion,
  PointWorld,
  pointEdits,
  pointQuestions,
  rankings,
  scorerFor,
} from './point-world.ts'

export interface PointSuiteParts {
  /** An empty store. */
  readonly openStore: () => Store
  /** An empty index of the columns `COLUMNS` of the table `POINTS`. */
  readonly openIndex: () => PointIndex
  /** The same, by brute force. */
  readonly openReference: () => PointIndex
}

export function pointSuite(name: string, parts: PointSuiteParts): void {
  describe(`${name}: the point index contract`, () => {
    const worldAfter = (history: readonly PointEdit[]) => {
      const world = new PointWorld(parts.openStore())
      world.apply(history)
      return world
    }
    const indexOf = (world: PointWorld) => refreshed(parts.openIndex(), world)
    const referenceOf = (world: PointWorld) => refreshed(parts.openReference(), world)

    it('finds, counts and lists what brute force does, after any history', () => {
      fc.assert(
        fc.property(pointEdits(), pointQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), referenceOf(world)]
          for (const question of asked) {
            expect(answer(index, question, world)).toEqual(answer(reference, question, world))
          }
          for (const entry of index.entries(world.partitionsOf('public', 'ann', 'bob', 'lab'))) {
            expect(index.pointOf(entry)).toEqual(reference.pointOf(entry))
            expect(index.blockOf(entry)).toBeLessThan(index.blocks)
          }
        }),
        { numRuns: 200 },
      )
    })

    it('answers alike after replaying the feed, after a rebuild and after being restored', () => {
      fc.assert(
        fc.property(
          fc.array(pointEdits(12), { maxLength: 5 }),
          pointEdits(8),
          pointQuestions(),
          (histories, last, asked) => {
            const world = worldAfter([])
            const replayed = indexOf(world)
            for (const history of histories) {
              world.apply(history)
              replayed.refresh(world.store)
            }
            const restored = parts.openIndex()
            restored.restore(Buffer.concat(replayed.serialise()), replayed.position)
            expect(restored.position).toBe(replayed.position)
            world.apply(last)
            refreshed(replayed, world)
            refreshed(restored, world)
            const rebuilt = indexOf(world)
            for (const question of asked) {
              const expected = answer(rebuilt, question, world)
              expect(answer(replayed, question, world)).toEqual(expected)
              expect(answer(restored, question, world)).toEqual(expected)
            }
          },
        ),
        { numRuns: 60 },
      )
    })

    it('tells enough of generations and arrivals to keep bounds by block', () => {
      fc.assert(
        fc.property(
          fc.array(pointEdits(12), { maxLength: 5 }),
          rankings(),
          pointQuestions(),
          (histories, ranking, asked) => {
            const world = worldAfter([])
            const index = indexOf(world)
            const worth = new BlockWorth(index, ranking, world.partitionsOf('public', 'ann', 'bob', 'lab'))
            for (const history of histories) {
              world.apply(history)
              index.refresh(world.store)
              worth.refresh()
              const scorer = worth.scorer()
              const reference = referenceOf(world)
              for (const question of asked) {
                const request = { ...world.request(question), scorer }
                expect(index.search(request)).toEqual(reference.search(request))
              }
            }
          },
        ),
        { numRuns: 100 },
      )
    })

    it('does not notice edits in partitions that it is not asked about', () => {
      fc.assert(
        fc.property(
          pointEdits(),
          fc.array(pointEdits(10), { maxLength: 3 }),
          pointQuestions(),
          (history, hidden, asked) => {
            const world = worldAfter(history)
            const index = indexOf(world)
            const ask = () =>
              asked.map(one => answer(index, { ...one, partitions: ['public', 'ann'], allow: null }, world))
            const before = ask()
            for (const step of hidden) {
              world.apply(step.map(edit => ({ ...edit, id: `hidden-${edit.id}`, audience: 'bob' as const })))
              index.refresh(world.store)
            }
            expect(ask()).toEqual(before)
          },
        ),
        { numRuns: 60 },
      )
    })

    it('rebuilds when the feed no longer reaches back to where it stands', () => {
      const world = worldAfter([put('a', 'ann', 1)])
      const index = indexOf(world)
      world.apply([
        { do: 'delete', id: 'a', audience: 'ann' },
        put('b', 'ann', 3),
        { do: 'prune', id: '', audience: 'ann' },
        put('c', 'public', 4),
      ])
      const { generation } = index
      index.refresh(world.store)
      expect(index.position).toBe(world.store.lastSeq())
      expect(index.count({ partitions: world.partitionsOf('public', 'ann', 'bob') })).toBe(2)
      expect(index.generation).not.toBe(generation)
    })

    it('reports changes applied, and none the second time', () => {
      const world = worldAfter([put('a', 'ann', 1)])
      const index = indexOf(world)
      world.apply([put('b', 'ann', 1)])
      expect(index.refresh(world.store)).toBe(2)
      expect(index.refresh(world.store)).toBe(0)
    })

    it('follows an entry that moves to another partition', () => {
      const world = worldAfter([put('a', 'ann', 1), { do: 'move', id: 'a', audience: 'public' }])
      const index = indexOf(worldAfter([]))
      index.rebuild(world.store)
      world.apply([{ do: 'move', id: 'a', audience: 'lab' }])
      index.refresh(world.store)
      expect(index.count({ partitions: world.partitionsOf('ann', 'public') })).toBe(0)
      expect(index.count({ partitions: world.partitionsOf('lab') })).toBe(1)
    })

    it('gives every point that ties with the last one, and none beyond', () => {
      const world = worldAfter([
        put('a', 'ann', 1),
        put('b', 'ann', 2),
        put('c', 'ann', 2),
        put('d', 'ann', 2),
        put('e', 'ann', 3),
      ])
      const index = indexOf(world)
      const search = (k: number) => index.search({ point: [0, 0, 0], k, partitions: world.partitionsOf('ann') })
      expect([0, 1, 2, 3, 4, 5, 6].map(k => search(k).length)).toEqual([0, 1, 4, 4, 4, 5, 5])
      const entries = search(2).map(hit => hit.entry)
      expect(entries).toEqual(entries.toSorted((a, b) => a - b))
    })

    it('includes what lies at just the greatest distance, and at none', () => {
      const world = worldAfter([put('a', 'ann', 0), put('b', 'ann', 3)])
      const index = indexOf(world)
      const within = (maxDistance: number) =>
        index.search({ point: [0, 0, 0], k: 9, partitions: world.partitionsOf('ann'), maxDistance }).length
      expect([0, 3 - 2 ** -51, 3].map(within)).toEqual([1, 1, 2])
    })

    it('finds nothing in no partitions, unknown ones, or an empty allowance, and counts a partition named twice once', () => {
      const world = worldAfter([put('a', 'public', 1)])
      const index = indexOf(world)
      const [partition] = world.partitionsOf('public') as [number]
      const request = { point: [0, 0, 0] as const, k: 5, partitions: [partition, partition] }
      expect(index.search(request)).toHaveLength(1)
      expect(index.count(request)).toBe(1)
      expect([...index.entries([partition, partition])]).toHaveLength(1)
      expect(index.search({ ...request, partitions: [] })).toEqual([])
      expect(index.search({ ...request, partitions: [999] })).toEqual([])
      expect(index.search({ ...request, allow: new Bitset() })).toEqual([])
    })

    it.each([
      ['a point that is no number', { point: [0, Number.NaN, 0] as const }],
      ['an infinite point', { point: [Number.POSITIVE_INFINITY, 0, 0] as const }],
      ['half a result', { k: 1.5 }],
      ['fewer results than none', { k: -1 }],
      ['a distance below 0', { maxDistance: -1 }],
      ['a distance that is no number', { maxDistance: Number.NaN }],
    ])('refuses %s', (_, wrong) => {
      const index = indexOf(worldAfter([]))
      const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
      expect(() => index.search({ point: [0, 0, 0], k: 1, partitions: [], ...wrong })).toThrow(refusal)
    })
  })
}

function refreshed(index: PointIndex, { store }: PointWorld): PointIndex {
  index.refresh(store)
  return index
}

function answer(index: PointIndex, question: PointQuestion, world: PointWorld): unknown {
  const request = world.request(question)
  const hits = index.search({ ...request, scorer: scorerFor(index, question.ranking, world) })
  const entries = [...index.entries(request.partitions)].sort((a, b) => a - b)
  return { hits, entries, count: index.count(request) }
}

function put(id: string, audience: PointEdit['audience'], x: number): PointEdit {
  return { do: 'put', id, audience, point: [x, 0, 0] }
}
