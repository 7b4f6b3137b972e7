/** Bringing the stored links of one file in line with those that were read. */
import type { EntryKey } from '../../../model/entry.ts'
import { audience } from '../../../model/partition.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { Call } from '../call.ts'
import { deleteConcept, putConcept } from '../mind/rows.ts'
import { nextNumbers } from '../numbering.ts'
import { EDGES } from '../tables.ts'
import type { CodeBase } from './code-base.ts'
import { conceptsOf } from './file-rows.ts'
import { packageNamed, packageSymbol, symbolOf } from './symbols.ts'

/** Marks links as the indexer's: those of calls are never touched. */
const ORIGIN = 'code'

/** With what it leads to looked up, so that nothing is read for it inside of the transaction. */
export interface FoundLink {
  readonly symbol: string
  readonly relation: string
  readonly weight: number
  readonly target: number | { readonly package: string }
}

interface Wanted {
  readonly entry: EntryKey
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

/** Of a file as it is now in the graph. A concept that has no id is none of the store's. */
export function findLinks(codeBase: CodeBase, path: string): readonly FoundLink[] {
  return codeBase.graph.links(path).flatMap(({ source, relation, target: place, weight }) => {
    const target = 'package' in place ? place : codeBase.idOf(place)
    return target === undefined ? [] : [{ symbol: symbolOf(source), relation, weight, target }]
  })
}

/** What stays the same is not written. Run inside a write transaction. */
export function writeLinks(
  writer: StoreWriter,
  call: Call,
  codeBase: CodeBase,
  url: string,
  links: readonly FoundLink[],
): void {
  const concepts = conceptsOf(writer, url)
  const wanted = new Map<string, Wanted>()
  for (const { symbol, relation, target: place, weight } of links) {
    const from = concepts.get(symbol)
    if (from === undefined) continue
    const target = typeof place === 'number' ? place : packageId(writer, call, codeBase, place.package)
    const edge = { entry: from.entry, source: from.id, target, relation, weight }
    wanted.set(nameOf(edge), edge)
  }
  const entries = [...concepts.values()].map(({ entry }) => entry)
  const touched = new Set<EntryKey>()
  const table = writer.table(EDGES)
  for (const row of entries.length === 0 ? [] : table.scan({ origin: ORIGIN }, { entries })) {
    const name = nameOf(row as unknown as Wanted)
    if (wanted.delete(name)) continue
    table.delete({ id: row['id'] as number })
    touched.add(row['entry'] as EntryKey)
  }
  let id = wanted.size === 0 ? 0 : nextNumbers(writer, 'edge', wanted.size)
  for (const edge of wanted.values()) {
    table.put({ id: id++, ...edge, origin: ORIGIN })
    touched.add(edge.entry)
  }
  for (const entry of touched) writer.announce(entry)
}

/** Packages that no file asks for any more. */
export function dropUnusedPackages(writer: StoreWriter, { packages }: CodeBase): void {
  const edges = writer.table(EDGES)
  for (const [name, at] of packages) {
    if (edges.scan({ target: at.id, origin: ORIGIN }, { columns: ['id'], limit: 1 }).length > 0) continue
    deleteConcept(writer, at)
    packages.delete(name)
  }
}

function packageId(writer: StoreWriter, { host, viewer }: Call, { packages }: CodeBase, name: string): number {
  const known = packages.get(name)
  if (known !== undefined) return known.id
  const symbol = packageSymbol(name)
  const draft = { name: packageNamed(symbol), type: 'Package', symbol }
  const made = putConcept(writer, draft, { audience: audience('private', viewer.id), now: host.clock.now() })
  packages.set(name, made)
  return made.id
}

function nameOf({ source, target, relation, weight }: Wanted): string {
  return `${source} ${target} ${relation} ${weight}`
}
