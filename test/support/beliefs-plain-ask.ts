/** A query over the plain beliefs: every one of them looked at, scored, sorted. */
import { toyVector } from '../../src/testing/toy-embedder.ts'
import {
  DAY_MS,
  DEFAULT_CONFIDENCE,
  DIMENSIONS,
  hashOf,
  isBelow,
  normalDomain,
  type PlainBelief,
  type PlainBeliefs,
  type PlainScope,
  type PlainShownSource,
  type Vector,
} from './beliefs-plain.ts'
import {
  federationTarget,
  overallReputation,
  type PlainTrust,
  type PlainTrustQuestion,
  trustIn,
} from './beliefs-plain-trust.ts'

/** A part of a text, before it is written as one. */
export interface AskedWord {
  readonly sign: '' | '+' | '-'
  readonly text: string
  readonly quoted: boolean
  readonly boost: number
}

type Json = Readonly<Record<string, unknown>>

/** What goes over the wire, with the text in its parts. */
export interface PlainAsked {
  readonly words: readonly AskedWord[]
  readonly filters: readonly (string | Json)[]
  readonly context: Json
  readonly options: Json
}

export interface PlainHit {
  readonly belief: PlainBelief
  readonly source: PlainShownSource
  /** As it is shown; null: not at all. */
  readonly holder: string | null
  /** Null in list mode. */
  readonly semantic: number | null
  readonly confidence: number
  readonly trust: number
  readonly kind: PlainTrust['kind']
  readonly recency: number
  readonly final: number
  readonly penalty: number
}

export interface PlainAnswer {
  /** The whole order, or what a spread picks, from the first. */
  readonly all: readonly PlainHit[]
  readonly total: number
  /** Left out for one with their id or content. */
  readonly copies: number
  readonly byScope: Readonly<Record<PlainShownSource['kind'], number>>
  /** Of the matches, without a vector though one would count. */
  readonly pending: number
  readonly weights: Weights
}

export interface PlainWorld {
  readonly world: PlainBeliefs
  readonly viewer: string
  readonly now: number
  /** The pseudonym of a holder in a federation. */
  pseudonym(federation: string, holder: string): string
}

/** Raw cosines; of the toy model. */
export const THRESHOLDS = { include: 0.55, exclude: 0.45 }

export interface Weights {
  readonly semantic: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}

export function askPlain({ world, viewer, now, pseudonym }: PlainWorld, asked: PlainAsked): PlainAnswer {
  const { context, options } = asked
  const queryDomains = list(context['query_domains']).map(normalDomain)
  const weighing = confidenceWeights(context['confidence_weights'] as Json | undefined)
  const weights = weightsOf(asked)
  const trustQuestion: PlainTrustQuestion = {
    domains: [...new Set(queryDomains)],
    domainTrustWeight: number(context['domain_trust_weight'], 0.5),
    maxHops: within(number(context['max_trust_hops'], 3), 1, 5),
    damping: within(number(context['transitive_damping'], 0.7), 0.1, 0.9),
  }
  const scope: PlainScope =
    options['scope'] === undefined
      ? { local: true, federated: false, network: false }
      : { local: false, federated: false, network: false, ...(options['scope'] as Partial<PlainScope>) }
  const text = asked.words.length === 0 ? null : asked.words
  const question = text && questionVector(text)
  // One's own keeps one's name, whatever it is reached through (BQ-099).
  const isForeign = (belief: PlainBelief, { kind }: PlainShownSource) =>
    kind === 'federated' && belief.holder !== viewer
  const isStrict = (belief: PlainBelief, source: PlainShownSource) =>
    isForeign(belief, source) && world.federations.get(source.id as string)?.strict === true
  const shownHolder = (belief: PlainBelief, source: PlainShownSource) => {
    if (!isForeign(belief, source)) return belief.holder
    return isStrict(belief, source) ? null : pseudonym(source.id as string, belief.holder)
  }
  const trusted = new Map<string, PlainTrust>()
  const trustOf = (belief: PlainBelief, source: PlainShownSource): PlainTrust & { reputation: number | null } => {
    const target = isStrict(belief, source) ? federationTarget(source.id as string) : belief.holder
    const known = trusted.get(target) ?? trustIn(world, viewer, target, trustQuestion, now)
    trusted.set(target, known)
    return { ...known, reputation: overallReputation(world, target) }
  }
  const depths = world.depths(viewer)
  const filters = asked.filters.flatMap(partsOf)
  const instants = filters.flatMap(filter => (filter['valid_at'] == null ? [] : [time(filter['valid_at'])]))

  const candidates: PlainHit[] = []
  for (const belief of world.current) {
    const source = world.sourceOf(viewer, belief, scope)
    if (source === null) continue
    if (!(instants.length === 0 ? [now] : instants).every(at => isValid(belief, at))) continue
    const holder = shownHolder(belief, source)
    const rate = decayRate(belief.domains, queryDomains)
    const cosine = question === null ? null : cosineOf(question, belief)
    const { value: trust, kind, direct, reputation } = trustOf(belief, source)
    const known = {
      belief,
      source,
      holder,
      direct,
      reputation,
      rate,
      depth: depths.get(belief) ?? Infinity,
      now,
      weighing,
    }
    if (!filters.every(filter => passes(known, filter))) continue
    if (text !== null && !meets(belief, text)) continue
    const parts = {
      semantic: cosine === null ? null : (cosine + 1) / 2,
      confidence: overall(belief.confidence, weighing) ?? (overall(DEFAULT_CONFIDENCE, weighing) as number),
      trust,
      recency: aged(belief.confidence.temporal_freshness ?? 1, belief, rate, now),
    }
    const final =
      weights.semantic * (parts.semantic ?? 0) +
      weights.confidence * parts.confidence +
      weights.trust * parts.trust +
      weights.recency * parts.recency
    candidates.push({ belief, source, holder, kind, ...parts, final, penalty: 0 })
  }
  const matches = withoutCopies(candidates).sort(inOrder)
  const of = (kind: PlainShownSource['kind']) => matches.filter(({ source }) => source.kind === kind).length
  const diversity = options['diversity'] as Json | undefined
  return {
    all: diversity?.['enabled'] === true ? spread(matches, diversity) : matches,
    total: matches.length,
    copies: candidates.length - matches.length,
    byScope: { local: of('local'), federated: of('federated'), network: of('network') },
    pending: text === null ? 0 : matches.filter(({ belief }) => !belief.hasVector).length,
    weights,
  }
}

