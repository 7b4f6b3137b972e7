/** The link index: a graph of entries, both ways, partition by partition. Finding neighbours costs their number. */
import { must } from '../base/assert.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { partitionOfAll } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import type { Link, LinkIndex, LinkIndexDeclaration, SearchScope } from './contract.ts'
import { TableIndex } from './derived-index.ts'
import { checkEntryKeys, imageOf, readImage, refusedImage } from './image.ts'
import { checkDeclared, type EdgeRow, LinkGraph, NONE, type NodeRow, readEdges, readNodes } from './links/graph.ts'

/** Changed entries that are taken in by one step. */
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
    const { nodes, links } = this.#graph
    return this.#chain(node, scope, nodes.firstOut, links.nextOut, links.targets)
  }

  in(node: number, scope: SearchScope): readonly Link[] {
    const { nodes, links } = this.#graph
    return this.#chain(node, scope, nodes.firstIn, links.nextIn, links.sources)
  }

  relationName(relation: number): string {
    return must(this.#graph.relationNames[relation], 'a relation of this index')
  }

  entryOf(node: number, scope: SearchScope): EntryKey | undefined {
    const slot = this.#graph.slotOf(node)
    return slot !== NONE && seeing(this.#graph, scope)(slot) ? this.#graph.nodes.entries[slot] : undefined
  }

  nodeOf(entry: EntryKey): number | undefined {
    return this.#graph.nodeOf(entry)
  }

  count(scope: SearchScope): { readonly nodes: number; readonly links: number } {
    const graph = this.#graph
    const sees = seeing(graph, scope)
    const slots = graph.slotsInOrder().filter(sees)
    const links = slots.flatMap(slot => graph.rowsFrom(slot)).filter(row => sees(graph.links.targets[row] as number))
    return { nodes: slots.length, links: links.length }
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

  /** What the entries of these changes are now: so many of them a step. */
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

  #chain(node: number, scope: SearchScope, first: Int32Array, next: Int32Array, others: Int32Array): readonly Link[] {
    const graph = this.#graph
    const { numbers } = graph.nodes
    const { relations, weights } = graph.links
    const sees = seeing(graph, scope)
    const slot = graph.slotOf(node)
    if (slot === NONE || !sees(slot)) return []
    const links: Link[] = []
    for (let row = first[slot] as number; row !== NONE; row = next[row] as number) {
      const other = others[row] as number
      if (!sees(other)) continue
      const [relation, weight] = [relations[row] as number, weights[row] as number]
      links.push({ node: numbers[other] as number, relation, weight })
    }
    return links
  }

  /** With the tables and columns that it reads: the image of another graph is refused. */
  get #identity(): object {
    const { nodes, node, edges, source, target, relation, weight } = this.#declared
    return { format: FORMAT, of: [nodes.name, node, edges.name, source, target, relation, weight].join(' ') }
  }
}

/** Whether a node is in scope, by slot. */
function seeing(graph: LinkGraph, { partitions, allow }: SearchScope): (slot: number) => boolean {
  const visible = new Set(partitions)
  const { entries, partitions: partitionOf } = graph.nodes
  return slot => {
    const entry = entries[slot] as number
    return entry !== NONE && visible.has(partitionOf[slot] as number) && (allow?.has(entry) ?? true)
  }
}

/** Raised when this layout changes. */
const FORMAT = 2

interface GraphRows {
  readonly nodes: readonly NodeRow[]
  readonly edges: readonly EdgeRow[]
}

/** A relation that no link has any more is left out: its name is somebody's words. */
export function linkImage(graph: LinkGraph, identity: object): readonly Uint8Array[] {
  const { numbers, entries, partitions } = graph.nodes
  const { sources, targets, relations, weights } = graph.links
  const slots = graph.slotsInOrder()
  const rows = slots.flatMap(slot => graph.rowsFrom(slot))
  const used = [...new Set(rows.map(row => relations[row] as number))].sort((a, b) => a - b)
  const named = new Map(used.map((relation, number) => [relation, number]))
  const doubles = (of: readonly number[], value: (at: number) => number | undefined) =>
    Float64Array.from(of, at => value(at) as number)
  const ints = (of: readonly number[], value: (at: number) => number | undefined) =>
    Int32Array.from(of, at => value(at) as number)
  return imageOf({ ...identity, relations: used.map(relation => graph.relationNames[relation] as string) }, [
    doubles(slots, slot => numbers[slot]),
    doubles(rows, row => numbers[sources[row] as number]),
    doubles(rows, row => numbers[targets[row] as number]),
    doubles(rows, row => weights[row]),
    ints(slots, slot => entries[slot]),
    ints(slots, slot => partitions[slot]),
    ints(rows, row => named.get(relations[row] as number)),
  ])
}

/** Rows made in one step. */
const ROWS_AT_ONCE = 1 << 14

/** In steps. Throws when the bytes are no image of this graph at this position of the feed. */
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
