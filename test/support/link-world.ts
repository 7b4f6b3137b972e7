/** A small store with a graph, for suites of link indexes: few numbers, so that links meet, double and wait for nodes. */
import fc from 'fast-check'
import { Bitset } from '../../src/base/bitset.ts'
import type { LinkIndexDeclaration, SearchScope } from '../../src/index/contract.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import { type Audience, audience } from '../../src/model/partition.ts'
import type { Store, StoreReader, StoreWriter } from '../../src/store/store.ts'
import { draftOf, wholeChunk } from './entries.ts'
import { AUDIENCE_NAMES, type AudienceName, IndexWorld } from './index-world.ts'

export const GRAPH: LinkIndexDeclaration = {
  name: 'roads',
  nodes: {
    name: 'towns',
    ofEntry: true,
    key: ['entry'],
    columns: [
      { name: 'entry', type: 'integer' },
      { name: 'number', type: 'integer' },
    ],
  },
  node: 'number',
  edges: {
    name: 'ways',
    ofEntry: true,
    key: ['id'],
    columns: [
      { name: 'id', type: 'integer' },
      { name: 'entry', type: 'integer' },
      { name: 'a', type: 'integer' },
      { name: 'b', type: 'integer' },
      { name: 'sort', type: 'text' },
      { name: 'width', type: 'real' },
    ],
  },
  source: 'a',
  target: 'b',
  relation: 'sort',
  weight: 'width',
}

/** Nodes are numbered 1 to 12; the even ones are ann's, the odd ones bob's. Links lead beyond too. */
export interface LinkEdit {
  /** `put` (re)makes a node with its links; `bare` an entry that is none; `move` between public and private. */
  readonly do: 'put' | 'bare' | 'move' | 'touch' | 'delete' | 'prune'
  readonly node: number
  readonly isPublic: boolean
  readonly links: readonly { readonly to: number; readonly sort: string; readonly width: number }[]
}

export interface LinkQuestion {
  readonly node: number
  readonly partitions: readonly AudienceName[]
  readonly allow: readonly number[] | null
}

/** Of one node. */
const MAX_LINKS = 5

export function linkEdits(maxLength = 30): fc.Arbitrary<LinkEdit[]> {
  const link = fc.record({
    to: fc.integer({ min: 1, max: 16 }),
    sort: fc.constantFrom('CALLS', 'USES', 'EXTENDS', '𝒳', 'ﬀ'),
    width: fc.oneof(fc.constantFrom(1, 0.5, 0.1, 0), fc.double({ min: 0, max: 9, noNaN: true })),
  })
  const edit = fc.record({
    do: fc.constantFrom<LinkEdit['do'][]>('put', 'put', 'put', 'put', 'bare', 'move', 'touch', 'delete', 'prune'),
    node: fc.integer({ min: 1, max: 12 }),
    isPublic: fc.boolean(),
    links: fc.array(link, { maxLength: MAX_LINKS }),
  })
  return fc.array(edit, { maxLength, size: 'max' })
}

export function linkQuestions(): fc.Arbitrary<LinkQuestion[]> {
  const node = fc.integer({ min: 1, max: 13 })
  const question = fc.record({
    node,
    partitions: fc.subarray([...AUDIENCE_NAMES]),
    allow: fc.option(fc.array(node, { maxLength: 9 })),
  })
  return fc.array(question, { minLength: 1, maxLength: 4 })
}

export class LinkWorld extends IndexWorld<LinkEdit> {
  constructor(store: Store) {
    super(store, edit)
  }

  scope({ partitions, allow }: LinkQuestion): SearchScope {
    const keys = allow?.flatMap(node => entryOf(this.store, node) ?? [])
    return { partitions: this.partitionsOf(...partitions), ...(keys === undefined ? {} : { allow: Bitset.of(keys) }) }
  }
}

function edit(writer: StoreWriter, change: LinkEdit, now: number): void {
  const key = entryOf(writer, change.node)
  const entry = key === undefined ? undefined : writer.entry(key)
  switch (change.do) {
    case 'put':
    case 'bare':
      put(writer, change, now)
      break
    case 'move':
    case 'touch':
      if (entry) {
        const audience = change.do === 'move' ? audienceOf(change) : entry.audience
        writer.put({ ...entry, audience, title: `title ${now}` }, wholeChunk(entry))
      }
      break
    case 'delete':
      if (entry) writer.delete(entry.key)
      break
    case 'prune':
      writer.pruneChanges(writer.lastSeq())
  }
}

function put(writer: StoreWriter, change: LinkEdit, now: number): void {
  const { node, links } = change
  const draft = draftOf({ id: idOf(node), audience: audienceOf(change) })
  const { key } = writer.put(draft, wholeChunk(draft))
  const [nodes, edges] = [writer.table(GRAPH.nodes), writer.table(GRAPH.edges)]
  nodes.delete({ entry: key })
  edges.delete({ entry: key })
  // An entry that is no node may have rows of links all the same: they are none.
  if (change.do === 'put') nodes.put({ entry: key, number: node })
  for (const [at, { to, sort, width }] of links.entries()) {
    edges.put({ id: now * MAX_LINKS + at, entry: key, a: node, b: to, sort, width })
  }
  writer.announce(key)
}

function audienceOf({ node, isPublic }: LinkEdit): Audience {
  return audience(isPublic ? 'public' : 'private', node % 2 === 0 ? 'ann' : 'bob')
}

function entryOf(reader: StoreReader, node: number): EntryKey | undefined {
  const everywhere = reader.partitions().map(({ id }) => id)
  return reader.find(idOf(node), everywhere)[0]
}

function idOf(node: number): string {
  return `town-${node}`
}
