/** Bringing the stored links of one file in line with those that were read. Run inside a write transaction. */
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { Link } from '../extract/resolve/link-file.ts'
import { nextIds } from '../parts.ts'
import { EDGES } from '../tables.ts'
import { type CodeBase, symbolOf } from './code-base.ts'
import { conceptsOf } from './write-file.ts'

/** Marks links as the indexer's: those of calls are never touched. */
const ORIGIN = 'code'

interface Wanted {
  readonly entry: EntryKey
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

/** What stays the same is not written. */
export function writeLinks(writer: StoreWriter, codeBase: CodeBase, url: string, links: readonly Link[]): void {
  const concepts = conceptsOf(writer, url)
  const wanted = new Map<string, Wanted>()
  for (const { source: key, relation, target: place, weight } of links) {
    const from = concepts.get(symbolOf(key))
    const target = codeBase.idOf(place)
    if (from === undefined || target === undefined) continue
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
  let id = wanted.size === 0 ? 0 : nextIds(writer, 'edge', wanted.size)
  for (const edge of wanted.values()) {
    table.put({ id: id++, ...edge, origin: ORIGIN })
    touched.add(edge.entry)
  }
  for (const entry of touched) writer.announce(entry)
}

function nameOf({ source, target, relation, weight }: Wanted): string {
  return `${source} ${target} ${relation} ${weight}`
}
