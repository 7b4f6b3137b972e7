/** The link index: a graph of entries, both ways, partition by partition. Finding neighbours costs their number. */
import { must } from '../base/assert.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { isMostOf, partitionOfAll, readPlaces } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import type { Link, LinkIndex, LinkIndexDeclaration, SearchScope } from './contract.ts'
import {
  checkEntryKeys,
  checkLength,
  headerBytes,
  isCount,
  readHeader,
  refusedImage,
  type UncheckedHeader,
} from './image.ts'
import { checkDeclared, type EdgeRow, LinkGraph, NONE, type NodeRow, readEdges, readNodes } from './links/graph.ts'

/** Changed entries that are taken in by one step. */
const CHANGED_AT_ONCE = 200

export function openLinkIndex(declared: LinkIndexDeclaration): LinkIndex {
  checkDeclared(declared)
  return new Links(declared)
}

class Links implements LinkIndex {
  readonly name: string
  readonly #declared: LinkIndexDeclaration
  #graph = new LinkGraph()
  #position = 0

  constructor(declared: LinkIndexDeclaration) {
    this.name = declared.name
    this.#declared = declared
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#graph.byteLength
  }

  out(node: number, scope: SearchScope): readonly Link[] {
    const { firstOut, nextOut, targets } = this.#graph
    return this.#chain(node, scope, firstOut, nextOut, targets)
  }

  in(node: number, scope: SearchScope): readonly Link[] {
    const { firstIn, nextIn, sources } = this.#graph
    return this.#chain(node, scope, firstIn, nextIn, sources)
  }

