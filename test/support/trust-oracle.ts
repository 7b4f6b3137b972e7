/** Trust as statements say it, the plain way (BQ-062 to BQ-081): every simple route by recursion, nothing kept. */
import type { DirectTrust, TrustKind, TrustQuestion, TrustRules } from '../../src/lenses/beliefs/trust/edge.ts'

const DAY = 86_400_000

export interface Reported {
  readonly value: number
  readonly kind: TrustKind
  readonly direct: Pick<DirectTrust, 'value' | 'decayed' | 'base' | 'distrusted'> | null
  readonly transitive: { readonly level: number; readonly sources: number; readonly capped: boolean } | null
}

interface Route {
  /** Those on the way, the first hop first. */
  readonly path: readonly string[]
  readonly worth: number
}

/** One agent's statement, as far as trust goes by it. */
export interface PlainTrustEdge {
  readonly owner: string
  readonly target: string
  readonly level: number
  readonly domains: Readonly<Record<string, number>>
  readonly manual: boolean
  readonly persistent: boolean
  readonly exposed: boolean
  readonly lastUsed: number
  /** Uses before that, ascending. */
  readonly usedBefore: readonly number[]
}

export interface PlainAgent {
  readonly createdAt: number
  readonly overall: number | null
  readonly byDomain: Readonly<Record<string, number>>
}

export interface TrustWorld {
  readonly edges: readonly PlainTrustEdge[]
  /** Those hosted here, and federations as somebody to trust. */
  readonly agents: ReadonlyMap<string, PlainAgent>
}

export class Oracle {
  readonly #world: TrustWorld
  readonly #rules: TrustRules
  readonly #asOf: number
  readonly #found = new Map<string, Map<string, Route[]>>()

  constructor(world: TrustWorld, rules: TrustRules, asOf: number) {
    this.#world = world
    this.#rules = rules
    this.#asOf = asOf
  }

  of(viewer: string, holder: string, q: TrustQuestion): Reported {
    if (viewer === holder) return { value: 1, kind: 'self', direct: null, transitive: null }
    const own = this.#edge(viewer, holder)
    if (own !== undefined) {
      const base = this.#base(own, q)
      const decayed = this.#decayed(this.#asUsedBefore(own), q)
      const value = base === 0 ? 0 : Math.max(decayed, Math.min(base, this.#rules.defaultTrust))
      const direct = { base, decayed, value, distrusted: base === 0 }
      return { value, kind: 'direct', direct, transitive: null }
    }
    const transitive = this.#transitive(viewer, holder, q)
    const known = this.#world.agents.get(holder)
    const reputation = (mean(known?.byDomain ?? {}, q) ?? known?.overall ?? 0) * 0.3
    const level = transitive?.level ?? 0
    const value = Math.max(level, reputation, this.#rules.defaultTrust)
    const kind = value === this.#rules.defaultTrust ? 'default' : value === reputation ? 'reputation' : 'transitive'
    return { value, kind, direct: null, transitive }
  }

  #transitive(viewer: string, holder: string, q: TrustQuestion): Reported['transitive'] {
    const routes = this.#routes(viewer, q).get(holder) ?? []
    if (routes.length === 0) return null
    const level = Math.max(...routes.map(({ worth }) => worth))
    const counted = routes.filter(({ worth }) => worth >= 0.01)
    const { sybilRule, sybilThreshold, sybilCap, newAgentCap } = this.#rules
    const hops = new Set(counted.map(({ path }) => path[0])).size
    const sources =
      sybilRule === 'disjoint'
        ? disjoint(
            counted.map(({ path }) => path),
            sybilThreshold,
          )
        : hops
    const few = sources < sybilThreshold ? sybilCap : 1
    const cap = Math.min(few, newAgentCap && this.#isNew(holder) ? 0.3 : 1)
    return { level: Math.min(level, cap), sources, capped: level > cap }
  }

  /** All simple routes from the viewer over at least two edges, by where they end. */
  #routes(viewer: string, q: TrustQuestion): Map<string, Route[]> {
    const key = JSON.stringify([viewer, q])
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const found = new Map<string, Route[]>()
    this.#found.set(key, found)
    const usable = this.#world.edges.map(edge => {
      const decayed = this.#decayed(edge.owner === viewer ? this.#asUsedBefore(edge) : edge, q)
      return { edge, base: this.#base(edge, q), decayed }
    })
    const own = usable.filter(({ edge }) => edge.owner === viewer)
    const distrusted = new Set(own.filter(({ base }) => base === 0).map(({ edge }) => edge.target))
    const walk = (path: readonly string[], ownValue: number, product: number) => {
      const at = path.at(-1) as string
      const through = this.#rules.newAgentCap && this.#isNew(at) ? 0.5 : 1
      for (const { edge, decayed } of usable) {
        if (edge.owner !== at || edge.target === viewer || path.includes(edge.target)) continue
        if (!this.#isHosted(at) && !edge.exposed) continue
        const tenths = Math.floor(Number(decayed.toFixed(12)) * 10 + 0.5)
        if (tenths === 0 || distrusted.has(edge.target)) continue
        const reached = product * through * tenths
        const edgeScore = ownValue * q.damping * (reached * scale(q, path.length))
        found.set(edge.target, [...(found.get(edge.target) ?? []), { path: [...path], worth: edgeScore }])
        if (path.length + 1 < q.maxHops) walk([...path, edge.target], ownValue, reached)
      }
    }
    for (const { edge, base, decayed } of own) if (q.maxHops > 1 && base > 0) walk([edge.target], decayed, 1)
    return found
  }

  #edge(owner: string, target: string): PlainTrustEdge | undefined {
    return this.#world.edges.find(edge => edge.owner === owner && edge.target === target)
  }

  #base({ level, domains }: PlainTrustEdge, q: TrustQuestion): number {
    const entries = mean(domains, q)
    return entries === null ? level : (1 - q.domainTrustWeight) * level + q.domainTrustWeight * entries
  }