/** BQ-083. */
export function inOrder(a: PlainHit, b: PlainHit): number {
  return (
    b.final - a.final ||
    b.belief.created - a.belief.created ||
    byText(a.belief.id, b.belief.id) ||
    byText(a.holder ?? '', b.holder ?? '')
  )
}

/** BQ-130: one of each id, then of each content one source, and one of a federation. */
function withoutCopies(hits: readonly PlainHit[]): PlainHit[] {
  const first = (some: readonly PlainHit[]) => {
    const own = some.filter(({ source }) => source.kind === 'local')
    return [...(own.length > 0 ? own : some)].sort(inOrder)[0] as PlainHit
  }
  const ids = grouped(hits, ({ belief }) => belief.id).map(first)
  return grouped(ids, ({ belief }) => hashOf(belief.content)).flatMap(some => {
    const kept = first(some)
    const isOfKept = ({ source }: PlainHit) => source.kind === kept.source.kind && source.id === kept.source.id
    return some.filter(hit => hit === kept || (kept.source.kind !== 'federated' && isOfKept(hit)))
  })
}

/** BQ-084, BQ-085. */
function spread(ordered: readonly PlainHit[], given: Json): readonly PlainHit[] {
  const lambda = number(given['lambda'], 0.7)
  const [perHolder, perDomain] = [number(given['max_per_holder'], Infinity), number(given['max_per_domain'], Infinity)]
  const least = given['min_semantic_distance'] as number | undefined
  const picked: PlainHit[] = []
  let open = ordered.slice(0, 1000)
  for (;;) {
    const fits = open.filter(hit => {
      const identity = ({ holder, source }: PlainHit) => holder ?? `strict ${source.id}`
      if (picked.filter(other => identity(other) === identity(hit)).length >= perHolder) return false
      const isFull = (domain: string) =>
        picked.filter(({ belief }) => belief.domains.includes(domain)).length >= perDomain
      if (hit.belief.domains.some(isFull)) return false
      return least === undefined || picked.every(other => 1 - likeness(hit, other) >= least - 1e-13)
    })
    const worths = fits.map(hit => {
      const highest = Math.max(0, ...picked.map(other => likeness(hit, other)))
      const penalty = (1 - lambda) * highest
      return { hit, penalty, worth: lambda * hit.final - penalty }
    })
    // Within float noise the total order decides.
    const most = Math.max(...worths.map(({ worth }) => worth))
    const best = worths.find(({ worth }) => worth >= most - 1e-12)
    if (best === undefined) return picked
    picked.push({ ...best.hit, penalty: 0 - best.penalty })
    open = open.filter(hit => hit !== best.hit)
  }
}

function likeness({ belief: a }: PlainHit, { belief: b }: PlainHit): number {
  return a.hasVector && b.hasVector ? cosineOfVectors(vectorOf(a), vectorOf(b)) : 0
}

