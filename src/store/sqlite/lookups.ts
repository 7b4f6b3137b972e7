/** The rows that repeat an entry's tags and metadata for filters: one a tag, one a scalar of the metadata by its path. */
import type { Json, JsonObject } from '../../base/canonical.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { truthValue } from './values.ts'

export interface Lookups {
  readonly tags: readonly string[]
  /** Paths are keys from the outside in, joined by points, as in the field `metadata.<path>`. */
  readonly values: readonly (readonly [path: string, value: SqlValue])[]
}

export function lookupsOf(tags: readonly string[], metadata: JsonObject): Lookups {
  return { tags, values: scalarsIn(metadata) }
}

export function addLookups(db: SqlDatabase, entry: EntryKey, { tags, values }: Lookups): void {
  const addTag = db.prepare('insert into entry_tags (tag, entry) values (?, ?)')
  for (const tag of tags) addTag.run(tag, entry)
  const addValue = db.prepare('insert into entry_values (path, value, entry) values (?, ?, ?)')
  for (const [path, value] of values) addValue.run(path, value, entry)
}

/** Of an entry that may have had others. */
export function replaceLookups(db: SqlDatabase, entry: EntryKey, lookups: Lookups): void {
  db.prepare('delete from entry_tags where entry = ?').run(entry)
  db.prepare('delete from entry_values where entry = ?').run(entry)
  addLookups(db, entry, lookups)
}

/** Each pair of path and value once. A key with a point in it cannot be named by a filter and is left out. */
function scalarsIn(metadata: JsonObject): Lookups['values'] {
  const found = new Map<string, readonly [string, SqlValue]>()
  const add = (path: string, value: Json): void => {
    if (value === null || typeof value === 'object') return
    found.set(JSON.stringify([path, value]), [path, typeof value === 'boolean' ? truthValue(value) : value])
  }
  const visit = (object: JsonObject, prefix: string): void => {
    for (const [key, value] of Object.entries(object)) {
      if (key.includes('.')) continue
      const path = `${prefix}${key}`
      if (Array.isArray(value)) for (const item of value as readonly Json[]) add(path, item)
      else if (value !== null && typeof value === 'object') visit(value as JsonObject, `${path}.`)
      else add(path, value)
    }
  }
  visit(metadata, '')
  return [...found.values()]
}
