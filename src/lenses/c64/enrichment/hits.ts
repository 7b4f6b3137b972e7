/**
 * Functions on lists of search hits: merging, ordering by tags, trimming, and formatting as Markdown. They have no side effects; all lists
 * are sorted best first.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Enrichment, Strategy } from './enrich.ts'

export interface SearchHit {
  readonly id: string | number
  /** Similarity between the hit and the question; higher is more similar. */
  readonly score: number
  readonly payload: HitPayload
}

/** Fields of the record that was found. Fields that are not declared here are kept as well. */
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
 * Reads the fields of a hit from its record. The record may come from elsewhere, so declared fields with a value of the wrong type are left
 * out; all other fields stay unchanged.
 */
export function payloadOf(fields: JsonObject): HitPayload {
  const kept = Object.entries(fields).filter(([name, value]) => !TEXTS.has(name) || typeof value === 'string')
  return { ...Object.fromEntries(kept), ...tagsOf(fields['tags']), ...referencesOf(fields['references']) }
}

/** A Qdrant server matches a tag that is stored as a single text like a list with one tag, so both forms are accepted here. */
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

/** Fields that a hit must have to be merged (`Identified`) or ordered by score (`Scored`). */
type Identified = Pick<SearchHit, 'id'>
type Scored = Pick<SearchHit, 'score'>

/** Merges two lists of hits: all primary hits, then the secondary hits that are not among the primary ones; at most `limit`. */
export function mergeResults<T extends Identified>(primary: readonly T[], secondary: readonly T[], limit: number): T[] {
  const seen = new Set<string>()
  const merged = [...primary, ...secondary].filter(hit => {
    const isNew = !seen.has(String(hit.id))
    seen.add(String(hit.id))
    return isNew
  })
  return merged.slice(0, limit)
}

/** Tenths of the merged list that are kept for hits without a tag of the question, if there are enough such hits. */
const TENTHS_WITHOUT_TAG = 3

/**
 * Merges two lists of hits: first the hits with a tag of the question (`filtered`), then others, for which at least three tenths of the
 * places are kept, so that a common tag cannot displace them all.
 */
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

/** The constant of reciprocal rank fusion: a hit at rank r counts 1 / (60 + r). */
const RANK_DAMPING = 60

/**
 * Merges two lists by reciprocal rank fusion: hits are ordered by the sum of 1 / (60 + rank) over the lists in which they occur. The scores
 * in the hits do not change.
 */
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

/**
 * When hits are ordered: amount added to a hit's score for each tag shared with the question after the first, and the maximum amount added.
 */
const FURTHER_TAG = 0.02
const MAX_FOR_TAGS = 0.06

/**
 * Orders hits by their score plus 0.02 for each tag shared with the question after the first, at most 0.06. The scores in the hits do not
 * change.
 */
export function orderByTags(hits: readonly SearchHit[], tags: readonly string[]): readonly SearchHit[] {
  const asked = new Set(tags)
  return orderByMatches(hits, ({ payload }) => new Set((payload.tags ?? []).filter(tag => asked.has(tag))).size)
}

/**
 * Orders hits by their score plus 0.02 for each matched tag after the first, at most 0.06. `matched` returns how many of the question's
 * tags a hit has.
 */
export function orderByMatches<T extends Scored>(hits: readonly T[], matched: (hit: T) => number): T[] {
  const place = (hit: T): number => hit.score + Math.min(MAX_FOR_TAGS, FURTHER_TAG * Math.max(0, matched(hit) - 1))
  return [...hits].sort((a, b) => place(b) - place(a))
}

/**
 * How the search strategy `hybrid` merges hits found by tags with hits found among all records: hits with tags first (`tags-first`), or by
 * reciprocal rank fusion (`rrf`).
 */
export type Fusion = 'tags-first' | 'rrf'

/**
 * Combines the hits found by tags and the hits found among all records as the search strategy requires: only those with tags, only all, or
 * both merged.
 */
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

/**
 * Keeps the hits whose score is at least `ratio` times the best score, in their order, at most `limit`. If the best score is 0 or less, no
 * hit is dropped for its score.
 */
export function trimByScore<T extends Scored>(hits: readonly T[], ratio: number, limit: number): T[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), Number.NEGATIVE_INFINITY)
  const kept = best > 0 ? hits.filter(({ score }) => score >= best * ratio) : hits
  return kept.slice(0, limit)
}

/**
 * Formats hits as Markdown. `mode`: text that says what was searched. `nearest`: the nearest records, listed if there are no hits (EN-070).
 */
export function formatHits(hits: readonly SearchHit[], mode: string, nearest: readonly SearchHit[] = []): string {
  if (hits.length === 0) {
    const titles = nearest.map(({ payload }) => `- ${titleOf(payload)}`)
    return ['No results found.', ...(titles.length > 0 ? ['---', ['Nearest:', ...titles].join('\n')] : [])].join('\n\n')
  }
  return [`_Search mode: ${mode}_`, hits.map(formatHit).join('\n\n---\n\n')].join('\n\n')
}

/** Formats an enriched question for people: the question with its explanations, its tags and the search strategy. */
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
