/**
 * A graph in arrays that grow: every link is one row and is in two chains, that of its source and that of its target,
 * both kept in order. A change costs the length of the chains it touches. About 36 bytes a link, 24 a node.
 */
import { type ColumnArrays, Columns } from '../../base/columns.ts'
import { compareText } from '../../base/compare.ts'
import { StepPace, type Steps, sortInSteps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader, TablePage } from '../../store/store.ts'
import type { LinkIndexDeclaration } from '../contract.ts'
import { checkAspect, checkColumn } from '../derived-index.ts'

/** End of a chain, and a node without an entry. */
export const NONE = -1

/** Nodes, or links, that are taken in by one step. */
const LOADED_AT_ONCE = 1 << 13

/** By slot of a node. */
const NODES = {
  /** The number that links name it by. */
  numbers: { of: Float64Array },
  /** NONE: others link to it, but it is not there. */
  entries: { of: Int32Array, empty: NONE },
  partitions: { of: Int32Array, empty: NONE },
  /** Heads of the two chains: rows of links. */
  firstOut: { of: Int32Array, empty: NONE },
  firstIn: { of: Int32Array, empty: NONE },
} as const

/** By row of a link. */
const LINKS = {
  /** Slots of its ends. */
  sources: { of: Int32Array },
  targets: { of: Int32Array },
  relations: { of: Int32Array },
  weights: { of: Float64Array },
  /** The next rows of the two chains. */
  nextOut: { of: Int32Array, empty: NONE },
  nextIn: { of: Int32Array, empty: NONE },
} as const

/** Enough for a small code base. */
const FIRST_ROWS = 64

export class LinkGraph {
  readonly #nodes = new Columns(NODES, FIRST_ROWS)
  readonly #links = new Columns(LINKS, FIRST_ROWS)
  #slotCount = 0
  #rowCount = 0
  readonly relationNames: string[] = []
  readonly #relationNumbers = new Map<string, number>()
  readonly #slots = new Map<number, number>()
  readonly #byEntry = new Map<EntryKey, number>()
  readonly #freeSlots: number[] = []
  readonly #freeRows: number[] = []

  /** By slot. Good until the next change, as are the links. */
  get nodes(): ColumnArrays<typeof NODES> {
    return this.#nodes.arrays
  }

  /** By row. */
  get links(): ColumnArrays<typeof LINKS> {
    return this.#links.arrays
  }

  /** Nodes that are there. */
  get nodeCount(): number {
    return this.#byEntry.size
  }

  get byteLength(): number {
    return this.#links.byteLength + this.#nodes.byteLength + 100 * this.#slots.size
  }

  /** NONE: nobody knows that number. */
  slotOf(node: number): number {
    return this.#slots.get(node) ?? NONE
  }

  nodeOf(entry: EntryKey): number | undefined {
    const slot = this.#byEntry.get(entry)
    return slot === undefined ? undefined : this.nodes.numbers[slot]
  }

