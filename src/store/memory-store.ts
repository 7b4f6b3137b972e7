/**
 * The store in plain maps: the reference that tests hold every other store against, and a store for tests that need no
 * file. Written to be obviously right, not fast: most questions look at every entry.
 */
import { assert } from '../base/assert.ts'
import type { Instant } from '../base/clock.ts'
import { atOnce, type Steps, type Turns } from '../base/turns.ts'
import type { TableDeclaration } from '../model/table.ts'
import { checkInstant } from './check.ts'
import { MemoryReader } from './memory/reader.ts'
import { MemoryState } from './memory/state.ts'
import { MemoryWriter } from './memory/writer.ts'
import { assertSync, inOneStep, PausedTransaction } from './paused-transaction.ts'
import type { Snapshot, Store, StoreReader, StoreWriter } from './store.ts'

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
  /** Of `writeInSteps`, until it ends; and what settles then. */
  #paused: PausedTransaction<unknown> | null = null
  #pausedUntil: Promise<void> | null = null
  #closed = false

  constructor(storeId: string, state: MemoryState) {
    super(storeId, state)
    this.#writer = new MemoryWriter(storeId, state)
  }

  write<T>(now: Instant, body: (writer: StoreWriter) => T): T {
    assert(!this.#closed, 'the store is open')
    checkInstant('now', now)
    if (this.#writer.now !== null) return this.#joined(now, body)
    this.#paused?.complete()
    return atOnce(this.#writing(now, writer => inOneStep(writer, body)))
  }

  async writeWhenFree<T>(now: Instant, body: (writer: StoreWriter) => T): Promise<T> {
    assert(this.#writer.now === null, 'inside a transaction, write joins it')
    while (this.#pausedUntil !== null) await this.#pausedUntil
    return this.write(now, body)
  }

  async writeInSteps<T>(now: Instant, body: (writer: StoreWriter) => Steps<T>, turns: Turns): Promise<T> {
    assert(this.#writer.now === null, 'a write that pauses is within no other')
    while (this.#pausedUntil !== null) await this.#pausedUntil
    assert(!this.#closed, 'the store is open')
    checkInstant('now', now)
    const paused = new PausedTransaction(this.#writing(now, body))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#paused = paused
    this.#pausedUntil = promise
    try {
      return await turns.run(paused.run())
    } finally {
      paused.cancel(null)
      this.#paused = null
      this.#pausedUntil = null
      resolve()
    }
  }

  readInSteps<T>(body: () => Steps<T>, turns: Turns): Promise<T> {
    return this.writeInSteps(0, body, turns)
  }

  whenFree(): Promise<void> | null {
    return this.#pausedUntil
  }

  /** Within a transaction: what a nested one throws for is undone alone. */
  #joined<T>(now: Instant, body: (writer: StoreWriter) => T): T {
    const mark = this.state.journal.mark()
    try {
      return this.#at(now, () => assertSync(body(this.#writer)))
    } catch (error) {
      this.state.journal.rollBack(mark)
      throw error
    }
  }

  /** Pauses only until its first write, which others would see. */
  *#writing<T>(now: Instant, body: (writer: StoreWriter) => Steps<T>): Steps<T> {
    const { journal, tableVersions } = this.state
    this.#writer.begin()
    tableVersions.begin()
    const steps = body(this.#writer)
    let isOver = false
    try {
      for (let paused = false; ; ) {
        assert(this.#reading === 0, 'a read transaction does not write')
        const step = this.#at(now, () => steps.next(paused))
        if (step.done !== true) {
          paused = journal.mark() === 0 && (yield)
          continue
        }
        isOver = true
        if (journal.mark() > 0) this.#version++
        journal.forget()
        tableVersions.commit()
        return step.value
      }
    } finally {
      if (!isOver) {
        journal.rollBack(0)
        steps.return(undefined as never)
      }
    }
  }

  #at<T>(now: Instant, act: () => T): T {
    const outer = this.#writer.now
    this.#writer.now = now
    try {
      return act()
    } finally {
      this.#writer.now = outer
    }
  }

  read<T>(body: (reader: StoreReader) => T): T {
    assert(!this.#closed, 'the store is open')
    this.#reading++
    try {
      return assertSync(body(this))
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
