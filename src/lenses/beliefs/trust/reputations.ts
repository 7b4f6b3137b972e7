/** What reputation says of agents, and what trust it is worth by itself (BQ-080, BQ-081). */
import { meanEntry } from '../measures/domains.ts'
import type { Agent, AgentArrays } from './agent-arrays.ts'

/** By number of the agent. */
export interface Reputations {
  /** NaN: none. */
  readonly overall: Float64Array
  /** What reputation for the question's domains alone makes of trust; 0: none. */
  readonly floors: Float64Array
}

const REPUTATION_SHARE = 0.3

/** The least trust that a reputation for the question's domains makes. */
export function floorOf(reputation: number | null): number {
  return (reputation ?? 0) * REPUTATION_SHARE
}

/** Its reputation for these domains: the mean of what there is of them, else overall (BQ-081). */
export function reputationFor(agent: Agent | undefined, domains: readonly string[]): number | null {
  if (agent === undefined) return null
  return (agent.byDomain.size === 0 ? null : meanEntry(agent.byDomain, domains)) ?? agent.reputation
}

export function reputationsOf(agents: AgentArrays, domains: readonly string[]): Reputations {
  const overall = new Float64Array(agents.size).fill(Number.NaN)
  const floors = new Float64Array(agents.size)
  for (const [id, agent] of agents.known) {
    const number = agents.numberOf(id)
    if (agent.reputation !== null) overall[number] = agent.reputation
    floors[number] = floorOf(reputationFor(agent, domains))
  }
  return { overall, floors }
}
