/** The rows that repeat tags and metadata for filters, against the entries they repeat. */
import type { JsonObject } from '../../base/canonical.ts'
import { entryValues } from '../entry-values.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/sql-driver.ts'
import { truthValue } from '../sqlite/values.ts'
import { isObject, parsed } from './contents.ts'
import { type Check, counted, problemOf, REPAIR_HELP, those } from './problem.ts'

interface Repeated {
  readonly entry: number
  readonly name: string
  readonly tags: readonly string[]
  readonly values: readonly (readonly [path: string, value: SqlValue])[]
}

export const lookups: Check = {
  name: 'lookups',
  sound: 'tags and metadata are found by filters as entries have them',
  look(db) {
    const names = strays(db).map(({ name }) => name)
    const mend = (at: SqlDatabase): string => {
      const found = strays(at)
      for (const one of found) writeAgain(at, one)
      return `wrote the lookups of ${counted(found.length, 'entry', 'entries')} again`
    }
    const rest = { help: REPAIR_HELP, mend }
    return those([problemOf(names, 'entry is not found as tagged', 'entries are not found as tagged', rest)])
  },
}

function strays(db: SqlDatabase): readonly Repeated[] {
  const tagsOf = db.prepareArrays<[string]>('select tag from entry_tags where entry = ?')
  const valuesOf = db.prepareArrays<[string, SqlValue]>('select path, value from entry_values where entry = ?')
  const found: Repeated[] = []
  for (const one of all(db)) {
    const tags = tagsOf.all(one.entry).map(([tag]) => tag)
    const isSame = same(tags, one.tags) && same(valuesOf.all(one.entry).map(told), one.values.map(told))
    if (!isSame) found.push(one)
  }
  return found
}

/** Entries whose tags and metadata can be read. */
function* all(db: SqlDatabase): Generator<Repeated> {
  const rows = db.prepareArrays<[number, string, string, string]>(
    `select e.key, e.holder || '/' || e.id, b.tags, b.metadata from entries e join bodies b on b.entry = e.key order by 1`,
  )
  for (const [entry, name, tagsJson, metadataJson] of rows.each()) {
    const [tags, metadata] = [parsed(tagsJson), parsed(metadataJson)]
    if (!(Array.isArray(tags) && isObject(metadata))) continue
    const values = entryValues(metadata as JsonObject).map(({ path, value }): [string, SqlValue] => [
      path,
      typeof value === 'boolean' ? truthValue(value) : value,
    ])
    yield { entry, name, tags, values }
  }
}

function writeAgain(db: SqlDatabase, { entry, tags, values }: Repeated): void {
  db.prepare('delete from entry_tags where entry = ?').run(entry)
  db.prepare('delete from entry_values where entry = ?').run(entry)
  const addTag = db.prepare('insert into entry_tags (tag, entry) values (?, ?)')
  for (const tag of tags) addTag.run(tag, entry)
  const addValue = db.prepare('insert into entry_values (path, value, entry) values (?, ?, ?)')
  for (const [path, value] of values) addValue.run(path, value, entry)
}

function told([path, value]: readonly [string, SqlValue]): string {
  return JSON.stringify([path, value instanceof Uint8Array ? { bytes: [...value] } : value])
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort())
}
