/**
 * Texts and extractions of a run: in memory until they are written, as far as there is room, then in the store. What is
 * looked at often stays in memory.
 */
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'
import type { Extraction } from '../extract/concept.ts'
import type { Extractions } from '../extract/resolve/code-graph.ts'
import { EXTRACTIONS, UNWRITTEN } from '../tables.ts'
import type { Turn } from './turn.ts'

/** Characters of texts and extractions: what 5,000 files of ordinary size come to. */
export const MOST_HELD = 64 * 1024 * 1024
/** Parsed extractions kept: a file asks a few dozen others. */
const MOST_PARSED = 512

export interface Unwritten {
  readonly text: string
  /** JSON; null: the file is kept without concepts. */
  readonly extraction: string | null
}

export class Shelf implements Extractions {
  readonly #store: Store
  /** The file that a path stands for; undefined: not written yet. */
  readonly #entryOf: (path: string) => EntryKey | undefined
  readonly #mostHeld: number
  readonly #held = new Map<string, Unwritten>()
  readonly #spilled = new Set<string>()
  readonly #parsed = new Recent<string, Extraction | null>(MOST_PARSED)
  #size = 0

  constructor(store: Store, entryOf: (path: string) => EntryKey | undefined, mostHeld: number) {
    this.#store = store
    this.#entryOf = entryOf
    this.#mostHeld = mostHeld
  }

  get(path: string): Extraction | null {
    return this.#parsed.get(path, () => {
      const json = this.#json(path)
      return json === null ? null : (JSON.parse(json) as Extraction)
    })
  }

  /** `hold` has it. */
  put(): void {}

  remove(path: string): void {
    this.#parsed.forget(known => known === path)
  }

  async hold(path: string, text: string, extraction: Extraction | null, write: Turn['write']): Promise<void> {
    this.written(path)
    this.remove(path)
    if (extraction !== null) this.#parsed.get(path, () => extraction)
    const held = { text, extraction: extraction === null ? null : JSON.stringify(extraction) }
    this.#held.set(path, held)
    this.#size += sizeOf(held)
    if (this.#size > this.#mostHeld) await this.#spill(write)
  }

  /** Of a file that is held. */
  unwritten(path: string): Unwritten {
    const held = this.#held.get(path)
    if (held !== undefined) return held
    const row = this.#store.table(UNWRITTEN).get({ path })
    return { text: (row?.['text'] as string) ?? '', extraction: (row?.['extraction'] as string | null) ?? null }
  }

  /** Once it is in its place in the store. */
  written(path: string): void {
    const held = this.#held.get(path)
    if (held !== undefined) this.#size -= sizeOf(held)
    this.#held.delete(path)
    this.#spilled.delete(path)
  }

  #json(path: string): string | null {
    if (this.#held.has(path) || this.#spilled.has(path)) return this.unwritten(path).extraction
    const entry = this.#entryOf(path)
    if (entry === undefined) return null
    return (this.#store.table(EXTRACTIONS).get({ entry })?.['extraction'] as string | null | undefined) ?? null
  }

  async #spill(write: Turn['write']): Promise<void> {
    await write(writer => {
      for (const [path, held] of this.#held) writer.table(UNWRITTEN).put({ path, ...held })
    })
    for (const path of this.#held.keys()) this.#spilled.add(path)
    this.#held.clear()
    this.#size = 0
  }
}

/** Also what a run left that was killed. */
export function dropUnwritten(writer: StoreWriter): void {
  const table = writer.table(UNWRITTEN)
  for (const row of table.scan({}, { columns: ['path'] })) table.delete({ path: row['path'] as string })
}

function sizeOf({ text, extraction }: Unwritten): number {
  return text.length + (extraction?.length ?? 0)
}
