/**
 * The link index as its contract reads: all links in a list, every question answered by looking at all of them.
 * The oracle of the suites.
 */
import { compareText } from '../../src/base/compare.ts'
import type { Link, LinkIndex, LinkIndexDeclaration, SearchScope } from '../../src/index/contract.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import type { StoreReader } from '../../src/store/store.ts'

interface Node {
  readonly node: number
  readonly entry: EntryKey
  readonly partition: number
}

interface Edge {
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

export function openReferenceLinks(declared: LinkIndexDeclaration): LinkIndex {
  return new ReferenceLinks(declared)
}

class ReferenceLinks implements LinkIndex {
  readonly name: string
  readonly #declared: LinkIndexDeclaration
  readonly #relations: string[] = []
  #nodes: readonly Node[] = []
  #edges: readonly Edge[] = []
  #position = 0

  constructor(declared: LinkIndexDeclaration) {
    this.name = declared.name
    this.#declared = declared
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return 100 * (this.#nodes.length + this.#edges.length)
  }

  refresh(reader: StoreReader): number {
    const applied = Math.max(0, reader.lastSeq() - this.#position)
    if (applied > 0) this.rebuild(reader)
    return applied
  }

  rebuild(reader: StoreReader): void {
    const { nodes, node, edges, source, target, relation, weight } = this.#declared
    this.#nodes = reader
      .table(nodes)
      .scan()
      .map(row => {
        const entry = row['entry'] as EntryKey
        return { node: row[node] as number, entry, partition: reader.entry(entry)?.partition ?? -1 }
      })
    this.#edges = reader
      .table(edges)
      .scan()
      .filter(row => this.#nodeOf(row['entry'] as EntryKey) === row[source])
      .map(row => ({
        source: row[source] as number,
        target: row[target] as number,
        relation: row[relation] as string,
        weight: row[weight] as number,
      }))
    this.#position = reader.lastSeq()
  }

  serialise(): readonly Uint8Array[] {
    return [new TextEncoder().encode(JSON.stringify([this.#nodes, this.#edges]))]
  }

  restore(bytes: Uint8Array, position: number): void {
    const [nodes, edges] = JSON.parse(new TextDecoder().decode(bytes)) as [Node[], Edge[]]
    this.#nodes = nodes
    this.#edges = edges
    this.#position = position
  }

  out(node: number, scope: SearchScope): readonly Link[] {
    return this.#links(
      scope,
      ({ source }) => source === node,
      ({ target }) => target,
    )
  }

  in(node: number, scope: SearchScope): readonly Link[] {
    return this.#links(
      scope,
      ({ target }) => target === node,
      ({ source }) => source,
    )
  }

  relationName(relation: number): string {
    return this.#relations[relation] as string
  }

  #nodeOf(entry: EntryKey): number | undefined {
    return this.#nodes.find(node => node.entry === entry)?.node
  }

  count(scope: SearchScope): { readonly nodes: number; readonly links: number } {
    return {
      nodes: this.#visible(scope).length,
      links: this.#links(
        scope,
        () => true,
        ({ target }) => target,
      ).length,
    }
  }

  #visible({ partitions, allow }: SearchScope): readonly Node[] {
    return this.#nodes.filter(
      ({ partition, entry }) => partitions.includes(partition) && (allow === undefined || allow.has(entry)),
    )
  }

  #links(scope: SearchScope, of: (edge: Edge) => boolean, other: (edge: Edge) => number): readonly Link[] {
    const seen = new Set(this.#visible(scope).map(({ node }) => node))
    return this.#edges
      .filter(edge => of(edge) && seen.has(edge.source) && seen.has(edge.target))
      .sort((a, b) => other(a) - other(b) || compareText(a.relation, b.relation) || a.weight - b.weight)
      .map(edge => ({ node: other(edge), relation: this.#number(edge.relation), weight: edge.weight }))
  }

  #number(relation: string): number {
    const known = this.#relations.indexOf(relation)
    return known >= 0 ? known : this.#relations.push(relation) - 1
  }
}
