/**
 * The settings of the lens (CQ-094 to CQ-097): built-in values, then the configuration file, then the environment, then
 * the constructor. Every value is checked by the rule of its parameter; what is wrong names its key.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { camelName } from '../camel-name.ts'
import { snakeName } from './camel.ts'
import { ConfigurationError, show } from './errors.ts'
import type { ModeName } from './mode-names.ts'
import type { ScoreWeights } from './model.ts'
import { isPlainObject } from './plain.ts'
import { SETTING_KEYS, variableOf } from './setting-keys.ts'

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
    /** When the use of an answer is written (CQ-103). */
    readonly accessUpdates: 'immediate' | 'queued'
  }
  readonly vocabulary: {
    /** Ids of viewers who may assign hashtags, beside the local owner. */
    readonly editors: readonly string[]
  }
  readonly storage: {
    readonly cacheSizeMb: number
    readonly walMode: boolean
    /** Null: the store of the home. */
    readonly dbPath: string | null
  }
}

export interface SettingLayers {
  /** `lenses.chroma` of the configuration file: sections of snake_case keys. */
  readonly file?: unknown
  /** Variables CHROMA_<SECTION>_<KEY>; others that begin so are refused. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Of the constructor: `queryConfig`, `memoryConfig`, `vocabularyConfig`, `storageConfig` in camelCase, and `accessUpdates`. */
  readonly constructed?: ConstructedSettings | undefined
}

export interface ConstructedSettings {
  readonly queryConfig?: Partial<ChromaSettings['query']> | undefined
  readonly memoryConfig?: Partial<Omit<ChromaSettings['memory'], 'accessUpdates'>> | undefined
  readonly vocabularyConfig?: Partial<ChromaSettings['vocabulary']> | undefined
  readonly storageConfig?: Partial<ChromaSettings['storage']> | undefined
  readonly accessUpdates?: 'immediate' | 'queued' | undefined
}

/** Throws ConfigurationError `invalid_configuration`; details.key, details.value. */
export function resolveSettings(layers: SettingLayers = {}): ChromaSettings {
  const values = new Map<string, unknown>(SETTING_KEYS.map(key => [key.name, key.builtIn]))
  const set = (name: string, value: unknown, told: string) => {
    const key = SETTING_KEYS.find(known => known.name === name)
    if (key === undefined)
      throw wrong(told, value, `one of the keys ${SETTING_KEYS.map(known => known.name).join(', ')}`)
    if (!key.fits(value)) throw wrong(told, value, key.expected)
    values.set(name, value)
  }
  fromFile(layers.file, set)
  fromEnvironment(layers.environment ?? {}, set)
  fromConstructor(layers.constructed ?? {}, set)
  return grouped(values)
}

export function wrong(key: string, value: unknown, expected: string): ConfigurationError {
  const shown = show(value)
  const details: JsonObject = { key, value: shown, expected }
  return new ConfigurationError('invalid_configuration', `${key}: expected ${expected}, got ${shown}`, details)
}

const OUR_SECTION = /^CHROMA_(QUERY|MEMORY|VOCABULARY|STORAGE)_/

type Put = (name: string, value: unknown, told: string) => void

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
    // Other programs have variables that begin so too: only those of our sections are ours.
    if (key === undefined && !OUR_SECTION.test(variable)) continue
    if (key === undefined) throw wrong(variable, text, `one of ${SETTING_KEYS.map(variableOf).join(', ')}`)
    put(key.name, key.isText ? text : parsed(text), variable)
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

/** Numbers, truth values, null and objects are written as JSON; anything else stays text and is refused as such. */
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
