/**
 * What routes through others make of trust in each agent (BQ-073, BQ-076). A question needs it of the few whose beliefs it
 * shows: these are looked up hop by hop; everybody's is worked out when somebody asks for it.
 */
import { placeIn } from '../../../base/ascending.ts'
import type { Routes, RoutesOfHop } from './routes.ts'

/** First hops (or routes) worth less are not counted as sources. */
export const LEAST_WORTH = 0.01

/** What lowers a level that too few vouch for. May count the sources of an agent that has some anew. */
export interface LevelRules {
  /** Of those with fewer sources: BQ-076. */
  readonly sybilThreshold: number
  readonly sybilCap: number
  /** Routes that share nobody, at most `wanted`; null: first hops count. */
  readonly disjoint: ((agent: number, wanted: number) => number) | null
  /** Besides: no level of this agent is above it. */
  cap(agent: number): number
}

interface Level {
  /** 0: no route. */
  readonly level: number
  readonly sources: number
  /** It was lowered. */
  readonly capped: boolean
}

/** By number of the agent. */
interface LevelArrays {
  readonly levels: Float64Array
  readonly sources: Uint32Array
  readonly capped: Uint8Array
}

const NO_LEVEL: Level = { level: 0, sources: 0, capped: false }
const BYTES_AN_AGENT = 13

export class Levels {
  readonly #hops: readonly RoutesOfHop[]
  /** By hop: what routes that begin with it start with. */
  readonly #starts: Float64Array
  readonly #rules: LevelRules
  readonly #agents: number
  #all: LevelArrays | null = null
  readonly #known = new Map<number, Level>()

  /** `startOf` a first hop: the viewer's own edge with damping. */
  constructor({ hops }: Routes, startOf: (first: number) => number, rules: LevelRules, agents: number) {
    this.#hops = hops
    this.#starts = Float64Array.from(hops, ({ first }) => startOf(first))
    this.#rules = rules
    this.#agents = agents
  }

  get byteLength(): number {
    return this.#starts.byteLength + (this.#all === null ? 0 : this.#agents * BYTES_AN_AGENT)
  }

  of(agent: number): Level {
    if (agent < 0 || agent >= this.#agents) return NO_LEVEL
    if (this.#all !== null) return levelAt(this.#all, agent)
    const known = this.#known.get(agent) ?? this.#lookUp(agent)
    this.#known.set(agent, known)
    return known
  }

  #lookUp(agent: number): Level {
    let level = 0
    let sources = 0
    for (const [hop, { targets, worths }] of this.#hops.entries()) {
      const at = placeIn(targets, agent)
      if (targets[at] !== agent) continue
      const worth = (this.#starts[hop] as number) * (worths[at] as number)
      if (worth > level) level = worth
      if (worth >= LEAST_WORTH) sources++
    }
    return level === 0 ? { ...NO_LEVEL, sources } : this.#lowered(agent, level, sources)
  }

  /** Costs what all routes cost to read, once. */
  get all(): LevelArrays {
    this.#all ??= this.#makeAll()
    return this.#all
  }

  #makeAll(): LevelArrays {
    const levels = new Float64Array(this.#agents)
    const sources = new Uint32Array(this.#agents)
    const capped = new Uint8Array(this.#agents)
    for (const [hop, { targets, worths }] of this.#hops.entries()) {
      const start = this.#starts[hop] as number
      for (let at = 0; at < targets.length; at++) {
        const target = targets[at] as number
        const worth = start * (worths[at] as number)
        if (worth > (levels[target] as number)) levels[target] = worth
        if (worth >= LEAST_WORTH) sources[target] = (sources[target] as number) + 1
      }
    }
    for (let agent = 0; agent < levels.length; agent++) {
      const level = levels[agent] as number
      if (level === 0) continue
      const lowered = this.#lowered(agent, level, sources[agent] as number)
      levels[agent] = lowered.level
      sources[agent] = lowered.sources
      capped[agent] = lowered.capped ? 1 : 0
    }
    return { levels, sources, capped }
  }

  #lowered(agent: number, level: number, firsts: number): Level {
    const { sybilThreshold, sybilCap, disjoint } = this.#rules
    // Routes that share nobody begin with different first hops: of these there are never fewer.
    const wanted = Math.min(firsts, sybilThreshold)
    const sources = disjoint === null ? firsts : wanted < 2 ? wanted : disjoint(agent, wanted)
    const cap = Math.min(sources < sybilThreshold ? sybilCap : 1, this.#rules.cap(agent))
    return level <= cap ? { level, sources, capped: false } : { level: cap, sources, capped: true }
  }
}

function levelAt({ levels, sources, capped }: LevelArrays, agent: number): Level {
  return { level: levels[agent] as number, sources: sources[agent] as number, capped: capped[agent] === 1 }
}
