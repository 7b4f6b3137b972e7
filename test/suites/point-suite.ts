/** What every point index must do: what every index must, and answer like brute force, to the last bit. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PointIndex } from '../../src/index/contract.ts'
import type { Store } from '../../src/store/store.ts'
import { AUDIENCE_NAMES } from '../support/index-world.ts'
import { BlockScores, rankings, scorerFor } from '../support/point-rankings.ts'
import { type PointEdit, type PointQuestion, PointWorld, pointEdits, pointQuestions } from '../support/point-world.ts'
import { indexSuite } from './index-suite.ts'

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

    indexSuite<PointIndex, PointWorld, PointEdit, PointQuestion>({
      openWorld: () => new PointWorld(parts.openStore()),
      openIndex: parts.openIndex,
      edits: pointEdits,
      questions: pointQuestions,
      requester,
      asAnn: question => ({ ...question, partitions: ['public', 'ann'], allow: null }),
      asBob: edit => ({ ...edit, id: `hidden-${edit.id}`, audience: 'bob' }),
      put: (id, audience) => put(id, audience, 1),
      remove: (id, audience) => ({ do: 'delete', id, audience }),
      prune: { do: 'prune', id: '', audience: 'ann' },
      find: (index, { partitions, allow }) => index.search({ point: [0, 0, 0], k: 5, partitions, allow }),
      runs: 60,
    })

    it('finds, counts and lists what brute force does, after any history', () => {
      fc.assert(
        fc.property(pointEdits(), pointQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), referenceOf(world)]
          for (const question of asked) {
            const ask = requester(question, world)
            expect(ask(index)).toEqual(ask(reference))
          }
          for (const entry of index.entries(world.partitionsOf(...AUDIENCE_NAMES))) {
            expect(index.pointOf(entry)).toEqual(reference.pointOf(entry))
            expect(index.blockOf(entry)).toBeLessThan(index.blocks)
          }
        }),
        { numRuns: 200 },
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
            const bestScores = new BlockScores(index, ranking, world.partitionsOf(...AUDIENCE_NAMES))
            for (const history of histories) {
              world.apply(history)
              index.refresh(world.store)
              bestScores.refresh()
              const scorer = bestScores.scorer()
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

    it('begins a new generation when it is built again', () => {
      const world = worldAfter([put('a', 'ann', 1)])
      const index = indexOf(world)
      const { generation } = index
      index.rebuild(world.store)
      expect(index.generation).not.toBe(generation)
    })

    it('lists an entry once, of a partition named twice', () => {
      const world = worldAfter([put('a', 'public', 1)])
      const [partition] = world.partitionsOf('public') as [number]
      expect([...indexOf(world).entries([partition, partition])]).toHaveLength(1)
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

function requester(question: PointQuestion, world: PointWorld): (index: PointIndex) => unknown {
  const request = world.request(question)
  return index => ({
    hits: index.search({ ...request, scorer: scorerFor(index, question.ranking, world.store) }),
    entries: [...index.entries(request.partitions)].sort((a, b) => a - b),
    count: index.count(request),
  })
}

function put(id: string, audience: PointEdit['audience'], x: number): PointEdit {
  return { do: 'put', id, audience, point: [x, 0, 0] }
}
