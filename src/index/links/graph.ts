/**
 * A graph in which each node has two sorted lists of links, outgoing and incoming. Finding the neighbours of a node takes time proportional
 * to the number of its links; adding or removing a link takes time proportional to the length of the two lists that contain it.
 */
import { compareText, lowerBound } from '../../base/compare.ts'
import { StepPace, type Steps, sortInSteps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader, TablePage } from '../../store/store.ts'
import { checkAspect, checkColumn, type LinkIndexDeclaration } from '../contract.ts'

/** Number of nodes, or of links, that are loaded into the graph between two possible pauses. */
const LOADED_AT_ONCE = 1 << 13

/** Estimate of the memory in bytes that the JavaScript engine uses for a node and for a link, including their share of maps and lists. */
const NODE_BYTES = 300
const EDGE_BYTES = 80

export interface GraphNode {
  /** The number by which links refer to this node, unique in the graph. */
  readonly number: number
  /** Entry and partition of the node. Null: there is no entry with this node number, but links refer to it. */
  place: { readonly entry: EntryKey; readonly partition: PartitionId } | null
  /**
   * Links of the node: outgoing ones (`out`) and incoming ones (`in`), sorted by number of the other node, then by name of the relation,
   * then by weight.
   */
  out: GraphEdge[]
  in: GraphEdge[]
}

export interface GraphEdge {
  readonly source: GraphNode
  readonly target: GraphNode
  /** Position of the link's relation in the graph's list of relation names (`relationNames`). */
  readonly relation: number
  readonly weight: number
}

type Compare = (a: GraphEdge, b: GraphEdge) => number

export class LinkGraph {
  /**
   * Names of the links' relations by number. An empty text is in the place of a name that was removed because no link had the relation any
   * more.
   */
  readonly relationNames: string[] = []
  readonly #relationNumbers = new Map<string, number>()
  readonly #nodes = new Map<number, GraphNode>()
  readonly #byEntry = new Map<EntryKey, GraphNode>()
  #edgeCount = 0

  /** Number of nodes that have an entry, not counting nodes that only links refer to. */
  get nodeCount(): number {
    return this.#byEntry.size
  }

  get byteLength(): number {
    return NODE_BYTES * this.#nodes.size + EDGE_BYTES * this.#edgeCount
  }

  /** The node with this number, also if it has no entry and only links refer to it; undefined if there is neither. */
  node(number: number): GraphNode | undefined {
    return this.#nodes.get(number)
  }

  nodeOf(entry: EntryKey): GraphNode | undefined {
    return this.#byEntry.get(entry)
  }

  /**
   * Removes the names of relations that no link has; their numbers are not reused. Pauses between steps, during which the graph must not
   * change.
   */
  *forgetRelations(): Steps<void> {
    const used = new Set<number>()
    const pace = new StepPace(LOADED_AT_ONCE)
    for (const { out } of this.#byEntry.values()) {
      for (const { relation } of out) used.add(relation)
      if (pace.isOver(1 + out.length)) yield
    }
    for (const [name, number] of this.#relationNumbers) {
      if (used.has(number)) continue
      this.#relationNumbers.delete(name)
      this.relationNames[number] = ''
    }
  }

  relationNumber(name: string): number {
    const known = this.#relationNumbers.get(name)
    if (known !== undefined) return known
    this.#relationNumbers.set(name, this.relationNames.length)
    return this.relationNames.push(name) - 1
  }

  /** The nodes that have an entry, by ascending number. */
  nodesInOrder(): GraphNode[] {
    return [...this.#byEntry.values()].sort((a, b) => a.number - b.number)
  }

  /**
   * Loads all nodes and links into this empty graph, with pauses between steps. Sorts each list of links once, which is faster than
   * inserting the links one by one.
   */
  *load(nodes: Iterable<NodeRow>, edges: readonly EdgeRow[]): Steps<void> {
    const pace = new StepPace(LOADED_AT_ONCE)
    for (const node of nodes) {
      this.add(node)
      if (pace.isOver(1)) yield
    }
    for (const row of edges) {
      const edge = this.#edgeOf(row)
      edge?.source.out.push(edge)
      edge?.target.in.push(edge)
      if (pace.isOver(1)) yield
    }
    for (const node of this.#nodes.values()) {
      node.out = yield* this.#sorted(node.out, this.#compareOut, pace)
      node.in = yield* this.#sorted(node.in, this.#compareIn, pace)
    }
  }

  add({ node: number, entry, partition }: NodeRow): void {
    const node = this.#nodeFor(number)
    if (node.place !== null) this.#byEntry.delete(node.place.entry)
    node.place = { entry, partition }
    this.#byEntry.set(entry, node)
  }

  link(row: EdgeRow): void {
    const edge = this.#edgeOf(row)
    if (edge === null) return
    insert(edge.source.out, edge, this.#compareOut)
    insert(edge.target.in, edge, this.#compareIn)
  }

  /**
   * Removes the node of an entry with its outgoing links. Incoming links stay, because they belong to other entries and count again if the
   * node is added again.
   */
  remove(entry: EntryKey): void {
    const node = this.#byEntry.get(entry)
    if (node === undefined) return
    this.#byEntry.delete(entry)
    node.place = null
    for (const edge of node.out) {
      const { target } = edge
      target.in.splice(target.in.indexOf(edge), 1)
      if (target !== node) this.#dropIfUnused(target)
    }
    this.#edgeCount -= node.out.length
    node.out = []
    this.#dropIfUnused(node)
  }

  #nodeFor(number: number): GraphNode {
    const known = this.#nodes.get(number)
    if (known !== undefined) return known
    const node: GraphNode = { number, place: null, out: [], in: [] }
    this.#nodes.set(number, node)
    return node
  }

  #dropIfUnused(node: GraphNode): void {
    if (node.place === null && node.out.length + node.in.length === 0) this.#nodes.delete(node.number)
  }

  /**
   * Creates the link of a table row. Null if the row is invalid because its source is not the node of the entry that the row belongs to.
   */
  #edgeOf({ entry, source, target, relation, weight }: EdgeRow): GraphEdge | null {
    const from = this.#byEntry.get(entry)
    if (from?.number !== source) return null
    this.#edgeCount++
    return { source: from, target: this.#nodeFor(target), relation: this.relationNumber(relation), weight }
  }

  *#sorted(edges: GraphEdge[], compare: Compare, pace: StepPace): Steps<GraphEdge[]> {
    if (edges.length > LOADED_AT_ONCE) return yield* sortInSteps(edges, compare)
    if (pace.isOver(edges.length)) yield
    return edges.sort(compare)
  }

