/** Converts values from files (front matter, records) to the types that the fields of an entry have. */
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { storableText } from '../base/storable.ts'
import type { FileDocument, SourceFile } from '../model/ingester.ts'
import { MAX_DEPTH, MAX_NAME_LENGTH, MAX_TAGS } from '../model/limits.ts'
import { parseTimeSpan } from '../text/time-value.ts'

const MAX_TITLE = 1_000

/** Converts a value to a title: text on one line, cut to the maximum length of a title; empty if the value is no text or number. */
export function titleOf(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return storableText(text).replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE).toWellFormed()
}

/**
 * Converts a value to a list of tags: from a list, or from a text in which commas (or, if it has none, blanks) separate the tags. Leading
 * `#` signs are removed.
 */
export function tagsOf(value: unknown): readonly string[] {
  const items =
    typeof value === 'string' ? value.split(value.includes(',') ? ',' : /\s+/) : Array.isArray(value) ? value : []
  const tags = items
    .filter(item => typeof item === 'string' || typeof item === 'number')
    .map(item => storableText(String(item)).trim().replace(/^#+/, ''))
    .filter(tag => tag !== '' && tag.length <= MAX_NAME_LENGTH)
  return [...new Set(tags)].slice(0, MAX_TAGS)
}

/** Converts a value to a list of names: from a list, or from a text in which commas separate the names. */
export function namesOf(value: unknown): readonly string[] {
  const items = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
  return items.map(titleOf).filter(name => name !== '')
}

/** Kind of an entry from the value that the file gives; `document` if the value is no text or empty. */
export function kindOf(value: unknown): string {
  return (typeof value === 'string' && storableText(value.trim().slice(0, MAX_NAME_LENGTH))) || 'document'
}

/** Parses a date, a time (without zone: UTC), a year, or seconds or milliseconds since 1970. Null if the value is none of these. */
export function instantOf(value: unknown): Instant | null {
  if (typeof value === 'number') return instantOfNumber(value)
  if (typeof value !== 'string' || value.length > 40) return null
  const text = value.trim().replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)/, '$1T$2')
  // Only texts in the form of a date or time are parsed, because relative times such as "yesterday" make no sense in a file.
  if (!/^\d{4}(-\d\d){0,2}(T[\d:.]+)?\s?(Z|[+-]\d\d:?\d\d)?$/.test(text)) return null
  const zoned = text.replace(/\s?([+-]\d\d):?(\d\d)$/, '$1:$2').replace(/^(.{10}T[\d:.]+)$/, '$1Z')
  return parseTimeSpan(/^\d{4}-\d\d-\d\d$/.test(text) ? text : zoned, 0)?.start ?? null
}

function instantOfNumber(value: number): Instant | null {
  if (Number.isInteger(value) && value >= 1000 && value <= 9999) return Date.UTC(value, 0)
  const instant = Math.trunc(Math.abs(value) < 1e11 ? value * 1000 : value)
  return Math.abs(instant) <= 8.64e15 ? instant : null
}

/**
 * Converts a value from a parser to plain JSON. A value that JSON does not have becomes text or null; one that is nested too deep becomes
 * null.
 */
export function toJson(value: unknown, depth = 1): Json {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return storableText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value !== 'object') return value === undefined ? null : String(value)
  if (depth >= MAX_DEPTH) return null
  if (Array.isArray(value)) return value.map(item => toJson(item, depth + 1))
  if (value instanceof Date) return value.toISOString()
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), toJson(item, depth + 1)]),
  ) as JsonObject
}

/** Fields of a document that consists of the whole file and has no id and no times of its own. */
export const WHOLE_FILE: Pick<
  FileDocument,
  'id' | 'part' | 'line' | 'createdAt' | 'updatedAt' | 'validFrom' | 'validUntil'
> = { id: null, part: null, line: null, createdAt: null, updatedAt: null, validFrom: null, validUntil: null }

/** The file name without its extension, which is the title of a document that has none. */
export function nameWithoutExtension(file: Pick<SourceFile, 'name' | 'extension'>): string {
  return file.extension === '' ? file.name : file.name.slice(0, -file.extension.length - 1)
}
