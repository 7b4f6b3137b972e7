/** The schema extensions of one engine: registered before the store opens, checked and migrated when it does. */
import type { Json } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Store, StoreReader, StoreWriter } from '../../../store/store.ts'
import { PluginError, reasonOf, StartupError } from '../errors.ts'
import { PLUGIN_FIELDS } from '../tables.ts'
import { type ColumnTypes, checkFields, type PluginFields, readFields, writeFields } from './plugin-columns.ts'
import { checkExtension, clash, compareVersions, type Migration, type SchemaExtension } from './schema-extension.ts'

export class Extensions {
  readonly #extensions = new Map<string, SchemaExtension>()
  readonly #types = new Map<string, SchemaExtension['columns'][string]>()
  #isStarted = false

  constructor(extensions: readonly SchemaExtension[] = []) {
    for (const extension of extensions) this.register(extension)
  }

  /** All plug-in columns with their types, in the order they were registered. */
  get types(): ColumnTypes {
    return this.#types
  }

  get all(): readonly SchemaExtension[] {
    return [...this.#extensions.values()]
  }

  /** Repeating a registration changes nothing; after `start` nothing new is taken (CQ-131). */
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

  /** Throws `StartupError` when an extension that another needs is missing or too old; migrates the rest (CQ-133). */
  start(store: Store, now: Instant): void {
    for (const extension of this.all) this.#mustHaveRequirements(extension)
    this.#isStarted = true
    const isKnown = (extension: SchemaExtension): boolean => {
      const stored = store.meta(versionKey(extension))
      return stored !== undefined && compareVersions(stored, extension.version) >= 0
    }
    // Most starts find nothing to do and take no write lock.
    if (this.all.every(isKnown)) return
    store.write(now, writer => {
      for (const extension of this.all) migrateOnce(writer, extension, now)
    })
  }

  /** Undoes what is registered from here on when called: a plug-in is taken whole or not at all. */
  savepoint(): () => void {
    const [extensions, types] = [[...this.#extensions], [...this.#types]]
    return () => {
      this.#extensions.clear()
      this.#types.clear()
      for (const [name, extension] of extensions) this.#extensions.set(name, extension)
      for (const [column, type] of types) this.#types.set(column, type)
    }
  }

  check(given: unknown, parameter?: string): PluginFields {
    return checkFields(given, this.#types, parameter)
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

/** In the transaction that remembers the new version, so that it runs once whatever happens. */
function migrateOnce(writer: StoreWriter, extension: SchemaExtension, now: Instant): void {
  const stored = writer.meta(versionKey(extension))
  if (stored !== undefined && compareVersions(stored, extension.version) >= 0) return
  if (stored !== undefined) {
    try {
      const left: unknown = extension.migrate?.(migrationOf(writer, extension, stored, now))
      // What a promise does later would stand outside the transaction.
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
