/** A graph as bytes and back: a header in JSON, then nodes and links column by column, in order. */
import { must } from '../../base/assert.ts'
import { StepPace, type Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import {
  checkEntryKeys,
  checkLength,
  headerBytes,
  isCount,
  readHeader,
  refusedImage,
  type UncheckedHeader,
} from '../image.ts'
import { type LinkGraph, NONE } from './graph.ts'
import type { EdgeRow, NodeRow } from './rows.ts'

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

export interface GraphRows {
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
