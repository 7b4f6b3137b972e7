/** Concise forms of answers for agents: what an agent needs to decide what to read next, in about 50 tokens per result. */
import type { Json, JsonObject } from '../../base/canonical.ts'
import { isRecord } from '../../base/record.ts'

/** Maximum length of an excerpt in a concise answer, in UTF-16 units. */
const EXCERPT_LENGTH = 100
/**
 * Maximum length of a message of a conversation in a concise answer, in UTF-16 units: most messages are shorter, and their end is often
 * what was asked for.
 */
const MESSAGE_LENGTH = 200

export function briefHit(item: JsonObject): JsonObject {
  const { id, passage, title, excerpt, score, passages } = item
  const several = Array.isArray(passages) && passages.length > 1
  const found = several ? { passages: passages.filter(isObject).map(passage => briefPassage(passage, title)) } : {}
  return withoutEmpty({
    id: id ?? null,
    passage: passage ?? null,
    title: title ?? null,
    ...(several ? found : briefPassage(isObject(excerpt) ? excerpt : {}, title)),
    score: score ?? null,
  })
}

/** The concise form of a passage: section, lines and text. A heading that equals the item's title is left out of the section. */
function briefPassage({ section, start_line, end_line, text }: JsonObject, title: Json | undefined): JsonObject {
  const headings = Array.isArray(section) ? section.filter(heading => heading !== title) : []
  return withoutEmpty({
    section: headings.join(' > '),
    lines: linesOf(start_line, end_line),
    text: shortened(text, EXCERPT_LENGTH),
  })
}

function linesOf(start: Json | undefined, end: Json | undefined): string | null {
  if (start === undefined) return null
  return start === end ? String(start) : `${start}-${end}`
}

export function briefMessage({ id, speaker, at, text, score, newer_statement_of }: JsonObject): JsonObject {
  return withoutEmpty({
    id: id ?? null,
    speaker: speaker ?? null,
    at: typeof at === 'string' ? at.slice(0, 16) : null,
    text: shortened(text, MESSAGE_LENGTH),
    newer_statement_of: newer_statement_of ?? null,
    score: score ?? null,
  })
}

/** The concise form of an entry without its content: id, title and metadata only. */
export function briefPlace({ id, collection, kind, title, tags, updated_at }: JsonObject): JsonObject {
  const fields = { id, collection, kind, title, tags, updated: String(updated_at ?? '').slice(0, 10) }
  return withoutEmpty(fields as JsonObject)
}

/** The concise form of an entry: its text, and the ids of the entries linked from it and to it. */
export function briefEntry({ content, links, backlinks, ...rest }: JsonObject): JsonObject {
  const ids = { links: idsOf(links), backlinks: idsOf(backlinks) }
  return { ...briefPlace(rest), ...withoutEmpty(ids), content: content ?? '' }
}

function idsOf(entries: Json | undefined): readonly Json[] {
  return Array.isArray(entries) ? entries.filter(isObject).map(({ id }) => id ?? null) : []
}

/**
 * The concise form of an answer of the lens context (CX-001): without the graph, which the tools for single concepts show, and without path
 * and times of the call.
 */
export function briefEnvelope({ status, result, errors, meta }: JsonObject): JsonObject {
  const { graph: _, ...shown } = isObject(result) ? result : {}
  const { verdict, reason, warnings: notes = null } = isObject(meta) ? meta : {}
  const judged = briefPage({ ...(verdict !== undefined && { verdict, reason: reason ?? null }), notes })
  return withoutEmpty({ status: status ?? null, ...judged, result: shown, errors: errors ?? null })
}

/** The concise form of the fields of a page besides its items: how far the results can be relied on, and how to continue. */
export function briefPage(page: JsonObject): JsonObject {
  const { as_of: _, lens: __, mode: ___, order: ____, tokens: _____, trace: ______, ...rest } = page
  const { verdict, reason, verdict_by, coverage, notes, ...others } = rest
  return {
    ...(verdict !== undefined && { verdict }),
    ...(verdict !== undefined && verdict !== 'answered' && reason !== undefined && { reason }),
    ...(verdict_by === 'words' && { verdict_by }),
    ...(isPartial(coverage) && { coverage }),
    ...others,
    ...(Array.isArray(notes) && { notes: notes.map(note => (isObject(note) ? (note['message'] ?? '') : note)) }),
  }
}

function isPartial(coverage: Json | undefined): coverage is JsonObject {
  if (!isObject(coverage)) return false
  const { complete, failed } = coverage
  return complete === false || (Array.isArray(failed) && failed.length > 0)
}

/**
 * A copy of the value without nulls and without empty texts, lists and objects at any depth; fractions are rounded to two significant
 * digits.
 */
export function withoutEmpty(value: JsonObject): JsonObject {
  return (pruned(value) as JsonObject | undefined) ?? {}
}

function pruned(value: Json | undefined): Json | undefined {
  if (value === null || value === undefined || value === '') return undefined
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(2))
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(item => pruned(item) ?? null)
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const short = pruned(inner)
    return short === undefined ? [] : [[name, short] as const]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The text on one line, cut between words so that it has at most `length` UTF-16 units; `…` marks the cut. */
function shortened(text: Json | undefined, length: number): string {
  const line = typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : ''
  return line.length <= length ? line : `${head(line, length).replace(/\s\S{0,20}$/, '')}…`
}

/** The first `length` UTF-16 units of a text, without a half surrogate pair at the end. */
export function head(text: string, length: number): string {
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
}

export function isObject(value: unknown): value is JsonObject {
  return isRecord(value)
}
