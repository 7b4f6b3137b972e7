/**
 * A graph of nodes that know their links both ways, each list in order. Finding neighbours costs their number; a change costs
 * the length of the lists that it touches.
 */
import { compareText, lowerBound } from '../../base/compare.ts'
import { StepPace, type Steps, sortInSteps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader, TablePage } from '../../store/store.ts'
import { checkAspect, checkColumn, type LinkIndexDeclaration } from '../contract.ts'

/** Nodes, or links, that are taken in by one step. */
const LOADED_AT_ONCE = 1 << 13

/** Bytes that V8 takes for one of each, its share of the maps and lists included. */
const NODE_BYTES = 300
const EDGE_BYTES = 80

export interface GraphNode {
  /** The number that links name it by. */
  readonly number: number
  /** Null: others link to it, but it is not there. */
  place: { readonly entry: EntryKey; readonly partition: PartitionId } | null
  /** By the number of the other node, then by the name of the relation, then by weight. */
  out: GraphEdge[]
  in: GraphEdge[]
}

export interface GraphEdge {
  readonly source: GraphNode
  readonly target: GraphNode
  /** See `relationNames`. */
  readonly relation: number
  readonly weight: number
}

type Compare = (a: GraphEdge, b: GraphEdge) => number

export class LinkGraph {
  /** By number: an empty name is that of a relation that was forgotten. */
  readonly relationNames: string[] = []
  readonly #relationNumbers = new Map<string, number>()
  readonly #nodes = new Map<number, GraphNode>()
  readonly #byEntry = new Map<EntryKey, GraphNode>()
  #edgeCount = 0

  /** Nodes that are there. */
  get nodeCount(): number {
    return this.#byEntry.size
  }

  get byteLength(): number {
    return NODE_BYTES * this.#nodes.size + EDGE_BYTES * this.#edgeCount
  }

  /** Also of a node that others link to and that is not there. */
  node(number: number): GraphNode | undefined {
    return this.#nodes.get(number)
  }

  nodeOf(entry: EntryKey): GraphNode | undefined {
    return this.#byEntry.get(entry)
  }

  /** Names of relations that no link has are given up, and their numbers are not used again. In steps, between which nothing may change. */
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

  /** Nodes that are there, by number ascending. */
  nodesInOrder(): GraphNode[] {
    return [...this.#byEntry.values()].sort((a, b) => a.number - b.number)
  }

  /** Takes a whole graph into this empty one, in steps: sorts once instead of looking for each link's place. */
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

  /** Takes out the node of an entry and the links that start there; those that end there wait for it to come back. */
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

  /** Null: the source is not the node of the entry. */
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

/** Behind those that compare equal. */
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
  /** Entry of the source. A row whose source is not its entry's node is no link. */
  readonly entry: EntryKey
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

/** Rows read at once. */
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

/** Nodes of these entries, or (null) all, in steps; `partitionOf` knows where entries are: of one that it does not know there is no node. */
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

/** Links whose source is one of these entries, or (null) all, in steps. */
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
