/** What indexes have in common: all run in steps or in one piece, and those over declared tables follow the feed alike. */
import { atOnce, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import type { ColumnDeclaration, TableDeclaration } from '../model/table.ts'
import { isMostOf, readPlaces } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'

/** Runs in one piece what a subclass does in steps. */
export abstract class SteppedIndex {
  abstract refreshInSteps(reader: StoreReader): Steps<number>
  abstract rebuildInSteps(reader: StoreReader): Steps<void>
  abstract restoreInSteps(bytes: Uint8Array, position: number): Steps<void>

  refresh(reader: StoreReader): number {
    return atOnce(this.refreshInSteps(reader))
  }

  rebuild(reader: StoreReader): void {
    atOnce(this.rebuildInSteps(reader))
  }

  restore(bytes: Uint8Array, position: number): void {
    atOnce(this.restoreInSteps(bytes, position))
  }
}

/** Over tables of entries, where one row or a few make an entry's part of the index. */
export abstract class TableIndex extends SteppedIndex {
  readonly name: string
  /** Set by whatever replaces everything. */
  position = 0

  constructor(name: string) {
    super()
    this.name = name
  }

  /** Entries that are in the index. */
  protected abstract get size(): number

  /** Takes in what these entries are now, and where. */
  protected abstract take(reader: StoreReader, partitionOf: ReadonlyMap<EntryKey, PartitionId>): Steps<void>

  *refreshInSteps(reader: StoreReader): Steps<number> {
    const before = this.position
    const news = before === 0 ? null : yield* readPlaces(reader, before)
    if (news === null || isMostOf(this.size, news.partitionOf.size)) {
      yield* this.rebuildInSteps(reader)
      return Math.max(0, this.position - before)
    }
    yield* this.take(reader, news.partitionOf)
    this.position = news.position
    return news.changes
  }
}

/** Throws `invalid_argument`, naming the field of the declaration. */
export function checkAspect(field: string, table: TableDeclaration): void {
  if (table.ofEntry === true && table.key.join() === 'entry') return
  throw invalidArgument(field, table.name, 'a table of entries, keyed by entry')
}

/** The same of a column. */
export function checkColumn(
  field: string,
  table: TableDeclaration,
  name: string,
  type: ColumnDeclaration['type'],
): void {
  if (table.columns.find(column => column.name === name)?.type === type) return
  throw invalidArgument(field, name, `a column of type ${type} in ${table.name}`)
}
