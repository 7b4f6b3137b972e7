/** Random histories of the lens `chroma`, as data: what the lens and the plain implementation are both told. */
import fc from 'fast-check'
import type { ModeName } from '../../src/lenses/chroma/memory/formulas.ts'
import type { MetadataFilters, ScoreWeights } from '../../src/lenses/chroma/model.ts'

/** Whole numbers stand for a place in a list of what there is by then, modulo its length. */
export type ChromaAct =
  | { readonly do: 'store'; readonly tags: number; readonly fields: GivenFields }
  | { readonly do: 'import'; readonly tags: number; readonly fields: GivenFields; readonly state: GivenState }
  | { readonly do: 'query'; readonly asked: AskedQuery }
  | { readonly do: 'nearest'; readonly asked: AskedQuery }
  | { readonly do: 'batch'; readonly asked: readonly AskedQuery[] }
  | { readonly do: 'update'; readonly node: number; readonly fields: Partial<GivenFields> }
  | { readonly do: 'delete' | 'rot'; readonly node: number }
  | { readonly do: 'mode'; readonly node: number; readonly mode: ModeName }
  | { readonly do: 'decays'; readonly node: number; readonly enabled: boolean }
  | { readonly do: 'assign' | 'migrate'; readonly tag: number; readonly zone: string }
  | { readonly do: 'move'; readonly tag: number; readonly anchor: number }
  | { readonly do: 'unassign'; readonly tag: number }
  | { readonly do: 'cycle' | 'check' | 'statistics' }
  /** Seconds, now and then below 0. */
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'reopen'; readonly memoryEnabled: boolean; readonly decayEnabled: boolean }

export interface GivenFields {
  readonly label: string
  readonly content: string
  readonly metadata: Record<string, never> | null
  readonly mode: ModeName
}

/** Ages in seconds before now. */
export interface GivenState {
  readonly created: number
  readonly accessed: number
  readonly strength: number
  readonly ascended: boolean
  readonly rotten: boolean
  readonly count: number
}

export interface AskedQuery {
  readonly tags: number
  readonly k: number
  readonly maxDistance: number | null
  /** Ends in seconds from now. */
  readonly range: readonly [number, number] | null
  readonly filters: MetadataFilters | null
  readonly includeRotten: boolean
  readonly weights: ScoreWeights | null
  readonly updateAccess: boolean
}

/** Twelve sets of tags, most of them valid at first, some alike: 3 Core, 11 Mid and 3 Outer tags to choose from. */
export interface ChromaStory {
  readonly sets: readonly (readonly string[])[]
  readonly acts: readonly ChromaAct[]
}

export const TAGS: readonly (readonly [tag: string, zone: string])[] = [
  ...named('c', 3).map(tag => [tag, 'Core'] as const),
  ...named('m', 11).map(tag => [tag, 'Mid'] as const),
  ...named('o', 3).map(tag => [tag, 'Outer'] as const),
]

const DAY = 86_400

export function chromaStories(maxActs = 40): fc.Arbitrary<ChromaStory> {
  return fc.record({
    sets: fc.array(tagSets(), { minLength: 3, maxLength: 12 }),
    acts: fc
      .tuple(
        fc.array(fc.oneof(...newNodes()), { minLength: 3, maxLength: 14, size: 'max' }),
        fc.array(acts(), { minLength: 8, maxLength: maxActs, size: 'max' }),
      )
      .map(parts => parts.flat()),
  })
}

function newNodes(): readonly [fc.Arbitrary<ChromaAct>, fc.Arbitrary<ChromaAct>] {
  const tags = fc.nat()
  const mode = fc.constantFrom<ModeName>('Sparse', 'Adaptive', 'Spacey', 'Eidetic')
  const fields = fc.record({ label: words(), content: words(), metadata: metadata(), mode })
  return [
    fc.record({ do: fc.constant('store' as const), tags, fields }),
    fc.record({ do: fc.constant('import' as const), tags, fields, state: states() }),
  ]
}

function acts(): fc.Arbitrary<ChromaAct> {
  const [node, tag] = [fc.nat(), fc.nat()]
  const zone = fc.constantFrom('Core', 'Mid', 'Outer')
  const [store, restore] = newNodes()
  const mode = fc.constantFrom<ModeName>('Sparse', 'Adaptive', 'Spacey', 'Eidetic')
  const simple = fc.constantFrom<'cycle' | 'check' | 'statistics'>('cycle', 'check', 'statistics')
  return fc.oneof(
    { weight: 6, arbitrary: store },
    { weight: 3, arbitrary: restore },
    { weight: 12, arbitrary: fc.record({ do: fc.constant('query' as const), asked: queries() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('nearest' as const), asked: queries() }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('batch' as const), asked: fc.array(queries(), { maxLength: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('update' as const),
        node,
        fields: fc.record({ label: words(), content: words(), metadata: metadata() }, { requiredKeys: [] }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'rot' as const), node }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('mode' as const), node, mode }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('decays' as const), node, enabled: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('migrate' as const), tag, zone }) },
    // Mostly where it was at first, so that sets become valid again.
    {
      weight: 2,
      arbitrary: tag.map(at => ({ do: 'assign' as const, tag: at, zone: TAGS[at % TAGS.length]?.[1] ?? '' })),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('assign' as const), tag, zone }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), tag, anchor: anchors() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('unassign' as const), tag }) },
    { weight: 4, arbitrary: simple.map(what => ({ do: what })) },
    { weight: 5, arbitrary: waits().map(seconds => ({ do: 'wait' as const, seconds })) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('reopen' as const),
        memoryEnabled: mostly(),
        decayEnabled: mostly(),
      }),
    },
  )
}

