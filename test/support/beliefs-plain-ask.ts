/** A query over the plain beliefs: every one of them looked at, those near the text scored and sorted. */
import {
  DEFAULT_CONFIDENCE,
  hashOf,
  normalDomain,
  type PlainBelief,
  type PlainBeliefs,
  type PlainScope,
  type PlainShownSource,
} from './beliefs-plain.ts'
import { partsOf, passes } from './beliefs-plain-filters.ts'
import {
  aged,
  confidenceWeights,
  cosineOf,
  cosineOfVectors,
  decayRate,
  holdsLiterally,
  isValid,
  type Json,
  list,
  meets,
  number,
  overall,
  type PlainAsked,
  questionVector,
  standInOf,
  time,
  vectorOf,
  type Weights,
  weightsOf,
  within,
} from './beliefs-plain-measures.ts'
import {
  federationTarget,
  overallReputation,
  type PlainTrust,
  type PlainTrustQuestion,
  trustIn,
  trustInMember,
} from './beliefs-plain-trust.ts'

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
  /** Where nothing matches a text: cosines of what came closest, nearest first. */
  readonly nearest: readonly number[]
  /** Beliefs that pass filters and operators and lack a vector that would count. */
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
    const federation = source.id as string
    const target = isForeign(belief, source) ? federationTarget(federation) : belief.holder
    const isMember = isForeign(belief, source) && !isStrict(belief, source)
    const key = isMember ? `${belief.holder} in ${target}` : target
    const found = () =>
      isMember
        ? trustInMember(world, viewer, { member: belief.holder, federation }, trustQuestion, now)
        : trustIn(world, viewer, target, trustQuestion, now)
    const known = trusted.get(key) ?? found()
    trusted.set(key, known)
    return { ...known, reputation: overallReputation(world, target) }
  }
  const depths = world.depths(viewer)
  const filters = asked.filters.flatMap(partsOf)
  const instants = filters.flatMap(filter => (filter['valid_at'] == null ? [] : [time(filter['valid_at'])]))

  const candidates: PlainHit[] = []
  const passing: { readonly hasVector: boolean; readonly cosine: number }[] = []
  const floor = options['any'] === true ? -1 : number(options['min_similarity'], -1)
  for (const belief of world.current) {
    const source = world.sourceOf(viewer, belief, scope)
    if (source === null) continue
    if (!(instants.length === 0 ? [now] : instants).every(at => isValid(belief, at))) continue
    const holder = shownHolder(belief, source)
    const rate = decayRate(belief.domains, queryDomains)
    const measured = text === null || belief.hasVector ? null : standInOf(text, belief)
    const cosine = question === null ? null : (measured ?? cosineOf(question, belief))
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
    if (cosine !== null) passing.push({ hasVector: belief.hasVector, cosine })
    // BQ-043: trust is not asked yet.
    const isNear = cosine === null || floor === -1 || (cosine >= floor && (belief.hasVector || cosine > 0))
    if (!isNear && !holdsLiterally(text ?? [], belief)) continue
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
  const matches = withoutCopies(candidates, viewer).sort(inOrder)
  const of = (kind: PlainShownSource['kind']) => matches.filter(({ source }) => source.kind === kind).length
  const diversity = options['diversity'] as Json | undefined
  return {
    all: diversity?.['enabled'] === true ? spread(matches, diversity) : matches,
    total: matches.length,
    copies: candidates.length - matches.length,
    byScope: { local: of('local'), federated: of('federated'), network: of('network') },
    nearest: matches.length > 0 ? [] : closest(passing.map(({ cosine }) => cosine)),
    pending: passing.filter(({ hasVector }) => !hasVector).length,
    weights,
  }
}

function closest(cosines: readonly number[]): readonly number[] {
  return cosines.toSorted((a, b) => b - a).slice(0, 3)
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
function withoutCopies(hits: readonly PlainHit[], viewer: string): PlainHit[] {
  const first = (some: readonly PlainHit[]) => {
    const own = some.filter(({ belief }) => belief.holder === viewer)
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

function grouped<T>(items: readonly T[], key: (item: T) => string): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item])
  return [...groups.values()]
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
