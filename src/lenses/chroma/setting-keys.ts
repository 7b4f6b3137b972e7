/** Every key that can be set, by its name in a file: `<section>.<key>`. What is not here is fixed (CQ-047). */
import type { z } from 'zod'
import { MODE_NAMES } from './mode-names.ts'
import { queryParams } from './model.ts'

const { k, max_distance, score_weights } = queryParams.shape

export interface SettingKey {
  readonly name: string
  readonly builtIn: unknown
  readonly expected: string
  /** In a line, for the reference. */
  readonly means: string
  /** Whether an environment variable is taken as it stands, not as JSON. */
  readonly isText?: boolean | undefined
  fits(value: unknown): boolean
}

export const SETTING_KEYS: readonly SettingKey[] = [
  {
    name: 'query.default_k',
    builtIn: 5,
    expected: 'an integer of at least 1',
    means: 'How many results a query gives that says nothing of it',
    fits: value => value !== null && accepts(k)(value),
  },
  {
    name: 'query.default_max_distance',
    builtIn: null,
    expected: 'null, or a finite number of at least 0',
    means: 'The farthest that a result may lie from the colour asked for; null: any distance',
    fits: accepts(max_distance),
  },
  {
    name: 'query.default_score_weights',
    builtIn: null,
    expected: 'null, or relevance, recency and strength, each at least 0, together 1',
    means: 'Weights of the score; null: those of each node’s mode',
    fits: accepts(score_weights),
  },
  {
    name: 'query.default_profile',
    builtIn: 'default',
    expected: 'the name of a registered profile',
    means: 'What makes hashtags of a text',
    isText: true,
    fits: value => typeof value === 'string' && value !== '',
  },
  flag('query.include_rotten', false, 'Whether rotten nodes are found; those shown are rescued'),
  flag('query.complete_hashtags', true, 'Whether tags are added where a text names too few'),
  flag('memory.enabled', true, 'Whether nodes have a memory; false: scores are relevance alone, nothing decays'),
  oneOf('memory.default_mode', MODE_NAMES, 'Adaptive', 'How new nodes remember'),
  flag('memory.decay_enabled', true, 'Whether new nodes fade when they are not used'),
  oneOf(
    'memory.access_updates',
    ['immediate', 'queued'],
    'immediate',
    'When use is written: at once; or at a hundred, after a second, on a flush and at the end',
  ),
  {
    name: 'vocabulary.editors',
    builtIn: [],
    expected: 'a list of ids of viewers',
    means: 'Who may assign hashtags beside the owner: their anchors are shared by all viewers',
    fits: value => Array.isArray(value) && value.every(id => typeof id === 'string' && id !== ''),
  },
  {
    name: 'storage.cache_size_mb',
    builtIn: 64,
    expected: 'an integer from 8 to 1024',
    means: 'Cache of a file of db_path, in MB',
    fits: value => Number.isInteger(value) && (value as number) >= 8 && (value as number) <= 1024,
  },
  flag('storage.wal_mode', true, 'Whether a file of db_path keeps a write-ahead log'),
  {
    name: 'storage.db_path',
    builtIn: null,
    expected: 'a path that ends in .db, or :memory:',
    means: 'The file that openChroma opens; null: the store of the home',
    isText: true,
    fits: value => typeof value === 'string' && (value === ':memory:' || /[^/\\]\.db$/.test(value)),
  },
]

/** CHROMA_QUERY_DEFAULT_K for `query.default_k`. */
export function variableOf({ name }: SettingKey): string {
  return `CHROMA_${name.replace('.', '_').toUpperCase()}`
}

function flag(name: string, builtIn: boolean, means: string): SettingKey {
  return { name, builtIn, expected: 'true or false', means, fits: value => typeof value === 'boolean' }
}

function oneOf(name: string, values: readonly string[], builtIn: string, means: string): SettingKey {
  const expected = `one of ${values.join(', ')}`
  return { name, builtIn, expected, means, isText: true, fits: value => values.includes(value as string) }
}

/** A configured value by the rule of its parameter (CQ-097). */
function accepts(schema: z.ZodType): (value: unknown) => boolean {
  return value => value !== undefined && schema.safeParse(value).success
}
