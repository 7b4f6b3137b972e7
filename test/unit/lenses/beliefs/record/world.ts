/** A store with agents, federations and beliefs, for tests of what is kept and who sees it. */
import { v4Id } from '../../../../../src/base/canonical.ts'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { type Embedder, modelKey } from '../../../../../src/embed/embedder.ts'
import type { VectorIndex } from '../../../../../src/index/contract.ts'
import { openVectorIndex } from '../../../../../src/index/vectors.ts'
import type { ShowView } from '../../../../../src/lenses/beliefs/access/show.ts'
import type { StoredVersion } from '../../../../../src/lenses/beliefs/record/version.ts'
import {
  deleteBelief,
  putBelief,
  supersedeBelief,
  type WriteContext,
} from '../../../../../src/lenses/beliefs/record/write.ts'
import { type BeliefsState, modelOf, stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../../../src/store/core-tables.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { countingBytes } from '../../../../support/engines.ts'
import { checkDraft, checkRevision } from '../schema/checks.ts'

export const NOW: number = Date.UTC(2026, 0, 15, 12)

export interface World {
  readonly store: Store
  readonly clock: SettableClock
  readonly host: LensHost
  readonly state: BeliefsState
  /** Each act moves the clock by a second. */
  write<T>(holder: string, act: (context: WriteContext) => T): T
  put(holder: string, draft: Readonly<Record<string, unknown>>): StoredVersion
  supersede(holder: string, id: string, changes: Readonly<Record<string, unknown>>): StoredVersion
  remove(holder: string, id: string): StoredVersion
  join(
    federation: string,
    agent: string,
    more?: { readonly status?: string; readonly permissions?: string | null },
  ): void
  federation(id: string, anonymity?: 'pseudonyms' | 'strict'): void
  look<T>(requester: string, body: (view: ShowView) => T): T
}

/** Read again each time: a world is small. */
function vectorsOf(store: Store, embedder: Embedder | null): VectorIndex {
  if (embedder === null) throw new Error('not used')
  const model = modelKey(embedder.model)
  const index = openVectorIndex({
    model,
    dimensions: embedder.model.dimensions,
    source: chunks => store.vectorsOnly(model, chunks),
  })
  index.refresh(store)
  return index
}

export function makeWorld(store: Store = openMemoryStore(), embedder: Embedder | null = null): World {
  const clock = new SettableClock(NOW)
  const unused = (): never => {
    throw new Error('not used')
  }
  const host: LensHost = {
    store,
    clock,
    embedder,
    settings: {},
    random: countingBytes(),
    accessScope: unused,
    index: () => vectorsOf(store, embedder),
    source: unused,
    query: unused,
    explain: unused,
    count: unused,
    stream: unused,
    subscribe: unused,
  }
  const write = <T>(holder: string, act: (context: WriteContext) => T): T => {
    clock.set(clock.now() + 1000)
    const now = clock.now()
    const newId = () => v4Id(bytes => host.random(bytes))
    return store.write(now, writer => act({ writer, holder, now, model: modelOf(host), newId }))
  }
  return {
    store,
    clock,
    host,
    state: stateOf(host),
    write,
    put: (holder, draft) =>
      write(holder, context => putBelief(context, checkDraft({ content: 'It rains.', ...draft }, context.now))),
    supersede: (holder, id, changes) =>
      write(holder, context => supersedeBelief(context, checkRevision({ belief_id: id, ...changes }))),
    remove: (holder, id) => write(holder, context => deleteBelief(context, id)),
    join: (federation, agent, { status = 'active', permissions = null } = {}) => {
      const row = { federation, agent, status, permissions, updated_at: NOW, role: null, joined_at: NOW }
      store.write(NOW, writer => writer.table(MEMBERSHIPS).put(row))
    },
    federation: (id, anonymity = 'pseudonyms') => {
      const rest = { label: null, created_at: NOW, did: null, joining: null, results: null, reputation: null }
      store.write(NOW, writer => writer.table(FEDERATIONS).put({ id, anonymity, ...rest }))
    },
    look: (requester, body) => stateOf(host).look(requester, body),
  }
}
