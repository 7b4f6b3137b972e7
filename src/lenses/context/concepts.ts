/** The concepts in memory, by what questions look at first: ids, names, types, places. */
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import type { Store } from '../../store/store.ts'
import { EntryRows } from './entry-rows.ts'
import { foldName, wordsOf } from './names.ts'
import { CONCEPTS } from './tables.ts'

const COLUMNS = ['entry', 'id', 'name', 'type', 'url', 'start_line', 'end_line']

export class Concept {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly id: number
  readonly name: string
  readonly type: string
  readonly url: string | null
  readonly startLine: number | null
  readonly endLine: number | null
  readonly folded: string
  #words: readonly string[] | null = null

  constructor(row: Row, partition: PartitionId) {
    this.entry = row['entry'] as EntryKey
    this.partition = partition
    this.id = row['id'] as number
    this.name = row['name'] as string
    this.type = row['type'] as string
    this.url = row['url'] as string | null
    this.startLine = row['start_line'] as number | null
    this.endLine = row['end_line'] as number | null
    this.folded = foldName(this.name)
  }

  /** Folded words of the name. */
  get words(): readonly string[] {
    this.#words ??= wordsOf(this.name)
    return this.#words
  }
}

/** What one viewer sees. */
export interface VisibleConcepts {
  /** In ascending order of ids. */
  readonly all: readonly Concept[]
  byId(id: number): Concept | undefined
  byEntry(entry: EntryKey): Concept | undefined
}

export class Concepts {
  readonly #rows: EntryRows<Concept>
  readonly #views = new WeakMap<readonly Concept[], VisibleConcepts>()

  constructor(store: Store) {
    this.#rows = new EntryRows(store, CONCEPTS, COLUMNS, (row, partition) => new Concept(row, partition))
  }

  visible(partitions: readonly PartitionId[]): VisibleConcepts {
    const rows = this.#rows.visible(partitions)
    const known = this.#views.get(rows)
    if (known !== undefined) return known
    const all = rows.toSorted((a, b) => a.id - b.id)
    const ids = new Map(all.map(concept => [concept.id, concept]))
    const entries = new Map(all.map(concept => [concept.entry, concept]))
    const view: VisibleConcepts = { all, byId: id => ids.get(id), byEntry: entry => entries.get(entry) }
    this.#views.set(rows, view)
    return view
  }
}
