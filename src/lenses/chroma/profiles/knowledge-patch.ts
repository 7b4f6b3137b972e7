/**
 * Query profile for structured queries about updates of knowledge: `paradigm | subdomains | cutoff | release | format`, as in `ai_tools |
 * claude:tools:updates | 2025-06-01 | latest | xml`. A text with fewer than three fields is read as plain language (CQ-107 to CQ-116).
 */

import type { Json } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { normaliseHashtag } from '../colour/stack.ts'
import { QueryProfileError, UnknownHashtagError } from '../errors.ts'
import type { QueryParams, ResultRow } from '../model.ts'
import { calendar, dated, readQuestion, SECONDS, unitOf } from './default-profile.ts'
import { type ParseContext, type PostContext, QueryProfile } from './query-profile.ts'

export interface KnowledgePatchOptions {
  /**
   * For each paradigm (first field of a structured query), hashtags that complete the query when its subdomain path yields too few in total
   * or per zone (CQ-109).
   */
  readonly implicitTags?: Readonly<Record<string, readonly string[]>> | undefined
  /** When true, a text in plain language is an error (CQ-116). */
  readonly strict?: boolean | undefined
}

/**
 * What the profile's parse hook (text to parameters) understood of the query. It is passed on to the post-process hook, which changes the
 * result rows, and is reported to the caller.
 */
export interface KnowledgePatchState {
  readonly full_path: string | null
  /** The release field as the user wrote it; empty when it was left out. */
  readonly release: string
  readonly format: string
}

/** Number of nodes retrieved for a query of this profile. A structured query then keeps only those with exactly the requested path. */
const K = 100
const MIN_FIELDS = 3
const MAX_FIELDS = 5

