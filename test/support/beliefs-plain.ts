/**
 * The lens `beliefs` a second time, the plain way: arrays and maps, everything worked out again for every question, nothing
 * taken from the lens but its words for an answer. What is kept, who may see it, and what became of it.
 */
import { createHash } from 'node:crypto'

export const DAY_MS = 86_400_000
export const DIMENSIONS = [
  'source_reliability',
  'method_quality',
  'internal_consistency',
  'temporal_freshness',
  'corroboration',
  'domain_applicability',
] as const
export type Vector = Record<(typeof DIMENSIONS)[number], number | null>

export interface PlainSource {
  readonly belief_id: string
  readonly contribution_type: string
}

/** With the version that the writer meant; null: it saw none. */
export interface PlainReference extends PlainSource {
  readonly target: PlainBelief | null
}

export interface PlainBelief {
  readonly holder: string
  readonly id: string
  readonly chain: string
  readonly version: number
  readonly content: string
  readonly confidence: Vector
  readonly validFrom: number
  readonly validUntil: number | null
  readonly type: string
  readonly sources: readonly PlainReference[]
  readonly domains: readonly string[]
  readonly visibility: 'private' | 'federated' | 'public'
  readonly federations: readonly string[]
  readonly created: number
  readonly supersedes: string | null
  supersededBy: string | null
  readonly deleted: boolean
  hasVector: boolean
}

/** What a holder says in a new version; what it does not say is as before, or as the rows have it. */
export type PlainDraft = Partial<
  Pick<PlainBelief, 'content' | 'validUntil' | 'type' | 'domains' | 'visibility' | 'federations'>
> & { readonly sources?: readonly PlainSource[] | undefined; readonly confidence?: Partial<Vector> | undefined }

export interface PlainEdge {
  readonly level: number
  readonly domains: Readonly<Record<string, number>>
  readonly manual: boolean
  readonly persistent: boolean
  readonly exposed: boolean
  lastUsed: number
  /** The use before. */
  usedBefore?: number
}

export interface PlainReputation {
  readonly overall: number | null
  readonly byDomain: Readonly<Record<string, number>>
}

export interface PlainFederation {
  readonly strict: boolean
  readonly reputation: number | null
}

export interface PlainMember {
  readonly status: 'active' | 'suspended' | 'departed'
  readonly mayQuery: boolean
}

export interface PlainShownSource {
  readonly kind: 'local' | 'federated' | 'network'
  readonly id: string | null
}

export type PlainScope = Readonly<Record<PlainShownSource['kind'], boolean>>
export const EVERYWHERE: PlainScope = { local: true, federated: true, network: true }

export class PlainBeliefs {
  /** All versions there ever were, in the order in which they were written. */
  readonly versions: PlainBelief[] = []
  /** Hosted agents only. */
  readonly agents = new Map<string, PlainReputation>()
  readonly federations = new Map<string, PlainFederation>()
  /** By federation, by agent. */
  readonly members = new Map<string, Map<string, PlainMember>>()
  /** By owner, by target. */
  readonly edges = new Map<string, Map<string, PlainEdge>>()

  get current(): readonly PlainBelief[] {
    return this.versions.filter(one => one.supersededBy === null && !one.deleted)
  }

  isTaken(holder: string, id: string): boolean {
    return this.versions.some(one => one.holder === holder && one.id === id)
  }

  holds(holder: string, id: string): PlainBelief | undefined {
    return this.current.find(one => one.holder === holder && one.id === id)
  }

  put(holder: string, id: string, draft: PlainDraft, now: number): void {
    const { confidence, sources = [], ...said } = draft
    const made: PlainBelief = {
      ...{ validUntil: null, type: 'assumption', domains: [], visibility: 'private', federations: [] },
      ...{ content: '', ...said, holder, id, chain: id, version: 1, validFrom: now, created: now },
      ...{ supersedes: null, supersededBy: null, deleted: false, hasVector: false, sources: [] },
      confidence: { ...DEFAULT_CONFIDENCE, ...confidence },
    }
    this.#add(made, sources)
  }