function anchors(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: 1001, max: 1011 }),
    fc.integer({ min: 1001, max: 7500 }),
    fc.integer({ min: 1, max: 10_000 }),
  )
}

function tagSets(): fc.Arbitrary<readonly string[]> {
  const some = (letter: string, minLength: number, maxLength: number, from: number) =>
    fc.uniqueArray(fc.constantFrom(...named(letter, from)), { minLength, maxLength, size: 'max' })
  return fc.oneof(
    fc.tuple(some('c', 1, 1, 3), some('m', 6, 9, 11), some('o', 1, 1, 3)).map(parts => parts.flat()),
    fc.tuple(some('c', 0, 2, 3), some('m', 6, 9, 11), some('o', 0, 2, 3)).map(parts => parts.flat()),
  )
}

function queries(): fc.Arbitrary<AskedQuery> {
  const end = fc.integer({ min: -40 * DAY, max: 2 * DAY })
  return fc.record({
    tags: fc.nat(),
    k: fc.constantFrom(1, 2, 3, 5, 1000),
    maxDistance: seldom(fc.oneof(fc.constantFrom(0, 1e6), fc.double({ min: 0, max: 80, noNaN: true }))),
    range: seldom(fc.tuple(end, end).map(([a, b]): readonly [number, number] => (a < b ? [a, b] : [b, a]))),
    filters: seldom(fc.dictionary(paths(), conditions(), { maxKeys: 2 })),
    includeRotten: fc.boolean(),
    weights: seldom(weights()),
    updateAccess: mostly(),
  })
}

function weights(): fc.Arbitrary<ScoreWeights> {
  const corner = fc.constantFrom<ScoreWeights>(
    { relevance: 1, recency: 0, strength: 0 },
    { relevance: 0, recency: 1, strength: 0 },
    { relevance: 0, recency: 0, strength: 1 },
  )
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const any = fc.tuple(share, share).map(([one, other]) => {
    const [low, high] = one < other ? [one, other] : [other, one]
    return { relevance: low, recency: high - low, strength: 1 - high }
  })
  return fc.oneof(corner, any)
}

function states(): fc.Arbitrary<GivenState> {
  return fc.record({
    created: fc.integer({ min: 20 * DAY, max: 40 * DAY }),
    accessed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20 * DAY })),
    strength: fc.oneof(fc.constantFrom(0, 1.25, 20), fc.double({ min: 0, max: 40, noNaN: true })),
    ascended: fc.boolean(),
    rotten: fc.boolean(),
    count: fc.nat({ max: 9 }),
  })
}

function waits(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 12 * DAY }) },
    { weight: 1, arbitrary: fc.integer({ min: -2 * DAY, max: -1 }) },
  )
}

function seldom<T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: some })
}

function mostly(): fc.Arbitrary<boolean> {
  return fc.constantFrom(true, true, true, false)
}

function words(): fc.Arbitrary<string> {
  return fc.constantFrom('', 'quick fox', 'Garden, rain.\n\nAnd a road', '# Title\ntext')
}

function scalars(): fc.Arbitrary<string | number | boolean | null> {
  return fc.constantFrom(null, true, false, 0, 1, 2, 2.5, '', '1', 'async io', 'Async', 'b', '2025-06-01')
}

/** Few names and few values, so that conditions meet. */
function metadata(): fc.Arbitrary<Record<string, never> | null> {
  const value = fc.oneof(
    { weight: 3, arbitrary: scalars() },
    { weight: 2, arbitrary: fc.array(scalars(), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.record({ b: scalars(), c: fc.record({ d: scalars() }) }, { requiredKeys: [] }) },
  )
  const names = fc.constantFrom('a', 'a.b', 'n', 'title', 'a.c.d')
  return fc.option(fc.dictionary(names, value, { maxKeys: 4 }), { freq: 5 }) as fc.Arbitrary<Record<
    string,
    never
  > | null>
}

function paths(): fc.Arbitrary<string> {
  return fc.constantFrom('a', 'a.b', 'a.c.d', 'n', 'title', 'missing', 'n.b')
}

function conditions(): fc.Arbitrary<MetadataFilters[string]> {
  const list = fc.array(scalars(), { maxLength: 3 })
  const bound = fc.constantFrom<number | string>(0, 1, 2.2, '', 'async', '2025-01-01')
  const operators = fc
    .record(
      {
        ...{ $eq: scalars(), $ne: scalars(), $in: list, $nin: list },
        ...{ $gt: bound, $gte: bound, $lt: bound, $lte: bound },
        ...{ $contains: fc.constantFrom('', 'A', 'IO', 'x'), $exists: fc.boolean() },
      },
      { requiredKeys: [] },
    )
    .map(all => Object.fromEntries(Object.entries(all).slice(0, 2)))
    .filter(some => Object.keys(some).length > 0)
  const one = fc.constantFrom('$eq', '$ne', '$in', '$nin', '$gt', '$gte', '$lt', '$lte', '$contains', '$exists')
  const single = fc.tuple(one, scalars(), list, bound, fc.boolean()).map(([name, scalar, many, edge, flag]) => {
    if (name === '$exists') return { $exists: flag }
    if (name === '$contains') return { $contains: String(edge) }
    if (name === '$in' || name === '$nin') return { [name]: many }
    return { [name]: name === '$eq' || name === '$ne' ? scalar : edge }
  })
  return fc.oneof(scalars(), list, single, operators)
}

function named(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `#${letter}${at}`)
}
