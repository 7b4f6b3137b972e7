/**
 * A graph in arrays that grow: every link is one row and is in two chains, that of its source and that of its target,
 * both kept in order. A change costs the length of the chains it touches. About 36 bytes a link, 24 a node.
 */
import { compareText } from '../../base/compare.ts'
import { StepPace, type Steps, sortInSteps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader, TablePage } from '../../store/store.ts'
import type { LinkIndexDeclaration } from '../contract.ts'
import { checkAspect, checkColumn } from '../declared-tables.ts'

/** End of a chain, and a node without an entry. */
export const NONE = -1

/** Nodes, or links, that are taken in by one step. */
const LOADED_AT_ONCE = 1 << 13

export class LinkGraph {
  /** By slot of a node: its number, its entry (NONE: others link to it, but it is not there), where that is. */
  readonly numbers: GrowingDoubles = new GrowingDoubles()
  readonly entries: GrowingInts = new GrowingInts()
  readonly partitions: GrowingInts = new GrowingInts()
  readonly firstOut: GrowingInts = new GrowingInts()
  readonly firstIn: GrowingInts = new GrowingInts()
  /** By row of a link: slots of its ends, its relation, and the next rows of the two chains. */
  readonly sources: GrowingInts = new GrowingInts()
  readonly targets: GrowingInts = new GrowingInts()
  readonly relations: GrowingInts = new GrowingInts()
  readonly weights: GrowingDoubles = new GrowingDoubles()
  readonly nextOut: GrowingInts = new GrowingInts()
  readonly nextIn: GrowingInts = new GrowingInts()
  readonly relationNames: string[] = []
  readonly #relationNumbers = new Map<string, number>()
  readonly #slots = new Map<number, number>()
  readonly #byEntry = new Map<EntryKey, number>()
  readonly #freeSlots: number[] = []
  readonly #freeRows: number[] = []

  /** Nodes that are there. */
  get nodeCount(): number {
    return this.#byEntry.size
  }

  get byteLength(): number {
    return 36 * this.sources.length + 24 * this.numbers.length + 100 * this.#slots.size
  }

  /** NONE: nobody knows that number. */
  slotOf(node: number): number {
    return this.#slots.get(node) ?? NONE
  }

  nodeOf(entry: EntryKey): number | undefined {
    const slot = this.#byEntry.get(entry)
    return slot === undefined ? undefined : this.numbers.at(slot)
  }

