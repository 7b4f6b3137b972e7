/**
 * The identity of this node (a store of Querent, as a partner of other stores over the network): its key, and the nonces (numbers used
 * once) of messages that it has accepted. Both are kept in the store for all processes on it. This module also checks signed requests.
 */
import type { Clock, Instant } from '../base/clock.ts'
import { fromBase64Url, type Keys, keysOf, SEED_BYTES, toBase64Url } from '../identity/keys.ts'
import {
  NONCE_LIFE_MS,
  type NodeIdentity,
  type Nonces,
  type RequestFacts,
  readClaim,
  refusalOf,
} from '../identity/messages.ts'
import { QuerentError } from '../model/errors.ts'
import type { Viewer } from '../model/viewer.ts'
import { AGENTS, NONCES } from '../store/core-tables.ts'
import type { Store, StoreWriter } from '../store/store.ts'

const NODE_KEY = 'node_key'
const NEWEST_STRETCH = 'nonce_stretch'
/** Name of a value in the store's metadata: the number of the newest period of `NONCE_LIFE_MS` milliseconds whose nonces were deleted. */
const FORGOTTEN_STRETCH = 'nonce_forgotten'

interface NodeParts {
  readonly store: Store
  readonly random: (bytes: number) => Uint8Array
  /** The clock by which signed messages are checked and old nonces are deleted. */
  readonly clock: Clock
  readonly machineTime: () => number
}

export function nodeIdentity({ store, random, clock, machineTime }: NodeParts): NodeIdentity {
  let known: Keys | null = null
  return {
    keys: () => {
      known ??= keysOf(nodeSeed(store, random, clock.now()))
      return known
    },
    nonces: storedNonces(store),
    now: () => clock.now(),
    machineTime,
  }
}

function nodeSeed(store: Store, random: (bytes: number) => Uint8Array, now: Instant): Uint8Array {
  const known = fromBase64Url(store.meta(NODE_KEY) ?? '', SEED_BYTES)
  if (known !== null) return known
  return store.write(now, writer => {
    const other = fromBase64Url(writer.meta(NODE_KEY) ?? '', SEED_BYTES)
    if (other !== null) return other
    const seed = random(SEED_BYTES)
    writer.setMeta(NODE_KEY, toBase64Url(seed))
    return seed
  })
}

function storedNonces(store: Store): Nonces {
  return {
    use: (sender, nonce, now) => store.writeWhenFree(now, writer => use(writer, { sender, nonce }, now)),
    isUsed: (sender, nonce, now) => {
      const row = store.table(NONCES).get({ sender, nonce })
      return row !== undefined && !isOver(row['stretch'] as number, now)
    },
  }
}

function use(writer: StoreWriter, key: { readonly sender: string; readonly nonce: string }, now: Instant): boolean {
  const table = writer.table(NONCES)
  const stretch = stretchAt(now)
  if (writer.meta(NEWEST_STRETCH) !== String(stretch)) {
    writer.setMeta(NEWEST_STRETCH, String(stretch))
    const stretches = new Set(table.scan({}, { columns: ['stretch'] }).map(row => row['stretch'] as number))
    const over = [...stretches].filter(old => isOver(old, now))
    for (const old of over) table.delete({ stretch: old })
    const forgotten = Math.max(forgottenStretch(writer), ...over)
    if (over.length > 0) writer.setMeta(FORGOTTEN_STRETCH, String(forgotten))
  }
  // The period's nonces were deleted already, which is possible only if the clock was ahead and has been set back. All messages of the
  // period are rejected, because one of them could be a replay.
  if (stretch <= forgottenStretch(writer) + 1) return false
  if (table.get(key) !== undefined) return false
  table.put({ ...key, stretch })
  return true
}

function stretchAt(now: Instant): number {
  return Math.floor(now / NONCE_LIFE_MS)
}

/**
 * Whether the nonces (numbers used once) of a period of `NONCE_LIFE_MS` milliseconds may be deleted. They may if the period is at least two
 * periods ago: messages that old are rejected for their date, whatever their nonce.
 */
function isOver(stretch: number, now: Instant): boolean {
  return stretch < stretchAt(now) - 1
}

function forgottenStretch(writer: StoreWriter): number {
  return Number(writer.meta(FORGOTTEN_STRETCH) ?? Number.NEGATIVE_INFINITY)
}

// Authenticates signed requests from outside. A request names the key of the node it is meant for (its audience); nonces are kept in the
// store, so that no process on it accepts a request that another process has accepted.

export interface SignedRequests {
  /**
   * The did:key of this node, that is, of this store as a partner of other stores. It is public, and signed requests to this node must name
   * it as their audience. Created at the first call.
   */
  did(): string
  /**
   * The viewer for whom a signed request acts: the agent in this store to which the request's key belongs, otherwise the key itself, which
   * shares its rate limits with all other unknown keys. Null if the request is not signed. Rejects with `unauthenticated`, without the
   * reason, if the request is not accepted.
   */
  viewerOf(facts: RequestFacts, header: (name: string) => string | null): Promise<Viewer | null>
  /**
   * Returns a function that checks whether the key of an accepted request still belongs to the viewer; for long-lived requests, the
   * function may be called repeatedly.
   */
  stillSpeaksFor(viewer: Viewer, header: (name: string) => string | null): () => boolean
}

export function signedRequests(store: Store, node: NodeIdentity): SignedRequests {
  return {
    did: () => node.keys().did,
    viewerOf: async (facts, header) => {
      const claim = readClaim(header)
      if (claim === null) return null
      if (claim === 'malformed') throw refused()
      const checks = { audience: node.keys().did, now: node.now(), nonces: node.nonces }
      if ((await refusalOf(facts, claim, checks)) !== null) throw refused()
      return { id: agentOf(store, claim.sender) }
    },
    stillSpeaksFor: ({ id }, header) => {
      const claim = readClaim(header)
      if (claim === null || claim === 'malformed') return () => false
      const { sender } = claim
      let known = { version: -1, speaks: true }
      return () => {
        const version = store.version(AGENTS)
        if (version !== known.version) known = { version, speaks: agentOf(store, sender) === id }
        return known.speaks
      }
    },
  }
}

function refused(): QuerentError {
  return new QuerentError('unauthenticated', 'a valid signature is needed', {})
}

function agentOf(store: Store, did: string): string {
  const [agent] = store.table(AGENTS).scan({ did }, { columns: ['id'], limit: 1 })
  return (agent?.['id'] as string | undefined) ?? did
}
