/**
 * Settings of the lens `chroma` (CQ-094 to CQ-097): defaults, overridden by the configuration file, then by environment variables, then by
 * options of the constructor. Each value is checked by its schema; an error names the setting.
 */
import { z } from 'zod'
import { camelName, snakeName } from '../camel-name.ts'
import { ConfigurationError, isPlainObject, show } from './errors.ts'
import { MODE_NAMES, type ModeName } from './memory/formulas.ts'
import { queryParams, type ScoreWeights } from './model.ts'

export interface SettingKey {
  /** Name of the setting as in the configuration file: `<section>.<key>`. */
  readonly name: string
  readonly builtIn: unknown
  /** Schema that checks the setting's value. */
  readonly schema: z.ZodType
  readonly expected: string
  /** What the setting does, in one line for the reference documentation. */
  readonly means: string
}

const { max_distance, score_weights } = queryParams.shape

/** All settings of the lens `chroma`. Numbers of the formulas that are not listed here are fixed (CQ-047). */
export const SETTING_KEYS: readonly SettingKey[] = [
  key(
    'query.default_k',
    5,
    z.int().min(1),
    'an integer of at least 1',
    'Number of results of a query that does not set k',
  ),
  key(
    'query.default_max_distance',
    null,
    max_distance,
    'null, or a finite number of at least 0',
    'Largest distance of a result from the colour of the query; null: any distance',
  ),
  key(
    'query.default_score_weights',
    null,
    score_weights,
    'null, or relevance, recency and strength, each at least 0, together 1',
    'Weights of the score; null: those of each node’s mode',
  ),
  key(
    'query.default_profile',
    'default',
    z.string().min(1),
    'the name of a registered profile',
    'Profile that turns a text into hashtags',
  ),
  flag('query.include_rotten', false, 'Whether rotten nodes are found; those shown are rescued'),
  flag('query.complete_hashtags', true, 'Whether tags are added if a text names too few'),
  flag('memory.enabled', true, 'Whether nodes have a memory; false: scores are relevance alone, nothing decays'),
  key(
    'memory.default_mode',
    'Adaptive',
    z.enum(MODE_NAMES),
    `one of ${MODE_NAMES.join(', ')}`,
    'Memory mode of new nodes',
  ),
  flag('memory.decay_enabled', true, 'Whether new nodes fade when they are not used'),
  key(
    'memory.access_updates',
    'immediate',
    z.enum(['immediate', 'queued']),
    'one of immediate, queued',
    'When uses are written: at once; or after a hundred uses or a second, on a flush and at the end',
  ),
  key(
    'vocabulary.editors',
    [],
    z.array(z.string().min(1)),
    'a list of ids of viewers',
    'Who may assign hashtags besides the owner; anchors are shared by all viewers',
  ),
  key(
    'storage.cache_size_mb',
    64,
    z.int().min(8).max(1024),
    'an integer from 8 to 1024',
    'Cache of a file of db_path, in MB',
  ),
  flag('storage.wal_mode', true, 'Whether a file of db_path keeps a write-ahead log'),
  key(
    'storage.db_path',
    null,
    z.string().regex(/^:memory:$|[^/\\]\.db$/),
    'a path that ends in .db, or :memory:',
    'The file that openChroma opens; null: the store of the home',
  ),
]

function key(name: string, builtIn: unknown, schema: z.ZodType, expected: string, means: string): SettingKey {
  return { name, builtIn, schema, expected, means }
}

function flag(name: string, builtIn: boolean, means: string): SettingKey {
  return key(name, builtIn, z.boolean(), 'true or false', means)
}

/** Name of the environment variable for a setting: CHROMA_QUERY_DEFAULT_K for `query.default_k`. */
export function variableOf({ name }: SettingKey): string {
  return `CHROMA_${name.replace('.', '_').toUpperCase()}`
}

export interface ChromaSettings {
  readonly query: {
    readonly defaultK: number
    readonly defaultMaxDistance: number | null
    readonly defaultScoreWeights: ScoreWeights | null
    readonly defaultProfile: string
    readonly includeRotten: boolean
    readonly completeHashtags: boolean
  }
  readonly memory: {
    readonly enabled: boolean
    readonly defaultMode: ModeName
    readonly decayEnabled: boolean
    /** Whether the uses of the nodes in an answer are written at once or queued (CQ-103). */
    readonly accessUpdates: 'immediate' | 'queued'
  }
  readonly vocabulary: {
    /** Ids of the viewers, besides the local owner, who may assign hashtags to anchors. */
    readonly editors: readonly string[]
  }
  readonly storage: {
    readonly cacheSizeMb: number
    readonly walMode: boolean
    /** Path of the store's file; null: the store in the user's Querent home. */
    readonly dbPath: string | null
  }
}

