/**
 * The link index: a graph of entries, divided into partitions, with the links of each node in both directions. Finding the neighbours of a
 * node takes time proportional to the number of its links.
 */
import { must } from '../base/assert.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { partitionOfAll } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import { type Link, type LinkIndex, type LinkIndexDeclaration, type SearchScope, TableIndex } from './contract.ts'
import {
  checkDeclared,
  type EdgeRow,
  type GraphEdge,
  type GraphNode,
  LinkGraph,
  type NodeRow,
  readEdges,
  readNodes,
} from './links/graph.ts'
import { checkEntryKeys, imageOf, readImage, refusedImage } from './snapshot.ts'

/** Number of changed entries whose nodes and links are updated between two possible pauses. */
const CHANGED_AT_ONCE = 200

export function openLinkIndex(declared: LinkIndexDeclaration): LinkIndex {
  checkDeclared(declared)
  return new Links(declared)
}

class Links extends TableIndex implements LinkIndex {
  readonly #declared: LinkIndexDeclaration
  #graph = new LinkGraph()

  constructor(declared: LinkIndexDeclaration) {
    super(declared.name)
    this.#declared = declared
  }

  get byteLength(): number {
    return this.#graph.byteLength
  }

  out(node: number, scope: SearchScope): readonly Link[] {
    return this.#linksOf(node, scope, 'out', edge => edge.target)
  }

  in(node: number, scope: SearchScope): readonly Link[] {
    return this.#linksOf(node, scope, 'in', edge => edge.source)
  }

