import { expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { LinkGraph } from '../../../src/index/links/graph.ts'
import { linkImage, readLinkImage } from '../../../src/index/links.ts'

const OF = { format: 1, of: 'a graph' }

/** Two nodes; the first links to the second as each relation says. */
function graphOf(...relations: readonly string[]): LinkGraph {
  const graph = new LinkGraph()
  graph.add({ node: 2, entry: 20, partition: 1 })
  relate(graph, relations)
  return graph
}

function relate(graph: LinkGraph, relations: readonly string[]): void {
  graph.add({ node: 1, entry: 10, partition: 1 })
  for (const relation of relations) graph.link({ entry: 10, source: 1, target: 2, relation, weight: 1 })
}

it('a relation that no link has any more is in no image, and the others keep their names', () => {
  const graph = graphOf('calls', 'secret', 'uses')
  graph.remove(10)
  relate(graph, ['uses', 'calls'])
  const image = Buffer.concat(linkImage(graph, OF))
  expect(image.includes('secret')).toBe(false)
  expect(atOnce(readLinkImage(image, OF, 20)).edges.map(({ relation }) => relation)).toEqual(['calls', 'uses'])
})

it('nor in memory after it let go, where the others keep their numbers', () => {
  const graph = graphOf('secret', 'calls')
  const number = graph.relationNumber('calls')
  graph.remove(10)
  relate(graph, ['calls'])
  atOnce(graph.forgetRelations())
  expect(JSON.stringify(graph.relationNames)).not.toContain('secret')
  expect([graph.relationNames[number], graph.relationNumber('calls')]).toEqual(['calls', number])
  expect(graph.relationNumber('secret')).not.toBe(number)
})
