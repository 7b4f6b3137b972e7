/**
 * Which changes a question through the pipeline can leave aside without being asked again. Words and meaning weigh an entry
 * by all that is visible, so there are few: what does not fulfil the conditions of a list, and vectors where words answer.
 */
import type { Entry, EntryKey } from '../../model/entry.ts'
import { type Filter, matches } from '../../model/filter.ts'
import type { Page } from '../../model/page.ts'
import type { QueryInput } from '../../model/query-input.ts'
import { isTracked } from '../../pipeline/memo.ts'
import type { Change, Store } from '../../store/store.ts'

/** Of the last answer. */
export interface Answered {
  readonly mode: Page['mode']
  readonly entries: ReadonlySet<EntryKey>
}

/** As entries are now: each is read once, however many questions stand. */
export class ChangedEntries {
  readonly #store: Pick<Store, 'entry'>
  readonly #known = new Map<number, Entry | undefined>()

  constructor(store: Pick<Store, 'entry'>) {
    this.#store = store
  }

  /** Undefined: it is gone. As of the change or later: of what is later a later change tells. */
  entryOf({ seq, entry }: Change): Entry | undefined {
    if (this.#known.has(seq)) return this.#known.get(seq)
    const found = this.#store.entry(entry)
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(seq, found)
    return found
  }
}

/** Some kilobytes each. */
const MOST_KNOWN = 256

export class Reach {
  readonly #asksWords: boolean
  /** What entries must fulfil to stand in a list; null: each may. */
  readonly #conditions: Filter | null
  readonly #changed: ChangedEntries

  /** `conditions`: as long as they stay the same as time passes; else null. */
  constructor({ mode, diversity = 1 }: QueryInput, conditions: Filter | null, changed: ChangedEntries) {
    const spreads = diversity < 1
    this.#asksWords = mode === 'words' && !spreads
    this.#conditions = !spreads && conditions !== null && isTracked(conditions) ? conditions : null
    this.#changed = changed
  }

  /** Whether a visible change may have changed the answer; false is certain. */
  includes(change: Change, { mode, entries }: Answered): boolean {
    if (mode === 'words' && this.#asksWords) return change.kind !== 'vectors'
    if (mode !== 'list' || this.#conditions === null) return true
    if (change.kind === 'vectors') return false
    if (entries.has(change.entry)) return true
    // Of what stood below the last place, or was no part of it, only that counts which it is now.
    const entry = this.#changed.entryOf(change)
    return entry !== undefined && matches(this.#conditions, { entry, access: null, aspect: () => null })
  }
}
