/** Trust as the rows say it (BQ-062 to BQ-081) of a plain world. */

import type { TrustRules } from '../../src/lenses/beliefs/trust/edge.ts'
import type { PlainBeliefs } from './beliefs-plain.ts'
import { Oracle, type Reported } from './trust-oracle.ts'

export interface PlainTrustQuestion {
  readonly domains: readonly string[]
  readonly domainTrustWeight: number
  readonly maxHops: number
  readonly damping: number
}

export interface PlainTrust {
  readonly value: number
  readonly kind: 'self' | 'direct' | 'transitive' | 'reputation' | 'default'
  /** Of the viewer's own edge; of itself 1. */
  readonly direct: number | null
}

const RULES: TrustRules = {
  ...{ defaultTrust: 0.1, sybilThreshold: 2, sybilCap: 0.3, sybilRule: 'first_hops', newAgentCap: false },
}
const REPUTATION_SHARE = 0.3

export function trustIn(
  world: PlainBeliefs,
  viewer: string,
  target: string,
  q: PlainTrustQuestion,
  now: number,
): PlainTrust {
  const { value, kind, direct } = reported(world, viewer, target, q, now)
  return { value, kind, direct: kind === 'self' ? 1 : (direct?.value ?? null) }
}

function reported(world: PlainBeliefs, viewer: string, target: string, q: PlainTrustQuestion, now: number): Reported {
  const edges = [...world.edges].flatMap(([owner, own]) =>
    [...own].map(([target, { usedBefore, ...edge }]) => {
      return { ...edge, owner, target, usedBefore: usedBefore == null ? [] : [usedBefore] }
    }),
  )
  const agents = [...world.agents].map(([id, reputation]) => [id, { ...reputation, createdAt: 0 }] as const)
  const federations = [...world.federations].map(([id, { reputation }]) => {
    return [federationTarget(id), { overall: reputation, byDomain: {}, createdAt: 0 }] as const
  })
  return new Oracle({ edges, agents: new Map([...agents, ...federations]) }, RULES, now).of(viewer, target, q)
}

/** BQ-104: in a member known by a pseudonym, by the middle of its band; the federation's reputation stands for the member's. */
export function trustInMember(
  world: PlainBeliefs,
  viewer: string,
  { member, federation }: { readonly member: string; readonly federation: string },
  q: PlainTrustQuestion,
  now: number,
): PlainTrust {
  const own = reported(world, viewer, member, q, now)
  const direct = trustIn(world, viewer, federationTarget(federation), q, now).direct
  if (own.kind === 'direct') return { value: middle(own.value), kind: 'direct', direct }
  const transitive = own.transitive?.level ?? 0
  const reputation = (world.federations.get(federation)?.reputation ?? 0) * REPUTATION_SHARE
  const value = Math.max(transitive, reputation, RULES.defaultTrust)
  const kind = value === RULES.defaultTrust ? 'default' : value === reputation ? 'reputation' : 'transitive'
  return { value: middle(value), kind, direct }
}

function middle(value: number): number {
  return value < 0.2 ? 0.1 : value < 0.4 ? 0.3 : 0.7
}

/** Null: nobody has said. */
export function overallReputation(world: PlainBeliefs, target: string): number | null {
  return reputationsOf(world, target)?.overall ?? null
}

/** BQ-104: in a federation as a whole. */
export function federationTarget(id: string): string {
  return `federation:${id}`
}

function reputationsOf(world: PlainBeliefs, target: string) {
  const federation = [...world.federations].find(([id]) => federationTarget(id) === target)?.[1]
  return federation === undefined ? world.agents.get(target) : { overall: federation.reputation, byDomain: {} }
}
