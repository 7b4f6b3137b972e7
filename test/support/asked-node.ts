/** A node that is asked by hand: questions as other nodes seal them, from a member of a federation and from a stranger. */
import type { Json } from '../../src/base/canonical.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { type Keys, keysOf } from '../../src/identity/keys.ts'
import { type Envelope, newNonce, sealEnvelope } from '../../src/identity/messages.ts'
import { PROTOCOL, type WireQuery } from '../../src/lenses/beliefs/nodes/wire/protocol.ts'
import type { Json as JsonRecord } from './beliefs-engine.ts'
import { type NodeWorld, openNodes, type ReadAnswer, readAnswer, type TestNode } from './nodes.ts'
import { PUBLIC, say } from './nodes-world.ts'

/** Member of birds. */
export const ANA = keysOf(Uint8Array.from({ length: 32 }, () => 7))
export const STRANGER = keysOf(Uint8Array.from({ length: 32 }, () => 8))
let numbers = 0

/** Another each time. */
export function nonce(): string {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, numbers++)
  return newNonce(() => bytes)
}

/** The same ones again: for a node that has not had them. */
export function startNonces(): void {
  numbers = 0
}

export const EVERYTHING: WireQuery = {
  protocol: PROTOCOL,
  scope: { kind: 'network', federation: null },
  text: 'swifts',
  vector: null,
  filters: [],
  limit: 10,
  timeout_ms: 5_000,
}
export const OF_BIRDS: WireQuery = { ...EVERYTHING, scope: { kind: 'federated', federation: 'birds' } }

export async function openNorth(
  options: Partial<EngineOptions> = {},
  settings: JsonRecord = {},
): Promise<{ readonly world: NodeWorld; readonly north: TestNode }> {
  const world = await openNodes(['north'], options, settings)
  const north = world.node('north')
  for (const id of ['bo', 'cy']) await north.call('agents.create', 'owner', { id })
  for (const id of ['birds', 'bats']) await north.call('federations.create', 'owner', { id, anonymity: 'pseudonyms' })
  for (const agent of ['bo', ANA.did])
    await north.call('federations.set_member', 'owner', { federation: 'birds', agent })
  await north.call('federations.set_member', 'owner', { federation: 'bats', agent: 'bo' })
  await say(north, 'bo', 'shared', 'swifts nest under roofs', {
    visibility: 'federated',
    federation_ids: ['bats', 'birds'],
  })
  await say(north, 'bo', 'others', 'swifts fear bats', { visibility: 'federated', federation_ids: ['bats'] })
  await say(north, 'bo', 'private', 'swifts are mine', { visibility: 'private' })
  await say(north, 'cy', 'public', 'swifts return in may', PUBLIC)
  return { world, north }
}

export function sealed(
  node: Pick<TestNode, 'did'>,
  query: unknown,
  keys: Keys = ANA,
  more: Partial<{ audience: string; timestamp: number }> = {},
): Envelope {
  return sealEnvelope(keys, query as Json, { audience: node.did, timestamp: Date.now(), nonce: nonce(), ...more })
}

export async function answerTo(node: TestNode, envelope: Envelope): Promise<ReadAnswer> {
  return readAnswer(await node.call('nodes.query', 'anybody', { ...envelope }))
}
