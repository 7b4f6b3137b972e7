/** Reads and writes the plug-in columns of nodes, with their types checked (CQ-077, CQ-132). */
import type { Json } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { isStorable } from '../../../base/storable.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { invalidParameter, PluginError, reasonOf, ValidationError } from '../errors.ts'
import { PLUGIN_FIELDS } from '../tables.ts'
import { copyJson } from './copy.ts'
import { CORE_FIELDS, type PluginColumnType } from './schema-extension.ts'

export type PluginFields = Readonly<Record<string, Json>>
export type ColumnTypes = ReadonlyMap<string, PluginColumnType>

/** Checked values of the columns named. Throws before anything is written. `parameter` is what the caller called it. */
export function checkFields(given: unknown, types: ColumnTypes, parameter = 'plugin_fields'): PluginFields {
  if (!isRecord(given)) throw invalidParameter(parameter, given, 'an object of plug-in columns')
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, checked(name, value, types, parameter)]),
  )
}

/** All columns of one node, null where unset, in the order they were registered. */
export function readFields(reader: StoreReader, entry: EntryKey, types: ColumnTypes): PluginFields {
  if (types.size === 0) return {}
  const rows = reader.table(PLUGIN_FIELDS).scan({ entry })
  const values = new Map(rows.map(row => [row['name'], JSON.parse(String(row['value'])) as Json]))
  return Object.fromEntries([...types.keys()].map(name => [name, values.get(name) ?? null]))
}

/** Every node's value of one column: one scan instead of one a candidate, for filters. */
export function readColumn(reader: StoreReader, name: string): ReadonlyMap<EntryKey, Json> {
  const rows = reader.table(PLUGIN_FIELDS).scan({ name })
  return new Map(rows.map(row => [Number(row['entry']) as EntryKey, JSON.parse(String(row['value'])) as Json]))
}

/** Sets checked values; null unsets. Other columns stay as they are. */
export function writeFields(writer: StoreWriter, entry: EntryKey, fields: PluginFields): void {
  const table = writer.table(PLUGIN_FIELDS)
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) table.delete({ entry, name })
    else table.put({ entry, name, value: JSON.stringify(value) })
  }
}

function checked(name: string, value: unknown, types: ColumnTypes, parameter: string): Json {
  const place = `${parameter}.${name}`
  const type = types.get(name)
  if (type === undefined) throw unknownColumn(name, types, place)
  if (value === null || value === undefined) return null
  const sound = ACCEPTED[type].accepts(value)
  if (!sound) throw invalidParameter(place, value, `${ACCEPTED[type].expected} or null`)
  if (type !== 'json') return value as Json
  try {
    return copyJson(value as Json, place)
  } catch (error) {
    throw invalidParameter(place, value, `JSON data (${reasonOf(error)})`)
  }
}

function unknownColumn(name: string, types: ColumnTypes, place: string): Error {
  if (CORE_FIELDS.has(name)) {
    const message = `${place}: a field of the core; plug-ins write only their own columns`
    return new PluginError('core_field', message, { column: name })
  }
  const known = [...types.keys()].sort()
  const message = `${place}: no plug-in has this column; known: ${known.join(', ') || 'none'}`
  return new ValidationError('unknown_column', message, { column: name, known })
}

const ACCEPTED: Readonly<
  Record<PluginColumnType, { readonly expected: string; readonly accepts: (value: unknown) => boolean }>
> = {
  text: {
    expected: 'text without the character NUL',
    accepts: value => typeof value === 'string' && isStorable(value),
  },
  real: { expected: 'a finite number', accepts: value => Number.isFinite(value) },
  integer: { expected: 'a whole number', accepts: value => Number.isSafeInteger(value) },
  json: { expected: 'JSON data', accepts: () => true },
}
