/** What every vector index must do: what every index must, and answer like the brute-force one, bit for bit. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hit, VectorIndex, VectorSearch } from '../../src/index/contract.ts'
import type { Store } from '../../src/store/store.ts'
import { isLong } from '../support/patience.ts'
import {
  MODEL,
  type VectorEdit,
  type VectorQuestion,
  VectorWorld,
  vectorEdits,
  vectorOf,
  vectorQuestions,
  WIDTH,
} from '../support/vector-world.ts'
import { indexSuite } from './index-suite.ts'

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
    const worldAfter = (history: readonly VectorEdit[]) => {
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

    indexSuite<VectorIndex, VectorWorld, VectorEdit, VectorQuestion>({
      openWorld: () => new VectorWorld(parts.openStore()),
      openIndex: world => parts.openIndex(world.store, MODEL, WIDTH),
      edits: vectorEdits,
      questions: vectorQuestions,
      requester,
      asAnn: question => ({ ...question, partitions: ['public', 'ann'] }),
      asBob: edit => ({ ...edit, id: `hidden-${edit.id}`, audience: 'bob' }),
      put: (id, audience) => ({ do: 'put', id, audience, lines: [1, 2, 3] }),
      remove: (id, audience) => ({ do: 'delete', id, audience }),
      prune: { do: 'prune', id: '', audience: 'ann' },
      find: (index, scope) => index.search({ ...scope, vector: vectorOf(1), k: 5 }),
      runs: isLong ? 600 : 25,
    })

    it('finds, scores and counts what brute force does, after any history', () => {
      fc.assert(
        fc.property(vectorEdits(), vectorQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), referenceOf(world)]
          for (const question of asked) {
            const request = world.request(question)
            expectSame(index.search(request), reference.search(request), request)
            expect(index.count(request)).toBe(reference.count(request))
            const entries = question.entries.map(pick => world.entryAt(pick))
            const scores = reference.score(request.vector, entries, request)
            const there = entries.filter(entry => reference.has(entry, request))
            expect(entries.filter(entry => index.has(entry, request))).toEqual(there)
            const chunks = scores.map(({ chunk }) => chunk)
            const rows = (of: VectorIndex) => entries.map(entry => chunks.map(chunk => of.has(entry, request, chunk)))
            expect(rows(index)).toEqual(rows(reference))
            expect(index.score(request.vector, entries, request)).toEqual(scores)
            const rough = index.score(request.vector, entries, request, true)
            expectNear(rough, scores)
            for (const entry of entries) {
              const ofChunks = reference.scoreChunks(request.vector, entry, request)
              expect(index.scoreChunks(request.vector, entry, request)).toEqual(ofChunks)
              expectNear(index.scoreChunks(request.vector, entry, request, true), ofChunks)
            }
          }
        }),
        { numRuns: isLong ? 1500 : 60 },
      )
    })

    it('finds the same among one list as brute force does, while rows and viewers come and go', () => {
      fc.assert(
        fc.property(
          vectorEdits(),
          fc.array(vectorEdits(6), { maxLength: 4 }),
          vectorQuestions(),
          (history, changes, asked) => {
            const world = worldAfter(history)
            const index = indexOf(world)
            const requests = asked.map(question => ({ ...world.request(question), approximate: false }))
            for (const change of [[], ...changes]) {
              world.apply(change)
              index.refresh(world.store)
              const reference = referenceOf(world)
              for (const request of requests) expectSame(index.search(request), reference.search(request), request)
              // Whatever is kept of the last one is met by the next first one.
              requests.reverse()
            }
          },
        ),
        { numRuns: isLong ? 1000 : 30 },
      )
    })

    it('finds no entries where none are wanted', () => {
      const world = worldAfter([{ do: 'put', id: 'a', audience: 'public', lines: [1] }])
      const request = { vector: vectorOf(1), k: 0, partitions: world.partitionsOf('public') }
      expect(indexOf(world).search(request)).toEqual([])
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

function requester(question: VectorQuestion, world: VectorWorld): (index: VectorIndex) => unknown {
  const request = world.request(question)
  const entries = question.entries.map(pick => world.entryAt(pick))
  return index => ({
    hits: index.search(request),
    scores: index.score(request.vector, entries, request),
    chunks: entries.map(entry => index.scoreChunks(request.vector, entry, request)),
    there: entries.filter(entry => index.has(entry, request)),
    count: index.count(request),
  })
}

/** An exact answer is the same to the last bit; an approximate one may be a little off. */
function expectSame(found: readonly Hit[], expected: readonly Hit[], request: VectorSearch): void {
  if (request.approximate) expectNear(found, expected)
  else expect(found).toEqual(expected)
}

/** Place by place: as good as it should be, within what 8 bits can tell. */
function expectNear(found: readonly Hit[], expected: readonly Hit[]): void {
  expect(found).toHaveLength(expected.length)
  for (const [i, hit] of expected.entries()) {
    expect(Math.abs((found[i] as Hit).score - hit.score)).toBeLessThanOrEqual(0.01)
  }
}
