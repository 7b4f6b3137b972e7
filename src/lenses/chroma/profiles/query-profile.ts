/** Query profiles of the lens `chroma`: hooks that turn a text into query parameters, change the result rows, and score entries. */
import type { Json } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { isRecord } from '../../../base/record.ts'
import { isStorable } from '../../../base/storable.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Store, StoreReader, StoreWriter } from '../../../store/store.ts'
import { invalidParameter, PluginError, reasonOf, StartupError, ValidationError } from '../errors.ts'
import type { Binding, EffectiveQuery, MetadataFilters, QueryParams, ResultRow, ScoreWeights } from '../model.ts'
import { PLUGIN_FIELDS } from '../tables.ts'

export type Awaitable<T> = T | Promise<T>

/** Base class of query profiles. The hooks get copies of the data, so what they change in them has no effect (CQ-007). */
export class QueryProfile {
  /**
   * Derives query parameters from a text. The values are then checked like those of a direct query; a set with too few hashtags in total or
   * of a zone is completed (CQ-090).
   */
  parseInput(_text: string, _context: ParseContext): Awaitable<QueryParams> {
    throw new Error(`${this.constructor.name} has no parseInput: it answers lists of hashtags only`)
  }

  /** Returns the rows that the answer will have in place of the given ones, best first. */
  postProcess(rows: ResultRow[], _context: PostContext): Awaitable<readonly ResultRow[]> {
    return rows
  }

  /**
   * How well an entry fits the query, from 0 to 1. A profile that overrides this hook contributes three tenths of the final score (CQ-080).
   */
  customScoring(_entry: ResultRow, _query: EffectiveQuery): Awaitable<number> {
    return 0
  }
}

/** The hooks of a profile as an object: `parseInput` is required, the other hooks may be missing. */
export type ProfileHooks = Pick<QueryProfile, 'parseInput'> & Partial<QueryProfile>

/** Values of the parameters that apply where the profile gives none: the call's, else the configured, else the built-in ones (CQ-004). */
export interface ProfileDefaults {
  readonly k: number
  readonly maxDistance: number | null
  readonly temporalRange: readonly [number, number] | null
  readonly metadataFilters: MetadataFilters | null
  readonly includeRotten: boolean
  readonly scoreWeights: ScoreWeights | null
}

/** What a profile can read about the query and the store while it parses a text; limited to what the viewer may see. */
export interface ProfileView {
  /** Time of the query in Unix seconds; all phases of the query use this one value. */
  readonly now: number
  readonly defaults: ProfileDefaults
  /** When true, a set with too few hashtags in total or of a zone is completed; when false, it is an error (CQ-089). */
  readonly completeHashtags: boolean
  /** The binding of a hashtag, which may be in any spelling; null when the hashtag is not assigned. */
  resolve(hashtag: string): Binding | null
  /** Assigned hashtags that a text names, in order of first appearance (CQ-143, CQ-144). */
  tagsIn(text: string): readonly string[]
}

export interface ParseContext extends ProfileView {
  /**
   * The given hashtags that are assigned, without duplicates. Where they are too few in total or of a zone, the query itself adds others
   * after the profile has returned (CQ-090).
   */
  complete(hashtags: readonly string[]): readonly string[]
  /** Whether these hashtags alone satisfy the zone rules (numbers of tags per zone). */
  isValid(hashtags: readonly string[]): boolean
}

export interface PostContext {
  readonly query: EffectiveQuery
  /**
   * The value `state` that the same profile's parse hook (text to parameters) returned for this query; undefined when the hook returned
   * none (CQ-081).
   */
  readonly state: unknown
  readonly now: number
}

/**
 * Makes a deep copy of JSON data. Properties that are undefined are left out, as JSON does; any other value that is not JSON (NaN,
 * functions, class instances, circular references) throws a `TypeError` that names its place.
 */
export function copyJson<T>(value: T, place = 'value'): T {
  return copied(value, place, 0) as T
}

/** Largest depth of nesting that is copied; real data is never nested deeper, so a deeper structure is taken as circular. */
const MAX_DEPTH = 200

function copied(value: unknown, place: string, depth: number): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (depth > MAX_DEPTH) throw new TypeError(`${place}: nested too deeply, or inside itself`)
  if (Array.isArray(value)) return value.map((item, at) => copied(item, `${place}[${at}]`, depth + 1))
  if (!isPlain(value)) throw new TypeError(`${place}: ${typeof value} is not JSON data`)
  const copy: Record<string, Json> = Object.create(null)
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) copy[key] = copied(item, `${place}.${key}`, depth + 1)
  }
  // While the copy is being filled it has no prototype, so that a key `__proto__` becomes ordinary data; the finished copy gets the usual
  // prototype.
  return Object.hasOwn(copy, '__proto__') ? copy : Object.setPrototypeOf(copy, Object.prototype)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  // An object from another JavaScript realm (such as a plug-in in a VM) has that realm's `Object.prototype`, recognised by having no
  // prototype itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

