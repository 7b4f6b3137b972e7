/** Which entries changed lately, for those who keep something that was found by their rows. */
import type { EntryKey } from '../../model/entry.ts'

/** Changes that are remembered at least; up to twice as many. */
const REMEMBERED = 512

export class RecentChanges {
  /** The last ones, the first of them at this revision. */
  #entries: EntryKey[] = []
  #from = 0

  /** Another number after each change. */
  get revision(): number {
    return this.#from + this.#entries.length
  }

  /** Null: too many to remember. */
  since(revision: number): readonly EntryKey[] | null {
    return revision < this.#from ? null : this.#entries.slice(revision - this.#from)
  }

  note(entry: EntryKey): void {
    this.#entries.push(entry)
    if (this.#entries.length < 2 * REMEMBERED) return
    this.#entries = this.#entries.slice(REMEMBERED)
    this.#from += REMEMBERED
  }
}
