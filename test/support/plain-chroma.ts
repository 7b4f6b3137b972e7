/**
 * The lens `chroma` a second time, as plainly as it can be said: lists, full scans, no index, no cache, one viewer. Slow on
 * purpose, and written from the formulas alone, so that it shares no mistake with the lens it is held against.
 */

export interface PlainNode {
  readonly id: string
  tags: string[]
  color: [number, number, number]
  label: string
  content: string
  metadata: Record<string, unknown> | null
  readonly created: number
  mode: string
  decays: boolean
  last: number
  count: number
  strength: number
  health: number
  ascended: boolean
  rotten: boolean
  version: number
}

export interface PlainQuery {
  readonly k: number
  readonly maxDistance?: number | null
  readonly temporalRange?: readonly [number, number] | null
  readonly metadataFilters?: Record<string, unknown> | null
  readonly includeRotten?: boolean
  readonly scoreWeights?: { relevance: number; recency: number; strength: number } | null
  readonly updateAccess?: boolean
}

export interface PlainHit {
  readonly id: string
  readonly distance: number
  readonly relevance: number
  readonly recency: number
  readonly strength_norm: number
  readonly score: number
}

/** Columns: Sparse, Adaptive, Spacey, Eidetic. */
const MODES = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic']
const TABLE: Record<string, readonly (number | null)[]> = {
  tauRec: [1.5, 3, 2, 7],
  tauDecay: [60, 90, 60, 120],
  hit: [0.06, 0.1, 0.1, 0.12],
  beta: [0.15, 0.05, 0.08, 0.02],
  bonusFrom: [0.7, 0.7, 0.7, 0.6],
  ascend: [0.85, 0.8, 0.85, 0.9],
  rotRecency: [0.05, 0.03, 0.05, null],
  rotStrength: [0.2, 0.15, 0.25, null],
  protect: [0.3, 0.2, 0.2, 0.1],
  relevance: [0.6, 0.5, 0.5, 0.4],
  recency: [0.3, 0.3, 0.2, 0.2],
  strength: [0.1, 0.2, 0.3, 0.4],
}
const DAY = 86_400

function of(mode: string, name: string): number {
  return TABLE[name]?.[MODES.indexOf(mode)] ?? Number.NaN
}

interface PlainAnchor {
  readonly id: number
  readonly zone: string
  readonly point: readonly [number, number, number]
  readonly mass: number
}

let anchors: readonly PlainAnchor[] | null = null

/** The 10,000 anchors; entry 0 is anchor 1. */
export function plainAnchors(): readonly PlainAnchor[] {
  anchors ??= makeAnchors()
  return anchors
}

function makeAnchors(): readonly PlainAnchor[] {
  const points = Array.from({ length: 10_000 }, (_, at) => {
    const L = halton(at + 1, 2) * 100
    const a = halton(at + 1, 3) * 255 - 128
    const b = halton(at + 1, 5) * 255 - 128
    return { point: [L, a, b] as const, distance: Math.sqrt((L - 50) ** 2 + a * a + b * b) }
  }).sort((x, y) => x.distance - y.distance)
  const zoneOf = (rank: number) => (rank < 1000 ? 'Core' : rank < 7500 ? 'Mid' : 'Outer')
  const ends: Record<string, [number, number]> = { Core: [0.2, 0.5], Mid: [1.5, 2.5], Outer: [0.6, 1] }
  const spans: Record<string, [number, number]> = { Core: [0, 999], Mid: [1000, 7499], Outer: [7500, 9999] }
  return points.map(({ point, distance }, rank) => {
    const zone = zoneOf(rank)
    const [first, last] = spans[zone] as [number, number]
    const [low, high] = ends[zone] as [number, number]
    const [from, to] = [points[first]?.distance ?? 0, points[last]?.distance ?? 1]
    const mass = low + ((high - low) * (distance - from)) / (to - from)
    const rounded = point.map(halfToEven) as [number, number, number]
    return { id: rank + 1, zone, point: rounded, mass: Math.round(mass * 100) / 100 }
  })
}

function halton(index: number, base: number): number {
  let [factor, result, left] = [1, 0, index]
  while (left > 0) {
    factor /= base
    result += factor * (left % base)
    left = Math.floor(left / base)
  }
  return result
}

function halfToEven(value: number): number {
  const low = Math.floor(value)
  if (value - low !== 0.5) return Math.round(value)
  return low % 2 === 0 ? low : low + 1
}

export class PlainChroma {
  readonly anchorOf = new Map<string, number>()
  nodes: PlainNode[] = []
  /** `memory.enabled` and `memory.decay_enabled`. */
  memoryEnabled = true
  decayEnabled = true
  #lastCycle = 0

  assign(tag: string, zone: string): number {
    const taken = new Set(this.anchorOf.values())
    const free = plainAnchors().find(anchor => anchor.zone === zone && !taken.has(anchor.id))
    if (free === undefined) throw new Error('the zone is full')
    this.anchorOf.set(tag, free.id)
    return free.id
  }

