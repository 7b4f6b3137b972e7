/**
 * Playing a history to a store, and all that can be seen of the store afterwards. Steps are plain data that name
 * entries by place (`pick`), so that one history can be replayed in several stores, or in another process.
 */
import { must } from '../../src/base/assert.ts'
import type { ChunkDraft, Entry, EntryDraft, EntryKey } from '../../src/model/entry.ts'
import type { Row, TableDeclaration } from '../../src/model/table.ts'
import type { AccessScope } from '../../src/model/viewer.ts'
import type { ListPosition, ListRequest, Store, StoreReader, StoreWriter } from '../../src/store/store.ts'

export interface GivenEntry {
  readonly draft: EntryDraft
  readonly chunks: readonly ChunkDraft[]
}

export type Step =
  | ({ readonly do: 'put' } & GivenEntry)
  | { readonly do: 'delete' | 'announce'; readonly pick: number }
  | {
      readonly do: 'touch'
      readonly viewer: string
      readonly picks: readonly number[]
      readonly now: number
      readonly gain: number
    }
  | { readonly do: 'setAccess'; readonly viewer: string; readonly pick: number; readonly now: number }
  | { readonly do: 'vectors'; readonly model: string; readonly picks: readonly number[]; readonly value: number }
  | { readonly do: 'mood'; readonly pick: number; readonly row: Row }
  | { readonly do: 'link' | 'unlink'; readonly row: Row }
  | { readonly do: 'meta'; readonly name: string; readonly value: string }
  | { readonly do: 'prune'; readonly back: number }
  | { readonly do: 'nested'; readonly steps: readonly Step[]; readonly fails: boolean }

/** One write transaction; one that fails must leave nothing behind. */
export interface Act {
  readonly now: number
  readonly steps: readonly Step[]
  readonly fails: boolean
}

export const MOOD: TableDeclaration = {
  name: 'moods',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'level', type: 'integer' },
    { name: 'warmth', type: 'real', nullable: true },
    { name: 'word', type: 'text', nullable: true },
    { name: 'picture', type: 'blob', nullable: true },
  ],
  key: ['entry'],
  ofEntry: true,
  aspect: 'mood',
}

export const MOOD_FIELDS: readonly string[] = [
  'mood.level',
  'mood.warmth',
  'mood.word',
  'mood.picture',
  'mood.none',
  'mood',
]

export const LINK: TableDeclaration = {
  name: 'links',
  columns: [
    { name: 'source', type: 'text' },
    { name: 'rank', type: 'integer' },
    { name: 'weight', type: 'real' },
    { name: 'note', type: 'text', nullable: true },
  ],
  key: ['source', 'rank'],
  indexes: [['weight'], ['note', 'rank']],
}

export const HISTORY_VIEWERS: readonly string[] = ['owner', 'ann', 'bob', 'ännä']
export const HISTORY_MODELS: readonly string[] = ['mini@1', 'Mini@1']
const DIMENSIONS = 4

/** Plays the history; what the steps returned, in order. */
export function play(store: Store, acts: readonly Act[]): readonly unknown[] {
  const reported: unknown[] = []
  for (const act of acts) transact(store, act.now, act.steps, act.fails, reported)
  return reported
}

/** Everything that the contract lets one see, apart from keys that only this store knows. */
export function observe(store: Store): unknown {
  return store.read(reader => {
    const partitions = reader.partitions()
    const all = partitions.map(partition => partition.id)
    const keys = reader.scanEntries(0, 1e6)
    const chunks = keys.flatMap(key => reader.chunksOf(key))
    const scopes: readonly AccessScope[] = [
      { viewer: { id: 'owner' }, partitions: all },
      { viewer: { id: 'ann' }, partitions: all.filter(id => id % 2 === 1) },
      { viewer: { id: 'bob' }, partitions: [] },
    ]
    return {
      partitions,
      keys,
      entries: reader.entries([...keys].reverse()),
      identities: reader.identities(keys),
      validities: [reader.scanBounded(0, 1e6), reader.validities([...keys].reverse())],
      chunks,
      vectors: HISTORY_MODELS.map(model => [
        reader.scanVectors(model, 0, 1e6),
        reader.chunksWithoutVector(model, 1e6).map(chunk => chunk.key),
        reader.countVectors(model, all.slice(1)),
      ]),
      counts: all.map(id => reader.countChunks([id])),
      access: HISTORY_VIEWERS.map(id => [...reader.access({ id }, keys)]),
      viewers: reader.accessViewers(),
      feed: [reader.firstSeq(), reader.lastSeq(), reader.changesSince(0, 1e6)],
      sights: scopes.map(accessScope => seen(reader, accessScope)),
      tables: [reader.table(MOOD).scan(), reader.table(LINK).scan()],
    }
  })
}

