/**
 * Stories for the question whether hidden nodes change what a viewer is answered by the lens `chroma`: ann asks, bob holds
 * nodes for all and private nodes, the owner does too. Everything is done through the lens's operations.
 */
import fc from 'fast-check'
import { OWNER } from '../../src/model/partition.ts'
import { TAGS } from './chroma-acts.ts'

export const REQUESTER = 'ann'

export interface Call {
  readonly by: string
  /** Without the lens's name; `ask` is a question through the pipeline. */
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
  /** The visible node it is about: its place among those stored so far, modulo their number. */
  readonly node?: number
}

export type Act = Call | { readonly waits: number }

export interface HiddenStory {
  readonly before: readonly Act[]
  readonly after: readonly Act[]
  /** By their place in `before` and `after` joined, modulo the length. */
  readonly hidden: readonly { readonly at: number; readonly act: Call }[]
  readonly requests: readonly Call[]
}

const DAY = 86_400
const HIDDEN_IDS = ['h0', 'h1', 'h2', 'h3']
/** Of ann's, and of hidden holders too: an id is unique for its holder only. */
const SHARED_IDS = ['s0', 's1']

const CORE = TAGS.filter(([, zone]) => zone === 'Core').map(([tag]) => tag)
const MID = TAGS.filter(([, zone]) => zone === 'Mid').map(([tag]) => tag)
const OUTER = TAGS.filter(([, zone]) => zone === 'Outer').map(([tag]) => tag)

export function hiddenStories(operations?: readonly string[]): fc.Arbitrary<HiddenStory> {
  return fc.record({
    before: fc.array(visibleActs(), { minLength: 4, maxLength: 14, size: 'max' }),
    after: fc.array(visibleActs(), { maxLength: 6 }),
    hidden: fc.array(fc.record({ at: fc.nat(), act: hiddenActs() }), { minLength: 1, maxLength: 10, size: 'max' }),
    requests: fc.array(
      requests().filter(({ operation }) => operations?.includes(operation) ?? true),
      { minLength: 1, maxLength: 8, size: 'max' },
    ),
  })
}

function visibleActs(): fc.Arbitrary<Act> {
  const holder = fc.constantFrom(REQUESTER, 'bob')
  const node = fc.nat()
  const own = (operation: string, input: fc.Arbitrary<Readonly<Record<string, unknown>>>) =>
    fc.record({ by: holder, operation: fc.constant(operation), input, node })
  return fc.oneof(
    { weight: 8, arbitrary: holder.chain(by => stores(by, by === REQUESTER ? 'private' : 'public')) },
    { weight: 1, arbitrary: imports(REQUESTER, SHARED_IDS) },
    {
      weight: 1,
      arbitrary: own(
        'update',
        metadata().map(value => ({ metadata: value, label: 'changed' })),
      ),
    },
    { weight: 1, arbitrary: own('delete', fc.constant({})) },
    { weight: 1, arbitrary: own('set', settings()) },
    { weight: 3, arbitrary: questions().map(input => ({ by: REQUESTER, operation: 'query', input })) },
    { weight: 2, arbitrary: runs(REQUESTER) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 15 * DAY }).map(waits => ({ waits })) },
  )
}

function hiddenActs(): fc.Arbitrary<Call> {
  const other = fc.constantFrom('bob', 'cyd', OWNER)
  const ids = [...HIDDEN_IDS, ...SHARED_IDS]
  const known = (operation: string, input: fc.Arbitrary<Readonly<Record<string, unknown>>>) =>
    fc
      .tuple(other, fc.constantFrom(...HIDDEN_IDS), input)
      .map(([by, entry_id, more]) => ({ by, operation, input: { entry_id, ...more } }))
  return fc.oneof(
    { weight: 5, arbitrary: other.chain(by => imports(by, ids)) },
    { weight: 3, arbitrary: other.chain(by => stores(by, 'private')) },
    {
      weight: 1,
      arbitrary: known(
        'update',
        metadata().map(value => ({ metadata: value, content: 'Changed.' })),
      ),
    },
    { weight: 1, arbitrary: known('delete', fc.constant({})) },
    { weight: 1, arbitrary: known('set', settings()) },
    // Others use what ann sees, and what ann does not.
    { weight: 3, arbitrary: fc.tuple(other, questions()).map(([by, input]) => ({ by, operation: 'query', input })) },
    { weight: 2, arbitrary: other.chain(runs) },
    {
      weight: 1,
      arbitrary: fc.record({
        by: other.filter(by => by !== OWNER),
        operation: fc.constant('set'),
        input: fc.constant({ rotten: true }),
        node: fc.nat(),
      }),
    },
  )
}

