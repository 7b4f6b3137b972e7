/** Lists of thousands, where SQLite takes other ways than for few: page by page they are what memory lists. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Entry } from '../../../src/model/entry.ts'
import { audience } from '../../../src/model/partition.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { ListPosition, ListRequest, Store } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { seededUniform } from '../../support/seeded.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** More than a thousand of some times, of both audiences; few of the others. */
const TIMES = [1, 2, 5, 5, 5, 6, 7, 8, 8, 9]
const ENTRIES = 5_000

const folder = tempFolder()
const memory = openMemoryStore()
const sqlite = openSqliteStore({ file: folder.file('store.db') })

beforeAll(() => {
  for (const store of [memory, sqlite]) fill(store)
})

afterAll(() => {
  sqlite.close()
  folder[Symbol.dispose]()
})

it.each(['updated', 'created', 'accessed', 'id'] as const)('lists by %s as memory does', order => {
  for (const partitions of [[1], [2], [1, 2]]) {
    const accessScope = { viewer: { id: 'ann' }, partitions }
    const all = memory.list({ accessScope: accessScope, filter: null, order, limit: ENTRIES, after: null })
    expect(all.length).toBeGreaterThan(1_000)
    for (const limit of [700, ENTRIES]) {
      expect(pages(sqlite, { accessScope: accessScope, filter: null, order, limit })).toEqual(all.map(({ id }) => id))
    }
    // Small pages, each from its place: between times, within a cluster of equal times, at its ends.
    for (let at = 0; at < all.length - 12; at += at % 500 === 0 ? 1 : 97) {
      const after = placeOf(all[at] as Entry, order)
      const page = sqlite.list({ accessScope: accessScope, filter: null, order, limit: 10, after })
      expect(page.map(({ id }) => id)).toEqual(all.slice(at + 1, at + 11).map(({ id }) => id))
    }
  }
})

it.each(['updated', 'accessed'] as const)('lists by %s what fulfils a filter as memory does', order => {
  const accessScope = { viewer: { id: 'ann' }, partitions: [1, 2] }
  for (const value of ['few', 'many']) {
    const filter = { op: 'eq', field: 'collection', value } as const
    const all = memory.list({ accessScope: accessScope, filter, order, limit: ENTRIES, after: null })
    expect(pages(sqlite, { accessScope: accessScope, filter, order, limit: 1_500 })).toEqual(all.map(({ id }) => id))
  }
})

function fill(store: Store): void {
  const uniform = seededUniform(4)
  store.write(1, writer => {
    for (let at = 0; at < ENTRIES; at++) {
      const time = Math.floor(uniform() * 4) === 0 ? (TIMES[at % TIMES.length] as number) : 5
      const isFew = at % 100 === 0
      const draft = draftOf({
        id: `entry-${(at * 7919) % ENTRIES}`,
        updatedAt: time,
        createdAt: 10 - time,
        collection: isFew ? 'few' : 'many',
        audience: at % 3 === 0 ? audience('public', 'ann') : audience('private', 'ann'),
      })
      const { key } = writer.put(draft, wholeChunk(draft))
      if (isFew) writer.setAccess({ id: 'ann' }, key, { lastAccessed: at % 7, count: 1, strength: 1 })
      if (at % 90 === 0) writer.setAccess({ id: 'bob' }, key, { lastAccessed: at, count: 1, strength: 1 })
    }
  })
}

function pages(store: Store, request: Omit<ListRequest, 'after'>): string[] {
  const ids: string[] = []
  for (let after: ListPosition | null = null; ; ) {
    const page: readonly Entry[] = store.list({ ...request, after })
    ids.push(...page.map(({ id }) => id))
    expect(ids.length).toBeLessThanOrEqual(ENTRIES)
    const last = page.at(-1)
    if (last === undefined) return ids
    after = placeOf(last, request.order)
  }
}

function placeOf(entry: Entry, order: ListRequest['order']): ListPosition {
  const accessed = memory.access({ id: 'ann' }, [entry.key]).get(entry.key)?.lastAccessed ?? null
  const at = { created: entry.createdAt, updated: entry.updatedAt, accessed, id: null }[order]
  return { at, id: entry.id, holder: entry.audience.holder }
}