  readonly #compareOut: Compare = (a, b) => a.target.number - b.target.number || this.#compareRest(a, b)
  readonly #compareIn: Compare = (a, b) => a.source.number - b.source.number || this.#compareRest(a, b)

  #compareRest(a: GraphEdge, b: GraphEdge): number {
    const [one, other] = [this.relationNames[a.relation] as string, this.relationNames[b.relation] as string]
    return (a.relation === b.relation ? 0 : compareText(one, other)) || a.weight - b.weight
  }
}

/** Inserts a link into a sorted list of links, after those that compare as equal. */
function insert(edges: GraphEdge[], edge: GraphEdge, compare: Compare): void {
  const at = lowerBound(edges.length, place => compare(edges[place] as GraphEdge, edge) <= 0)
  edges.splice(at, 0, edge)
}

export interface NodeRow {
  readonly node: number
  readonly entry: EntryKey
  readonly partition: PartitionId
}

export interface EdgeRow {
  /** The entry that the row belongs to, which must be the entry of the link's source node; otherwise the row gives no link. */
  readonly entry: EntryKey
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

/** Number of table rows that are read between two possible pauses. */
const PAGE = 2048

export function checkDeclared(declared: LinkIndexDeclaration): void {
  const { nodes, edges } = declared
  checkAspect('nodes', nodes)
  if (edges.ofEntry !== true) throw invalidArgument('edges', edges.name, 'a table of entries')
  checkColumn('node', nodes, declared.node, 'integer')
  checkColumn('source', edges, declared.source, 'integer')
  checkColumn('target', edges, declared.target, 'integer')
  checkColumn('relation', edges, declared.relation, 'text')
  checkColumn('weight', edges, declared.weight, 'real')
}

/**
 * Reads the nodes of these entries, or of all entries (null), with pauses between pages of rows. `partitionOf` gives the partition of an
 * entry; an entry for which it returns undefined gets no node.
 */
export function* readNodes(
  reader: StoreReader,
  { nodes, node }: LinkIndexDeclaration,
  entries: readonly EntryKey[] | null,
  partitionOf: (entry: EntryKey) => PartitionId | undefined,
): Steps<NodeRow[]> {
  const rows: NodeRow[] = []
  for (const page of pages(reader, nodes, ['entry', node], entries)) {
    for (const row of page) {
      const entry = row['entry'] as EntryKey
      const partition = partitionOf(entry)
      if (partition !== undefined) rows.push({ node: row[node] as number, entry, partition })
    }
    yield
  }
  return rows
}

/** Reads the links whose source is one of these entries, or all links (null), with pauses between pages of rows. */
export function* readEdges(
  reader: StoreReader,
  declared: LinkIndexDeclaration,
  entries: readonly EntryKey[] | null,
): Steps<EdgeRow[]> {
  const { edges, source, target, relation, weight } = declared
  const rows: EdgeRow[] = []
  for (const page of pages(reader, edges, ['entry', source, target, relation, weight], entries)) {
    for (const row of page) {
      rows.push({
        entry: row['entry'] as EntryKey,
        source: row[source] as number,
        target: row[target] as number,
        relation: row[relation] as string,
        weight: row[weight] as number,
      })
    }
    yield
  }
  return rows
}

function* pages(
  reader: StoreReader,
  table: TableDeclaration,
  wanted: readonly string[],
  entries: readonly EntryKey[] | null,
): Generator<readonly Row[]> {
  const columns = [...new Set([...wanted, ...table.key])]
  const rows = reader.table(table)
  for (let after: Row | undefined; ; ) {
    const page: TablePage = { after, limit: PAGE, columns, ...(entries === null ? {} : { entries }) }
    const found = rows.scan({}, page)
    yield found
    const last = found.at(-1)
    if (last === undefined || found.length < PAGE) return
    after = Object.fromEntries(table.key.map(name => [name, last[name] ?? null]))
  }
}