function requests(): fc.Arbitrary<Call> {
  const asked = (operation: string, input: fc.Arbitrary<Readonly<Record<string, unknown>>>) =>
    input.map(given => ({ by: REQUESTER, operation, input: given }))
  const id = fc.constantFrom(...HIDDEN_IDS, ...SHARED_IDS, 'nowhere').map(entry_id => ({ entry_id }))
  const nothing = fc.constant({})
  const tags = tagSets().map(hashtags => ({ hashtags }))
  const nearest = fc.tuple(tags, fc.constantFrom<object>({}, { max_distance: 3 }, { include_rotten: true }))
  return fc.oneof(
    { weight: 8, arbitrary: asked('query', questions()) },
    {
      weight: 2,
      arbitrary: asked(
        'query_knn',
        nearest.map(([given, more]) => ({ ...given, k: 4, ...more })),
      ),
    },
    {
      weight: 1,
      arbitrary: asked(
        'batch_query',
        fc.array(questions(), { maxLength: 2 }).map(queries => ({ queries })),
      ),
    },
    { weight: 1, arbitrary: asked('ask', fc.constantFrom({ text: 'fox #c0 #m1' }, { text: 'garden', explain: true })) },
    { weight: 2, arbitrary: asked('statistics', nothing) },
    { weight: 1, arbitrary: asked('export', nothing) },
    { weight: 1, arbitrary: asked('count', tags) },
    { weight: 2, arbitrary: asked('get', id) },
    {
      weight: 1,
      arbitrary: asked(
        'update',
        id.map(given => ({ ...given, label: 'mine now' })),
      ),
    },
    { weight: 1, arbitrary: asked('delete', id) },
    {
      weight: 1,
      arbitrary: asked(
        'set',
        id.map(given => ({ ...given, rotten: true })),
      ),
    },
    { weight: 1, arbitrary: imports(REQUESTER, SHARED_IDS) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('decay', 'lifecycle').map(operation => ({ by: REQUESTER, operation, input: {} })),
    },
    { weight: 1, arbitrary: asked('suggest_hashtags', fc.constant({ content: 'c0, m3 and o1' })) },
    { weight: 1, arbitrary: asked('hashtags', nothing) },
    { weight: 1, arbitrary: asked('unassign', fc.constant({ hashtag: '#m3' })) },
    { weight: 1, arbitrary: asked('migrate', fc.constant({ hashtag: '#m3', zone: 'Outer' })) },
  )
}

function questions(): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const options = fc.record(
    {
      k: fc.constantFrom(1, 3, 50),
      // Near to nothing: then a warning tells how far the nearest is.
      max_distance: fc.constantFrom(0, 0.5, 4, 30),
      include_rotten: fc.boolean(),
      metadata_filters: fc.constantFrom({ n: 1 }, { n: { $gte: 1 } }, { t: ['x'] }),
      update_access: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  // Few tags: completed from nodes that are there.
  const text = fc
    .constantFrom('c0', 'm1 m2', 'recent c1 m0 o2', 'nothing known', 'top 2 m5 m6 m7')
    .map(input => ({ input }))
  return fc
    .tuple(
      fc.oneof(
        tagSets().map(hashtags => ({ hashtags })),
        text,
      ),
      options,
    )
    .map(([what, how]) => ({ ...what, ...how }))
}

function stores(by: string, visibility: string): fc.Arbitrary<Call> {
  return fc.record({ hashtags: tagSets(), metadata: metadata(), mode_name: modes() }).map(given => ({
    by,
    operation: 'store',
    input: { ...given, label: `of ${by}`, content: 'A fox in the garden.', visibility },
  }))
}

/** Imported nodes are private, and can be strong, weak, old, rotten. */
function imports(by: string, ids: readonly string[]): fc.Arbitrary<Call> {
  const node = fc.record({
    entry_id: fc.constantFrom(...ids),
    hashtags: tagSets(),
    metadata: metadata(),
    mode_name: modes(),
    strength_raw: fc.constantFrom(0, 3, 21, 50),
    rotten: fc.boolean(),
  })
  const rest = { label: '', content: 'Fox.', created_at: 1_600_000_000, last_accessed: 1_690_000_000 }
  return node.map(given => ({
    by,
    operation: 'import',
    input: {
      version: 1,
      nodes: [{ ...rest, decay_health: 1, ascension: false, access_count: 0, ...given }],
    },
  }))
}

function runs(by: string): fc.Arbitrary<Call> {
  return fc.constantFrom('decay', 'lifecycle').map(operation => ({ by, operation, input: {} }))
}

function settings(): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return fc.oneof(
    modes().map(mode_name => ({ mode_name })),
    fc.boolean().map(decay_enabled => ({ decay_enabled })),
  )
}

function tagSets(): fc.Arbitrary<readonly string[]> {
  const mids = fc.uniqueArray(fc.constantFrom(...MID), { minLength: 6, maxLength: 7 })
  return fc.tuple(fc.constantFrom(...CORE), mids, fc.constantFrom(...OUTER)).map(parts => parts.flat())
}

function modes(): fc.Arbitrary<string> {
  return fc.constantFrom('Sparse', 'Adaptive', 'Spacey', 'Eidetic')
}

function metadata(): fc.Arbitrary<Readonly<Record<string, unknown>> | null> {
  return fc.constantFrom(null, { n: 1 }, { n: 2, t: 'x' })
}
