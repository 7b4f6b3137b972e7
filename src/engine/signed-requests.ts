/**
 * Who a signed request is from. The node has a key of its own, which requests name as their audience; numbers used once are
 * remembered in the store, so that no process on it takes a request that another has taken.
 */
import type { NodeIdentity } from '../identity/node.ts'
import { type RequestFacts, readClaim, refusalOf } from '../identity/request.ts'
import { QuerentError } from '../model/errors.ts'
import type { Viewer } from '../model/viewer.ts'
import { AGENTS } from '../store/core-tables.ts'
import type { Store } from '../store/store.ts'

export interface SignedRequests {
  /** did:key of this node: the audience that requests must name. Made with the first use. */
  did(): string
  /**
   * The viewer of a request; null: it bears no signature. An agent that is hosted here under this key, else the key itself,
   * which has no limits of its own (`requesterOf`).
   * Rejects with `unauthenticated`, without saying why, for one that cannot be taken.
   */
  viewerOf(facts: RequestFacts, header: (name: string) => string | null): Promise<Viewer | null>
  /** Whether the key of a request that was taken is that viewer's still: to be asked as often as one likes. */
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
