/**
 * Writes down that questions returned nodes (CQ-066 to CQ-071): at once, in one durable transaction a question; or
 * collected and written together a little later (CQ-103, CQ-104), with the same outcome.
 */
import { must } from '../../../base/assert.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'
import type { Warning } from '../model.ts'
import { machineTimer, type Timer } from '../retry.ts'
import type { Memories, MemoryColumns } from './columns.ts'
import { MODES, reinforced } from './formulas.ts'
import { defaultMemory, type StoredMemory, tellUses, writeMemory } from './memory-rows.ts'

const QUEUE_LENGTH = 100
const QUEUE_MS = 1_000
/** A queue that cannot be written for so long gives up its oldest hits. */
const QUEUE_LIMIT = 10_000
/** Beside the first attempt. */
const RETRIES = 5
/** How long one attempt waits for writers of other processes: all of them together block the thread for less than 50 ms. */
const WAIT_MS = 8
/** Codes of a store that cannot be written for now, whoever's turn it is, and what to say of it: no paths, for anyone asks. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  store_readonly: 'the store cannot be written',
  io_failed: 'the disk did not take them',
}

export interface AccessOptions {
  readonly store: Store
  readonly memories: Memories
  readonly mode: 'immediate' | 'queued'
  /** `memory.enabled`: false notes uses without strength (CQ-054). */
  readonly memoryEnabled: boolean
  /** For tests. */
  readonly timer?: Timer | undefined
}

interface Hit {
  readonly viewer: string
  readonly entry: EntryKey
  readonly now: number
}

/** What a transaction wrote for one viewer. */
interface Outcome {
  readonly columns: MemoryColumns
  readonly memories: ReadonlyMap<EntryKey, StoredMemory>
  readonly seen: number
}

export class AccessUpdates {
  readonly #options: AccessOptions
  readonly #timer: Timer
  #queue: Hit[] = []
  #stopTimer: (() => void) | null = null

  constructor(options: AccessOptions) {
    this.#options = options
    this.#timer = options.timer ?? machineTimer
  }

  /** Hits that wait to be written. */
  get waiting(): number {
    return this.#queue.length
  }

  /**
   * These nodes were returned to this viewer at `now` (Unix seconds). What cannot be written for others' writing, or
   * because the file or the disk takes no more, is skipped with a warning (CQ-071), or waits on, in the queued mode. Not
   * to be called within a transaction.
   */
  record(viewer: string, entries: readonly EntryKey[], now: number): readonly Warning[] {
    const hits = entries.map(entry => ({ viewer, entry, now }))
    if (hits.length === 0) return []
    if (this.#options.mode === 'immediate') {
      const reason = this.#write(hits)
      return reason === null ? [] : [skipped(hits.length, reason)]
    }
    this.#queue.push(...hits)
    if (this.#queue.length >= QUEUE_LENGTH) return this.#writeQueue()
    this.#writeLater()
    return []
  }

  /** Writes what waits. */
  flush(): readonly Warning[] {
    return this.#queue.length === 0 ? [] : this.#writeQueue()
  }

  /** The last flush: what cannot be written now is lost, and told. */
  close(): readonly Warning[] {
    const warnings = this.flush()
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#queue = []
    return warnings
  }

  #writeQueue(): readonly Warning[] {
    this.#stopTimer?.()
    this.#stopTimer = null
    const reason = this.#write(this.#queue)
    if (reason === null) {
      this.#queue = []
      return []
    }
    const dropped = Math.max(0, this.#queue.length - QUEUE_LIMIT)
    this.#queue = this.#queue.slice(dropped)
    this.#writeLater()
    return [dropped === 0 ? deferred(this.#queue.length, reason) : skipped(dropped, reason)]
  }

  #writeLater(): void {
    this.#stopTimer ??= this.#timer(() => {
      this.#stopTimer = null
      try {
        this.#writeQueue()
      } catch {
        // Nobody to tell from here. The hits wait; the next flush meets the same error and tells it.
      }
    }, QUEUE_MS)
  }

  /**
   * One transaction for all hits. It reads each memory and writes it back while no other writer can, so nothing is lost
   * between two questions; what can fail is getting the turn to write, and writing. Null, or why it was not done: others
   * kept the store locked every time, or its file cannot be written. Stamped with the last hit: a query reads the clock
   * once (CQ-009). At least one hit.
   */
  #write(hits: readonly Hit[]): string | null {
    const { store, memories } = this.#options
    const at = must(hits.at(-1), 'a hit').now * 1000
    const byViewer = Map.groupBy(hits, hit => hit.viewer)
    // Read before the transaction: what is to be read on first use would hold up other writers.
    const columns = new Map([...byViewer.keys()].map(viewer => [viewer, memories.of(viewer)]))
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      try {
        const write = (writer: StoreWriter) =>
          [...byViewer].map(([viewer, own]) => this.#apply(writer, columns.get(viewer) as MemoryColumns, own))
        for (const outcome of store.write(at, write, WAIT_MS)) {
          outcome.columns.wrote(outcome.memories, outcome.seen)
        }
        return null
      } catch (error) {
        const reason = error instanceof QuerentError ? UNWRITABLE[error.code] : undefined
        if (reason !== undefined) return reason
        if (!(error instanceof QuerentError && error.code === 'store_locked')) throw error
      }
    }
    return 'other writers kept the store locked'
  }

  /** In the order of the hits, each by the state that the one before left; those whose node is gone are dropped. */
  #apply(writer: StoreWriter, columns: MemoryColumns, hits: readonly Hit[]): Outcome {
    const { viewer } = columns
    columns.follow(writer)
    const memories = new Map<EntryKey, StoredMemory>()
    const stored = columns.stored(writer, [...new Set(hits.map(({ entry }) => entry))])
    for (const { entry, now } of hits) {
      const cell = columns.memory(entry)
      if (cell === undefined || cell.mode_name === null) continue
      const before = memories.get(entry) ?? stored.get(entry)
      // Never used: the last access the columns know is the creation.
      const memory = before ?? defaultMemory(cell.last_accessed)
      memories.set(entry, reinforced(memory, MODES[cell.mode_name], now, this.#options.memoryEnabled))
    }
    for (const [entry, memory] of memories) writeMemory(writer, viewer, entry, memory)
    const seen = memories.size === 0 ? columns.seen : tellUses(writer, viewer, [...memories.keys()], columns.seen)
    return { columns, memories, seen }
  }
}

function skipped(count: number, reason: string): Warning {
  return {
    code: 'access_update_skipped',
    message: `${count} access updates were skipped: ${reason}`,
    details: { count },
  }
}

function deferred(count: number, reason: string): Warning {
  return {
    code: 'access_update_deferred',
    message: `${count} access updates wait: ${reason}`,
    details: { count },
  }
}
