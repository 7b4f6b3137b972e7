/** Lists of hits: merged, ordered by tags, trimmed; and as Markdown. Pure; every list comes and goes best first. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Enrichment, Strategy } from './enrich.ts'

export interface SearchHit {
  readonly id: string | number
  /** Of similarity; the higher, the nearer. */
  readonly score: number
  readonly payload: HitPayload
}

/** Fields that are not known here are kept. */
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

/** What a hit shows of a record. Others wrote it: of the fields known here, values of another kind are left out; all other fields stay as they are. */
export function payloadOf(fields: JsonObject): HitPayload {
  const kept = Object.entries(fields).filter(([name, value]) => !TEXTS.has(name) || typeof value === 'string')
  return { ...Object.fromEntries(kept), ...tagsOf(fields['tags']), ...referencesOf(fields['references']) }
}

/** A server finds a single tag like a list of one. */
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

/** What is needed of a hit to merge lists of them. */
type Identified = Pick<SearchHit, 'id'>
type Scored = Pick<SearchHit, 'score'>

/** Each hit once: the primary ones, then the secondary ones that are new. */
export function mergeResults<T extends Identified>(primary: readonly T[], secondary: readonly T[], limit: number): T[] {
  const seen = new Set<string>()
  const merged = [...primary, ...secondary].filter(hit => {
    const isNew = !seen.has(String(hit.id))
    seen.add(String(hit.id))
    return isNew
  })
  return merged.slice(0, limit)
}

/** Of ten hits at least three are kept for those without a tag, as far as there are such. */
const TENTHS_WITHOUT_TAG = 3

/** Tagged hits first, but never so many that a common tag starves the others. */
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

/** Usual damping of reciprocal rank fusion: rank 1 counts 1/61. */
const RANK_DAMPING = 60

/** Both lists by rank instead: a hit's share is the sum of 1/(60 + rank). */
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

/** What each further tag that a hit shares with the question adds to its place, and at most adds. */
const FURTHER_TAG = 0.02
const MAX_FOR_TAGS = 0.06

/** By score and by how many of the question's tags a hit carries; the scores themselves stay as they are. */
export function orderByTags(hits: readonly SearchHit[], tags: readonly string[]): readonly SearchHit[] {
  const asked = new Set(tags)
  return orderByMatches(hits, ({ payload }) => new Set((payload.tags ?? []).filter(tag => asked.has(tag))).size)
}

/** The same; `matched`: how many of the query's tags a hit carries. */
export function orderByMatches<T extends Scored>(hits: readonly T[], matched: (hit: T) => number): T[] {
  const place = (hit: T): number => hit.score + Math.min(MAX_FOR_TAGS, FURTHER_TAG * Math.max(0, matched(hit) - 1))
  return [...hits].sort((a, b) => place(b) - place(a))
}

/** How hybrid makes one list of two: tagged hits first, or by rank. */
export type Fusion = 'tags-first' | 'rrf'

/** The list that a strategy makes of two. */
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

/** Keeps what scores at least `ratio` of the best; all, when even the best scores 0 or less. Order stays. */
export function trimByScore<T extends Scored>(hits: readonly T[], ratio: number, limit: number): T[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), Number.NEGATIVE_INFINITY)
  const kept = best > 0 ? hits.filter(({ score }) => score >= best * ratio) : hits
  return kept.slice(0, limit)
}

/** `mode`: what was searched, see `modeText`; `nearest`: what came nearest where there are no hits (EN-070). */
export function formatHits(hits: readonly SearchHit[], mode: string, nearest: readonly SearchHit[] = []): string {
  if (hits.length === 0) {
    const titles = nearest.map(({ payload }) => `- ${titleOf(payload)}`)
    return ['No results found.', ...(titles.length > 0 ? ['---', ['Nearest:', ...titles].join('\n')] : [])].join('\n\n')
  }
  return [`_Search mode: ${mode}_`, hits.map(formatHit).join('\n\n---\n\n')].join('\n\n')
}

/** The enriched question, its tags and the way to search. */
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