  /** One's own: as of a moment, what was used then or later counts as it was before. */
  #asUsedBefore(own: PlainTrustEdge): PlainTrustEdge {
    if (own.lastUsed < this.#asOf) return own
    return { ...own, lastUsed: own.usedBefore.findLast(use => use < this.#asOf) ?? own.lastUsed }
  }

  #decayed(edge: PlainTrustEdge, q: TrustQuestion): number {
    const days = Math.max(0, this.#asOf - edge.lastUsed) / DAY
    const rate = edge.persistent ? 0 : 0.001 * (edge.manual ? 0.1 : 1) * (edge.level > 0.9 ? 0.5 : 1)
    return this.#base(edge, q) * Math.exp(-rate * days)
  }

  #isHosted(agent: string): boolean {
    return agent === 'owner' || this.#world.agents.has(agent)
  }

  #isNew(agent: string): boolean {
    const known = this.#world.agents.get(agent)
    return known === undefined ? agent !== 'owner' : this.#asOf - known.createdAt < 30 * DAY
  }
}

function mean(entries: Readonly<Record<string, number>>, { domains }: TrustQuestion): number | null {
  const met = [...new Set(domains)].sort().flatMap(domain => {
    const segments = domain.split('/')
    const paths = segments.map((_, at) => segments.slice(0, segments.length - at).join('/'))
    const path = paths.find(path => Object.hasOwn(entries, path))
    return path === undefined ? [] : [entries[path] as number]
  })
  return met.length === 0 ? null : met.reduce((sum, entry) => sum + entry, 0) / met.length
}

function scale({ damping }: TrustQuestion, edges: number): number {
  let product = 1
  for (let at = 0; at < edges; at++) product *= damping / 10
  return product
}

/** How many of these paths share nobody, by trying all; no more than `wanted`. */
function disjoint(paths: readonly (readonly string[])[], wanted: number): number {
  const [first, ...rest] = paths
  if (first === undefined || wanted === 0) return 0
  const apart = rest.filter(path => !path.some(agent => first.includes(agent)))
  const withIt = 1 + disjoint(apart, wanted - 1)
  return withIt >= wanted ? withIt : Math.max(withIt, disjoint(rest, wanted))
}
