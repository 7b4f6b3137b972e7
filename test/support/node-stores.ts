/** The stores of nine nodes that are processes: home, where ana asks, and eight that answer. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '../../src/engine/open.ts'
import { callOperation, type Json } from './beliefs-engine.ts'

export const NODES: readonly string[] = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']
/** Those that are asked as members of the federation birds; the others are asked for public beliefs. */
export const FEDERATED: readonly string[] = ['n1', 'n2', 'n3', 'n4']
const EVERYWHERE = { scope: { local: true, federated: true, network: true } }

/** Returns the keys of the nodes, by name. */
export async function prepareStores(homeOf: (node: string) => string): Promise<ReadonlyMap<string, string>> {
  const ana = await prepareHome(homeOf('home'))
  const keys = NODES.map(async name => [name, await prepareNode(name, homeOf(name), ana)] as const)
  return new Map(await Promise.all(keys))
}

/** The key that ana signs with. */
async function prepareHome(home: string): Promise<string> {
  await using engine = await openEngine({ home, embedder: 'none', background: false })
  const own = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
  const { agent } = (await own('agents.create', 'owner', { id: 'ana' })) as { agent: { did: string } }
  await own('federations.create', 'owner', { id: 'birds' })
  await own('federations.set_member', 'owner', { federation: 'birds', agent: 'ana' })
  await own('beliefs.put', 'ana', { id: 'home', content: 'swifts of home' })
  return agent.did
}

/** Tests ask more often than nodes do. */
const CONFIG = { lenses: { beliefs: { answers_per_minute: 100_000 } } }

async function prepareNode(name: string, home: string, ana: string): Promise<string> {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'config.json'), JSON.stringify(CONFIG))
  await using engine = await openEngine({ home, embedder: 'none', background: false })
  const own = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
  await own('agents.create', 'owner', { id: 'bo' })
  await own('federations.create', 'owner', { id: 'birds' })
  for (const agent of ['bo', ana]) await own('federations.set_member', 'owner', { federation: 'birds', agent })
  const shared = { visibility: 'federated', federation_ids: ['birds'] }
  await own('beliefs.put', 'bo', { id: `${name} shared`, content: `swifts shared by ${name}`, ...shared })
  await own('beliefs.put', 'bo', { id: `${name} public`, content: `swifts public at ${name}`, visibility: 'public' })
  await own('beliefs.put', 'bo', { id: `${name} secret`, content: `swifts secret at ${name}` })
  return engine.signedRequests.did()
}

export interface NodesAnswer {
  readonly beliefs: readonly { readonly belief: { readonly id: string }; readonly node?: string }[]
  readonly errors: readonly { readonly node: string; readonly code: string }[]
  readonly coverage: { readonly nodes: readonly { readonly node: string; readonly responded: boolean }[] } & Json
  readonly partial: boolean
}

/** A question that no other is like, so that no answer to it is one that was kept. */
export function newQuestion(options: Json = {}): Json {
  return { semantic: `swifts ${++questions}`, options: { ...EVERYWHERE, limit: 50, ...options } }
}
let questions = 0

export function idsOf({ beliefs }: NodesAnswer): readonly string[] {
  return beliefs.map(({ belief }) => belief.id).toSorted()
}

/** The errors that ana receives when all but these answer. */
export function idsWithout(...names: readonly string[]): readonly string[] {
  const answering = NODES.filter(name => !names.includes(name))
  return ['home', ...answering.map(name => `${name} ${FEDERATED.includes(name) ? 'shared' : 'public'}`)].toSorted()
}
