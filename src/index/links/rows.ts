/** Reads a graph from the store: nodes from an aspect's table, links from a table of rows that belong to their source. */
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader, TablePage } from '../../store/store.ts'
import type { LinkIndexDeclaration } from '../contract.ts'
import { checkAspect, checkColumn } from '../declared-tables.ts'

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
