/** What every link index must do: what every index must, and find the links and ranks that brute force finds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Link, LinkIndex, LinkRank } from '../../src/index/contract.ts'
import type { Store } from '../../src/store/store.ts'
import { type LinkEdit, type LinkQuestion, LinkWorld, linkEdits, linkQuestions } from '../support/link-world.ts'
import { indexSuite } from './index-suite.ts'

export interface LinkSuiteParts {
  /** An empty store. */
  readonly openStore: () => Store
  /** An empty index of `GRAPH`. */
  readonly openIndex: () => LinkIndex
  /** The same, by brute force. */
  readonly openReference: () => LinkIndex
}

export function linkSuite(name: string, parts: LinkSuiteParts): void {
  describe(`${name}: the link index contract`, () => {
    const worldAfter = (history: readonly LinkEdit[]) => {
      const world = new LinkWorld(parts.openStore())
      world.apply(history)
      return world
    }
    const indexOf = (world: LinkWorld) => refreshed(parts.openIndex(), world)

    indexSuite<LinkIndex, LinkWorld, LinkEdit, LinkQuestion>({
      openWorld: () => new LinkWorld(parts.openStore()),
      openIndex: parts.openIndex,
      edits: linkEdits,
      questions: linkQuestions,
      asker: (question, world) => index => [linksOf(index, question, world), rank(index, question, world)],
      asAnn: question => ({ ...question, partitions: ['public', 'ann'], allow: null }),
      // Odd numbers beyond those of other edits, to some of which links of others lead all the same.
      asBob: edit => ({ ...edit, node: 13 + 2 * (edit.node % 6), isPublic: false }),
      put: (id, audience) => ({ ...put(NODES[id], [NODES[id]]), isPublic: audience === 'public' }),
      remove: id => ({ ...put(NODES[id], []), do: 'delete' }),
      prune: { ...put(0, []), do: 'prune' },
      find: (index, scope) => [
        ...Object.values(NODES).flatMap(node => [
          ...index.out(node, scope),
          ...(index.entryOf(node, scope) ? [node] : []),
        ]),
        ...index.rank({ ...scope, anchors: [{ node: NODES.a, weight: 1 }] }),
      ],
      runs: 80,
    })

    it('finds, counts and ranks what brute force does, after any history', () => {
      fc.assert(
        fc.property(linkEdits(), linkQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), refreshed(parts.openReference(), world)]
          for (const question of asked) {
            expect(linksOf(index, question, world)).toEqual(linksOf(reference, question, world))
            expectClose(rank(index, question, world), rank(reference, question, world))
          }
        }),
        { numRuns: 150 },
      )
    })

    it('keeps a link to a node that is gone, and shows it again when the node is back', () => {
      const world = worldAfter([put(2, [4]), put(4, [])])
      const index = indexOf(world)
      const targets = () => index.out(2, { partitions: world.partitionsOf('ann') }).map(link => link.node)
      expect(targets()).toEqual([4])
      world.apply([{ ...put(4, []), do: 'delete' }])
      index.refresh(world.store)
      expect(targets()).toEqual([])
      world.apply([put(4, [])])
      index.refresh(world.store)
      expect(targets()).toEqual([4])
    })

    it('orders links by the other number, and gives a link of a node to itself both ways', () => {
      const world = worldAfter([put(2, [8, 4, 2, 6]), put(4, []), put(6, [2]), put(8, [])])
      const index = indexOf(world)
      const scope = { partitions: world.partitionsOf('ann') }
      expect(index.out(2, scope).map(link => link.node)).toEqual([2, 4, 6, 8])
      expect(index.in(2, scope).map(link => link.node)).toEqual([2, 6])
      expect(index.count(scope)).toEqual({ nodes: 4, links: 5 })
    })

    it('ranks what is near an anchor above what is far, and shares add up to one', () => {
      const world = worldAfter([put(2, [4]), put(4, [6]), put(6, [8]), put(8, []), put(10, [])])
      const ranks = indexOf(world).rank({ partitions: world.partitionsOf('ann'), anchors: [{ node: 2, weight: 3 }] })
      const scores = new Map(ranks.map(({ node, score }) => [node, score]))
      const scoreOf = (node: number) => scores.get(node) ?? 0
      expect(scoreOf(4)).toBeGreaterThan(scoreOf(6))
      expect(scoreOf(6)).toBeGreaterThan(scoreOf(8))
      expect(scores.has(10)).toBe(false)
      expect(ranks.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 9)
    })

    it('tells of named nodes alone, with the scores they have among all', () => {
      const world = worldAfter([put(2, [4]), put(4, [6]), put(6, [8]), put(8, []), put(10, [])])
      const walk = { partitions: world.partitionsOf('ann'), anchors: [{ node: 2, weight: 1 }] }
      const all = indexOf(world).rank(walk)
      const told = indexOf(world).rank({ ...walk, among: [8, 4, 10, 4, 7] })
      expect(told).toEqual(all.filter(({ node }) => node === 4 || node === 8))
      expect(told.length).toBe(2)
    })

    it('shares by ratio, however small the weights are', () => {
      const links = [
        { to: 4, sort: 'CALLS', width: Number.MIN_VALUE },
        { to: 6, sort: 'CALLS', width: Number.MIN_VALUE },
      ] as const
      const world = worldAfter([put(2, []), put(4, []), put(6, []), { do: 'put', node: 2, isPublic: false, links }])
      const scope = { partitions: world.partitionsOf('ann') }
      const even = indexOf(worldAfter([put(2, []), put(4, []), put(6, []), put(2, [4, 6])]))
      const anchors = [{ node: 2, weight: 1 }]
      const ranked = indexOf(world).rank({ ...scope, anchors })
      expectClose(ranked, even.rank({ ...scope, anchors }))
      expect(ranked.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 9)
    })

    it.each([
      ['a damping of one', { damping: 1 }],
      ['a damping that is no number', { damping: Number.NaN }],
      ['half a step', { iterations: 0.5 }],
      ['a tolerance below 0', { tolerance: -1 }],
      ['an anchor without weight', { anchors: [{ node: 1, weight: 0 }] }],
      ['an infinite anchor', { anchors: [{ node: 1, weight: Number.POSITIVE_INFINITY }] }],
    ])('refuses %s', (_, wrong) => {
      const index = indexOf(worldAfter([]))
      const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
      expect(() => index.rank({ partitions: [], anchors: [], ...wrong })).toThrow(refusal)
    })
  })
}

