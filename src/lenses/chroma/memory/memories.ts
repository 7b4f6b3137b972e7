/** The columns of those viewers who asked last; and what everything that works on memories is given. */
import { Recent } from '../../../base/recent.ts'
import type { Store } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { MemoryColumns } from './columns.ts'

/** Viewers whose columns are kept: 17 MB each at a million nodes. */
const VIEWERS = 8

export class Memories {
  readonly #store: Store
  readonly #columns = new Recent<string, MemoryColumns>(VIEWERS)

  constructor(store: Store) {
    this.#store = store
  }

  /** In step with what is committed. The first call for a viewer reads all nodes. */
  of(viewer: string): MemoryColumns {
    const columns = this.#columns.get(viewer, () => new MemoryColumns(this.#store, viewer))
    columns.refresh()
    return columns
  }
}

export interface MemorySettings {
  /** False: no strength, no decay, no lifecycle; scores are relevance alone. */
  readonly enabled: boolean
  /** False: decay cycles are skipped. */
  readonly decay_enabled: boolean
}

export interface MemoryContext {
  readonly host: LensHost
  readonly memories: Memories
  /** What was used and waits to be written. */
  readonly access: { flush(): unknown }
  readonly settings: MemorySettings
}
