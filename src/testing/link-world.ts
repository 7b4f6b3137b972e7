/** A small store with a graph, for suites of link indexes: few numbers, so that links meet, double and wait for nodes. */
import fc from 'fast-check'
import { Bitset } from '../base/bitset.ts'
import type { LinkIndexDeclaration, SearchScope } from '../index/contract.ts'
import type { EntryKey } from '../model/entry.ts'
import { type Audience, audience, type PartitionId, partitionKey } from '../model/partition.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { draftOf, wholeChunk } from './entries.ts'

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

const AUDIENCES = {
  public: audience('public', 'ann'),
  ann: audience('private', 'ann'),
  bob: audience('private', 'bob'),
} as const satisfies Record<string, Audience>

export type AudienceName = keyof typeof AUDIENCES

/** Nodes are numbered 1 to 12, and each number is always the same holder's. */
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
  readonly anchors: readonly { readonly node: number; readonly weight: number }[]
  readonly damping: number
  readonly iterations: number
}

export function linkEdits(maxLength = 30): fc.Arbitrary<LinkEdit[]> {
  const link = fc.record({
    to: fc.integer({ min: 1, max: 12 }),
    sort: fc.constantFrom('CALLS', 'USES', 'EXTENDS', '𝒳', 'ﬀ'),
    width: fc.oneof(fc.constantFrom(1, 0.5, 0.1, 0), fc.double({ min: 0, max: 9, noNaN: true })),
  })
  const edit = fc.record({
    do: fc.constantFrom<LinkEdit['do'][]>('put', 'put', 'put', 'put', 'bare', 'move', 'touch', 'delete', 'prune'),
    node: fc.integer({ min: 1, max: 12 }),
    isPublic: fc.boolean(),
    links: fc.array(link, { maxLength: 5 }),
  })
  return fc.array(edit, { maxLength, size: 'max' })
}

export function linkQuestions(): fc.Arbitrary<LinkQuestion[]> {
  const node = fc.integer({ min: 1, max: 13 })
  const question = fc.record({
    node,
    partitions: fc.subarray(Object.keys(AUDIENCES) as AudienceName[]),
    allow: fc.option(fc.array(node, { maxLength: 9 })),
    anchors: fc.array(fc.record({ node, weight: fc.double({ min: 0.01, max: 10, noNaN: true }) }), { maxLength: 4 }),
    damping: fc.constantFrom(0.85, 0.5, 0),
    iterations: fc.constantFrom(0, 1, 20, 50),
  })
  return fc.array(question, { minLength: 1, maxLength: 4 })
}

export class LinkWorld {
  readonly store: Store
  #now = 1000
  #edge = 0

  constructor(store: Store) {
    this.store = store
    store.write(0, writer => Object.values(AUDIENCES).map(one => writer.intern(one)))
  }

  apply(history: readonly LinkEdit[]): void {
    for (const edit of history) this.store.write(this.#now++, writer => this.#edit(writer, edit))
  }

  partitionsOf(...names: readonly AudienceName[]): PartitionId[] {
    const keys = new Set(names.map(name => partitionKey(AUDIENCES[name])))
    return this.store.partitions().flatMap(({ id, audience: of }) => (keys.has(partitionKey(of)) ? [id] : []))
  }

  scope({ partitions, allow }: LinkQuestion): SearchScope {
    const keys = allow?.flatMap(node => entryOf(this.store, node) ?? [])
    return { partitions: this.partitionsOf(...partitions), ...(keys === undefined ? {} : { allow: Bitset.of(keys) }) }
  }

  #edit(writer: StoreWriter, { do: what, node, isPublic, links }: LinkEdit): void {
    const before = entryOf(writer, node)
    const entry = before === undefined ? undefined : writer.entry(before)
    const holder = node % 2 === 0 ? 'ann' : 'bob'
    const of = audience(isPublic ? 'public' : 'private', holder)
    switch (what) {
      case 'put':
      case 'bare': {
        const draft = draftOf({ id: `town-${node}`, audience: of })
        const { key } = writer.put(draft, wholeChunk(draft))
        writer.table(GRAPH.nodes).delete({ entry: key })
        writer.table(GRAPH.edges).delete({ entry: key })
        // An entry that is no node may have rows of links all the same: they are none.
        if (what === 'put') writer.table(GRAPH.nodes).put({ entry: key, number: node })
        for (const { to, sort, width } of links) {
          writer.table(GRAPH.edges).put({ id: ++this.#edge, entry: key, a: node, b: to, sort, width })
        }
        writer.announce(key)
        break
      }
      case 'move':
      case 'touch':
        if (entry) {
          const audience = what === 'move' ? of : entry.audience
          writer.put({ ...entry, audience, title: `title ${this.#now}` }, wholeChunk(entry))
        }
        break
      case 'delete':
        if (before !== undefined) writer.delete(before)
        break
      case 'prune':
        writer.pruneChanges(writer.lastSeq())
    }
  }
}

function entryOf(reader: Pick<Store, 'find' | 'partitions'>, node: number): EntryKey | undefined {
  return reader.find(
    `town-${node}`,
    reader.partitions().map(({ id }) => id),
  )[0]
}
