/** Every key that can be set, by its name in a file: `<section>.<key>`. What is not here is fixed (CQ-047). */
import { MODE_NAMES } from './model.ts'
import { checkK, checkMaxDistance, checkScoreWeights } from './query/params.ts'

export interface SettingKey {
  readonly name: string
  readonly builtIn: unknown
  readonly expected: string
  /** Whether an environment variable is taken as it stands, not as JSON. */
  readonly isText?: boolean | undefined
  fits(value: unknown): boolean
}

export const SETTING_KEYS: readonly SettingKey[] = [
  { name: 'query.default_k', builtIn: 5, expected: 'an integer of at least 1', fits: passes(checkK) },
  {
    name: 'query.default_max_distance',
    builtIn: null,
    expected: 'null, or a finite number of at least 0',
    fits: nullOr(passes(checkMaxDistance)),
  },
  {
    name: 'query.default_score_weights',
    builtIn: null,
    expected: 'null, or relevance, recency and strength, each at least 0, together 1',
    fits: nullOr(passes(checkScoreWeights)),
  },
  {
    name: 'query.default_profile',
    builtIn: 'default',
    expected: 'the name of a registered profile',
    isText: true,
    fits: value => typeof value === 'string' && value !== '',
  },
  flag('query.include_rotten', false),
  flag('query.complete_hashtags', true),
  flag('memory.enabled', true),
  oneOf('memory.default_mode', MODE_NAMES, 'Adaptive'),
  flag('memory.decay_enabled', true),
  oneOf('memory.access_updates', ['immediate', 'queued'], 'immediate'),
  {
    name: 'storage.cache_size_mb',
    builtIn: 64,
    expected: 'an integer from 8 to 1024',
    fits: value => Number.isInteger(value) && (value as number) >= 8 && (value as number) <= 1024,
  },
  flag('storage.wal_mode', true),
  {
    name: 'storage.db_path',
    builtIn: null,
    expected: 'a path that ends in .db, or :memory:',
    isText: true,
    fits: value => typeof value === 'string' && (value === ':memory:' || /[^/\\]\.db$/.test(value)),
  },
]

/** `default_max_distance` for `defaultMaxDistance`. */
export function wordsOf(camelCase: string): string {
  return camelCase.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

function flag(name: string, builtIn: boolean): SettingKey {
  return { name, builtIn, expected: 'true or false', fits: value => typeof value === 'boolean' }
}

function oneOf(name: string, values: readonly string[], builtIn: string): SettingKey {
  const expected = `one of ${values.join(', ')}`
  return { name, builtIn, expected, isText: true, fits: value => values.includes(value as string) }
}

function passes(check: (value: unknown) => void): (value: unknown) => boolean {
  return value => {
    try {
      check(value)
      return true
    } catch {
      return false
    }
  }
}

function nullOr(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return value => value === null || fits(value)
}
