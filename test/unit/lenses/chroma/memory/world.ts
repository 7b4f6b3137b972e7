/** A store with nodes and everything that keeps their memory, put together from real parts. */
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { PointIndex } from '../../../../../src/index/contract.ts'
import { openPointIndex } from '../../../../../src/index/points.ts'
import type { Timer } from '../../../../../src/lenses/chroma/errors.ts'
import { AccessUpdates, type DecayReport, runDecayCycle } from '../../../../../src/lenses/chroma/memory/changes.ts'
import { Memories, type MemoryColumns, type MemoryContext } from '../../../../../src/lenses/chroma/memory/columns.ts'
import type { ModeName } from '../../../../../src/lenses/chroma/memory/formulas.ts'
import {
  defaultMemory,
  logUses,
  NODES,
  readMemory,
  type StoredMemory,
  writeMemory,
} from '../../../../../src/lenses/chroma/tables.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import type { EntryKey } from '../../../../../src/model/entry.ts'
import { audience, OWNER } from '../../../../../src/model/partition.ts'
import { lookAt } from '../../../../../src/pipeline/access.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../../../support/entries.ts'

export const DAY = 86_400
/** Unix seconds at which a world begins. */
export const START = 1_700_000_000

export interface WorldOptions {
  readonly store?: Store
  readonly mode?: 'immediate' | 'queued'
  readonly enabled?: boolean
  readonly decayEnabled?: boolean
  readonly timer?: Timer
}

export interface NodeFields extends Partial<StoredMemory> {
  readonly mode?: string
  readonly decay_enabled?: boolean
  readonly created_at?: number
  readonly holder?: string
  readonly point?: readonly [number, number, number]
}

export class World {
  readonly store: Store
  readonly clock = new SettableClock(START * 1000)
  readonly context: MemoryContext & { readonly access: AccessUpdates }
  readonly points: PointIndex

  constructor({
    store = openMemoryStore(),
    mode = 'immediate',
    enabled = true,
    decayEnabled = true,
    timer,
  }: WorldOptions = {}) {
    this.store = store
    const notAsked = (): never => {
      throw new Error('not asked in these tests')
    }
    const host: LensHost = {
      store,
      clock: this.clock,
      embedder: null,
      settings: {},
      random: bytes => new Uint8Array(bytes),
      accessScope: viewer => store.read(reader => lookAt(reader, viewer)),
      index: () => this.points,
      query: notAsked,
      explain: notAsked,
      count: notAsked,
      stream: notAsked,
      subscribe: notAsked,
      source: notAsked,
    }
    const memories = new Memories(store)
    const access = new AccessUpdates({ store, memories, mode, memoryEnabled: enabled, timer })
    this.context = { host, memories, access, settings: { enabled, decay_enabled: decayEnabled } }
    this.points = openPointIndex({ name: 'chroma-points', table: NODES, columns: ['l', 'a', 'b'] })
  }

  /** Unix seconds. */
  get now(): number {
    return this.clock.now() / 1000
  }

  columns(viewer: string = OWNER): MemoryColumns {
    return this.context.memories.of(viewer)
  }

  later(seconds: number): number {
    this.clock.set(this.clock.now() + seconds * 1000)
    return this.now
  }

  /** Stores a node; what is said of its memory becomes the owner's. */
  node(id: string, fields: NodeFields = {}): EntryKey {
    const {
      mode = 'Adaptive',
      decay_enabled = true,
      created_at = START,
      holder = OWNER,
      point = [50, 0, 0],
      ...memory
    } = fields
    return this.store.write(this.clock.now(), writer => {
      const draft = draftOf({ id, audience: audience('private', holder) })
      const { key } = writer.put(draft, wholeChunk(draft))
      const [l, a, b] = point
      writer.table(NODES).put({
        entry: key,
        l,
        a,
        b,
        node_id: 'n',
        hashtags: '[]',
        mode_name: mode,
        decay_enabled: decay_enabled ? 1 : 0,
        has_metadata: 0,
        created_at,
        version: 0,
      })
      writer.announce(key)
      if (Object.keys(memory).length > 0) {
        writeMemory(writer, OWNER, key, { ...defaultMemory(created_at), ...memory })
        logUses(writer, OWNER, [key])
      }
      return key
    })
  }

  delete(entry: EntryKey): void {
    this.store.write(this.clock.now(), writer => writer.delete(entry))
  }

  memory(entry: EntryKey, viewer: string = OWNER): StoredMemory | undefined {
    return readMemory(this.store, viewer, entry)
  }

  record(entries: readonly EntryKey[], now = this.now, viewer: string = OWNER) {
    return this.context.access.record(viewer, entries, now)
  }
}

export const MODES_BY_TURN: readonly ModeName[] = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic']

export function decay(world: World, viewer: string = OWNER): Promise<DecayReport> {
  return runDecayCycle(world.context, viewer, { now: world.now })
}

/** What the owner remembers of each. */
export function state(world: World, keys: readonly EntryKey[]): readonly (StoredMemory | undefined)[] {
  return keys.map(key => world.memory(key))
}

/** 2,500 nodes in three batches; every third was used. */
export function large(world: World): readonly EntryKey[] {
  return world.store.write(world.clock.now(), () =>
    Array.from({ length: 2500 }, (_, at) =>
      world.node(`n${at}`, {
        mode: MODES_BY_TURN[at % 4] ?? '',
        ...(at % 3 === 0 && { strength_raw: (at % 97) / 2, last_accessed: START }),
      }),
    ),
  )
}
