/** The link index: a graph of entries, both ways, partition by partition. Finding neighbours costs their number. */
import { must } from '../base/assert.ts'
import { atOnce, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { isMostOf, partitionOfAll, readPlaces } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import type { Link, LinkIndex, LinkIndexDeclaration, LinkRank, LinkWalk, SearchScope } from './contract.ts'
import { LinkGraph, NONE } from './links/graph.ts'
import { linkImage, readLinkImage } from './links/image.ts'
import { checkDeclared, type EdgeRow, type NodeRow, readEdges, readNodes } from './links/rows.ts'
import { type ScopeView, seeing, viewOf } from './links/scope.ts'
import { checkWalk, walk } from './links/walk.ts'

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
  /** The view of the last walk: most walks are those of one viewer over one state. */
  #view: { readonly key: string; readonly view: ScopeView } | null = null

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
    const { numbers, links } = this.#viewOf(scope)
    return { nodes: numbers.length, links }
  }

  rank(request: LinkWalk): readonly LinkRank[] {
    checkWalk(request)
    return walk(this.#viewOf(request), request)
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
    this.#view = null
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

  #viewOf(scope: SearchScope): ScopeView {
    if (scope.allow !== undefined) return viewOf(this.#graph, scope)
    const key = [this.#graph.revision, ...[...scope.partitions].sort((a, b) => a - b)].join()
    if (this.#view?.key !== key) this.#view = { key, view: viewOf(this.#graph, scope) }
    return this.#view.view
  }

  get #shape(): string {
    const { nodes, node, edges, source, target, relation, weight } = this.#declared
    return [nodes.name, node, edges.name, source, target, relation, weight].join(' ')
  }
}
