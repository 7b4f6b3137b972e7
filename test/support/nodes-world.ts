/** Three nodes: home, where ana asks; north, which serves the federation birds; south, which is asked for public beliefs. */
import { isRecord } from '../../src/base/record.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import type { Json } from './beliefs-engine.ts'
import { joinAcross, type NodeWorld, openNodes, type TestNode } from './nodes.ts'

export const EVERYWHERE = { scope: { local: true, federated: true, network: true } }

export interface Birds extends AsyncDisposable {
  readonly world: NodeWorld
  readonly home: TestNode
  readonly north: TestNode
  readonly south: TestNode
  ask(semantic: string, options?: Json, more?: Json): Promise<BirdsAnswer>
}

export interface BirdsAnswer extends Json {
  readonly beliefs: readonly {
    readonly belief: { readonly id: string; readonly content: string; readonly holder_id: string | null } & Json
    readonly score: { readonly final: number; readonly components: Readonly<Record<string, number | null>> }
    readonly rank: number
    readonly source: { readonly kind: string; readonly id: string | null }
    readonly node?: string
  }[]
  readonly errors: readonly Json[]
  readonly coverage: Json
  readonly partial: boolean
}

export async function openBirds(
  options: Partial<EngineOptions> | ((name: string) => Partial<EngineOptions>) = {},
  settings: Json = {},
): Promise<Birds> {
  const world = await openNodes(['home', 'north', 'south'], options, settings)
  const [home, north, south] = [world.node('home'), world.node('north'), world.node('south')]
  await home.call('agents.create', 'owner', { id: 'ana' })
  for (const id of ['bo', 'cy']) await north.call('agents.create', 'owner', { id })
  for (const id of ['dee', 'eli']) await south.call('agents.create', 'owner', { id })
  await joinAcross(world, { federation: 'birds', home: 'home', agent: 'ana', at: 'north' })
  for (const agent of ['bo', 'cy']) await north.call('federations.set_member', 'owner', { federation: 'birds', agent })
  await home.call('peers.add', 'owner', { id: 'south', address: south.address, network: true })
  return {
    ...{ world, home, north, south },
    ask: async (semantic, given = {}, more = {}) =>
      (await home.call('beliefs.query', 'ana', {
        semantic,
        options: { ...EVERYWHERE, ...given },
        ...more,
      })) as unknown as BirdsAnswer,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

export function say(node: TestNode, holder: string, id: string, content: string, more: Json = {}): Promise<Json> {
  return node.call('beliefs.put', holder, { id, content, ...more })
}

export const PUBLIC = { visibility: 'public' }
export const SHARED = { visibility: 'federated', federation_ids: ['birds'] }

export function idsOf({ beliefs }: Pick<BirdsAnswer, 'beliefs'>): readonly string[] {
  return beliefs.map(({ belief }) => belief.id)
}

/** Without what may differ between two answers that are the same: measured times. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'query_time_ms' && name !== 'elapsed_ms')
  return Object.fromEntries(kept.map(([name, member]) => [name, comparable(member)]))
}
