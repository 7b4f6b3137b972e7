/** Sets of hashtags of the starter vocabulary that keep the zone rules, and nodes as documents carry them. */
export const HASHTAGS = {
  python: [
    '#programming',
    '#python',
    '#async',
    '#asyncio',
    '#typing',
    '#dataclass',
    '#enum',
    '#protocol',
    '#stdlib',
    '#v3.13',
  ],
  database: ['#databases', '#sqlite', '#index', '#transaction', '#query', '#schema', '#backup', '#stable'],
  web: ['#web', '#http', '#cors', '#cookies', '#session', '#browser', '#html', '#css', '#current'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** As `chroma.export` gives one; what is not said is as it is for a node never used. */
export function nodeOf(
  id: string,
  hashtags: readonly string[],
  state: { readonly created_at: number; readonly [field: string]: unknown },
): Readonly<Record<string, unknown>> {
  return {
    entry_id: id,
    hashtags: [...hashtags],
    label: id,
    content: `About ${id}.`,
    metadata: null,
    last_accessed: state.created_at,
    strength_raw: 0,
    decay_health: 1,
    ascension: false,
    rotten: false,
    mode_name: 'Adaptive',
    access_count: 0,
    decay_enabled: true,
    version: 0,
    ...state,
  }
}
