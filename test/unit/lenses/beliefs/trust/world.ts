/** A store with agents in it, and ways to change whom they trust. */

import { raiseRevision } from '../../../../../src/lenses/beliefs/trust/agent-facts.ts'
import type { TrustQuestion, TrustRules } from '../../../../../src/lenses/beliefs/trust/edge.ts'
import { type EdgeDraft, putEdge } from '../../../../../src/lenses/beliefs/trust/edges.ts'
import { AGENTS } from '../../../../../src/store/core-tables.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { seededUniform } from '../../../../support/seeded.ts'

export const DAY = 86_400_000
export const NOW: number = Date.parse('2026-03-01T12:00:00Z')
export const RULES: TrustRules = {
  ...{ defaultTrust: 0.1, sybilThreshold: 2, sybilCap: 0.3, sybilRule: 'first_hops', newAgentCap: false },
}
export const PLAIN: TrustQuestion = { domains: [], domainTrustWeight: 0.5, maxHops: 3, damping: 0.7 }

export function randomBytes(seed: number): (bytes: number) => Uint8Array {
  const uniform = seededUniform(seed)
  return bytes => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
}

const random = randomBytes(5)

export interface AgentFacts {
  readonly createdAt?: number
  readonly did?: string | null
  readonly reputation?: number | null
  readonly byDomain?: Readonly<Record<string, number>>
}

export function host(store: Store, id: string, { createdAt = 0, did, reputation, byDomain }: AgentFacts = {}): void {
  store.write(NOW, writer => {
    const table = writer.table(AGENTS)
    const before = table.get({ id })
    table.put({
      id,
      label: null,
      created_at: createdAt,
      did: did === undefined ? ((before?.['did'] ?? null) as string | null) : did,
      reputation: reputation ?? null,
      reputation_by_domain: byDomain === undefined ? null : JSON.stringify(byDomain),
      trust_graph: null,
    })
    raiseRevision(writer, 'agents')
  })
}

export function unhost(store: Store, id: string): void {
  store.write(NOW, writer => {
    if (writer.table(AGENTS).delete({ id }) > 0) raiseRevision(writer, 'agents')
  })
}

export function draft(target: string, level: number, more: Partial<EdgeDraft> = {}): EdgeDraft {
  return { target, level, domains: {}, basis: [], persistent: false, exposure: 'private', signed: null, ...more }
}

export function trust(
  store: Store,
  owner: string,
  target: string,
  level: number,
  more: Partial<EdgeDraft> = {},
  now = NOW,
): void {
  store.write(now, writer => putEdge(writer, owner, draft(target, level, more), { now, random }))
}
