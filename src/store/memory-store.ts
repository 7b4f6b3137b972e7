/**
 * The store in plain maps: the reference that tests hold every other store against, and a store for tests that need no
 * file. Written to be obviously right, not fast: most questions look at every entry.
 */
import { assert } from '../base/assert.ts'
import type { Instant } from '../base/clock.ts'
import { atOnce, type Steps } from '../base/turns.ts'
import type { TableDeclaration } from '../model/table.ts'
import { checkInstant } from './check.ts'
import { MemoryReader } from './memory/reader.ts'
import { MemoryState } from './memory/state.ts'
import { MemoryWriter } from './memory/writer.ts'
import type { Snapshot, Store, StoreReader, StoreWriter } from './store.ts'
import { mustBeSync } from './sync.ts'

export interface MemoryStoreOptions {
  /** Default: `memory`. Give each its own where several stores meet. */
  readonly storeId?: string | undefined
  /**
   * False: rows, vectors and entries are kept and given as they came, so whoever fills it must not change them afterwards,
   * nor what is read of it. For what is put together once and read once. Default true.
   */
  readonly copies?: boolean | undefined
}

export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.storeId ?? 'memory', new MemoryState(options.copies))
}

class MemoryStore extends MemoryReader implements Store {
  readonly #writer: MemoryWriter
  #version = 1
  #reading = 0
  #closed = false

  constructor(storeId: string, state: MemoryState) {
    super(storeId, state)
    this.#writer = new MemoryWriter(storeId, state)
  }

  write<T>(now: Instant, body: (writer: StoreWriter) => T): T {
    assert(!this.#closed, 'the store is open')
    checkInstant('now', now)
    const outer = this.#writer.now
    assert(outer !== null || this.#reading === 0, 'a read transaction does not write')
    const mark = this.state.journal.mark()
    if (outer === null) this.state.tableVersions.begin()
    this.#writer.now = now
    try {
      const result = mustBeSync(body(this.#writer))
      if (outer === null) {
        this.state.journal.forget()
        this.#version++
        this.state.tableVersions.commit()
      }
      return result
    } catch (error) {
      this.state.journal.rollBack(mark)
      throw error
    } finally {
      this.#writer.now = outer
    }
  }

  async writeWhenFree<T>(now: Instant, body: (writer: StoreWriter) => T): Promise<T> {
    assert(this.#writer.now === null, 'inside a transaction, write joins it')
    return this.write(now, body)
  }

  writeInSteps<T>(now: Instant, body: (writer: StoreWriter) => Steps<T>): Promise<T> {
    return this.writeWhenFree(now, writer => atOnce(body(writer)))
  }

  read<T>(body: (reader: StoreReader) => T): T {
    assert(!this.#closed, 'the store is open')
    this.#reading++
    try {
      return mustBeSync(body(this))
    } finally {
      this.#reading--
    }
  }

  snapshot(): Snapshot {
    assert(!this.#closed, 'the store is open')
    assert(this.#writer.now === null, 'a snapshot is made outside of transactions')
    return { reader: new MemoryReader(this.storeId, this.state.copy()), close: () => {} }
  }

  version(of?: TableDeclaration): number {
    return of === undefined || of.ofEntry === true ? this.#version : this.state.tableVersions.of(of.name)
  }

  check(): readonly string[] {
    return []
  }

  close(): void {
    this.#closed = true
  }
}