  supersede(old: PlainBelief, id: string, draft: PlainDraft, now: number): void {
    const { confidence, sources, ...said } = draft
    old.supersededBy = id
    const next = { ...old, ...said, id, version: old.version + 1, created: now, supersedes: old.id, supersededBy: null }
    const isSameText = next.content === old.content && next.domains.join() === old.domains.join()
    const federations = next.visibility === 'federated' ? next.federations : []
    const made = {
      ...{ ...next, federations },
      confidence: { ...old.confidence, ...confidence },
      hasVector: isSameText && old.hasVector,
    }
    this.#add(made, sources)
  }

  /** What it names is settled now, by what its writer sees, itself included; without new sources it is as it was. */
  #add(made: PlainBelief, sources: readonly PlainSource[] | undefined): void {
    this.versions.push(made)
    if (sources === undefined) return
    const settled = sources.map(source => ({ ...source, target: this.#meant(made.holder, source.belief_id) }))
    Object.assign(made, { sources: settled })
  }

  /** The writer's own, current or not, else what the id is to it. */
  #meant(writer: string, id: string): PlainBelief | null {
    const own = this.versions.find(one => one.holder === writer && one.id === id)
    const seen = this.current.filter(one => one.id === id && this.maySee(writer, one))
    // In the order of writing where they are of one moment.
    const [oldest] = seen.sort((a, b) => a.created - b.created)
    return own ?? oldest ?? this.find(writer, id, true) ?? null
  }

  remove(old: PlainBelief, tombstone: string, now: number): void {
    old.supersededBy = tombstone
    const rest = { version: old.version + 1, content: '', created: now, supersedes: old.id, supersededBy: null }
    this.versions.push({ ...old, ...rest, id: tombstone, deleted: true, hasVector: false })
  }

  /** What was written last has its vector. */
  embed(): void {
    const last = this.versions.at(-1)
    if (last !== undefined) last.hasVector = true
  }

  standing(federation: string, agent: string): PlainMember | undefined {
    return this.members.get(federation)?.get(agent)
  }

  setMember(federation: string, agent: string, change: Partial<PlainMember>): void {
    const of = this.members.get(federation) ?? new Map<string, PlainMember>()
    this.members.set(federation, of)
    of.set(agent, { status: 'active', mayQuery: true, ...of.get(agent), ...change })
  }

  isActive(federation: string, agent: string): boolean {
    return this.standing(federation, agent)?.status === 'active'
  }

  /** Ascending. */
  queriedBy(viewer: string): readonly string[] {
    const all = [...this.federations.keys()].filter(id => this.isActive(id, viewer))
    return all.filter(id => this.standing(id, viewer)?.mayQuery).sort()
  }

  /** BQ-092: federations through which a viewer meets what another shares. */
  through(viewer: string, { holder, visibility, federations }: PlainBelief): readonly string[] {
    if (visibility !== 'federated') return []
    const queried = this.queriedBy(viewer)
    return [...federations].sort().filter(id => queried.includes(id) && this.isActive(id, holder))
  }

  /** BQ-091. */
  maySee(viewer: string, belief: PlainBelief): boolean {
    if (belief.holder === viewer || belief.visibility === 'public') return true
    return this.through(viewer, belief).length > 0
  }

  /** Null: no source that is asked has it. */
  sourceOf(viewer: string, belief: PlainBelief, scope: PlainScope): PlainShownSource | null {
    if (belief.holder === viewer && scope.local) return { kind: 'local', id: null }
    if (belief.visibility === 'public') return scope.network ? { kind: 'network', id: null } : null
    const [first] = this.through(viewer, belief)
    return scope.federated && first !== undefined ? { kind: 'federated', id: first } : null
  }

  /** BQ-102. */
  memberCount(federation: string, belief: PlainBelief): number {
    const alike = this.current.filter(one => one.visibility === 'federated' && one.content === belief.content)
    const shared = alike.filter(one => one.federations.includes(federation) && this.isActive(federation, one.holder))
    return new Set(shared.map(one => one.holder)).size
  }

  /** BQ-005, BQ-101: versions of one belief that may be seen and are shown alike, newest first. */
  history(viewer: string, holder: string, chain: string): readonly PlainBelief[] {
    const all = this.versions.filter(one => one.holder === holder && one.chain === chain).reverse()
    if (holder === viewer) return all
    if (all[0]?.deleted) return []
    const end = all.findIndex(one => !this.isShownAlike(viewer, one, all[0] as PlainBelief))
    return end === -1 ? all : all.slice(0, end)
  }

  /** Another's belief that came under a pseudonym, and now comes under a name, must not tie the two together. */
  isShownAlike(viewer: string, one: PlainBelief, other: PlainBelief): boolean {
    const [source, ofOther] = [one, other].map(each => this.sourceOf(viewer, each, EVERYWHERE))
    return source != null && source.kind === ofOther?.kind && source.id === ofOther.id
  }

  /** What an id means to a viewer: its own, else the oldest, else by name; then the past. */
  find(viewer: string, id: string, past: boolean): PlainBelief | undefined {
    const rank = (one: PlainBelief) => (one.holder === viewer ? 0 : 1)
    const seen = this.current.filter(one => one.id === id && this.maySee(viewer, one))
    seen.sort((a, b) => rank(a) - rank(b) || a.created - b.created || (a.holder < b.holder ? -1 : 1))
    if (seen[0] !== undefined || !past) return seen[0]
    const old = this.versions.filter(one => one.id === id && (one.supersededBy !== null || one.deleted))
    old.sort((a, b) => rank(a) - rank(b) || (a.holder < b.holder ? -1 : 1))
    return old.find(one => this.history(viewer, one.holder, one.chain).includes(one))
  }

  /** What a source names, where the viewer may see that, whether or not it is current. */
  named(viewer: string, { target }: PlainReference): PlainBelief | undefined {
    if (target === null) return undefined
    const isCurrent = target.supersededBy === null && !target.deleted
    const isSeen = isCurrent
      ? this.maySee(viewer, target)
      : this.history(viewer, target.holder, target.chain).includes(target)
    return isSeen ? target : undefined
  }

  /** BQ-053: fewest steps to what rests on nothing that may be seen; infinite: in a circle. */
  depths(viewer: string): ReadonlyMap<PlainBelief, number> {
    const seen = this.current.filter(one => this.maySee(viewer, one))
    const parents = new Map(seen.map(one => [one, this.#parents(viewer, one)]))
    const depths = new Map<PlainBelief, number>()
    for (let depth = 0; ; depth++) {
      const reached = seen.filter(one => {
        const above = parents.get(one) ?? []
        const rests = depth === 0 ? above.length === 0 : above.some(parent => depths.get(parent) === depth - 1)
        return !depths.has(one) && rests
      })
      if (reached.length === 0) return depths
      for (const one of reached) depths.set(one, depth)
    }
  }

  #parents(viewer: string, { sources }: PlainBelief): readonly PlainBelief[] {
    const named = sources.filter(({ contribution_type: type }) => type === 'primary' || type === 'supporting')
    return named.flatMap(source => {
      const found = this.named(viewer, source)
      if (found === undefined) return []
      const newest = this.history(viewer, found.holder, found.chain)[0]
      return newest === undefined || newest.deleted ? [] : [newest]
    })
  }

  /** BQ-089, BQ-090: ids with their depths. */
  chain(viewer: string, from: PlainBelief, most: number): readonly [string, number][] {
    const met = [from]
    const reported: [string, number][] = [[from.id, 0]]
    let level = [from]
    for (let depth = 1; depth <= most && level.length > 0; depth++) {
      const next: PlainBelief[] = []
      for (const one of level) {
        for (const reference of one.sources) {
          const source = this.named(viewer, reference)
          if (source === undefined || met.includes(source)) continue
          met.push(source)
          next.push(source)
          reported.push([source.id, depth])
        }
      }
      level = next
    }
    return reported
  }
}

/** BQ-013. */
export const DEFAULT_CONFIDENCE: Vector = {
  ...{ source_reliability: 0.5, method_quality: 0.5, internal_consistency: 1 },
  ...{ temporal_freshness: 1, corroboration: 0.1, domain_applicability: 0.8 },
}

export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

/** BQ-006, of what is one. */
export function normalDomain(domain: string): string {
  return domain.toLowerCase().replaceAll(':', '/')
}

/** BQ-048: on segments. */
export function isBelow(domain: string, ancestor: string): boolean {
  const [below, above] = [domain.split('/'), ancestor.split('/')]
  return above.every((segment, at) => below[at] === segment)
}
