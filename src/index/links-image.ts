/** A graph as bytes and back: a header in JSON, then nodes and links column by column, in order. */
import { must } from '../base/assert.ts'
import { invalidArgument } from '../model/errors.ts'
import { type LinkGraph, NONE } from './links-graph.ts'
import type { EdgeRow, NodeRow } from './links-rows.ts'

/** Raised when this layout changes. */
const FORMAT = 1
const ALIGNMENT = 8

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

/** Throws when the bytes are no image of this graph. */
export function readLinkImage(bytes: Uint8Array, of: string): GraphRows {
  const { header, end } = readHeader(bytes, of)
  const { nodes, links, relations } = header
  const length = 8 * (nodes + 3 * links) + 4 * (2 * nodes + links)
  if (bytes.byteLength !== end + length) throw refused(bytes.byteLength, `${end + length} bytes`)
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
  const nodeRows = Array.from(numbers, (node, i) => {
    return { node, entry: entries[i] as number, partition: partitions[i] as number }
  })
  const entryOf = new Map(nodeRows.map(({ node, entry }) => [node, entry]))
  const edges = Array.from(sources, (source, i) => {
    const relation = relations[named[i] as number]
    if (relation === undefined) throw refused(named[i], 'a relation that is named')
    return {
      entry: must(entryOf.get(source), 'the source of a link'),
      source,
      target: targets[i] as number,
      relation,
      weight: weights[i] as number,
    }
  })
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

/** Its length (u32), the JSON, and blanks up to where numbers may begin. */
function headerBytes(header: Header): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const bytes = new Uint8Array(Math.ceil((4 + json.byteLength) / ALIGNMENT) * ALIGNMENT).fill(0x20)
  new DataView(bytes.buffer).setUint32(0, bytes.byteLength - 4, true)
  bytes.set(json, 4)
  return bytes
}

function readHeader(bytes: Uint8Array, of: string): { header: Header; end: number } {
  const length = bytes.byteLength < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const end = 4 + length
  if (length === 0 || end > bytes.byteLength) throw refused(bytes.byteLength, 'a header')
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))) as Partial<Header>
  const { format, relations, nodes, links } = header
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
  if (format !== FORMAT || header.of !== of || !Array.isArray(relations) || !isCount(nodes) || !isCount(links)) {
    throw refused(header.of, `a graph of ${of}`)
  }
  return { header: header as Header, end }
}

function refused(value: unknown, expected: string): Error {
  return invalidArgument('snapshot', value, expected)
}
