/** Texts that come, are replaced and go in one store, each with a mark of its own; ids of one are no other's. */
import type { Store } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { markOf } from '../../support/find-bytes.ts'

export class Rewriting {
  readonly #store: Store
  readonly #random: () => number
  readonly #name: string
  readonly #texts = new Map<string, { readonly mark: string; readonly text: string }>()
  #count = 0
  readonly gone: string[] = []

  constructor(store: Store, random: () => number, name = 'a') {
    this.#store = store
    this.#random = random
    this.#name = name
  }

  async run(acts: number): Promise<void> {
    for (let act = 0; act < acts; act++) {
      const ids = [...this.#texts.keys()]
      const id = ids[Math.floor(this.#random() * ids.length)]
      if (id === undefined || ids.length < 60 || this.#random() < 0.4) await this.#put(`${this.#name}${this.#count++}`)
      else if (this.#random() < 0.5) await this.#put(id)
      else await this.#delete(id)
    }
  }

  /** Ids whose text in the store is not the last that was put. */
  wrong(): readonly string[] {
    return [...this.#texts].filter(([id, { text }]) => this.#textOf(id) !== text).map(([id]) => id)
  }

  async #put(id: string): Promise<void> {
    const mark = markOf(this.#random)
    // Of such lengths that pages hold few of them, and are often packed again.
    const words = 'word '.repeat(3 + Math.floor(this.#random() ** 2 * 380))
    const draft = draftOf({ id, content: `${mark} ${words}${mark}` })
    await this.#store.writeWhenFree(1, writer => writer.put(draft, wholeChunk(draft)))
    this.#forget(id)
    this.#texts.set(id, { mark, text: draft.content })
  }

  async #delete(id: string): Promise<void> {
    const [key] = this.#keys(id)
    if (key !== undefined) await this.#store.writeWhenFree(1, writer => writer.delete(key))
    this.#forget(id)
  }

  #forget(id: string): void {
    const known = this.#texts.get(id)
    if (known !== undefined) this.gone.push(known.mark)
    this.#texts.delete(id)
  }

  #textOf(id: string): string | undefined {
    return this.#store.entries(this.#keys(id))[0]?.content
  }

  #keys(id: string): readonly number[] {
    return this.#store.find(
      id,
      this.#store.partitions().map(partition => partition.id),
    )
  }
}
