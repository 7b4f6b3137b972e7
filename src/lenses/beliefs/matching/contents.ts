/** Contents as words and phrases are looked for in them: folded, and kept as far as there is room. */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Store } from '../../../store/store.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { foldContent } from './literal.ts'

/** Characters that are kept: of 200,000 beliefs of usual length. */
const ROOM = 64 * 1024 * 1024
const PAGE = 500

export class Contents {
  readonly #store: Store
  readonly #columns: BeliefColumns
  /** By content, so that a changed one is another. */
  readonly #known = new Map<string, string>()
  #characters = 0

  constructor(store: Store, columns: BeliefColumns) {
    this.#store = store
    this.#columns = columns
  }

  /**
   * Calls back with the folded content of each of these rows, in their order. What has just gone is left out. `looked` is told
   * of the characters that are folded again, and may throw. A step for each page.
   */
  *each(
    rows: Int32Array,
    visit: (row: number, folded: string) => void,
    looked: (characters: number) => void = () => {},
  ): Steps<void> {
    for (let from = 0; from < rows.length; from += PAGE) {
      const page = rows.subarray(from, from + PAGE)
      const unknown = page.filter(row => !this.#known.has(this.#columns.contentOf(row)))
      const read = this.#read(unknown, looked)
      for (const row of page) {
        const key = this.#columns.contentOf(row)
        const folded = this.#known.get(key) ?? read.get(key)
        if (folded !== undefined) visit(row, folded)
      }
      yield
    }
  }

  #read(rows: Int32Array, looked: (characters: number) => void): ReadonlyMap<string, string> {
    const read = new Map<string, string>()
    if (rows.length === 0) return read
    const { entries } = this.#columns.arrays
    for (const { key, content } of this.#store.entries(Array.from(rows, row => entries[row] as EntryKey))) {
      looked(content.length)
      const folded = foldContent(content)
      const name = this.#columns.contentOf(this.#columns.rowOf(key))
      read.set(name, folded)
      this.#keep(name, folded)
    }
    return read
  }

  #keep(name: string, folded: string): void {
    if (this.#characters + folded.length > ROOM) {
      this.#known.clear()
      this.#characters = 0
    }
    this.#known.set(name, folded)
    this.#characters += folded.length
  }
}
