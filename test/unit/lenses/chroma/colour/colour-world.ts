/** A host over a store, and nodes in it: what the tests of this folder stand on. */
import { SettableClock } from '../../../../../src/base/clock.ts'
import { Bindings } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { Coordinates, nodeIdOf } from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import { NODES } from '../../../../../src/lenses/chroma/tables.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import type { EntryKey } from '../../../../../src/model/entry.ts'
import { audience } from '../../../../../src/model/partition.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../../../support/entries.ts'

export const NOW = 1_000_000

let made = 0

export function hostOf(store: Store = openMemoryStore()): LensHost {
  const notHere = () => {
    throw new Error('not part of these tests')
  }
  return {
    store,
    clock: new SettableClock(NOW),
    embedder: null,
    settings: undefined,
    random: bytes => new Uint8Array(bytes).fill(++made),
    accessScope: viewer => ({ viewer, partitions: store.partitions().map(({ id }) => id) }),
    index: notHere,
    query: notHere,
    explain: notHere,
    count: notHere,
    stream: notHere,
    subscribe: notHere,
    source: notHere,
  }
}

/** `#t7` on anchor 7. */
export function assignIds(bindings: Bindings, ids: readonly number[]): readonly string[] {
  bindings.assignMany(ids.map(anchorId => ({ hashtag: `t${anchorId}`, anchorId })))
  return ids.map(id => `#t${id}`)
}

/** A node as storing makes it, its entry's tags aside: those anybody may rewrite. */
export function addNode(host: LensHost, id: string, tags: readonly string[], holder = 'owner'): EntryKey {
  const coordinates = new Coordinates(new Bindings(host))
  const checked = coordinates.check(tags)
  const [l, a, b] = coordinates.color(checked)
  return host.store.write(NOW, writer => {
    const draft = draftOf({ id, kind: 'node', audience: audience('private', holder) })
    const { key } = writer.put(draft, wholeChunk(draft))
    writer.table(NODES).put({
      ...{ entry: key, l, a, b, node_id: nodeIdOf([l, a, b]), hashtags: JSON.stringify(checked.hashtags) },
      ...{ mode_name: 'Sparse', decay_enabled: 1, has_metadata: 0, created_at: 5, version: 3 },
    })
    return key
  })
}

/** What an error says, for `toMatchObject`; fails when nothing is thrown. */
export function thrownBy(act: () => unknown): {
  readonly name: string
  readonly code: string
  readonly details: object
} {
  try {
    act()
  } catch (error) {
    return error as { name: string; code: string; details: object }
  }
  throw new Error('nothing was thrown')
}
