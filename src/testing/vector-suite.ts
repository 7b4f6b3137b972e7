/**
 * What every vector index must do: answer like the brute-force one, bit for bit, after any history of edits, whether it
 * replayed the feed, rebuilt or was restored; and not notice what it is not asked about.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bitset } from '../base/bitset.ts'
import type { Hit, VectorIndex, VectorSearch } from '../index/contract.ts'
import { audience } from '../model/partition.ts'
import type { Store } from '../store/store.ts'
import { type Edit, edits, MODEL, questions, VectorWorld, WIDTH } from './vector-world.ts'

export interface VectorSuiteParts {
  /** An empty store. */
  readonly openStore: () => Store
  /** An empty index of that model and width that may read vectors from the store. */
  readonly openIndex: (store: Store, model: string, dimensions: number) => VectorIndex
  /** The same, by brute force. */
  readonly openReference: (model: string, dimensions: number) => VectorIndex
}

export function vectorSuite(name: string, parts: VectorSuiteParts): void {
  describe(`${name}: the vector index contract`, () => {
    const worldAfter = (history: readonly Edit[]) => {
      const world = new VectorWorld(parts.openStore())
      world.apply(history)
      return world
    }
    const indexOf = (world: VectorWorld) => {
      const index = parts.openIndex(world.store, MODEL, WIDTH)
      index.refresh(world.store)
      return index
    }
    const referenceOf = (world: VectorWorld) => {
      const reference = parts.openReference(MODEL, WIDTH)
      reference.rebuild(world.store)
      return reference
    }

    it('finds, scores and counts what brute force does, after any history', () => {
      fc.assert(
        fc.property(edits(), questions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), referenceOf(world)]
          for (const question of asked) {
            const request = world.request(question)
            expectSame(index.search(request), reference.search(request), request)
            expect(index.count(request)).toBe(reference.count(request))
            const entries = question.entries.map(pick => world.entryAt(pick))
            const there = entries.filter(entry => reference.has(entry, request))
            expect(entries.filter(entry => index.has(entry, request))).toEqual(there)
            const scores = reference.score(request.vector, entries, request)
            expect(index.score(request.vector, entries, request)).toEqual(scores)
            const rough = index.score(request.vector, entries, request, true)
            expectNear(rough, scores, 1)
          }
        }),
        { numRuns: 150 },
      )
    })

    it('finds the same among one list as brute force does, while rows and viewers come and go', () => {
      fc.assert(
        fc.property(edits(), fc.array(edits(6), { maxLength: 4 }), questions(), (history, changes, asked) => {
          const world = worldAfter(history)
          const index = indexOf(world)
          const requests = asked.map(question => ({ ...world.request(question), approximate: false }))
          for (const change of [[], ...changes]) {
            world.apply(change)
            index.refresh(world.store)
            const reference = referenceOf(world)
            for (const { among } of requests) {
              for (const each of requests) {
                const request = { ...each, among }
                expectSame(index.search(request), reference.search(request), request)
              }
            }
            // Whatever is kept of the last one is met by the next first one.
            requests.reverse()
          }
        }),
        { numRuns: 100 },
      )
    })

    it('answers alike after replaying the feed, after a rebuild and after being restored', () => {
      fc.assert(
        fc.property(fc.array(edits(12), { maxLength: 5 }), edits(8), questions(), (histories, last, asked) => {
          const world = worldAfter([])
          const replayed = indexOf(world)
          for (const history of histories) {
            world.apply(history)
            replayed.refresh(world.store)
          }
          const restored = parts.openIndex(world.store, MODEL, WIDTH)
          restored.restore(Buffer.concat(replayed.serialise()), replayed.position)
          expect(restored.position).toBe(replayed.position)
          world.apply(last)
          replayed.refresh(world.store)
          restored.refresh(world.store)
          const rebuilt = indexOf(world)
          for (const question of asked) {
            const request = world.request(question)
            const expected = rebuilt.search(request)
            expect(replayed.search(request)).toEqual(expected)
            expect(restored.search(request)).toEqual(expected)
          }
        }),
        { numRuns: 60 },
      )
    })

    it('does not notice edits in partitions that it is not asked about', () => {
      fc.assert(
        fc.property(edits(), fc.array(edits(10), { maxLength: 3 }), questions(), (history, hidden, asked) => {
          const world = worldAfter(history)
          const index = indexOf(world)
          const visible = world.partitionsOf('public', 'ann')
          const ask = () =>
            asked.map(question => {
              const request = { ...world.request(question), partitions: visible }
              return JSON.stringify([index.search(request), index.count(request)])
            })
          const before = ask()
          for (const step of hidden) {
            world.apply(step.map(edit => ({ ...edit, id: `hidden-${edit.id}`, audience: 'bob' as const })))
            index.refresh(world.store)
          }
          expect(ask()).toEqual(before)
        }),
        { numRuns: 60 },
      )
    })

    it('rebuilds when the feed no longer reaches back to where it stands', () => {
      const world = worldAfter([{ do: 'put', id: 'a', audience: 'ann', lines: [1, 2] }])
      const index = indexOf(world)
      world.apply([
        { do: 'delete', id: 'a', audience: 'ann' },
        { do: 'put', id: 'b', audience: 'ann', lines: [3] },
        { do: 'prune', id: '', audience: 'ann' },
        { do: 'put', id: 'c', audience: 'public', lines: [4] },
      ])
      index.refresh(world.store)
      expect(index.position).toBe(world.store.lastSeq())
      expect(index.count({ partitions: world.partitionsOf('public', 'ann', 'bob') })).toBe(2)
    })

    it('reports changes applied, and none the second time', () => {
      const world = worldAfter([])
      const index = indexOf(world)
      world.apply([{ do: 'put', id: 'a', audience: 'ann', lines: [1] }])
      expect(index.refresh(world.store)).toBe(2)
      expect(index.refresh(world.store)).toBe(0)
    })

    it('follows an entry that moves to another partition', () => {
      const world = worldAfter([{ do: 'put', id: 'a', audience: 'ann', lines: [1, 2, 3] }])
      const index = indexOf(world)
      const [entry] = world.store.find('a', world.partitionsOf('ann'))
      world.move(entry as number, audience('public', 'ann'))
      index.refresh(world.store)
      expect(index.count({ partitions: world.partitionsOf('ann') })).toBe(0)
      expect(index.count({ partitions: world.partitionsOf('public') })).toBe(3)
    })

    it('finds nothing for no entries, no partitions, unknown partitions, or an empty allowance', () => {
      const world = worldAfter([{ do: 'put', id: 'a', audience: 'public', lines: [1] }])
      const index = indexOf(world)
      const request = { vector: world.vector(1), k: 5, partitions: world.partitionsOf('public') }
      expect(index.search(request)).toHaveLength(1)
      expect(index.search({ ...request, k: 0 })).toEqual([])
      expect(index.search({ ...request, partitions: [] })).toEqual([])
      expect(index.search({ ...request, partitions: [999] })).toEqual([])
      expect(index.search({ ...request, allow: new Bitset() })).toEqual([])
    })

    it('counts a partition named twice once', () => {
      const world = worldAfter([{ do: 'put', id: 'a', audience: 'public', lines: [1, 2] }])
      const index = indexOf(world)
      const [partition] = world.partitionsOf('public') as [number]
      expect(index.count({ partitions: [partition, partition] })).toBe(2)
      expect(index.search({ vector: world.vector(1), k: 5, partitions: [partition, partition] })).toHaveLength(1)
    })

    it.each([
      ['of another width', new Float32Array(WIDTH - 1).fill(1)],
      ['that is no direction', new Float32Array(WIDTH)],
      ['with a component that is no number', new Float32Array(WIDTH).fill(Number.NaN)],
      ['of another length than 1', new Float32Array(WIDTH).fill(1)],
    ])('refuses a question vector %s', (_, vector) => {
      const index = indexOf(worldAfter([]))
      const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
      expect(() => index.search({ vector, k: 1, partitions: [] })).toThrow(refusal)
      expect(() => index.score(vector, [], { partitions: [] })).toThrow(refusal)
    })
  })
}

/** An exact answer is the same to the last bit; an approximate one may be a little off. */
function expectSame(found: readonly Hit[], expected: readonly Hit[], request: VectorSearch): void {
  if (request.approximate) expectNear(found, expected, Math.abs(request.prior?.weight ?? 1))
  else expect(found).toEqual(expected)
}

/** Place by place: as good as it should be, within what 8 bits can tell. */
function expectNear(found: readonly Hit[], expected: readonly Hit[], weight: number): void {
  expect(found).toHaveLength(expected.length)
  for (const [i, hit] of expected.entries()) {
    expect(Math.abs((found[i] as Hit).score - hit.score)).toBeLessThanOrEqual(0.01 * weight)
  }
}