  /** Names of relations that no link has are given up, and their numbers are not used again. In steps, between which nothing may change. */
  *forgetRelations(): Steps<void> {
    const free = new Set(this.#freeRows)
    const used = new Set<number>()
    for (let row = 0; row < this.sources.length; row++) {
      if (!free.has(row)) used.add(this.relations.at(row))
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
    return [...this.#byEntry.values()].sort((a, b) => this.numbers.at(a) - this.numbers.at(b))
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
    // From last to first: each row then becomes the head of its chain.
    rows = yield* sortInSteps(rows, (a, b) => this.#compareOut(b, a))
    for (const row of rows) {
      const source = this.sources.at(row)
      this.nextOut.set(row, this.firstOut.at(source))
      this.firstOut.set(source, row)
      if (pace.isOver(1)) yield
    }
    rows = yield* sortInSteps(rows, (a, b) => this.#compareIn(b, a))
    for (const row of rows) {
      const target = this.targets.at(row)
      this.nextIn.set(row, this.firstIn.at(target))
      this.firstIn.set(target, row)
      if (pace.isOver(1)) yield
    }
  }

  add({ node, entry, partition }: NodeRow): void {
    this.#place(this.#slotFor(node), entry, partition)
  }

  link(edge: EdgeRow): void {
    if (!this.#isSound(edge)) return
    const row = this.#newRow(edge)
    insert(this.firstOut, this.nextOut, this.sources.at(row), row, (a, b) => this.#compareOut(a, b))
    insert(this.firstIn, this.nextIn, this.targets.at(row), row, (a, b) => this.#compareIn(a, b))
  }

  /** Takes out the node of an entry and the links that start there; those that end there wait for it to come back. */
  remove(entry: EntryKey): void {
    const slot = this.#byEntry.get(entry)
    if (slot === undefined) return
    this.#byEntry.delete(entry)
    this.entries.set(slot, NONE)
    for (let row = this.firstOut.at(slot); row !== NONE; ) {
      const next = this.nextOut.at(row)
      const target = this.targets.at(row)
      cut(this.firstIn, this.nextIn, target, row)
      this.#freeRows.push(row)
      if (target !== slot) this.#freeIfUnused(target)
      row = next
    }
    this.firstOut.set(slot, NONE)
    this.#freeIfUnused(slot)
  }

  #isSound({ entry, source }: EdgeRow): boolean {
    return this.nodeOf(entry) === source
  }

  #place(slot: number, entry: EntryKey, partition: PartitionId): void {
    const before = this.entries.at(slot)
    if (before !== NONE) this.#byEntry.delete(before)
    this.entries.set(slot, entry)
    this.partitions.set(slot, partition)
    this.#byEntry.set(entry, slot)
  }

  #slotFor(node: number): number {
    const known = this.#slots.get(node)
    if (known !== undefined) return known
    const slot = this.#freeSlots.pop() ?? this.numbers.length
    this.numbers.set(slot, node)
    this.entries.set(slot, NONE)
    this.partitions.set(slot, NONE)
    this.firstOut.set(slot, NONE)
    this.firstIn.set(slot, NONE)
    this.#slots.set(node, slot)
    return slot
  }

  #freeIfUnused(slot: number): void {
    if (this.entries.at(slot) !== NONE || this.firstOut.at(slot) !== NONE || this.firstIn.at(slot) !== NONE) return
    this.#slots.delete(this.numbers.at(slot))
    this.#freeSlots.push(slot)
  }

  #newRow({ source, target, relation, weight }: EdgeRow): number {
    const row = this.#freeRows.pop() ?? this.sources.length
    this.sources.set(row, this.#slotFor(source))
    this.targets.set(row, this.#slotFor(target))
    this.relations.set(row, this.relationNumber(relation))
    this.weights.set(row, weight)
    this.nextOut.set(row, NONE)
    this.nextIn.set(row, NONE)
    return row
  }

  #compareOut(a: number, b: number): number {
    return this.numbers.at(this.targets.at(a)) - this.numbers.at(this.targets.at(b)) || this.#compareRest(a, b)
  }

  #compareIn(a: number, b: number): number {
    return this.numbers.at(this.sources.at(a)) - this.numbers.at(this.sources.at(b)) || this.#compareRest(a, b)
  }

  #compareRest(a: number, b: number): number {
    const [one, other] = [this.relations.at(a), this.relations.at(b)]
    const byName = one === other ? 0 : compareText(this.#name(one), this.#name(other))
    return byName || this.weights.at(a) - this.weights.at(b)
  }

  #name(relation: number): string {
    return this.relationNames[relation] as string
  }
}

function insert(
  first: GrowingInts,
  next: GrowingInts,
  slot: number,
  row: number,
  compare: (a: number, b: number) => number,
): void {
  let before = NONE
  let at = first.at(slot)
  while (at !== NONE && compare(at, row) <= 0) {
    before = at
    at = next.at(at)
  }
  next.set(row, at)
  if (before === NONE) first.set(slot, row)
  else next.set(before, row)
}

function cut(first: GrowingInts, next: GrowingInts, slot: number, row: number): void {
  let before = NONE
  for (let at = first.at(slot); at !== row; at = next.at(at)) before = at
  if (before === NONE) first.set(slot, next.at(row))
  else next.set(before, next.at(row))
}

const FIRST_CAPACITY = 64

class Growing<Numbers extends Int32Array | Float64Array> {
  #numbers: Numbers
  #length = 0
  readonly #make: (capacity: number) => Numbers

  constructor(make: (capacity: number) => Numbers) {
    this.#make = make
    this.#numbers = make(FIRST_CAPACITY)
  }

  get length(): number {
    return this.#length
  }

  at(index: number): number {
    return this.#numbers[index] as number
  }

  /** At most at the end: there it appends. */
  set(index: number, value: number): void {
    if (index === this.#numbers.length) {
      const larger = this.#make(index * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[index] = value
    if (index === this.#length) this.#length++
  }
}

class GrowingInts extends Growing<Int32Array> {
  constructor() {
    super(capacity => new Int32Array(capacity))
  }
}

class GrowingDoubles extends Growing<Float64Array> {
  constructor() {
    super(capacity => new Float64Array(capacity))
  }
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