export interface SettingLayers {
  /** The value of `lenses.chroma` in the configuration file: sections with snake_case keys. */
  readonly file?: unknown
  /** Environment variables named CHROMA_<SECTION>_<KEY>; an unknown key of a known section is an error. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Settings in the options of the constructor: `queryConfig`, `memoryConfig`, `vocabularyConfig` and `storageConfig`, with camelCase keys,
   * and `accessUpdates`.
   */
  readonly constructed?: ConstructedSettings | undefined
}

export interface ConstructedSettings {
  readonly queryConfig?: Partial<ChromaSettings['query']> | undefined
  readonly memoryConfig?: Partial<Omit<ChromaSettings['memory'], 'accessUpdates'>> | undefined
  readonly vocabularyConfig?: Partial<ChromaSettings['vocabulary']> | undefined
  readonly storageConfig?: Partial<ChromaSettings['storage']> | undefined
  readonly accessUpdates?: 'immediate' | 'queued' | undefined
}

/**
 * Combines defaults, configuration file, environment variables and options into the settings. Throws ConfigurationError
 * `invalid_configuration`; details.key, details.value.
 */
export function resolveSettings(layers: SettingLayers = {}): ChromaSettings {
  const values = new Map<string, unknown>(SETTING_KEYS.map(key => [key.name, key.builtIn]))
  const set = (name: string, value: unknown, source: string) => {
    const key = SETTING_KEYS.find(known => known.name === name)
    if (key === undefined)
      throw wrong(source, value, `one of the keys ${SETTING_KEYS.map(known => known.name).join(', ')}`)
    if (value === undefined || !key.schema.safeParse(value).success) throw wrong(source, value, key.expected)
    values.set(name, value)
  }
  fromFile(layers.file, set)
  fromEnvironment(layers.environment ?? {}, set)
  fromConstructor(layers.constructed ?? {}, set)
  return grouped(values)
}

export function wrong(key: string, value: unknown, expected: string): ConfigurationError {
  const shown = show(value)
  const details = { key, value: shown, expected }
  return new ConfigurationError('invalid_configuration', `${key}: expected ${expected}, got ${shown}`, details)
}

const OUR_SECTION = /^CHROMA_(QUERY|MEMORY|VOCABULARY|STORAGE)_/

type Put = (name: string, value: unknown, source: string) => void

function fromFile(file: unknown, put: Put): void {
  if (file === undefined) return
  if (!isPlainObject(file)) throw wrong('lenses.chroma', file, 'an object of sections')
  for (const [section, keys] of Object.entries(file)) {
    if (!isPlainObject(keys)) throw wrong(section, keys, 'an object of keys')
    for (const [key, value] of Object.entries(keys)) put(`${section}.${key}`, value, `${section}.${key}`)
  }
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>, put: Put): void {
  for (const [variable, text] of Object.entries(environment)) {
    if (text === undefined || !variable.startsWith('CHROMA_')) continue
    const key = SETTING_KEYS.find(known => variableOf(known) === variable)
    // Other programs use environment variables with the prefix CHROMA_ too, so variables outside the sections of this lens are ignored.
    if (key === undefined && !OUR_SECTION.test(variable)) continue
    if (key === undefined) throw wrong(variable, text, `one of ${SETTING_KEYS.map(variableOf).join(', ')}`)
    const isText = key.schema instanceof z.ZodString || key.schema instanceof z.ZodEnum
    put(key.name, isText ? text : parsed(text), variable)
  }
}

function fromConstructor(given: ConstructedSettings, put: Put): void {
  const { queryConfig, memoryConfig, vocabularyConfig, storageConfig, accessUpdates } = given
  const sections = { query: queryConfig, memory: memoryConfig, vocabulary: vocabularyConfig, storage: storageConfig }
  for (const [section, keys] of Object.entries(sections)) {
    if (keys === undefined) continue
    if (!isPlainObject(keys)) throw wrong(`${section}Config`, keys, 'an object')
    for (const [key, value] of Object.entries(keys)) {
      const name = key.includes('_') ? key : `${section}.${snakeName(key)}`
      if (value !== undefined) put(name, value, `${section}Config.${key}`)
    }
  }
  if (accessUpdates !== undefined) put('memory.access_updates', accessUpdates, 'accessUpdates')
}

/**
 * Value of an environment variable: numbers, booleans, null and objects are written as JSON. Any other text stays a text, which the schema
 * of a non-text setting then refuses.
 */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function grouped(values: ReadonlyMap<string, unknown>): ChromaSettings {
  const sections: Record<string, Record<string, unknown>> = { query: {}, memory: {}, vocabulary: {}, storage: {} }
  for (const [name, value] of values) {
    const [section, key] = name.split('.') as [string, string]
    ;(sections[section] as Record<string, unknown>)[camelName(key)] = value
  }
  return sections as unknown as ChromaSettings
}