/** Ann's. */
const NODES = { a: 2, b: 4, c: 6 }

function refreshed(index: LinkIndex, { store }: LinkWorld): LinkIndex {
  index.refresh(store)
  return index
}

function linksOf(index: LinkIndex, question: LinkQuestion, world: LinkWorld): unknown {
  const scope = world.scope(question)
  const named = (links: readonly Link[]) =>
    links.map(({ node, relation, weight }) => ({ node, relation: index.relationName(relation), weight }))
  const { node } = question
  const entry = index.entryOf(node, scope)
  return {
    entry,
    isKnown: entry === undefined || index.nodeOf(entry) === node,
    out: named(index.out(node, scope)),
    in: named(index.in(node, scope)),
    count: index.count(scope),
  }
}

function rank(index: LinkIndex, question: LinkQuestion, world: LinkWorld): readonly LinkRank[] {
  const { anchors, damping, iterations } = question
  return index.rank({ ...world.scope(question), anchors, damping, iterations })
}

/** Equal but for the order of additions, by which a walk may also end a step earlier: then no score has moved by the tolerance. */
function expectClose(found: readonly LinkRank[], expected: readonly LinkRank[]): void {
  const scores = new Map(expected.map(({ node, score }) => [node, score]))
  expect(new Set(found.map(({ node }) => node))).toEqual(new Set(scores.keys()))
  for (const { node, score } of found) expect(Math.abs(score - (scores.get(node) as number))).toBeLessThan(1e-6)
}

function put(node: number, targets: readonly number[]): LinkEdit {
  return { do: 'put', node, isPublic: false, links: targets.map(to => ({ to, sort: 'CALLS', width: 1 })) }
}
