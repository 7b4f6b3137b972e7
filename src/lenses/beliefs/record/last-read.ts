/** Current versions as they were read last: those that rank high do so again and again. Forgotten when any belief changes. */
import { Recent } from '../../../base/recent.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { StoredVersion } from './version.ts'

/** Some kilobytes each. */
const KEPT = 4096

export interface CurrentVersion {
  readonly entry: Entry
  readonly version: StoredVersion
}

export class LastRead {
  readonly #kept = new Recent<EntryKey, CurrentVersion>(KEPT)

  /** In the order asked for; what there is not is left out. */
  of(
    keys: readonly EntryKey[],
    read: (keys: readonly EntryKey[]) => readonly CurrentVersion[],
  ): readonly CurrentVersion[] {
    const found = new Map<EntryKey, CurrentVersion>()
    const unknown: EntryKey[] = []
    for (const key of keys) {
      const kept = this.#kept.find(key)
      if (kept === undefined) unknown.push(key)
      else found.set(key, kept)
    }
    if (unknown.length > 0) {
      for (const each of read(unknown))
        found.set(
          each.entry.key,
          this.#kept.get(each.entry.key, () => each),
        )
    }
    return keys.flatMap(key => found.get(key) ?? [])
  }

  forget(): void {
    this.#kept.clear()
  }
}
