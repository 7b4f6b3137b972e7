/** The rows that repeat tags and metadata for filters, against the entries they repeat. */
import type { JsonObject } from '../../base/canonical.ts'
import { type Lookups, lookupsOf, replaceLookups } from '../sqlite/lookups.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/sql-driver.ts'
import { isObject, parsed } from './parsed.ts'
import { type Check, counted, problemOf, REPAIR_HELP, those } from './problem.ts'

interface Repeated {
  readonly entry: number
  readonly name: string
  readonly lookups: Lookups
}

export const lookups: Check = {
  name: 'lookups',
  sound: 'tags and metadata are found by filters as entries have them',
  look(db) {
    const names = strays(db).map(({ name }) => name)
    const mend = (at: SqlDatabase): string => {
      const found = strays(at)
      for (const { entry, lookups: right } of found) replaceLookups(at, entry, right)
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
    const { tags, values } = one.lookups
    const stored = tagsOf.all(one.entry).map(([tag]) => tag)
    const isSame = same(stored, tags) && same(valuesOf.all(one.entry).map(told), values.map(told))
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
    yield { entry, name, lookups: lookupsOf(tags, metadata as JsonObject) }
  }
}

function told([path, value]: readonly [string, SqlValue]): string {
  return JSON.stringify([path, value instanceof Uint8Array ? { bytes: [...value] } : value])
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort())
}
