/** What every link index must do: what every index must, and find the links that brute force finds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Link, LinkIndex } from '../../src/index/contract.ts'
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
      requester: (question, world) => index => linksOf(index, question, world),
      asAnn: question => ({ ...question, partitions: ['public', 'ann'], allow: null }),
      // Odd numbers beyond those of other edits, to some of which links of others lead all the same.
      asBob: edit => ({ ...edit, node: 13 + 2 * (edit.node % 6), isPublic: false }),
      put: (id, audience) => ({ ...put(NODES[id], [NODES[id]]), isPublic: audience === 'public' }),
      remove: id => ({ ...put(NODES[id], []), do: 'delete' }),
      prune: { ...put(0, []), do: 'prune' },
      find: (index, scope) => [...Object.values(NODES).flatMap(node => index.out(node, scope))],
      runs: 80,
    })

    it('finds and counts what brute force does, after any history', () => {
      fc.assert(
        fc.property(linkEdits(), linkQuestions(), (history, asked) => {
          const world = worldAfter(history)
          const [index, reference] = [indexOf(world), refreshed(parts.openReference(), world)]
          for (const question of asked) {
            expect(linksOf(index, question, world)).toEqual(linksOf(reference, question, world))
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
  return {
    out: named(index.out(node, scope)),
    in: named(index.in(node, scope)),
    count: index.count(scope),
  }
}

function put(node: number, targets: readonly number[]): LinkEdit {
  return { do: 'put', node, isPublic: false, links: targets.map(to => ({ to, sort: 'CALLS', width: 1 })) }
}