  relationName(relation: number): string {
    return must(this.#graph.relationNames[relation], 'a relation of this index')
  }

  entryOf(node: number, scope: SearchScope): EntryKey | undefined {
    const slot = this.#graph.slotOf(node)
    return slot !== NONE && seeing(this.#graph, scope)(slot) ? this.#graph.entries.at(slot) : undefined
  }

  nodeOf(entry: EntryKey): number | undefined {
    return this.#graph.nodeOf(entry)
  }

  count(scope: SearchScope): { readonly nodes: number; readonly links: number } {
    const graph = this.#graph
    const sees = seeing(graph, scope)
    const slots = graph.slotsInOrder().filter(sees)
    const links = slots.flatMap(slot => chainOf(graph, slot)).filter(row => sees(graph.targets.at(row)))
    return { nodes: slots.length, links: links.length }
  }

  refresh(reader: StoreReader): number {
    return atOnce(this.refreshInSteps(reader))
  }

  *refreshInSteps(reader: StoreReader): Steps<number> {
    const before = this.#position
    const news = before === 0 ? null : yield* readPlaces(reader, before)
    if (news === null || isMostOf(this.#graph.nodeCount, news.partitionOf.size)) {
      yield* this.rebuildInSteps(reader)
      return Math.max(0, this.#position - before)
    }
    yield* this.#take(reader, news.partitionOf)
    this.#position = news.position
    return news.changes
  }

  rebuild(reader: StoreReader): void {
    atOnce(this.rebuildInSteps(reader))
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
    return linkImage(this.#graph, this.#shape)
  }

  restore(bytes: Uint8Array, position: number): void {
    atOnce(this.restoreInSteps(bytes, position))
  }

  *restoreInSteps(bytes: Uint8Array, position: number): Steps<void> {
    const { nodes, edges } = yield* readLinkImage(bytes, this.#shape, position)
    yield* this.#load(nodes, edges, position)
  }

  *#load(nodes: readonly NodeRow[], edges: readonly EdgeRow[], position: number): Steps<void> {
    const graph = new LinkGraph()
    yield* graph.load(nodes, edges)
    this.#graph = graph
    this.#position = position
  }

  /** What the entries of these changes are now: so many of them a step. */
  *#take(reader: StoreReader, partitionOf: ReadonlyMap<EntryKey, PartitionId>): Steps<void> {
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

  #chain(
    node: number,
    scope: SearchScope,
    first: LinkGraph['firstOut'],
    next: LinkGraph['nextOut'],
    others: LinkGraph['targets'],
  ): readonly Link[] {
    const graph = this.#graph
    const sees = seeing(graph, scope)
    const slot = graph.slotOf(node)
    if (slot === NONE || !sees(slot)) return []
    const links: Link[] = []
    for (let row = first.at(slot); row !== NONE; row = next.at(row)) {
      const other = others.at(row)
      if (!sees(other)) continue
      links.push({ node: graph.numbers.at(other), relation: graph.relations.at(row), weight: graph.weights.at(row) })
    }
    return links
  }

  get #shape(): string {
    const { nodes, node, edges, source, target, relation, weight } = this.#declared
    return [nodes.name, node, edges.name, source, target, relation, weight].join(' ')
  }
}

/** Whether a node is in scope, by slot. */
function seeing(graph: LinkGraph, { partitions, allow }: SearchScope): (slot: number) => boolean {
  const visible = new Set(partitions)
  return slot => {
    const entry = graph.entries.at(slot)
    return entry !== NONE && visible.has(graph.partitions.at(slot)) && (allow?.has(entry) ?? true)
  }
}

/** Raised when this layout changes. */
const FORMAT = 1

interface Header {
  readonly format: number
  /** The tables and columns it was read from: those of another graph are not taken. */
  readonly of: string
  readonly relations: readonly string[]
  readonly nodes: number
  readonly links: number
}

interface GraphRows {
  readonly nodes: readonly NodeRow[]
  readonly edges: readonly EdgeRow[]
}

/** A relation that no link has any more is left out: its name is somebody's words. */
export function linkImage(graph: LinkGraph, of: string): readonly Uint8Array[] {
  const slots = graph.slotsInOrder()
  const rows = slots.flatMap(slot => chainOf(graph, slot))
  const used = [...new Set(rows.map(row => graph.relations.at(row)))].sort((a, b) => a - b)
  const numbers = new Map(used.map((relation, number) => [relation, number]))
  const header: Header = {
    format: FORMAT,
    of,
    relations: used.map(relation => graph.relationNames[relation] as string),
    nodes: slots.length,
    links: rows.length,
  }
  const doubles = (numbers: Iterable<number>) => bytesOf(Float64Array.from(numbers))
  const ints = (numbers: Iterable<number>) => bytesOf(Int32Array.from(numbers))
  return [
    headerBytes(header),
    doubles(slots.map(slot => graph.numbers.at(slot))),
    doubles(rows.map(row => graph.numbers.at(graph.sources.at(row)))),
    doubles(rows.map(row => graph.numbers.at(graph.targets.at(row)))),
    doubles(rows.map(row => graph.weights.at(row))),
    ints(slots.map(slot => graph.entries.at(slot))),
    ints(slots.map(slot => graph.partitions.at(slot))),
    ints(rows.map(row => numbers.get(graph.relations.at(row)) as number)),
  ]
}

/** Rows made in one step. */
const ROWS_AT_ONCE = 1 << 14

/** In steps. Throws when the bytes are no image of this graph at this position of the feed. */
export function* readLinkImage(bytes: Uint8Array, of: string, position: number): Steps<GraphRows> {
  const { header, end } = readHeader(bytes)
  const { nodes, links, relations } = headerOf(header, of)
  checkLength(bytes, end + 8 * (nodes + 3 * links) + 4 * (2 * nodes + links))
  // A copy: the bytes may begin anywhere in a larger buffer, and numbers must not.
  const { buffer } = new Uint8Array(bytes.subarray(end))
  let at = 0
  const doubles = (count: number) => {
    const numbers = new Float64Array(buffer, at, count)
    at += 8 * count
    return numbers
  }
  const [numbers, sources, targets, weights] = [doubles(nodes), doubles(links), doubles(links), doubles(links)]
  const ints = (count: number) => {
    const values = new Int32Array(buffer, at, count)
    at += 4 * count
    return values
  }
  const [entries, partitions, named] = [ints(nodes), ints(nodes), ints(links)]
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

function chainOf(graph: LinkGraph, slot: number): number[] {
  const rows: number[] = []
  for (let row = graph.firstOut.at(slot); row !== NONE; row = graph.nextOut.at(row)) rows.push(row)
  return rows
}

function bytesOf(numbers: Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
}

function headerOf(found: UncheckedHeader, of: string): Header {
  const { format, relations, nodes, links } = found
  const areNames = Array.isArray(relations) && relations.every(name => typeof name === 'string')
  if (format !== FORMAT || found['of'] !== of || !areNames || !isCount(nodes) || !isCount(links)) {
    throw refusedImage(found['of'], `a graph of ${of}`)
  }
  return found as unknown as Header
}