  relationName(relation: number): string {
    return must(this.#graph.relationNames[relation], 'a relation of this index')
  }

  count(scope: SearchScope): { readonly nodes: number; readonly links: number } {
    const sees = seeing(scope)
    const nodes = this.#graph.nodesInOrder().filter(sees)
    const links = nodes.reduce((sum, { out }) => sum + out.filter(({ target }) => sees(target)).length, 0)
    return { nodes: nodes.length, links }
  }

  protected get size(): number {
    return this.#graph.nodeCount
  }

  *rebuildInSteps(reader: StoreReader): Steps<void> {
    const position = reader.lastSeq()
    const nodes = yield* readNodes(reader, this.#declared, null, yield* partitionOfAll(reader))
    yield* this.#load(nodes, yield* readEdges(reader, this.#declared, null), position)
  }

  *letGo(): Steps<void> {
    yield* this.#graph.forgetRelations()
  }

  serialise(): readonly Uint8Array[] {
    return linkImage(this.#graph, this.#identity)
  }

  *restoreInSteps(bytes: Uint8Array, position: number): Steps<void> {
    const { nodes, edges } = yield* readLinkImage(bytes, this.#identity, position)
    yield* this.#load(nodes, edges, position)
  }

  *#load(nodes: readonly NodeRow[], edges: readonly EdgeRow[], position: number): Steps<void> {
    const graph = new LinkGraph()
    yield* graph.load(nodes, edges)
    this.#graph = graph
    this.position = position
  }

  /** Brings the nodes and links of changed entries up to date with the store, pausing between groups of entries. */
  protected *take(reader: StoreReader, partitionOf: ReadonlyMap<EntryKey, PartitionId>): Steps<void> {
    const all = [...partitionOf.keys()]
    for (let at = 0; at < all.length; at += CHANGED_AT_ONCE) {
      if (at > 0) yield
      const entries = all.slice(at, at + CHANGED_AT_ONCE)
      const nodes = atOnce(readNodes(reader, this.#declared, entries, entry => partitionOf.get(entry)))
      const edges = atOnce(readEdges(reader, this.#declared, entries))
      for (const entry of entries) this.#graph.remove(entry)
      for (const node of nodes) this.#graph.add(node)
      for (const edge of edges) this.#graph.link(edge)
    }
  }

  #linksOf(
    number: number,
    scope: SearchScope,
    way: 'out' | 'in',
    otherEnd: (edge: GraphEdge) => GraphNode,
  ): readonly Link[] {
    const node = this.#graph.node(number)
    const sees = seeing(scope)
    if (node === undefined || !sees(node)) return []
    const links: Link[] = []
    for (const edge of node[way]) {
      const other = otherEnd(edge)
      if (sees(other)) links.push({ node: other.number, relation: edge.relation, weight: edge.weight })
    }
    return links
  }

  /**
   * What identifies an index image (its serialised form) as one of this index: the format version, tables and columns. An image with
   * another identity is rejected.
   */
  get #identity(): object {
    const { nodes, node, edges, source, target, relation, weight } = this.#declared
    return { format: FORMAT, of: [nodes.name, node, edges.name, source, target, relation, weight].join(' ') }
  }
}

/**
 * Returns a function that tells whether a node of the graph has an entry that the search may read; false for a node that only links refer
 * to.
 */
function seeing({ partitions, allow }: SearchScope): (node: GraphNode) => boolean {
  const visible = new Set(partitions)
  return ({ place }) => place !== null && visible.has(place.partition) && (allow?.has(place.entry) ?? true)
}

/** Version of the serialised form (image) of a link index; increased when its layout changes. */
const FORMAT = 2

interface GraphRows {
  readonly nodes: readonly NodeRow[]
  readonly edges: readonly EdgeRow[]
}

/**
 * The image (serialised form) of a graph. Relations without links are left out, because their names come from users' data that may have
 * been deleted.
 */
export function linkImage(graph: LinkGraph, identity: object): readonly Uint8Array[] {
  const nodes = graph.nodesInOrder()
  const [numbers, entries, partitions] = [new Float64Array(nodes.length), ints(nodes), ints(nodes)]
  const edges: GraphEdge[] = []
  for (const [at, { number, place, out }] of nodes.entries()) {
    const { entry, partition } = must(place, 'the place of a node that is there')
    numbers[at] = number
    entries[at] = entry
    partitions[at] = partition
    for (const edge of out) edges.push(edge)
  }
  const [sources, targets, weights] = [0, 1, 2].map(() => new Float64Array(edges.length)) as [Doubles, Doubles, Doubles]
  const relations = ints(edges)
  for (const [at, { source, target, weight, relation }] of edges.entries()) {
    sources[at] = source.number
    targets[at] = target.number
    weights[at] = weight
    relations[at] = relation
  }
  const used = [...new Set(relations)].sort((a, b) => a - b)
  const named = new Map(used.map((relation, number) => [relation, number]))
  return imageOf({ ...identity, relations: used.map(relation => graph.relationNames[relation] as string) }, [
    ...[numbers, sources, targets, weights],
    ...[entries, partitions, relations.map(relation => named.get(relation) as number)],
  ])
}

type Doubles = Float64Array<ArrayBuffer>

function ints({ length }: readonly unknown[]): Int32Array<ArrayBuffer> {
  return new Int32Array(length)
}

/** Number of nodes or links that are read from an image between two possible pauses. */
const ROWS_AT_ONCE = 1 << 14

/**
 * Reads the image (serialised form) of a graph, with pauses between steps. Throws if the bytes are not an image of this graph at this
 * position of the change feed.
 */
export function* readLinkImage(bytes: Uint8Array, identity: object, position: number): Steps<GraphRows> {
  const image = readImage(bytes, identity)
  const doubles = () => image.take(Float64Array)
  const ints = () => image.take(Int32Array)
  const [numbers, sources, targets, weights] = [doubles(), doubles(), doubles(), doubles()]
  const [entries, partitions, named] = [ints(), ints(), ints()]
  const { relations } = image.header
  const areNames = Array.isArray(relations) && relations.every(name => typeof name === 'string')
  const areNodes = [entries, partitions].every(({ length }) => length === numbers.length)
  const areLinks = [targets, weights, named].every(({ length }) => length === sources.length)
  if (!(areNames && areNodes && areLinks && image.left === 0))
    throw refusedImage(bytes.byteLength, 'the image of a graph')
  checkEntryKeys(entries, position)
  const pace = new StepPace(ROWS_AT_ONCE)
  const nodeRows: NodeRow[] = []
  const entryOf = new Map<number, EntryKey>()
  for (const [i, node] of numbers.entries()) {
    const entry = entries[i] as number
    nodeRows.push({ node, entry, partition: partitions[i] as number })
    entryOf.set(node, entry)
    if (pace.isOver(1)) yield
  }
  const edges: EdgeRow[] = []
  for (const [i, source] of sources.entries()) {
    const relation = relations[named[i] as number]
    if (relation === undefined) throw refusedImage(named[i], 'a relation that is named')
    edges.push({
      entry: must(entryOf.get(source), 'the source of a link'),
      source,
      target: targets[i] as number,
      relation,
      weight: weights[i] as number,
    })
    if (pace.isOver(1)) yield
  }
  return { nodes: nodeRows, edges }
}
