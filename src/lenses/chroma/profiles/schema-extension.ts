/** Columns that a plug-in adds to every node, as it declares them (CQ-131). */
import type { Json } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { isRecord } from '../../../base/record.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { PluginError } from '../errors.ts'

export type PluginColumnType = 'text' | 'real' | 'integer' | 'json'
const TYPES: readonly string[] = ['text', 'real', 'integer', 'json']

export interface SchemaExtension {
  /** 1 to 64 lower-case letters, digits and underscores. */
  readonly name: string
  /** `2`, `1.4` or `1.4.2`. */
  readonly version: string
  /** snake_case names. Every column may be null; once stored, columns stay. */
  readonly columns: Readonly<Record<string, PluginColumnType>>
  /** Other extensions by name, with the oldest version that will do. */
  readonly requires?: Readonly<Record<string, string>> | undefined
  /** Runs once, in one transaction, when a store last had an older version. Synchronous. */
  readonly migrate?: ((migration: Migration) => void) | undefined
}

export interface Migration {
  readonly from: string
  readonly to: string
  readonly now: Instant
  /** Entries that have a value in the column. */
  entriesWith(column: string): readonly EntryKey[]
  /** Null where it is unset. Also of columns that an older version had. */
  read(entry: EntryKey, column: string): Json
  write(entry: EntryKey, column: string, value: Json): void
}

/** What a row has without any plug-in (CQ-074 to CQ-076), and names that a row must not take. */
export const CORE_FIELDS: ReadonlySet<string> = new Set([
  ...['entry_id', 'node_id', 'color_L', 'color_a', 'color_b', 'color_l', 'color', 'hashtags', 'label', 'content'],
  ...['metadata', 'created_at', 'last_accessed', 'strength_raw', 'decay_health', 'ascension', 'rotten', 'mode_name'],
  ...['access_count', 'decay_enabled', 'state', 'distance', 'relevance', 'recency', 'strength_norm', 'score'],
  ...['version', 'id', 'entry', 'viewer', 'plugin_fields'],
])

const NAME = /^[a-z][a-z0-9_]{0,63}$/
const VERSION = /^\d{1,9}(?:\.\d{1,9}){0,2}$/

/** Throws `PluginError`; a plug-in comes from outside and may have any shape. */
export function checkExtension(given: unknown): SchemaExtension {
  const extension = (typeof given === 'object' && given !== null ? given : {}) as Partial<SchemaExtension>
  const { name, version, columns, requires = {}, migrate } = extension
  const shown = typeof name === 'string' ? name.slice(0, 80) : typeof name
  if (typeof name !== 'string' || !NAME.test(name))
    throw wrong(shown, 'name', 'lower-case letters, digits, underscores')
  if (!isVersion(version)) throw wrong(shown, 'version', 'a version such as 1.4.2')
  if (!isRecord(columns) || Object.keys(columns).length === 0) throw wrong(shown, 'columns', 'at least one column')
  for (const [column, type] of Object.entries(columns)) {
    if (!NAME.test(column)) throw wrong(shown, `columns.${column}`, 'a snake_case name')
    if (CORE_FIELDS.has(column)) throw clash(shown, column, 'the core')
    if (!TYPES.includes(type as string)) throw wrong(shown, `columns.${column}`, `one of ${TYPES.join(', ')}`)
  }
  if (!isRecord(requires)) throw wrong(shown, 'requires', 'versions by name')
  for (const [other, least] of Object.entries(requires)) {
    if (!isVersion(least)) throw wrong(shown, `requires.${other}`, 'a version such as 1.4.2')
  }
  if (migrate !== undefined && typeof migrate !== 'function') throw wrong(shown, 'migrate', 'a function')
  return { name, version, columns: { ...columns }, requires: { ...requires }, migrate }
}

export function clash(extension: string, column: string, owner: string): PluginError {
  const message = `extension ${extension}: column ${column} belongs to ${owner} already; rename it`
  return new PluginError('column_clash', message, { extension, column, owner })
}

/** Negative when `a` is older. Missing parts are 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map(version => version.split('.').map(Number)) as [number[], number[]]
  const differences = [0, 1, 2].map(part => (left[part] ?? 0) - (right[part] ?? 0))
  return differences.find(difference => difference !== 0) ?? 0
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && VERSION.test(value)
}

function wrong(extension: string, field: string, expected: string): PluginError {
  const message = `extension ${extension}: ${field}: expected ${expected}`
  return new PluginError('invalid_extension', message, { extension, field, expected })
}
