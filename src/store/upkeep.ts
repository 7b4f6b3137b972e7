/**
 * What a store on disk needs besides reading and writing: its log folded back without anybody waiting for it, and what
 * was deleted gone as bytes. A store that lies in memory has no such needs.
 */

/** What was deleted or replaced and may still be found as bytes: in the log, or in what was derived from the store. */
export interface Forgotten {
  /** Another one after every deletion and replacement. */
  readonly mark: string
  /** The newest change of the feed that went with one: what was derived up to an earlier change may still hold it. */
  readonly seq: number
  /** Whether nothing of it is left, as far as a process has seen to it. */
  readonly isErased: boolean
}

/**
 * How the log is folded back into the file. `some`: what no reader needs as it is, waiting for nobody and letting nobody
 * wait. `all`: as far as to begin the log again. `empty`: so that nothing is left of it. The last two keep writers waiting.
 */
export type Fold = 'some' | 'all' | 'empty'

export interface Upkeep {
  /** Size of the log that lies beside the file, and when it was last written; null: there is none. */
  log(): LogState | null
  /**
   * In a thread of its own; rejects when that ends. False: readers, or another process that is at it, have left something
   * to do. `waitMs`: how long to wait for them.
   */
  fold(how: Fold, waitMs: number): Promise<boolean>
  /** Ends the thread, if there is one. */
  endThread(): Promise<void>
  /** From how large a log on a commit folds it back itself, in bytes. */
  foldInCommits(from: number): void

  /** Null: nothing ever. Marked in the transaction that deletes, so that it outlives a crash. */
  forgotten(): Forgotten | null
  /**
   * Sees to it that nothing is left in the file of what was forgotten up to this mark, in a process of its own: reads all of
   * it. False: others kept it from that. Rejects with `io_failed` when the process fails, or when none can be had.
   */
  erase(mark: string, waitMs: number): Promise<boolean>
}

export interface LogState {
  readonly bytes: number
  /** Machine time, ms. */
  readonly writtenAt: number
}