const RELEASE_WORD = /(?<![\p{L}\p{N}_#-])(?:latest|beta|v\d(?:[\w.-]*\w)?)(?![\p{L}\p{N}_-])/iu

export class KnowledgePatchQueryProfile extends QueryProfile {
  readonly #implicitTags: ReadonlyMap<string, readonly string[]>
  readonly #strict: boolean

  constructor(options: KnowledgePatchOptions = {}) {
    super()
    this.#implicitTags = new Map(Object.entries(options.implicitTags ?? {}))
    this.#strict = options.strict === true
  }

  override parseInput(text: string, context: ParseContext): QueryParams {
    const fields = text.split('|').map(field => field.trim())
    if (fields.length > MAX_FIELDS) throw fault('fields', `at most ${MAX_FIELDS} fields`, String(fields.length))
    if (fields.length >= MIN_FIELDS) return this.#structured(fields, context)
    if (this.#strict) throw fault('fields', `${MIN_FIELDS} to ${MAX_FIELDS} fields between |`, String(fields.length))
    return natural(text, context)
  }

  override postProcess(rows: ResultRow[], { state }: PostContext): ResultRow[] {
    const wanted = (state as KnowledgePatchState | undefined)?.full_path ?? null
    return withLayoutTraits(wanted === null ? rows : withPath(rows, wanted))
  }

  #structured(
    [paradigm = '', subdomains = '', cutoff = '', release = '', format = '']: string[],
    context: ParseContext,
  ) {
    if (paradigm === '') throw fault('paradigm', 'a paradigm in the first field', paradigm)
    if (!/[^\s:]/.test(subdomains)) throw fault('subdomains', 'segments between colons', subdomains)
    const path = fullPath(paradigm, subdomains)
    const tail = path.split(':').slice(1).join(':')
    const state: KnowledgePatchState = { full_path: path, release, format: format.toLowerCase() }
    return {
      hashtags: this.#tagsOf(paradigm, path, context),
      k: K,
      temporalRange: [cutoffOf(cutoff, context.now, fault), context.now] as const,
      metadataFilters: {
        paradigm,
        subdomain_path: tail === '' ? [path] : [path, tail],
        release_status: statusesOf(release),
      },
      state,
    }
  }

  #tagsOf(paradigm: string, path: string, context: ParseContext): readonly string[] {
    const tags = path.split(':').map(segment => `#${segment}`)
    const unknown = new Set(tags.filter(tag => context.resolve(tag) === null).map(tag => normaliseHashtag(tag)))
    if (unknown.size > 0) throw new UnknownHashtagError([...unknown])
    if (context.isValid(tags)) return tags
    return context.complete([...tags, ...(this.#implicitTags.get(paradigm) ?? [])])
  }
}

function natural(text: string, context: ParseContext): QueryParams {
  const { hashtags, k, temporalRange } = readQuestion(text, context)
  const [release] = RELEASE_WORD.exec(text) ?? []
  const state: KnowledgePatchState = { full_path: null, release: release ?? '', format: '' }
  return {
    hashtags,
    k: k ?? K,
    ...(temporalRange !== null && { temporalRange }),
    ...(release !== undefined && { metadataFilters: { release_status: statusesOf(release) } }),
    state,
  }
}

/**
 * Release states (metadata values) that are accepted for the release field of a query (CQ-111): `latest` or empty, `beta`, and one list for
 * any version number.
 */
function statusesOf(release: string): readonly string[] {
  const name = release.toLowerCase()
  if (name === '' || name === 'latest') return ['public', 'lts', 'latest']
  return name === 'beta' ? ['beta', 'public', 'lts'] : ['public']
}

function fault(field: string, expected: string, value: string): QueryProfileError {
  const shown = JSON.stringify(value.slice(0, 80))
  const message = `knowledge_patch: ${field}: expected ${expected}, got ${shown}`
  return new QueryProfileError('profile_parse_failed', message, {
    profile: 'knowledge_patch',
    field,
    value: value.slice(0, 80),
    expected,
  })
}

type Fault = (field: string, expected: string, value: string) => Error

const EXPECTED =
  'a past time: YYYY, YYYY-MM, YYYY-MM-DD, an ISO date-time, "N days ago", now, today, yesterday or Unix seconds'

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i
const AGO = /^(\d{1,9})\s+(hours?|days?|weeks?|months?|years?)\s+ago$/i

/**
 * The cutoff date as Unix seconds; an empty field means a year before `now`. Throws the error that `fault` makes when the date is
 * unreadable, impossible or in the future.
 */
export function cutoffOf(text: string, now: number, fault: Fault): number {
  const cutoff = text === '' ? now - SECONDS.year : read(text, now)
  if (cutoff === null || !Number.isSafeInteger(cutoff) || cutoff > now) throw fault('cutoff', EXPECTED, text)
  return cutoff
}

function read(text: string, now: number): number | null {
  const word = text.toLowerCase()
  if (word === 'now') return now
  if (word === 'today') return calendar('day', now).start
  if (word === 'yesterday') return calendar('day', now, -1).start
  if (/^\d{9,11}$/.test(text)) return Number(text)
  const [, count, unit] = AGO.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return now - Number(count) * SECONDS[unitOf(unit)]
  return dated(text)?.start ?? dateTime(text)
}

function dateTime(text: string): number | null {
  const [, day = '', time = '', zone = 'Z'] = DATE_TIME.exec(text) ?? []
  // Whether the day exists is checked separately, since `Date.parse` reads 30 February as 1 March.
  if (dated(day) === null) return null
  const at = Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(at) ? null : Math.floor(at / 1_000)
}

/** The subdomain path with the paradigm as its first segment; segments are trimmed, and empty ones removed. */
export function fullPath(paradigm: string, path: string): string {
  const segments = path
    .split(':')
    .map(segment => segment.trim())
    .filter(segment => segment !== '')
  return (segments[0] === paradigm ? segments : [paradigm, ...segments]).join(':')
}

/** The rows whose full path, formed from their paradigm and their subdomain path, is exactly the wanted one. */
export function withPath(rows: readonly ResultRow[], wanted: string): ResultRow[] {
  return rows.filter(row => {
    const path = fieldOf(row, 'subdomain_path')
    const paradigm = fieldOf(row, 'paradigm')
    if (typeof path !== 'string') return false
    return (typeof paradigm === 'string' ? fullPath(paradigm.trim(), path) : path) === wanted
  })
}

/**
 * Adds to each row, for each layout trait (a numeric property), the trait's share: the trait's sum over all rows divided by the sum of all
 * traits over all rows.
 */
export function withLayoutTraits(rows: readonly ResultRow[]): ResultRow[] {
  const sums = new Map<string, number>()
  for (const row of rows) {
    for (const [trait, value] of Object.entries(traitsOf(row))) {
      if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) {
        sums.set(trait, (sums.get(trait) ?? 0) + value)
      }
    }
  }
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0)
  const shares = total > 0 && Number.isFinite(total) ? [...sums].map(([trait, sum]) => [trait, sum / total]) : []
  return rows.map(row => ({ ...row, _aggregated_layout_traits: Object.fromEntries(shares) as Json }))
}

/** A field of a result row: the column of this name that a plug-in added to the row, where it is set; else the node's metadata key. */
function fieldOf(row: ResultRow, name: string): Json {
  const column = Object.hasOwn(row, name) ? row[name] : null
  if (column !== null && column !== undefined) return column
  const { metadata } = row
  return metadata !== null && Object.hasOwn(metadata, name) ? (metadata[name] ?? null) : null
}

function traitsOf(row: ResultRow): object {
  const field = fieldOf(row, 'layout_traits')
  const traits = typeof field === 'string' ? parsed(field) : field
  return isRecord(traits) ? traits : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
