/** An engine with the lens and an embedder whose vectors are known, for tests of questions and explanations. */
import type { JsonObject } from '../../../../../src/base/canonical.ts'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Embedder } from '../../../../../src/embed/embedder.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { checkSettings } from '../../../../../src/lenses/beliefs/beliefs-settings.ts'
import { inCall } from '../../../../../src/lenses/beliefs/operations/belief-operation.ts'
import { parseRequest } from '../../../../../src/lenses/beliefs/schema/faults.ts'
import { putEdge } from '../../../../../src/lenses/beliefs/trust/edges.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../../../src/store/core-tables.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { countingBytes, openTestEngine } from '../../../../support/engines.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

export const NOW: number = Date.UTC(2026, 2, 1, 12)
export const EVERYTHING: JsonObject = { local: true, federated: true, network: true }

// What comes over the wire has any form; tests look at what they expect.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Answer = any

export interface AskingWorld {
  readonly engine: Engine
  readonly host: LensHost
  readonly store: Store
  readonly clock: SettableClock
  call(name: string, input: unknown, viewer?: string): Promise<Answer>
  /** Gives the id. */
  put(holder: string, draft: JsonObject): Promise<string>
  join(federation: string, ...agents: readonly string[]): void
  strict(federation: string): void
  trust(owner: string, target: string, level: number, domains?: Readonly<Record<string, number>>): void
}

export async function openAskingWorld({
  embedder = openToyEmbedder(),
  at = NOW,
  settings = {},
}: {
  readonly embedder?: Embedder | 'none'
  readonly at?: number
  /** The lens's part of the configuration. */
  readonly settings?: JsonObject
} = {}): Promise<AskingWorld> {
  const store = openMemoryStore()
  const clock = new SettableClock(at)
  const engine = await openTestEngine({ store, embedder, clock })
  const random = countingBytes()
  const host: LensHost = { ...engine.host('beliefs'), settings: checkSettings(settings) }
  const call = async (name: string, input: unknown, viewer = 'ann') => {
    const found = engine.lensOperations.find(({ operation }) => operation.name === name)
    if (found === undefined) throw new Error(`no operation ${name}`)
    const context = { viewer: { id: viewer }, signal: new AbortController().signal }
    const checked = await inCall(host, context, () => parseRequest(found.operation.input, input))
    return JSON.parse(JSON.stringify(await found.operation.run(host, checked, context)))
  }
  return {
    engine,
    host,
    store,
    clock,
    call,
    put: async (holder, draft) => (await call('beliefs.put', draft, holder)).belief.id,
    join: (federation, ...agents) => {
      const rest = { status: 'active', permissions: null, updated_at: at, role: null, joined_at: at }
      store.write(at, writer => {
        for (const agent of agents) writer.table(MEMBERSHIPS).put({ federation, agent, ...rest })
      })
    },
    strict: id => {
      const rest = { label: null, created_at: at, did: null, joining: null, results: null, reputation: null }
      store.write(at, writer => writer.table(FEDERATIONS).put({ id, anonymity: 'strict', ...rest }))
    },
    trust: (owner, target, level, domains = {}) => {
      const draft = { target, level, domains, basis: [], persistent: false, exposure: 'exposed' as const, signed: null }
      store.write(clock.now(), writer => putEdge(writer, owner, draft, { now: clock.now(), random }))
    },
  }
}
