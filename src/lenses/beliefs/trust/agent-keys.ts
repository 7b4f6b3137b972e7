/**
 * Keys of agents. An agent that came with a did:key signs its own statements; for one that did not, this node makes a key
 * when it is first needed, and keeps the seed in the store's `meta`, which no export reads.
 */
import { publicKeyOf } from '../../../identity/did-key.ts'
import { fromBase64Url, toBase64Url } from '../../../identity/encoding.ts'
import { type Keys, keysOf, SEED_BYTES } from '../../../identity/keys.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { raiseRevision } from './revisions.ts'

/** What an agent's statements are checked with; null: nothing is known of it that could be. */
export function didOfAgent(reader: StoreReader, agent: string): string | null {
  const told = reader.table(AGENTS).get({ id: agent })?.['did'] as string | null | undefined
  if (typeof told === 'string') return told
  if (publicKeyOf(agent) !== null) return agent
  return keptKeys(reader, agent)?.did ?? null
}

/** The key this node keeps for an agent; null: it keeps none, or the agent now has one of its own. */
export function signingKeys(reader: StoreReader, agent: string): Keys | null {
  const keys = keptKeys(reader, agent)
  return keys !== null && didOfAgent(reader, agent) === keys.did ? keys : null
}

/** As `signingKeys`, made when the agent has none at all. Null: the agent has a key of its own and must sign itself. */
export function ensureKeys(writer: StoreWriter, agent: string, random: (bytes: number) => Uint8Array): Keys | null {
  if (didOfAgent(writer, agent) !== null) return signingKeys(writer, agent)
  const seed = random(SEED_BYTES)
  const keys = keysOf(seed)
  writer.setMeta(metaName(agent), toBase64Url(seed))
  const row = writer.table(AGENTS).get({ id: agent })
  if (row !== undefined) {
    writer.table(AGENTS).put({ ...row, did: keys.did })
    raiseRevision(writer, 'agents')
  }
  return keys
}

function keptKeys(reader: StoreReader, agent: string): Keys | null {
  const seed = fromBase64Url(reader.meta(metaName(agent)) ?? '', SEED_BYTES)
  return seed === null ? null : keysOf(seed)
}

function metaName(agent: string): string {
  return `agent_key:${agent}`
}
