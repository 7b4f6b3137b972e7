/**
 * Functions on lists of hits: merging, ordering by tags, trimming, and formatting as Markdown. They are pure; all lists are sorted best
 * first.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Enrichment, Strategy } from './enrich.ts'

export interface SearchHit {
  readonly id: string | number
  /** Similarity of the hit to the question; higher is nearer. */
  readonly score: number
  readonly payload: HitPayload
}

/** Fields of a stored record. Unknown fields are kept. */
export interface HitPayload {
  readonly title?: string | undefined
  readonly filename?: string | undefined
  readonly type?: string | undefined
  readonly document?: string | undefined
  readonly references?: readonly HitReference[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly [field: string]: unknown
}

export type HitReference = Readonly<Record<'chunk' | 'description', string>>

const TEXTS: ReadonlySet<string> = new Set(['title', 'filename', 'type', 'document'])

/**
 * Fields of a record as a hit shows them. The record may be written by others, so known fields with a value of the wrong type are left out;
 * all other fields stay unchanged.
 */
export function payloadOf(fields: JsonObject): HitPayload {
  const kept = Object.entries(fields).filter(([name, value]) => !TEXTS.has(name) || typeof value === 'string')
  return { ...Object.fromEntries(kept), ...tagsOf(fields['tags']), ...referencesOf(fields['references']) }
}

/** A Qdrant server treats a single tag like a list of one, so both are accepted here. */
function tagsOf(given: unknown): Pick<HitPayload, 'tags'> {
  return given === undefined ? {} : { tags: listOf(given).filter(tag => typeof tag === 'string') }
}

function referencesOf(given: unknown): Pick<HitPayload, 'references'> {
  return given === undefined ? {} : { references: listOf(given).flatMap(referenceOf) }
}

function referenceOf(given: unknown): readonly HitReference[] {
  const { chunk, description } = (given ?? {}) as Partial<Record<keyof HitReference, unknown>>
  if (typeof chunk !== 'string') return []
  return [{ chunk, description: typeof description === 'string' ? description : '' }]
}

function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [given]
}

/** Fields of a hit that merging needs. */
type Identified = Pick<SearchHit, 'id'>
type Scored = Pick<SearchHit, 'score'>

/** Merges two lists: all primary hits, then the secondary hits that are not among them. */
export function mergeResults<T extends Identified>(primary: readonly T[], secondary: readonly T[], limit: number): T[] {
  const seen = new Set<string>()
  const merged = [...primary, ...secondary].filter(hit => {
    const isNew = !seen.has(String(hit.id))
    seen.add(String(hit.id))
    return isNew
  })
  return merged.slice(0, limit)
}

/** Of ten hits, at least three are without a tag, if there are enough. */
const TENTHS_WITHOUT_TAG = 3

/** Merges two lists with tagged hits first, but keeps places for hits without a tag, so that a common tag cannot displace them all. */
export function mergeHybrid<T extends Identified>(
  filtered: readonly T[],
  unfiltered: readonly T[],
  limit: number,
): T[] {
  const tagged = mergeResults(filtered, [], filtered.length)
  const ids = new Set(tagged.map(hit => String(hit.id)))
  const others = mergeResults(
    unfiltered.filter(hit => !ids.has(String(hit.id))),
    [],
    unfiltered.length,
  )
  const reserved = Math.min(others.length, Math.ceil((limit * TENTHS_WITHOUT_TAG) / 10))
  const first = tagged.slice(0, limit - reserved)
  return [...first, ...others, ...tagged.slice(first.length)].slice(0, limit)
}

/** The usual constant of reciprocal rank fusion: rank 1 counts 1/61. */
const RANK_DAMPING = 60

/** Merges two lists by rank. The score of a hit is the sum of 1/(60 + rank) over both lists. */
export function fuseByRank<T extends Identified>(primary: readonly T[], secondary: readonly T[], limit: number): T[] {
  const shares = new Map<string, number>()
  for (const list of [primary, secondary]) {
    for (const [index, { id }] of mergeResults(list, [], list.length).entries()) {
      shares.set(String(id), (shares.get(String(id)) ?? 0) + 1 / (RANK_DAMPING + index + 1))
    }
  }
  const share = (hit: T): number => shares.get(String(hit.id)) ?? 0
  const merged = mergeResults(primary, secondary, primary.length + secondary.length)
  return merged.sort((a, b) => share(b) - share(a)).slice(0, limit)
}