interface Known {
  readonly belief: PlainBelief
  readonly source: PlainShownSource
  readonly holder: string | null
  readonly direct: number | null
  readonly reputation: number | null
  readonly rate: number
  readonly depth: number
  readonly now: number
  readonly weighing: Vector
}

const PRESETS: Readonly<Record<string, (known: Known) => boolean>> = {
  high_confidence: ({ belief, weighing }) => (overall(belief.confidence, weighing) ?? 0) > 0.7,
  recent: ({ belief, now }) => now - belief.created <= 2_592_000_000,
  verified: ({ belief }) => (belief.confidence.corroboration ?? 0) > 0.5,
  from_trusted: ({ direct }) => (direct ?? 0) > 0.5,
}

/** BQ-057: presets become objects that name one. */
function partsOf(part: string | Json): readonly Json[] {
  if (typeof part === 'string') return [{ preset: part }]
  const presets = part['preset']
  const named = presets === undefined ? [] : Array.isArray(presets) ? presets : [presets]
  const { preset: _, ...rest } = part
  return [rest, ...named.map(preset => ({ preset }))]
}

/** BQ-044 to BQ-056. */
function passes(known: Known, filter: Json): boolean {
  const { belief, holder, reputation, depth } = known
  const isLevel = (value: unknown) => typeof value === 'string' && value.toLowerCase() === belief.visibility
  const liesIn = (domains: readonly string[]) =>
    domains.map(normalDomain).some(above => belief.domains.some(domain => isBelow(domain, above)))
  const tests: Readonly<Record<string, (wanted: unknown) => boolean>> = {
    preset: wanted => (PRESETS[wanted as string] as (known: Known) => boolean)(known),
    min_confidence: wanted =>
      typeof wanted === 'number' ? isSure(known, { overall: wanted }) : isSure(known, wanted as Json),
    valid_at: () => true,
    created_after: wanted => belief.created >= time(wanted),
    created_before: wanted => belief.created <= time(wanted),
    domains_include: wanted => list(wanted).length === 0 || liesIn(list(wanted)),
    domains_exclude: wanted => !liesIn(list(wanted)),
    holder_ids: wanted => holder !== null && list(wanted).includes(holder),
    exclude_holders: wanted => holder === null || !list(wanted).includes(holder),
    min_holder_reputation: wanted => reputation !== null && reputation >= (wanted as number),
    derivation_types: wanted => list(wanted).includes(belief.type),
    max_derivation_depth: wanted => depth <= (wanted as number),
    visibility_levels: wanted => list(wanted).some(isLevel),
  }
  return Object.entries(filter).every(([name, wanted]) => wanted === null || tests[name]?.(wanted) === true)
}

function isSure({ belief, rate, now, weighing }: Known, bounds: Json): boolean {
  return Object.entries(bounds).every(([name, bound]) => {
    if (bound === null) return true
    const asserted = belief.confidence[name as keyof Vector] ?? null
    const fresh = () => (asserted === null ? null : rounded(aged(asserted, belief, rate, now)))
    const value =
      name === 'overall' ? overall(belief.confidence, weighing) : name === 'temporal_freshness' ? fresh() : asserted
    return value !== null && value >= (bound as number)
  })
}

/** BQ-014 to BQ-016. */
export function overall(vector: Vector, weights: Vector): number | null {
  const known = DIMENSIONS.filter(name => vector[name] !== null && (weights[name] as number) > 0)
  if (known.length === 0) return null
  const total = known.reduce((sum, name) => sum + (weights[name] as number), 0)
  const logs = known.map(name => (weights[name] as number) * Math.log(Math.max(vector[name] as number, 0.001)))
  return rounded(Math.exp(logs.reduce((sum, one) => sum + one, 0) / total))
}

function confidenceWeights(given: Json = {}): Vector {
  const plain = [0.25, 0.2, 0.15, 0.15, 0.15, 0.1]
  const wished = DIMENSIONS.map((name, at) => number(given[name], plain[at] as number))
  const sum = wished.reduce((total, one) => total + one, 0)
  return Object.fromEntries(DIMENSIONS.map((name, at) => [name, (wished[at] as number) / sum])) as Vector
}

