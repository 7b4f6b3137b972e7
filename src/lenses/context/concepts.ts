/** The concepts in memory, by what questions look at first: ids, names, types, places. */
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { TableRows } from '../../pipeline/columns.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { foldName, placesByWord, wordsOf } from './names.ts'
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

  /** Folded words of the name, each once. */
  get words(): readonly string[] {
    this.#words ??= [...new Set(wordsOf(this.name))]
    return this.#words
  }
}

/** What one viewer sees. */
export interface VisibleConcepts {
  /** In ascending order of ids. */
  readonly all: readonly Concept[]
  byId(id: number): Concept | undefined
  byEntry(entry: EntryKey): Concept | undefined
  /** Each word of a name, folded, with the places in `all` of those that have it. */
  readonly byWord: ReadonlyMap<string, readonly number[]>
}

export class Concepts {
  readonly #rows: TableRows<Concept>
  readonly #views = new WeakMap<readonly Concept[], VisibleConcepts>()

  constructor(store: Store) {
    this.#rows = new TableRows(store, CONCEPTS, COLUMNS, (row, partition) => new Concept(row, partition))
  }

  visible(partitions: readonly PartitionId[]): VisibleConcepts {
    const rows = this.#rows.visible(partitions)
    const known = this.#views.get(rows)
    if (known !== undefined) return known
    const view = new View(rows)
    this.#views.set(rows, view)
    return view
  }
}

class View implements VisibleConcepts {
  readonly all: readonly Concept[]
  readonly #byId: ReadonlyMap<number, Concept>
  readonly #byEntry: ReadonlyMap<EntryKey, Concept>
  #byWord: ReadonlyMap<string, readonly number[]> | null = null

  constructor(rows: readonly Concept[]) {
    this.all = rows.toSorted((a, b) => a.id - b.id)
    this.#byId = new Map(rows.map(concept => [concept.id, concept]))
    this.#byEntry = new Map(rows.map(concept => [concept.entry, concept]))
  }

  /** Made when it is first asked for: many questions need no more than the names. */
  get byWord(): ReadonlyMap<string, readonly number[]> {
    this.#byWord ??= placesByWord(this.all, ({ words }) => words)
    return this.#byWord
  }

  byId(id: number): Concept | undefined {
    return this.#byId.get(id)
  }

  byEntry(entry: EntryKey): Concept | undefined {
    return this.#byEntry.get(entry)
  }
}

/** What is kept of concepts and not held in memory; null, or absent: there is none. */
export function textsOfConcepts(
  reader: StoreReader,
  column: 'signature' | 'doc',
  entries: readonly EntryKey[],
): ReadonlyMap<EntryKey, string | null> {
  const rows = reader.table(CONCEPTS).scan({}, { entries, columns: ['entry', column] })
  return new Map(rows.map(row => [row['entry'] as EntryKey, row[column] as string | null]))
}
