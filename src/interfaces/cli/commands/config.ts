/** The commands `config get`, `config set` and `config list`: read and change the settings in the file `config.json` of the home. */
import { applyEdits, modify } from 'jsonc-parser'
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { fileSchema, readSettings, writeSettings } from '../../../engine/options.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { unknownField } from '../../../model/parse-input.ts'
import { jsonSchema } from '../../../ops/catalog.ts'
import { fieldAt } from '../flags.ts'
import type { Cli } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { rows } from '../render/answer.ts'
import { homeFor, requireOwner } from '../session.ts'
import { print } from './print.ts'

interface Setting {
  readonly name: string
  /** Value in the configuration file; undefined if the file does not set it. */
  readonly value: Json | undefined
  readonly default: Json | undefined
  readonly meaning: string
}

export async function listSettings(cli: Cli, flags: Flags): Promise<void> {
  const { value } = readSettings(fileOf(cli, flags))
  const known = settingsIn(jsonSchema(fileSchema, 'input'), value)
  await print(cli, flags, { settings: known }, rows('settings', ['name', 'value', 'default', 'meaning']))
}

export async function getSetting(cli: Cli, flags: Flags, [name = '']: readonly string[]): Promise<void> {
  const path = name.split('.')
  const field = fieldAt(jsonSchema(fileSchema, 'input'), path)
  const value = valueAt(readSettings(fileOf(cli, flags)).value, path) ?? (field['default'] as Json)
  if (value === undefined) {
    assertKnown(path)
    const message = `${name}: it is not set, and has no default of its own; \`querent config list\` shows all settings`
    throw new QuerentError('not_found', message, { field: name })
  }
  await print(cli, flags, { name, value }, () => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
}

/**
 * Sets one setting in the configuration file, or removes it if no value is given. A value that is valid JSON is used as JSON, any other as
 * a string.
 */
export async function setSetting(cli: Cli, flags: Flags, [name = '', given]: readonly string[]): Promise<void> {
  const file = fileOf(cli, flags)
  const { text, value: all } = readSettings(file)
  const value = given === undefined ? undefined : jsonOr(given)
  const path = name.split('.')
  const isUnset = value === undefined && valueAt(all, path) === undefined
  if (isUnset) assertKnown(path)
  if (value !== undefined && !isRecord(value)) assertNotGroup(name, value)
  // The editor gets no formatting options, because with them it would also reformat neighbouring settings.
  const edits = isUnset ? [] : modify(text, path, value, {})
  await writeSettings(file, applyEdits(text, edits))
  await print(cli, flags, { file, name, value: given ?? null }, () => `${name} ${given ?? 'unset'} in ${file}\n`)
}

/** Throws `unknown_field` if there is no such setting. Settings of lenses are known to the lenses alone. */
function assertKnown(path: readonly string[]): void {
  const isKnown = path[0] === 'lenses' || Object.keys(fieldAt(jsonSchema(fileSchema, 'input'), path)).length > 0
  if (!isKnown) throw unknownField(fileSchema, path)
}

/**
 * Throws `invalid_argument` if a single value is given for the name of a group of settings. If a setting in the group accepts the value,
 * the error names it.
 */
function assertNotGroup(name: string, value: Json): void {
  const field = fieldAt(jsonSchema(fileSchema, 'input'), name.split('.'))
  const forms = [field, field['oneOf'] ?? field['anyOf'] ?? []].flat() as readonly JsonObject[]
  const inner = forms.flatMap(({ properties }) => (isRecord(properties) ? Object.entries(properties) : []))
  if (inner.length === 0) return
  const takes = inner.find(
    ([, schema]) => isRecord(schema) && (schema['const'] === value || [schema['enum']].flat().includes(value)),
  )
  const names = takes === undefined ? [...new Set(inner.map(([one]) => one))] : [takes[0]]
  const hint = takes === undefined ? `its settings are ${names.join(', ')}` : `did you mean ${name}.${takes[0]}?`
  throw invalidArgument(name, value, `an object (${hint})`)
}

function fileOf(cli: Cli, flags: Flags): string {
  requireOwner(cli, flags)
  return homeFor(cli, flags).configFile
}

function jsonOr(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

function valueAt(from: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, step) => (isRecord(at) ? (at as JsonObject)[step] : undefined), from)
}

/** All settings: those in the schema, and others in the file, such as settings of lenses. */
function settingsIn(schema: JsonObject, value: JsonObject, path: readonly string[] = []): readonly Setting[] {
  const properties = isRecord(schema['properties']) ? (schema['properties'] as Record<string, JsonObject>) : {}
  return [...new Set([...Object.keys(properties), ...Object.keys(value)])].flatMap(name => {
    const [own, below = {}] = [value[name], properties[name]]
    const place = [...path, name]
    if (isRecord(below['properties']) || isRecord(own)) {
      return settingsIn(below, (isRecord(own) ? own : {}) as JsonObject, place)
    }
    const { default: without, description = '' } = below
    return [{ name: place.join('.'), value: own, default: without, meaning: String(description) }]
  })
}
