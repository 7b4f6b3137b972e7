/** Which beliefs pass the filters, and meet the words of a text (BQ-037 to BQ-058). */
import { isBelow, normalDomain, type PlainBelief, type PlainShownSource, type Vector } from './beliefs-plain.ts'
import { aged, type Json, list, overall, rounded, time } from './beliefs-plain-measures.ts'

export interface Known {
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
export function partsOf(part: string | Json): readonly Json[] {
  if (typeof part === 'string') return [{ preset: part }]
  const presets = part['preset']
  const named = presets === undefined ? [] : Array.isArray(presets) ? presets : [presets]
  const { preset: _, ...rest } = part
  return [rest, ...named.map(preset => ({ preset }))]
}

/** BQ-044 to BQ-056. */
export function passes(known: Known, filter: Json): boolean {
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
