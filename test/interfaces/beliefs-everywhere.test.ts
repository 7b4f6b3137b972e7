/** BQ-198: one list of questions of several viewers through library, command line, HTTP by name and by route, and agent tools. */
import type { Engine } from '../../src/engine/engine.ts'
import { BELIEFS_STEPS } from './beliefs-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'
import { callHere } from './interfaces.ts'
import { withoutNewIds } from './run-scenario.ts'
import type { Step } from './scenario.ts'

sameEverywhere({
  embedder: 'none',
  lens: 'beliefs',
  rows: 'BQ-198, BQ-184',
  steps: () => BELIEFS_STEPS,
  prepare,
  alike,
})

/** Agents and nodes have keys at random, which they sign with and are called by, and a store a secret that pseudonyms are made with. */
async function prepare(engine: Engine): Promise<void> {
  const agents = [{ id: 'ana', label: 'Ana', trust_graph: 'anas' }, { id: 'ben', reputation: 0.7 }, { id: 'cy' }]
  for (const agent of agents) await callHere(engine, 'agents.create', agent)
  await callHere(engine, 'federations.create', { id: 'tide' })
  // Makes the key of the node, which copies of the store share.
  await callHere(engine, 'peers.about', {})
  await callHere(engine, 'beliefs.query', { semantic: 'nothing yet' })
}

/** Signed again for everybody the requester. */
const SIGNING = new Set(['peers.about'])
const SIGNED = new Set(['timestamp', 'signature'])

function withoutSignatures(outcome: unknown): unknown {
  return JSON.parse(JSON.stringify(outcome), (key, value) => (SIGNED.has(key) ? key : value))
}

/** Agents and federations that a step makes have keys at random; counters are those of the process that is asked. */
function alike(outcome: unknown, { operation }: Step): unknown {
  if (operation === 'beliefs.diagnostics') return Object.keys(outcome ?? {})
  const text = JSON.stringify(withoutNewIds(outcome)).replace(/reef-[0-9a-f]{16}/g, 'reef-new')
  const isKeyed = operation.startsWith('agents.') || operation.startsWith('federations.')
  const plain: unknown = JSON.parse(isKeyed ? text.replace(/did:key:\w+/g, 'its did') : text)
  return SIGNING.has(operation) ? withoutSignatures(plain) : plain
}
