/** Current versions, and their vectors, as they were read last: those that rank high do so again and again. Forgotten when they change. */
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { CurrentBelief } from './version.ts'

/** Some kilobytes each. */
const KEPT = 4096

export class LastRead {
  readonly #versions = new Recent<EntryKey, CurrentBelief>(KEPT)
  readonly #vectors = new Recent<EntryKey, Float32Array>(KEPT)

  /** In the order asked for; what there is not is left out. */
  versions(
    keys: readonly EntryKey[],
    read: (keys: readonly EntryKey[]) => readonly CurrentBelief[],
  ): readonly CurrentBelief[] {
    const found = lookedUp(this.#versions, keys, unknown => read(unknown).map(each => [each.entry.key, each]))
    return keys.flatMap(key => found.get(key) ?? [])
  }

  /** By the model of the engine's embedder. A belief keeps its vector once it has one. */
  vectors(
    keys: readonly EntryKey[],
    read: (keys: readonly EntryKey[]) => readonly (readonly [EntryKey, Float32Array])[],
  ): ReadonlyMap<EntryKey, Float32Array> {
    return lookedUp(this.#vectors, keys, read)
  }

  /** Of these entries. */
  forget(keys: readonly EntryKey[]): void {
    const gone = new Set(keys)
    this.#versions.forget(key => gone.has(key))
    this.#vectors.forget(key => gone.has(key))
  }

  clear(): void {
    this.#versions.clear()
    this.#vectors.clear()
  }
}

/** Those there are: kept, or read all at once. */
function lookedUp<V>(
  kept: Recent<EntryKey, V>,
  keys: readonly EntryKey[],
  read: (keys: readonly EntryKey[]) => readonly (readonly [EntryKey, V])[],
): ReadonlyMap<EntryKey, V> {
  const found = new Map<EntryKey, V>()
  const unknown: EntryKey[] = []
  for (const key of keys) {
    const known = kept.find(key)
    if (known === undefined) unknown.push(key)
    else found.set(key, known)
  }
  if (unknown.length === 0) return found
  for (const [key, value] of read(unknown))
    found.set(
      key,
      kept.get(key, () => value),
    )
  return found
}
