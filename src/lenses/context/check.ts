/** What the doctor looks for: rows that lead nowhere, concepts that are none, and counters that would give a number again. */
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Cell } from '../../model/table.ts'
import { countStrays, tablePages } from '../../pipeline/table-pages.ts'
import type { StoreReader } from '../../store/store.ts'
import { counter } from './counters.ts'
import { CONCEPT_KIND } from './mind/rows.ts'
import { counterName, type Numbered, placeOf } from './numbering.ts'
import { CONCEPTS, EDGES, PROVENANCE } from './tables.ts'

/** One line a kind of problem; none: all is well. A step for each page of rows. */
export function* checkTables(reader: StoreReader): Steps<readonly string[]> {
  const entryOf = new Map<Cell | undefined, Cell | undefined>()
  const entries = new Set<EntryKey>()
  const highest = { concept: new Map<number, number>(), edge: new Map<number, number>() }
  for (const rows of tablePages(reader, CONCEPTS, ['entry', 'id'])) {
    for (const { entry, id } of rows) {
      entryOf.set(id, entry)
      entries.add(entry as EntryKey)
      raise(highest.concept, id)
    }
    yield
  }
  let [sourceless, targetless, unlinked] = [0, 0, 0]
  for (const rows of tablePages(reader, EDGES, ['id', 'entry', 'source', 'target'])) {
    for (const { id, entry, source, target } of rows) {
      if (entryOf.get(source) !== entry) sourceless++
      if (!entryOf.has(target)) targetless++
      raise(highest.edge, id)
    }
    yield
  }
  for (const rows of tablePages(reader, PROVENANCE, ['entry', 'concept'])) {
    unlinked += rows.filter(({ concept, entry }) => entryOf.get(concept) !== entry).length
    yield
  }
  return [
    counted(entries.size - entryOf.size, 'concepts share a number with another one'),
    counted(
      yield* countStrays(reader, CONCEPT_KIND, entries),
      'concepts have no entry, or entries of concepts no concept',
    ),
    counted(sourceless, 'links have no source'),
    counted(targetless, 'links have no target'),
    counted(unlinked, 'links to files have no concept'),
    ...behind(reader, 'concept', highest.concept),
    ...behind(reader, 'edge', highest.edge),
  ].filter(problem => problem !== '')
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}`
}

function raise(highest: Map<number, number>, id: Cell | undefined): void {
  const { sequence, count } = placeOf(id as number)
  highest.set(sequence, Math.max(highest.get(sequence) ?? 0, count))
}

function behind(reader: StoreReader, of: Numbered, highest: ReadonlyMap<number, number>): readonly string[] {
  return [...highest].flatMap(([sequence, most]) => {
    const next = counter(reader, counterName(of, sequence)) ?? 1
    return next > most ? [] : [`the counter of ${of}s stands at ${next}, but ${most} is taken (sequence ${sequence})`]
  })
}
