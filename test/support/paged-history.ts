/**
 * Pages of one answer with writes in between, held against the plain rule: what the whole answer was when the first page was
 * asked for, in its order and with its scores, less what is deleted or hidden when its turn comes.
 */
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import type { ChunkKey, EntryKey } from '../../src/model/entry.ts'
import type { Item } from '../../src/model/page.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import type { Viewer } from '../../src/model/viewer.ts'
import { lookAt, stillVisible } from '../../src/pipeline/access.ts'
import type { Store } from '../../src/store/store.ts'

export interface Reported {
  readonly key: EntryKey
  /** Where passages are results: one that is rewritten has gone. Null: the entry is the result. */
  readonly chunk: ChunkKey | null
  readonly score: number
}

/** All of the answer as it is now. */
export async function wholeAnswer(
  engine: Engine,
  store: Store,
  input: QueryInput,
  viewer: Viewer,
): Promise<readonly Reported[]> {
  const { items, cursor } = await engine.query({ ...input, limit: 1000, touch: false }, { viewer })
  expect(cursor).toBeNull()
  return reportedBy(items, store, viewer)
}

export interface PartNow {
  readonly reported: readonly Reported[]
  readonly to: number
  /** Null: the page may or may not say that it is the last. A deleted item is behind others of its score, and is read no sooner than needed. */
  readonly isLast: boolean | null
}

/** The part of it that a page shows whose turn has come, and how far it goes. */
export function partNow(
  whole: readonly Reported[],
  from: number,
  limit: number,
  store: Store,
  viewer: Viewer,
): PartNow {
  const accessScope = lookAt(store, viewer)
  const isThere = ({ key, chunk }: Reported) => {
    const entry = store.entry(key)
    if (entry === undefined || !stillVisible(entry, accessScope)) return false
    return chunk === null || store.chunksOf(key).some(one => one.key === chunk)
  }
  const reported: Reported[] = []
  let to = from
  while (to < whole.length && reported.length < limit) {
    const one = whole[to++] as Reported
    if (isThere(one)) reported.push(one)
  }
  if (whole.slice(to).some(isThere)) return { reported, to, isLast: false }
  return { reported, to, isLast: whole.every(isThere) ? true : null }
}

export function reportedBy(items: readonly Item[], store: Store, viewer: Viewer): readonly Reported[] {
  return items.map(item => {
    const key = keyOf(item, store, viewer)
    const { passage } = item
    const chunk = passage === undefined ? null : (store.chunksOf(key)[passage - 1]?.key ?? -1)
    return { key, chunk, score: item.score }
  })
}

/** Shown as it is now. */
export function expectOfNow(items: readonly Item[], store: Store, viewer: Viewer): void {
  for (const item of items) {
    const entry = store.entry(keyOf(item, store, viewer))
    expect([item.title, item.tags, item.collection]).toEqual([entry?.title, entry?.tags, entry?.collection])
    expect(entry?.content).toContain(item.excerpt.text.replace(/^…|…$/g, '').trim())
  }
}

function keyOf({ id, holder }: Item, store: Store, viewer: Viewer): EntryKey {
  const found = store.find(id, lookAt(store, viewer).partitions)
  return found.find(key => store.entry(key)?.audience.holder === holder) ?? -1
}