// The schema extensions (plug-in columns) of one engine. They are registered before the store opens, and checked and migrated when it
// opens.

export class Extensions {
  readonly #extensions = new Map<string, SchemaExtension>()
  readonly #types = new Map<string, SchemaExtension['columns'][string]>()
  #isStarted = false

  constructor(extensions: readonly SchemaExtension[] = []) {
    for (const extension of extensions) this.register(extension)
  }

  /** All registered plug-in columns with their types, in the order of registration. */
  get types(): ColumnTypes {
    return this.#types
  }

  get all(): readonly SchemaExtension[] {
    return [...this.#extensions.values()]
  }

  /** Registers a schema extension. Registering an equal one again changes nothing; after `start` no new extension is accepted (CQ-131). */
  register(given: SchemaExtension): void {
    const extension = checkExtension(given)
    const { name } = extension
    const known = this.#extensions.get(name)
    if (known !== undefined) {
      if (isSame(known, extension)) return
      throw new PluginError(
        'extension_exists',
        `extension ${name}: registered already, with other columns or version`,
        {
          extension: name,
        },
      )
    }
    if (this.#isStarted) {
      const message = `extension ${name}: extensions are registered before the store is opened`
      throw new PluginError('registered_too_late', message, { extension: name })
    }
    for (const column of Object.keys(extension.columns)) {
      const owner = this.all.find(other => Object.hasOwn(other.columns, column))
      if (owner !== undefined) throw clash(name, column, `extension ${owner.name}`)
    }
    this.#extensions.set(name, extension)
    for (const [column, type] of Object.entries(extension.columns)) this.#types.set(column, type)
  }

  /**
   * Checks and migrates the registered extensions (CQ-133). Throws `StartupError` when an extension that another one needs is missing or
   * too old.
   */
  start(store: Store, now: Instant): void {
    for (const extension of this.all) this.#mustHaveRequirements(extension)
    this.#isStarted = true
    const isKnown = (extension: SchemaExtension): boolean => {
      const stored = store.meta(versionKey(extension))
      return stored !== undefined && compareVersions(stored, extension.version) >= 0
    }
    // Usually all extensions have the version that the store knows; then nothing is written and no write lock is taken.
    if (this.all.every(isKnown)) return
    store.write(now, writer => {
      for (const extension of this.all) migrateOnce(writer, extension, now)
    })
  }

  /**
   * Returns a function that removes all extensions registered after this call. With it, a plug-in is installed as a whole or not at all.
   */
  savepoint(): () => void {
    const [extensions, types] = [[...this.#extensions], [...this.#types]]
    return () => {
      this.#extensions.clear()
      this.#types.clear()
      for (const [name, extension] of extensions) this.#extensions.set(name, extension)
      for (const [column, type] of types) this.#types.set(column, type)
    }
  }

  check(given: unknown): PluginFields {
    return checkFields(given, this.#types)
  }

  read(reader: StoreReader, entry: EntryKey): PluginFields {
    return readFields(reader, entry, this.#types)
  }

  write(writer: StoreWriter, entry: EntryKey, fields: PluginFields): void {
    writeFields(writer, entry, fields)
  }

  #mustHaveRequirements({ name, requires = {} }: SchemaExtension): void {
    for (const [required, least] of Object.entries(requires)) {
      const found = this.#extensions.get(required)?.version ?? null
      if (found !== null && compareVersions(found, least) >= 0) continue
      const message = `extension ${name}: needs ${required} ${least} or newer, found ${found ?? 'none'}; install it`
      throw new StartupError('requirement_missing', message, { extension: name, required, least, found })
    }
  }
}

/**
 * Runs the migration of stored values to an extension's new version. The same transaction stores the new version number, so the migration
 * takes effect exactly once, even after a crash.
 */
function migrateOnce(writer: StoreWriter, extension: SchemaExtension, now: Instant): void {
  const stored = writer.meta(versionKey(extension))
  if (stored !== undefined && compareVersions(stored, extension.version) >= 0) return
  if (stored !== undefined) {
    try {
      const left: unknown = extension.migrate?.(migrationOf(writer, extension, stored, now))
      // A migration that returns a promise is refused: what it writes later would be outside the transaction.
      if (left instanceof Promise) throw new TypeError('migrate must be synchronous')
    } catch (error) {
      const { name, version } = extension
      const message = `extension ${name}: migration from ${stored} to ${version} failed: ${reasonOf(error)}`
      throw new StartupError('migration_failed', message, { extension: name, from: stored, to: version }, error)
    }
  }
  writer.setMeta(versionKey(extension), extension.version)
}

function migrationOf(
  writer: StoreWriter,
  { version, columns }: SchemaExtension,
  from: string,
  now: Instant,
): Migration {
  const types = new Map(Object.entries(columns))
  const table = writer.table(PLUGIN_FIELDS)
  return {
    from,
    to: version,
    now,
    entriesWith: name => table.scan({ name }).map(row => Number(row['entry']) as EntryKey),
    read: (entry, name): Json => {
      const row = table.get({ entry, name })
      return row === undefined ? null : (JSON.parse(String(row['value'])) as Json)
    },
    write: (entry, name, value) => writeFields(writer, entry, checkFields({ [name]: value }, types, 'migration')),
  }
}

function versionKey({ name }: SchemaExtension): string {
  return `chroma.plugin.${name}.version`
}

function isSame(a: SchemaExtension, b: SchemaExtension): boolean {
  const shape = ({ version, columns, requires }: SchemaExtension): string =>
    JSON.stringify([version, Object.entries(columns).sort(), Object.entries(requires ?? {}).sort()])
  return shape(a) === shape(b)
}

export type PluginColumnType = 'text' | 'real' | 'integer' | 'json'
const TYPES: readonly string[] = ['text', 'real', 'integer', 'json']

export interface SchemaExtension {
  /** Name of the schema extension: 1 to 64 lower-case letters, digits and underscores. */
  readonly name: string
  /** Version of the schema extension, such as `2`, `1.4` or `1.4.2`. */
  readonly version: string
  /** Columns of the extension by snake_case name. Every column may be null; a column that the store has once is never removed. */
  readonly columns: Readonly<Record<string, PluginColumnType>>
  /** Names of other schema extensions that this one needs, each with the oldest version that suffices. */
  readonly requires?: Readonly<Record<string, string>> | undefined
  /**
   * Migration of stored values; must be synchronous. It runs once, in one transaction, when the store's data is of an older version of the
   * extension.
   */
  readonly migrate?: ((migration: Migration) => void) | undefined
}

export interface Migration {
  readonly from: string
  readonly to: string
  readonly now: Instant
  /** Keys of the entries that have a value in a column of the plug-in. */
  entriesWith(column: string): readonly EntryKey[]
  /** The value of a column for an entry; null where it is unset. Columns that only older versions of the extension had can be read too. */
  read(entry: EntryKey, column: string): Json
  write(entry: EntryKey, column: string, value: Json): void
}

/**
 * Names that a plug-in column must not have: the fields that a result row has without any plug-in (CQ-074 to CQ-076), and other reserved
 * names.
 */
export const CORE_FIELDS: ReadonlySet<string> = new Set([
  ...['entry_id', 'node_id', 'color_L', 'color_a', 'color_b', 'color_l', 'color', 'hashtags', 'label', 'content'],
  ...['metadata', 'created_at', 'last_accessed', 'strength_raw', 'decay_health', 'ascension', 'rotten', 'mode_name'],
  ...['access_count', 'decay_enabled', 'state', 'distance', 'relevance', 'recency', 'strength_norm', 'score'],
  ...['version', 'id', 'entry', 'viewer', 'plugin_fields'],
])

const NAME = /^[a-z][a-z0-9_]{0,63}$/
const VERSION = /^\d{1,9}(?:\.\d{1,9}){0,2}$/

/** Checks a schema extension given by a plug-in, which may be a value of any shape. Throws `PluginError`. */
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

/** Compares two versions such as `1.4` part by part: negative when `a` is older than `b`. Missing parts count as 0. */
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

export type PluginFields = Readonly<Record<string, Json>>
export type ColumnTypes = ReadonlyMap<string, PluginColumnType>

/**
 * Checks values for plug-in columns, by column name, and returns them. Throws before anything is written. `parameter`: the argument's name
 * in errors.
 */
export function checkFields(given: unknown, types: ColumnTypes, parameter = 'plugin_fields'): PluginFields {
  if (!isRecord(given)) throw invalidParameter(parameter, given, 'an object of plug-in columns')
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, checked(name, value, types, parameter)]),
  )
}

/**
 * Values of all plug-in columns (fields added by plug-ins) of one node, in the order in which the columns were registered; null for a
 * column without a value.
 */
export function readFields(reader: StoreReader, entry: EntryKey, types: ColumnTypes): PluginFields {
  if (types.size === 0) return {}
  const rows = reader.table(PLUGIN_FIELDS).scan({ entry })
  const values = new Map(rows.map(row => [row['name'], JSON.parse(String(row['value'])) as Json]))
  return Object.fromEntries([...types.keys()].map(name => [name, values.get(name) ?? null]))
}

/** Writes values, already checked, to plug-in columns of one node; null clears a column. Columns that are not given stay unchanged. */
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

/**
 * Extension with the columns that the profile `knowledge_patch` filters by and aggregates; where it is not registered, the profile uses
 * metadata (CQ-117).
 */
export const CHROMA_BASE: SchemaExtension = {
  name: 'chromabase',
  version: '1.0.0',
  columns: {
    paradigm: 'text',
    subdomain_path: 'text',
    release_status: 'text',
    relevance_date: 'text',
    source_url: 'text',
    layout_traits: 'json',
  },
}