/** Bonus in the order for each further tag that a hit shares with the question, after the first, and the maximum of all bonuses. */
const FURTHER_TAG = 0.02
const MAX_FOR_TAGS = 0.06

/** Orders hits by score plus a bonus for shared tags. The scores themselves do not change. */
export function orderByTags(hits: readonly SearchHit[], tags: readonly string[]): readonly SearchHit[] {
  const asked = new Set(tags)
  return orderByMatches(hits, ({ payload }) => new Set((payload.tags ?? []).filter(tag => asked.has(tag))).size)
}

/** Like `orderByTags`; `matched` returns how many of the question's tags a hit has. */
export function orderByMatches<T extends Scored>(hits: readonly T[], matched: (hit: T) => number): T[] {
  const place = (hit: T): number => hit.score + Math.min(MAX_FOR_TAGS, FURTHER_TAG * Math.max(0, matched(hit) - 1))
  return [...hits].sort((a, b) => place(b) - place(a))
}

/** How the strategy `hybrid` merges its two lists: tagged hits first, or by rank. */
export type Fusion = 'tags-first' | 'rrf'

/** Merges the two lists as the strategy requires. */
export function merged<T extends Identified>(
  strategy: Strategy,
  { tagged, all }: { readonly tagged: readonly T[]; readonly all: readonly T[] },
  fusion: Fusion,
  size: number,
): T[] {
  if (strategy === 'filtered') return [...tagged]
  if (strategy === 'semantic') return mergeResults(all, [], size)
  return fusion === 'rrf' ? fuseByRank(tagged, all, size) : mergeHybrid(tagged, all, size)
}

/** Keeps the hits whose score is at least `ratio` times the best score, in the same order. If the best score is 0 or less, all are kept. */
export function trimByScore<T extends Scored>(hits: readonly T[], ratio: number, limit: number): T[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), Number.NEGATIVE_INFINITY)
  const kept = best > 0 ? hits.filter(({ score }) => score >= best * ratio) : hits
  return kept.slice(0, limit)
}

/** Hits as Markdown. `mode`: what was searched, see `modeText`. `nearest`: the nearest records, listed if there are no hits (EN-070). */
export function formatHits(hits: readonly SearchHit[], mode: string, nearest: readonly SearchHit[] = []): string {
  if (hits.length === 0) {
    const titles = nearest.map(({ payload }) => `- ${titleOf(payload)}`)
    return ['No results found.', ...(titles.length > 0 ? ['---', ['Nearest:', ...titles].join('\n')] : [])].join('\n\n')
  }
  return [`_Search mode: ${mode}_`, hits.map(formatHit).join('\n\n---\n\n')].join('\n\n')
}

/** Text that shows the enriched question, its tags and the search strategy. */
export function formatEnrichment({
  enrichedQuery,
  filterTags,
  strategy,
}: Pick<Enrichment, 'enrichedQuery' | 'filterTags' | 'strategy'>): string {
  return `${enrichedQuery}\n\nTags: ${filterTags.join(', ') || 'none'}\nMode: ${strategy}`
}

function formatHit({ score, payload }: SearchHit, index: number): string {
  const facts = [
    `score=${score.toFixed(3)}`,
    ...[payload.type].filter(given => given !== undefined).map(type => `type=${oneLine(type)}`),
    ...[payload.filename].filter(given => given !== undefined).map(file => `file=${oneLine(file)}`),
  ]
  const heading = `### Result ${index + 1}: ${titleOf(payload)}\n_${facts.join(' | ')}_`
  const related = (payload.references ?? []).map(({ chunk, description }) =>
    description === '' ? `- ${oneLine(chunk)}` : `- ${oneLine(chunk)}: ${oneLine(description)}`,
  )
  const parts = [
    heading,
    (payload.document ?? '').trim(),
    related.length > 0 ? ['**Related chunks:**', ...related].join('\n') : '',
  ]
  return parts.filter(part => part !== '').join('\n\n')
}

function oneLine(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim()
}

function titleOf({ title, filename }: SearchHit['payload']): string {
  return oneLine(title) || oneLine(filename) || 'untitled'
}