  /** Names of relations that no link has are given up, and their numbers are not used again. In steps, between which nothing may change. */
  *forgetRelations(): Steps<void> {
    const free = new Set(this.#freeRows)
    const used = new Set<number>()
    for (let row = 0; row < this.#rowCount; row++) {
      if (!free.has(row)) used.add(this.links.relations[row] as number)
      if ((row + 1) % LOADED_AT_ONCE === 0) yield
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

  /** Slots of nodes that are there, by number ascending. */
  slotsInOrder(): number[] {
    const { numbers } = this.nodes
    return [...this.#byEntry.values()].sort((a, b) => (numbers[a] as number) - (numbers[b] as number))
  }

  /** Rows of the links that start there, in order. */
  rowsFrom(slot: number): number[] {
    const { nextOut } = this.links
    const rows: number[] = []
    for (let row = this.nodes.firstOut[slot] as number; row !== NONE; row = nextOut[row] as number) rows.push(row)
    return rows
  }

  /** Takes a whole graph into this empty one, in steps: sorts once instead of looking for each link's place. */
  *load(nodes: Iterable<NodeRow>, edges: readonly EdgeRow[]): Steps<void> {
    const pace = new StepPace(LOADED_AT_ONCE)
    for (const { node, entry, partition } of nodes) {
      this.#place(this.#slotFor(node), entry, partition)
      if (pace.isOver(1)) yield
    }
    let rows: number[] = []
    for (const edge of edges) {
      if (this.#isSound(edge)) rows.push(this.#newRow(edge))
      if (pace.isOver(1)) yield
    }
    const { firstOut, firstIn } = this.nodes
    const { sources, targets, nextOut, nextIn } = this.links
    // From last to first: each row then becomes the head of its chain.
    rows = yield* sortInSteps(rows, (a, b) => this.#compareOut(b, a))
    for (const row of rows) {
      const source = sources[row] as number
      nextOut[row] = firstOut[source] as number
      firstOut[source] = row
      if (pace.isOver(1)) yield
    }
    rows = yield* sortInSteps(rows, (a, b) => this.#compareIn(b, a))
    for (const row of rows) {
      const target = targets[row] as number
      nextIn[row] = firstIn[target] as number
      firstIn[target] = row
      if (pace.isOver(1)) yield
    }
  }

  add({ node, entry, partition }: NodeRow): void {
    this.#place(this.#slotFor(node), entry, partition)
  }

  link(edge: EdgeRow): void {
    if (!this.#isSound(edge)) return
    const row = this.#newRow(edge)
    const { firstOut, firstIn } = this.nodes
    const { sources, targets, nextOut, nextIn } = this.links
    insert(firstOut, nextOut, sources[row] as number, row, (a, b) => this.#compareOut(a, b))
    insert(firstIn, nextIn, targets[row] as number, row, (a, b) => this.#compareIn(a, b))
  }

  /** Takes out the node of an entry and the links that start there; those that end there wait for it to come back. */
  remove(entry: EntryKey): void {
    const slot = this.#byEntry.get(entry)
    if (slot === undefined) return
    this.#byEntry.delete(entry)
    const { entries, firstOut, firstIn } = this.nodes
    const { targets, nextOut, nextIn } = this.links
    entries[slot] = NONE
    for (let row = firstOut[slot] as number; row !== NONE; ) {
      const next = nextOut[row] as number
      const target = targets[row] as number
      cut(firstIn, nextIn, target, row)
      this.#freeRows.push(row)
      if (target !== slot) this.#freeIfUnused(target)
      row = next
    }
    firstOut[slot] = NONE
    this.#freeIfUnused(slot)
  }

  #isSound({ entry, source }: EdgeRow): boolean {
    return this.nodeOf(entry) === source
  }

  #place(slot: number, entry: EntryKey, partition: PartitionId): void {
    const { entries, partitions } = this.nodes
    const before = entries[slot] as number
    if (before !== NONE) this.#byEntry.delete(before)
    entries[slot] = entry
    partitions[slot] = partition
    this.#byEntry.set(entry, slot)
  }

  #slotFor(node: number): number {
    const known = this.#slots.get(node)
    if (known !== undefined) return known
    const slot = this.#freeSlots.pop() ?? this.#slotCount++
    this.#nodes.reserve(this.#slotCount)
    const { numbers, entries, partitions, firstOut, firstIn } = this.nodes
    numbers[slot] = node
    entries[slot] = NONE
    partitions[slot] = NONE
    firstOut[slot] = NONE
    firstIn[slot] = NONE
    this.#slots.set(node, slot)
    return slot
  }

  #freeIfUnused(slot: number): void {
    const { numbers, entries, firstOut, firstIn } = this.nodes
    if (entries[slot] !== NONE || firstOut[slot] !== NONE || firstIn[slot] !== NONE) return
    this.#slots.delete(numbers[slot] as number)
    this.#freeSlots.push(slot)
  }

  #newRow({ source, target, relation, weight }: EdgeRow): number {
    const row = this.#freeRows.pop() ?? this.#rowCount++
    this.#links.reserve(this.#rowCount)
    const { sources, targets, relations, weights, nextOut, nextIn } = this.links
    sources[row] = this.#slotFor(source)
    targets[row] = this.#slotFor(target)
    relations[row] = this.relationNumber(relation)
    weights[row] = weight
    nextOut[row] = NONE
    nextIn[row] = NONE
    return row
  }

  #compareOut(a: number, b: number): number {
    const { targets } = this.links
    return this.#compareNodes(targets[a] as number, targets[b] as number) || this.#compareRest(a, b)
  }

  #compareIn(a: number, b: number): number {
    const { sources } = this.links
    return this.#compareNodes(sources[a] as number, sources[b] as number) || this.#compareRest(a, b)
  }

  #compareNodes(a: number, b: number): number {
    const { numbers } = this.nodes
    return (numbers[a] as number) - (numbers[b] as number)
  }

  #compareRest(a: number, b: number): number {
    const { relations, weights } = this.links
    const [one, other] = [relations[a] as number, relations[b] as number]
    const byName = one === other ? 0 : compareText(this.#name(one), this.#name(other))
    return byName || (weights[a] as number) - (weights[b] as number)
  }

  #name(relation: number): string {
    return this.relationNames[relation] as string
  }
}

function insert(
  first: Int32Array,
  next: Int32Array,
  slot: number,
  row: number,
  compare: (a: number, b: number) => number,
): void {
  let before = NONE
  let at = first[slot] as number
  while (at !== NONE && compare(at, row) <= 0) {
    before = at
    at = next[at] as number
  }
  next[row] = at
  if (before === NONE) first[slot] = row
  else next[before] = row
}

function cut(first: Int32Array, next: Int32Array, slot: number, row: number): void {
  let before = NONE
  for (let at = first[slot] as number; at !== row; at = next[at] as number) before = at
  if (before === NONE) first[slot] = next[row] as number
  else next[before] = next[row] as number
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
