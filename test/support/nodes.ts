/** A world of several nodes in one process, each an engine of its own. */
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import {
  ABOUT_PATH,
  CHANGES_PATH,
  QUERY_PATH,
  type WireAnswer,
  type WireItem,
} from '../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from './beliefs-engine.ts'
import { InProcessNodes } from './in-process-nodes.ts'
import { seededBytes } from './seeded.ts'

export const NOW = Date.parse('2026-06-01T12:00:00Z')

export interface TestNode {
  readonly name: string
  readonly address: string
  readonly engine: Engine
  did: string
  call(operation: string, by: string, input: Json): Promise<Json>
}

export interface NodeWorld extends AsyncDisposable {
  readonly transport: InProcessNodes
  readonly clock: SettableClock
  node(name: string): TestNode
}

const STATUSES: Readonly<Record<string, number>> = {
  UNAUTHORIZED: 403,
  RATE_LIMITED: 429,
  INVALID_QUERY: 400,
  TIMEOUT: 504,
}

/** The first asks; the others answer. */
export async function openNodes(
  names: readonly string[],
  given: Partial<EngineOptions> | ((name: string) => Partial<EngineOptions>) = {},
  settings: Json = {},
): Promise<NodeWorld> {
  const transport = new InProcessNodes()
  const clock = new SettableClock(NOW)
  const nodes = new Map<string, TestNode>()
  for (const [number, name] of names.entries()) {
    const random = seededBytes(number + 1)
    const options = typeof given === 'function' ? given(name) : given
    const engine = await openBeliefsEngine({ store: openMemoryStore(), clock, random, transport, ...options }, settings)
    const address = `http://${name}.test`
    const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
    const node: TestNode = { name, address, engine, did: engine.signedRequests.did(), call }
    transport.add(address, async (path, body, signal) => {
      try {
        if (path === QUERY_PATH) return await call('nodes.query', 'nobody', body as Json)
        if (path === CHANGES_PATH) return await callOperation(engine, 'nodes.changes', 'nobody', body as Json, signal)
        if (path === ABOUT_PATH) return await call('peers.about', 'nobody', {})
      } catch (thrown) {
        throw Object.assign(new Error('refused'), {
          status: STATUSES[(thrown as { code: string }).code] ?? 500,
          cause: thrown,
        })
      }
      throw Object.assign(new Error('no such path'), { status: 404 })
    })
    nodes.set(name, node)
  }
  return {
    transport,
    clock,
    node: name => nodes.get(name) as TestNode,
    [Symbol.asyncDispose]: async () => {
      for (const { engine } of nodes.values()) await engine.close()
    },
  }
}

/** Makes the agent of one node a member of a federation of another, which it is asked for from then on. */
export async function joinAcross(
  world: NodeWorld,
  { federation, home, agent, at }: { federation: string; home: string; agent: string; at: string },
): Promise<void> {
  const [own, other] = [world.node(home), world.node(at)]
  const { agents } = (await own.call('agents.list', 'owner', {})) as { agents: readonly { id: string; did: string }[] }
  const did = agents.find(({ id }) => id === agent)?.did as string
  await other.call('federations.create', 'owner', { id: federation, anonymity: 'pseudonyms' }).catch(() => undefined)
  await other.call('federations.set_member', 'owner', { federation, agent: did })
  await own.call('federations.create', 'owner', { id: federation }).catch(() => undefined)
  await own.call('federations.set_member', 'owner', { federation, agent })
  const { peers } = (await own.call('peers.list', 'owner', {})) as {
    peers: readonly { id: string; federations: string[]; network: boolean }[]
  }
  const before = peers.find(({ id }) => id === at)
  await own.call('peers.add', 'owner', {
    id: at,
    address: other.address,
    network: before?.network ?? false,
    federations: [...(before?.federations ?? []), federation],
  })
}

/** An answer with its items read. */
export type ReadAnswer = Omit<WireAnswer, 'items'> & { readonly items: readonly WireItem[] }

export function readAnswer(answer: unknown): ReadAnswer {
  const given = answer as WireAnswer
  return { ...given, items: JSON.parse(given.items) as WireItem[] }
}

/** As it is sent. Whatever else it has been made stays as it is. */
export function asSent(answer: unknown): unknown {
  const items = (answer as ReadAnswer | null)?.items
  return Array.isArray(items) ? { ...(answer as ReadAnswer), items: JSON.stringify(items) } : answer
}
