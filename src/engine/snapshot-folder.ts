/** The folder that indexes are saved in: a file each, and what saving one may have left behind. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Steps } from '../base/turns.ts'
import type { Index } from '../index/contract.ts'
import { loadInSteps, positionOfSnapshot, type SnapshotLoad, saveInSteps, snapshotPosition } from '../index/snapshot.ts'
import { QuerentError } from '../model/errors.ts'
import type { Store } from '../store/store.ts'

/** A snapshot, or one that was not finished. */
const NAME = /\.snapshot(\.\w+)?$/

export class SnapshotFolder {
  readonly #folder: string
  readonly #store: Store

  /** Made when something is saved. */
  constructor(folder: string, store: Store) {
    this.#folder = folder
    this.#store = store
  }

  /** Takes the saved state of an index into it, or into an empty one of its kind: in steps, as `loadInSteps` of snapshots. */
  load(index: Index): Steps<SnapshotLoad> {
    return loadInSteps(this.pathOf(index), index, this.#store)
  }

  /** In steps, as `saveInSteps` of snapshots. Throws `io_failed`. One process at a time. */
  *save(index: Index): Steps<void> {
    mkdirSync(this.#folder, { recursive: true })
    yield* saveInSteps(this.pathOf(index), index, this.#store)
  }

  /** The change of the feed that the index is saved up to; 0: nothing is saved that it could take. */
  positionOf(index: Index): number {
    return snapshotPosition(this.pathOf(index), index, this.#store)
  }

  pathOf({ name }: Index): string {
    return join(this.#folder, `${name.replace(/[^\w.-]/g, '_')}.snapshot`)
  }

  /** Paths of files that reflect a state before this change, or none that is known. */
  olderThan(seq: number): readonly string[] {
    return this.#paths().filter(path => {
      const position = path.endsWith('.snapshot') ? positionOfSnapshot(path, this.#store.storeId) : null
      return position === null || position < seq
    })
  }

  /** Throws `io_failed`. */
  remove(path: string): void {
    try {
      rmSync(path, { force: true })
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      throw new QuerentError('io_failed', `cannot remove ${path}: ${cause}`, { path, cause }, error)
    }
  }

  /** None in a folder that is not there. */
  #paths(): readonly string[] {
    try {
      return readdirSync(this.#folder)
        .filter(name => NAME.test(name))
        .map(name => join(this.#folder, name))
    } catch {
      return []
    }
  }
}
