/**
 * How many entries a viewer sees. Counting a million takes a tenth of a second, and every page of a list says it: so the
 * numbers are kept for as long as nothing is committed.
 */
import { Recent } from '../base/recent.ts'
import type { Sight } from '../model/viewer.ts'
import type { Store } from '../store/store.ts'

/** Sights whose numbers are kept. */
const SIGHTS = 100

interface Kept {
  readonly version: number
  readonly counts: Recent<string, number>
}

const known = new WeakMap<Store, Kept>()

export function countVisible(store: Store, sight: Sight): number {
  const version = store.version()
  let kept = known.get(store)
  if (kept?.version !== version) kept = { version, counts: new Recent(SIGHTS) }
  known.set(store, kept)
  return kept.counts.get(sight.partitions.join(), () => store.count(sight, null))
}
