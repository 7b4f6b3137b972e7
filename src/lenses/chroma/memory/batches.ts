/** What long runs over a viewer's memories share. */
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Progress } from '../../../model/operation.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { MustHold } from '../../lens.ts'
import type { Cell } from './cells.ts'
import type { MemoryColumns } from './columns.ts'
import { defaultMemory, readMemory, type StoredMemory, writeMemory } from './memory-rows.ts'
import { tellUses } from './uses.ts'

/** Rows written in one transaction. */
export const BATCH = 1000

export interface RunOptions {
  /** Unix seconds. */
  readonly now: number
  readonly signal?: AbortSignal | undefined
  readonly report?: ((progress: Progress) => void) | undefined
  /** Of a job: called first in each transaction. */
  readonly mustHold?: MustHold | undefined
}

/** Throws `cancelled` when the run shall end. */
export function mustGoOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new QuerentError('cancelled', 'the run was ended; a later one goes on from there')
}

/** The stored memory of a node, or what it is without one. */
export function memoryOfCell(writer: StoreWriter, viewer: string, entry: EntryKey, cell: Cell): StoredMemory {
  const stored = cell.used ? readMemory(writer, viewer, entry) : undefined
  return stored ?? defaultMemory(cell.last_accessed)
}

/** The memories that one transaction changes, written as they come. A node that cannot be written is counted. */
export class Batch {
  readonly changed: Map<EntryKey, StoredMemory> = new Map()
  errors = 0
  readonly #writer: StoreWriter
  readonly #columns: MemoryColumns

  constructor(writer: StoreWriter, columns: MemoryColumns) {
    this.#writer = writer
    this.#columns = columns
  }

  /** Whether it was written: one node's unsound values do not stop the others. */
  write(entry: EntryKey, memory: StoredMemory): boolean {
    try {
      writeMemory(this.#writer, this.#columns.viewer, entry, memory)
    } catch (error) {
      if (!(error instanceof QuerentError && error.kind === 'usage')) throw error
      this.errors++
      return false
    }
    this.changed.set(entry, memory)
    return true
  }

  /** Tells the log; after the commit the columns are to be told what this returns. */
  end(): () => void {
    if (this.changed.size === 0) return () => undefined
    const seen = tellUses(this.#writer, this.#columns.viewer, [...this.changed.keys()], this.#columns.seen)
    return () => this.#columns.wrote(this.changed, seen)
  }
}
