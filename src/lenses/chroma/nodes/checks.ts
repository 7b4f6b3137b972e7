/** What the fields of a node may be (CQ-124). Violations name the field. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isStorable } from '../../../base/storable.ts'
import { MAX_DEPTH } from '../../../model/limits.ts'
import { invalidParameter } from '../errors.ts'
import { MODE_NAMES, type ModeName } from '../model.ts'
import { isPlainObject } from '../plain.ts'

/** Unicode characters. */
const MAX_LABEL = 500
/** UTF-8 bytes. */
const MAX_CONTENT = 1_048_576

export function checkLabel(value: unknown): asserts value is string {
  mustBeText('label', value, `a text of at most ${MAX_LABEL} characters`, text => lengthOf(text) <= MAX_LABEL)
}

export function checkContent(value: unknown): asserts value is string {
  const fits = (text: string) => text.length <= MAX_CONTENT && Buffer.byteLength(text) <= MAX_CONTENT
  mustBeText('content', value, `a text of at most ${MAX_CONTENT} UTF-8 bytes`, fits)
}

/** Of its own: what the caller changes later does not change it. */
export function soundMetadata(value: unknown): JsonObject | null {
  if (value === null) return null
  if (!isPlainObject(value) || !isJson(value, 0))
    throw invalidParameter('metadata', value, 'null, or a plain JSON object')
  return structuredClone(value) as JsonObject
}

export function checkMode(value: unknown): asserts value is ModeName {
  if (!MODE_NAMES.includes(value as ModeName)) {
    throw invalidParameter('mode_name', value, `one of ${MODE_NAMES.join(', ')}`)
  }
}

/** Stops counting where it is too long anyway. */
function lengthOf(text: string): number {
  return text.length > 2 * MAX_LABEL ? text.length : [...text].length
}

function mustBeText(field: string, value: unknown, expected: string, fits: (text: string) => boolean): void {
  if (typeof value !== 'string' || !fits(value)) throw invalidParameter(field, value, expected)
  if (!isStorable(value)) throw invalidParameter(field, value, `${expected}, without NUL and unpaired surrogates`)
}

function isJson(value: unknown, depth: number): value is Json {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return isStorable(value)
  if (typeof value === 'number') return Number.isFinite(value)
  // A circle is deeper than any data.
  if (depth > MAX_DEPTH) return false
  if (Array.isArray(value)) return value.every(item => isJson(item, depth + 1))
  return (
    isPlainObject(value) && Object.entries(value).every(([key, item]) => isStorable(key) && isJson(item, depth + 1))
  )
}