  color(tags: readonly string[]): [number, number, number] {
    const ids = [...new Set(tags)].map(tag => this.anchorOf.get(tag) as number).sort((a, b) => a - b)
    const at = ids.map(id => plainAnchors()[id - 1] as PlainAnchor)
    const weighted = (weights: readonly number[]) =>
      [0, 1, 2].map(axis => {
        let [sum, total] = [0, 0]
        for (const [i, anchor] of at.entries()) {
          sum += (weights[i] as number) * (anchor.point[axis] as number)
          total += weights[i] as number
        }
        return sum / total
      }) as [number, number, number]
    let center = weighted(at.map(() => 1))
    for (let pass = 0; pass < 3; pass++) {
      center = weighted(at.map(anchor => anchor.mass / (0.1 + distanceOf(anchor.point, center) ** 2)))
    }
    return center
  }

  /** All tags are assigned, and keep the zone rules. */
  isValid(tags: readonly string[]): boolean {
    if (tags.some(tag => !this.anchorOf.has(tag))) return false
    const zones = [...new Set(tags)].map(tag => plainAnchors()[(this.anchorOf.get(tag) ?? 0) - 1]?.zone)
    const count = (zone: string) => zones.filter(one => one === zone).length
    return count('Core') > 0 && count('Outer') > 0 && zones.length >= 8 && 20 * count('Mid') >= 13 * zones.length
  }

  store(node: Pick<PlainNode, 'id' | 'tags' | 'label' | 'content' | 'metadata' | 'mode'>, now: number): void {
    this.nodes.push({
      ...node,
      tags: [...new Set(node.tags)].sort((a, b) => (this.anchorOf.get(a) ?? 0) - (this.anchorOf.get(b) ?? 0)),
      color: this.color(node.tags),
      created: now,
      last: now,
      count: 0,
      strength: 0,
      health: 1,
      ascended: false,
      rotten: false,
      decays: true,
      version: 0,
    })
  }

  node(id: string): PlainNode | undefined {
    return this.nodes.find(node => node.id === id)
  }

  /** False where a node carries the tag. */
  unassign(tag: string): boolean {
    return !this.nodes.some(node => node.tags.includes(tag)) && this.anchorOf.delete(tag)
  }

  /** How many nodes moved, or null where some node would no longer be valid. The anchor named is free, or the tag's own. */
  migrate(tag: string, target: { readonly zone: string } | { readonly anchorId: number }): { moved: number } | null {
    const before = this.anchorOf.get(tag) as number
    if ('zone' in target ? plainAnchors()[before - 1]?.zone === target.zone : before === target.anchorId) {
      return { moved: 0 }
    }
    this.anchorOf.delete(tag)
    // The anchor it leaves is of another zone, so it makes no difference that it is free by now.
    if ('zone' in target) this.assign(tag, target.zone)
    else this.anchorOf.set(tag, target.anchorId)
    const touched = this.nodes.filter(node => node.tags.includes(tag))
    if (touched.some(node => !this.isValid(node.tags))) {
      this.anchorOf.set(tag, before)
      return null
    }
    for (const node of touched) {
      node.tags.sort((a, b) => (this.anchorOf.get(a) ?? 0) - (this.anchorOf.get(b) ?? 0))
      node.color = this.color(node.tags)
      node.version++
    }
    return { moved: touched.length }
  }

  rank(tags: readonly string[], query: PlainQuery, now: number): PlainHit[] {
    const { k, maxDistance = null, temporalRange = null, metadataFilters = null, includeRotten = false } = query
    const center = this.color(tags)
    const hits: PlainHit[] = []
    for (const node of this.nodes) {
      if (node.rotten && !includeRotten) continue
      const distance = distanceOf(node.color, center)
      if (maxDistance !== null && distance > maxDistance) continue
      if (temporalRange !== null) {
        const [from, to] = temporalRange
        const within = (at: number) => at >= from && at <= to
        if (!within(node.created) && !within(node.last)) continue
      }
      if (!passes(node.metadata, metadataFilters)) continue
      const weights = query.scoreWeights ?? {
        relevance: of(node.mode, 'relevance'),
        recency: of(node.mode, 'recency'),
        strength: of(node.mode, 'strength'),
      }
      const relevance = Math.exp(-distance / 20)
      const recency = this.recency(node, now)
      const norm = node.strength / (node.strength + 5)
      const sum = weights.relevance * relevance + weights.recency * recency + weights.strength * norm
      const score = this.memoryEnabled ? Math.min(1, sum) : relevance
      hits.push({ id: node.id, distance, relevance, recency, strength_norm: norm, score })
    }
    return hits.sort((a, b) => b.score - a.score || a.distance - b.distance || (a.id < b.id ? -1 : 1)).slice(0, k)
  }