function seen(reader: StoreReader, accessScope: AccessScope): unknown {
  const orders = ['created', 'updated', 'accessed', 'id'] as const
  return [
    reader.count(accessScope, null),
    ...orders.map(order => pages(reader, accessScope, order)),
    ...(['collection', 'kind', 'tag'] as const).map(field => reader.facet(accessScope, field, 3)),
    reader.collections(accessScope, 3),
    reader.find('one', accessScope.partitions),
  ]
}

/** The whole list, page by page. */
function pages(reader: StoreReader, accessScope: AccessScope, order: ListRequest['order']): readonly EntryKey[] {
  const keys: EntryKey[] = []
  let after: ListPosition | null = null
  for (;;) {
    const page: readonly Entry[] = reader.list({ accessScope: accessScope, filter: null, order, limit: 2, after })
    const last = page.at(-1)
    if (last === undefined) return keys
    keys.push(...page.map(entry => entry.key))
    after = { at: timeOf(reader, accessScope, order, last), id: last.id, holder: last.audience.holder }
  }
}

function timeOf(
  reader: StoreReader,
  accessScope: AccessScope,
  order: ListRequest['order'],
  entry: Entry,
): number | null {
  if (order === 'id') return null
  if (order === 'accessed') return reader.access(accessScope.viewer, [entry.key]).get(entry.key)?.lastAccessed ?? null
  return order === 'created' ? entry.createdAt : entry.updatedAt
}

class Undone extends Error {}

function transact(store: Store, now: number, steps: readonly Step[], fails: boolean, results: unknown[]): void {
  try {
    store.write(now, writer => {
      for (const step of steps) results.push(take(store, writer, now, step, results))
      if (fails) throw new Undone('on purpose')
    })
  } catch (error) {
    if (!(error instanceof Undone)) throw error
  }
}

function take(store: Store, writer: StoreWriter, now: number, step: Step, results: unknown[]): unknown {
  switch (step.do) {
    case 'put':
      return writer.put(step.draft, step.chunks)
    case 'delete':
      return writer.delete(entryAt(writer, step.pick))
    case 'announce':
      return writer.announce(entryAt(writer, step.pick))
    case 'touch':
      return writer.touch(
        { id: step.viewer },
        step.picks.map(pick => entryAt(writer, pick)),
        step.now,
        step.gain,
      )
    case 'setAccess':
      return writer.setAccess({ id: step.viewer }, entryAt(writer, step.pick), {
        lastAccessed: step.now,
        count: 7,
        strength: 0.25,
      })
    case 'vectors': {
      const chunks = writer.scanEntries(0, 1e6).flatMap(key => writer.chunksOf(key))
      const vector = new Float32Array(DIMENSIONS).fill(step.value)
      // A pick beyond the end names a chunk that is gone.
      return writer.putVectors(
        step.model,
        step.picks.map(pick => ({ chunk: chunks[pick]?.key ?? 1e9, vector })),
      )
    }
    case 'mood': {
      const entry = entryAt(writer, step.pick)
      return writer.entry(entry) && writer.table(MOOD).put({ ...step.row, entry })
    }
    case 'link':
      return writer.table(LINK).put(step.row)
    case 'unlink':
      return writer.table(LINK).delete({ source: must(step.row['source'], 'a source') })
    case 'meta':
      writer.setMeta(step.name, step.value)
      return writer.meta(step.name)
    case 'prune':
      return writer.pruneChanges(writer.lastSeq() - step.back)
    case 'nested':
      return transact(store, now, step.steps, step.fails, results)
  }
}

/** The entry at this place, or one that does not exist. */
function entryAt(reader: StoreReader, pick: number): EntryKey {
  return reader.scanEntries(0, 1e6)[pick] ?? 1e9
}