/** BQ-060, BQ-061, BQ-041, BQ-023. */
function weightsOf({ words, context, options }: PlainAsked): Weights {
  const given = context['ranking_weights'] as Partial<Weights> | undefined
  const share = 0.6 * number(context['trust_weight'], 0.5)
  const rest = (part: number) => (part * (1 - share)) / 0.7
  const usual = { semantic: rest(0.35), confidence: rest(0.25), trust: share, recency: rest(0.1) }
  const wished = given === undefined ? usual : { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1, ...given }
  const spoken = words.filter(({ sign }) => sign !== '-').flatMap(({ text }) => text.toLowerCase().split(' '))
  const isOf = (wanted: readonly string[]) =>
    options['temporal_intent'] === true && spoken.some(one => wanted.includes(one))
  const factor =
    (isOf(['recent', 'latest', 'new', 'current']) ? 2 : 1) *
    (isOf(['history', 'origin', 'first', 'original']) ? 0.5 : 1)
  const scaled = toOne({ ...wished, semantic: words.length === 0 ? 0 : wished.semantic })
  return toOne({ ...scaled, recency: scaled.recency * factor })
}

function toOne({ semantic, confidence, trust, recency }: Weights): Weights {
  const sum = semantic + confidence + trust + recency
  return { semantic: semantic / sum, confidence: confidence / sum, trust: trust / sum, recency: recency / sum }
}

const RATES: Readonly<Record<string, number>> = {
  ...{ news: 0.1, prices: 0.5, stocks: 0.5, weather: 1, science: 0.002, history: 0.0001, math: 0 },
}

/** BQ-019, BQ-020. All patterns have one segment, so none is more specific than another. */
function decayRate(domains: readonly string[], queryDomains: readonly string[]): number {
  const met = Object.keys(RATES).filter(name => domains.some(domain => isBelow(domain, name)))
  const asked = met.filter(name => queryDomains.some(domain => isBelow(domain, name)))
  const rates = (asked.length > 0 ? asked : met).map(name => RATES[name] as number)
  return rates.length === 0 ? 0.01 : Math.min(...rates)
}

function aged(freshness: number, { created }: PlainBelief, rate: number, now: number): number {
  return freshness * Math.exp((-rate * Math.max(0, now - created)) / DAY_MS)
}

function isValid({ validFrom, validUntil }: PlainBelief, at: number): boolean {
  return validFrom <= at && (validUntil === null || at < validUntil)
}

/** BQ-037 to BQ-039. */
function meets(belief: PlainBelief, words: readonly AskedWord[]): boolean {
  return words.every(({ sign, text, quoted }) => {
    if (sign === '') return !quoted || folded(belief.content).includes(folded(text).trim())
    const isThere = stands(text, belief.content)
    const near = belief.hasVector ? cosineOfVectors(toyVector(text), vectorOf(belief)) : -2
    return sign === '+' ? isThere || near >= THRESHOLDS.include : !isThere && near < THRESHOLDS.exclude
  })
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().split(/\s+/u).join(' ')
}

function stands(operand: string, content: string): boolean {
  const tokens = (text: string) =>
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const [wanted, there] = [tokens(operand), tokens(content)]
  return wanted.length > 0 && there.some((_, from) => wanted.every((token, at) => there[from + at] === token))
}

/** BQ-036. */
function questionVector(words: readonly AskedWord[]): Float32Array {
  const kept = words.filter(({ sign }) => sign !== '-')
  const base = toyVector(kept.map(({ text }) => text).join(' '))
  const boosted = kept.filter(({ boost }) => boost !== 1)
  if (boosted.length === 0) return base
  const sum = Array.from(base, (component, at) =>
    boosted.reduce((total, { text, boost }) => total + (boost - 1) * (toyVector(text)[at] as number), component),
  )
  const length = Math.hypot(...sum)
  return length < 1e-6 ? base : Float32Array.from(sum, component => component / length)
}

/** What is embedded of a belief: the line of its domains, and its content. */
const VECTORS = new Map<string, Float32Array>()
function vectorOf({ domains, content }: PlainBelief): Float32Array {
  const text = domains.length === 0 ? content : `${domains.join(', ')}\n${content}`
  const vector = VECTORS.get(text) ?? toyVector(text)
  VECTORS.set(text, vector)
  return vector
}

function cosineOf(question: Float32Array, belief: PlainBelief): number {
  return belief.hasVector ? cosineOfVectors(question, vectorOf(belief)) : 0
}

function cosineOfVectors(a: Float32Array, b: Float32Array): number {
  return within(
    a.reduce((sum, component, at) => sum + component * (b[at] as number), 0),
    -1,
    1,
  )
}

function grouped<T>(items: readonly T[], key: (item: T) => string): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item])
  return [...groups.values()]
}

function list(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[]
}

function number(value: unknown, otherwise: number): number {
  return (value ?? otherwise) as number
}

function time(value: unknown): number {
  return Date.parse(value as string)
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** To twelve decimals. */
function rounded(value: number): number {
  return Number(value.toFixed(12))
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