  /** As `rank`, nearest first. */
  nearest(tags: readonly string[], query: PlainQuery, now: number): PlainHit[] {
    const all = this.rank(tags, { ...query, k: this.nodes.length }, now)
    return all.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1)).slice(0, query.k)
  }

  recency(node: PlainNode, now: number): number {
    return Math.exp(-(Math.max(0, now - node.last) / DAY) / of(node.mode, 'tauRec'))
  }

  hit(id: string, now: number): void {
    const node = this.nodes.find(one => one.id === id)
    if (node === undefined) return
    const recency = this.recency(node, now)
    if (!node.ascended && this.memoryEnabled) {
      const bonus = recency >= of(node.mode, 'bonusFrom') ? 1 + recency : 1
      node.strength += of(node.mode, 'hit') * bonus
    }
    node.rotten = false
    node.last = Math.max(node.last, now)
    node.count++
    node.version++
  }

  decay(now: number): { processed: number; strength_decayed: number; health_decayed: number } {
    const report = { processed: 0, strength_decayed: 0, health_decayed: 0 }
    const isOn = this.memoryEnabled && this.decayEnabled
    for (const node of isOn ? this.nodes : []) {
      if (node.ascended || !node.decays || now <= node.last) continue
      report.processed++
      const idle = (now - node.last) / DAY
      const days = Math.max(0, now - Math.max(node.last, this.#lastCycle)) / DAY
      const strength = node.strength * Math.exp(-of(node.mode, 'beta') * days * (1 - 0.5 * of(node.mode, 'protect')))
      const health = Math.exp(-idle / of(node.mode, 'tauDecay'))
      if (strength < node.strength) report.strength_decayed++
      if (health < node.health) report.health_decayed++
      if (strength !== node.strength || health !== node.health) node.version++
      node.strength = strength
      node.health = health
    }
    this.#lastCycle = Math.max(this.#lastCycle, now)
    return report
  }

  lifecycle(now: number): { ascensions: number; rots: number } {
    let [ascensions, rots] = [0, 0]
    for (const node of this.memoryEnabled ? this.nodes : []) {
      if (node.ascended || !node.decays) continue
      const norm = node.strength / (node.strength + 5)
      if (norm >= of(node.mode, 'ascend')) {
        node.ascended = true
        node.rotten = false
        node.version++
        ascensions++
      } else if (
        !node.rotten &&
        this.recency(node, now) <= of(node.mode, 'rotRecency') &&
        norm <= of(node.mode, 'rotStrength')
      ) {
        node.rotten = true
        node.version++
        rots++
      }
    }
    return { ascensions, rots }
  }
}

function distanceOf(p: readonly number[], q: readonly number[]): number {
  return Math.sqrt(p.reduce((sum, value, axis) => sum + (value - (q[axis] as number)) ** 2, 0))
}

function passes(metadata: Record<string, unknown> | null, filters: Record<string, unknown> | null): boolean {
  if (filters === null) return true
  return Object.entries(filters).every(([field, condition]) => holds(lookUp(metadata, field), condition))
}

function lookUp(metadata: Record<string, unknown> | null, field: string): unknown {
  if (metadata === null) return undefined
  if (Object.hasOwn(metadata, field)) return metadata[field]
  let at: unknown = metadata
  for (const part of field.split('.')) {
    if (at === null || typeof at !== 'object' || Array.isArray(at) || !Object.hasOwn(at, part)) return undefined
    at = (at as Record<string, unknown>)[part]
  }
  return at
}

function holds(value: unknown, condition: unknown): boolean {
  if (condition === null) return anyOf(value, one => one === null)
  if (Array.isArray(condition)) return anyOf(value, one => condition.includes(one))
  if (typeof condition !== 'object') return anyOf(value, one => one === condition)
  const operators = Object.entries(condition as Record<string, unknown>)
  const positive = operators.filter(([name]) => !['$ne', '$nin', '$exists'].includes(name))
  const rest = operators.filter(([name]) => ['$ne', '$nin', '$exists'].includes(name))
  if (positive.length > 0 && !anyOf(value, one => positive.every(([name, operand]) => operator(name, one, operand)))) {
    return false
  }
  return rest.every(([name, operand]) => {
    if (name === '$exists') return (value !== undefined && value !== null) === operand
    const refused = name === '$ne' ? [operand] : (operand as unknown[])
    if (value === undefined || value === null) return !refused.includes(null)
    return (Array.isArray(value) ? value : [value]).every(one => !refused.includes(one))
  })
}

/** A missing field is like null here: `$eq: null` and `null` in a list match it. */
function anyOf(value: unknown, test: (one: unknown) => boolean): boolean {
  return Array.isArray(value) ? value.some(test) : test(value ?? null)
}

function operator(name: string, value: unknown, operand: unknown): boolean {
  switch (name) {
    case '$eq':
      return value === operand
    case '$in':
      return (operand as unknown[]).includes(value)
    case '$contains':
      return typeof value === 'string' && value.toLowerCase().includes(String(operand).toLowerCase())
    default: {
      if (typeof value !== typeof operand || (typeof value !== 'number' && typeof value !== 'string')) return false
      const [left, right] = [value as number, operand as number]
      if (name === '$gt') return left > right
      if (name === '$gte') return left >= right
      return name === '$lt' ? left < right : left <= right
    }
  }
}
