/** What the doctor looks for: rows that lead nowhere, concepts that are none, and counters that would give a number again. */
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Row } from '../../model/table.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import type { StoreReader } from '../../store/store.ts'
import { counter } from './counters.ts'
import { CONCEPT_KIND } from './mind/rows.ts'
import { counterName, type Numbered, placeOf } from './numbering.ts'
import { CONCEPTS, EDGES, PROVENANCE } from './tables.ts'

/** One line a kind of problem; none: all is well. */
export function* checkTables(reader: StoreReader): Steps<readonly string[]> {
  const concepts = reader.table(CONCEPTS).scan({}, { columns: ['entry', 'id'] })
  yield
  const edges = reader.table(EDGES).scan({}, { columns: ['id', 'entry', 'source', 'target'] })
  yield
  const links = reader.table(PROVENANCE).scan({}, { columns: ['entry', 'concept', 'url'] })
  yield
  const entryOf = new Map(concepts.map(row => [row['id'], row['entry']]))
  return [
    counted(concepts.length - entryOf.size, 'concepts share a number with another one'),
    counted(strayConcepts(reader, concepts), 'concepts have no entry, or entries of concepts no concept'),
    counted(edges.filter(edge => entryOf.get(edge['source'] ?? null) !== edge['entry']).length, 'links have no source'),
    counted(edges.filter(edge => !entryOf.has(edge['target'] ?? null)).length, 'links have no target'),
    counted(
      links.filter(link => entryOf.get(link['concept'] ?? null) !== link['entry']).length,
      'links to files have no concept',
    ),
    ...behind(reader, 'concept', concepts),
    ...behind(reader, 'edge', edges),
  ].filter(problem => problem !== '')
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}`
}

/** In either direction. */
function strayConcepts(reader: StoreReader, rows: readonly Row[]): number {
  const known = new Set(rows.map(row => row['entry'] as EntryKey))
  let missing = known.size
  let stray = 0
  for (const { id } of reader.partitions()) {
    const sight = { viewer: LOCAL_OWNER, partitions: [id] }
    for (const entry of reader.matching(sight, { op: 'eq', field: 'kind', value: CONCEPT_KIND })) {
      if (known.has(entry)) missing--
      else stray++
    }
  }
  return missing + stray
}

function behind(reader: StoreReader, of: Numbered, rows: readonly Row[]): readonly string[] {
  const highest = new Map<number, number>()
  for (const row of rows) {
    const { sequence, count } = placeOf(row['id'] as number)
    highest.set(sequence, Math.max(highest.get(sequence) ?? 0, count))
  }
  return [...highest].flatMap(([sequence, most]) => {
    const next = counter(reader, counterName(of, sequence)) ?? 1
    return next > most ? [] : [`the counter of ${of}s stands at ${next}, but ${most} is taken (sequence ${sequence})`]
  })
}
