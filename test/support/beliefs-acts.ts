/** Random histories of the lens `beliefs`: what agents write, whom they trust, who is in which federation, what is asked. */
import fc from 'fast-check'
import { DIMENSIONS } from './beliefs-plain.ts'
import type { AskedWord } from './beliefs-plain-measures.ts'

export const HOSTED = ['ann', 'bob', 'cyd', 'dan'] as const
/** zoe is hosted by no node: zoe holds beliefs and has edges, and the node knows nothing else. */
export const AGENTS = [...HOSTED, 'owner', 'zoe'] as const
export const FEDERATIONS = ['lab', 'guild', 'vault'] as const
/** Few, so that several holders come to use one. */
const IDS = ['i0', 'i1', 'i2', 'i3', 'i4', 'i5']

type Json = Readonly<Record<string, unknown>>

/** As it goes over the wire, but for holders that are named by who they are, and times by how long ago they are. */
export interface Asked {
  readonly words: readonly AskedWord[]
  readonly filters: readonly (string | Json)[]
  readonly context: Json
  readonly options: Json
}

/** In place of a holder's name: what the requester is shown of it. */
export interface Shown {
  readonly holder: string
  /** The federation that it is met through; null: its own name. */
  readonly via: string | null
}

/** In place of a time. */
export interface Ago {
  readonly daysAgo: number
}

export interface Draft {
  readonly content?: string
  readonly domains?: readonly string[]
  readonly confidence?: Json
  readonly visibility?: 'private' | 'federated' | 'public'
  readonly federations?: readonly string[]
  readonly type?: string
  readonly sources?: readonly { readonly belief_id: string; readonly contribution_type: string }[]
  readonly validDays?: number | null
}

export type BeliefsAct =
  | { readonly do: 'wait'; readonly days: number }
  | { readonly do: 'put'; readonly by: string; readonly id: string; readonly draft: Draft; readonly wait: boolean }
  /** `nth`: of the current beliefs of the holder, modulo their number. */
  | { readonly do: 'supersede'; readonly by: string; readonly nth: number; readonly id: string; readonly draft: Draft }
  | { readonly do: 'delete'; readonly by: string; readonly nth: number }
  | {
      readonly do: 'member'
      readonly federation: string
      readonly agent: string
      readonly status: 'active' | 'suspended' | 'departed'
      readonly mayQuery: boolean
    }
  | { readonly do: 'leave'; readonly by: string; readonly federation: string }
  | { readonly do: 'trust'; readonly by: string; readonly target: string; readonly edge: Json }
  | { readonly do: 'untrust'; readonly by: string; readonly target: string }
  | { readonly do: 'reputation'; readonly agent: string; readonly overall: number | null; readonly byDomain: Json }
  | { readonly do: 'ask'; readonly by: string; readonly asked: Asked }
  | { readonly do: 'read'; readonly by: string; readonly id: string; readonly past: boolean }
  | { readonly do: 'compute'; readonly by: string; readonly target: string; readonly context: Json }

/** The words as one text. */
export function written(words: readonly AskedWord[]): string {
  return words
    .map(({ sign, text, quoted, boost }) => `${sign}${quoted ? `"${text}"` : text}${boost === 1 ? '' : `^${boost}`}`)
    .join(' ')
}

/** Ends with questions, whatever came before. */
export function beliefsStories(): fc.Arbitrary<readonly BeliefsAct[]> {
  const joined = fc.array(members(), { minLength: 4, maxLength: 12, size: 'max' })
  const begun = fc.array(puts(), { minLength: 8, maxLength: 16, size: 'max' })
  const trusted = fc.array(trusts(), { minLength: 4, maxLength: 14, size: 'max' })
  const more = fc.array(acts(), { minLength: 6, maxLength: 24, size: 'max' })
  return fc
    .tuple(joined, begun, trusted, more, fc.array(fc.oneof(asks(), computes()), { minLength: 2, maxLength: 4 }))
    .map(parts => parts.flat())
}

function acts(): fc.Arbitrary<BeliefsAct> {
  const by = agents()
  const nth = fc.nat({ max: 5 })
  const federation = fc.constantFrom(...FEDERATIONS)
  const act = <T extends BeliefsAct['do'], M extends object>(name: T, more: { [K in keyof M]: fc.Arbitrary<M[K]> }) =>
    fc.record(more).map(given => ({ do: name, ...given }) as unknown as BeliefsAct)
  return fc.oneof(
    { weight: 8, arbitrary: asks() },
    { weight: 5, arbitrary: puts() },
    { weight: 3, arbitrary: act('supersede', { by, nth, id: ids(), draft: drafts(false) }) },
    { weight: 1, arbitrary: act('delete', { by, nth }) },
    { weight: 2, arbitrary: members() },
    { weight: 1, arbitrary: act('leave', { by, federation }) },
    { weight: 3, arbitrary: trusts() },
    { weight: 1, arbitrary: act('untrust', { by, target: by }) },
    {
      weight: 1,
      arbitrary: act('reputation', {
        agent: fc.constantFrom(...HOSTED),
        overall: fc.constantFrom(null, 0, 0.4, 0.9),
        byDomain: fc.constantFrom({}, { science: 0.8 }, { 'science/sea': 0.2, news: 1 }),
      }),
    },
    { weight: 2, arbitrary: act('wait', { days: fc.constantFrom(0.0001, 0.5, 1, 9.25, 40, 400) }) },
    { weight: 2, arbitrary: act('read', { by, id: ids(), past: fc.boolean() }) },
    { weight: 2, arbitrary: computes() },
  )
}

function computes(): fc.Arbitrary<BeliefsAct> {
  const target = fc.oneof({ weight: 6, arbitrary: agents() }, { weight: 1, arbitrary: targets() })
  return fc.record({ do: fc.constant('compute' as const), by: agents(), target, context: contexts() })
}

function agents(): fc.Arbitrary<string> {
  return fc.constantFrom(...AGENTS)
}

function ids(): fc.Arbitrary<string> {
  return fc.constantFrom(...IDS)
}

function targets(): fc.Arbitrary<string> {
  return fc.constantFrom('federation:vault', 'federation:lab', 'nobody')
}

function puts(): fc.Arbitrary<BeliefsAct> {
  return fc.record({
    do: fc.constant('put' as const),
    by: agents(),
    id: ids(),
    draft: drafts(true),
    wait: fc.nat({ max: 9 }).map(one => one > 0),
  })
}

function members(): fc.Arbitrary<BeliefsAct> {
  return fc.record({
    do: fc.constant('member' as const),
    federation: fc.constantFrom(...FEDERATIONS),
    agent: agents(),
    status: fc.constantFrom(
      'active' as const,
      'active' as const,
      'active' as const,
      'suspended' as const,
      'departed' as const,
    ),
    mayQuery: fc.nat({ max: 6 }).map(one => one > 0),
  })
}

function trusts(): fc.Arbitrary<BeliefsAct> {
  const edge = fc.record({
    trust_level: fc.constantFrom(0, 0.07, 0.55, 0.85, 0.85, 0.95, 1),
    domain_trust: fc.constantFrom({}, {}, { science: 0.2 }, { 'Science:Sea': 1, news: 0 }),
    basis: fc.constantFrom([], [], [{ type: 'MANUAL' }]),
    persistent: fc.boolean(),
    exposure: fc.constantFrom('private', 'exposed'),
  })
  const target = fc.oneof({ weight: 6, arbitrary: agents() }, { weight: 1, arbitrary: targets() })
  return fc
    .record({ do: fc.constant('trust' as const), by: agents(), target, edge })
    .filter(({ by, target: to }) => by !== to)
}

const WORDS = 'fox vixen garden Honey bees moon old REFINANCED finance new ﬁnance sea-fox'.split(' ')

function contents(): fc.Arbitrary<string> {
  const texts = fc.array(fc.constantFrom(...WORDS), { minLength: 2, maxLength: 5 })
  return fc.tuple(texts, fc.constantFrom(' ', ', ', '\n ')).map(([words, between]) => `${words.join(between)}.`)
}

function domains(): fc.Arbitrary<readonly string[]> {
  const some = ['science', 'Science:Sea', 'science/sea/deep', 'news', 'News/World', 'sci', 'math', 'cooking']
  return fc.uniqueArray(fc.constantFrom(...some), { maxLength: 2 })
}

function drafts(whole: boolean): fc.Arbitrary<Draft> {
  const value = fc.constantFrom(null, 0, 0.2, 0.45, 0.7, 0.71, 0.9, 1)
  const source = fc.record({
    belief_id: ids(),
    contribution_type: fc.constantFrom('primary', 'primary', 'supporting', 'contradicting', 'context'),
  })
  const visible = fc.oneof(
    fc.constant({ visibility: 'public' as const }),
    fc.constant({ visibility: 'public' as const }),
    fc.constant({ visibility: 'private' as const }),
    fc.subarray([...FEDERATIONS]).map(federations => ({ visibility: 'federated' as const, federations })),
  )
  const rest = fc.record(
    {
      content: contents(),
      domains: domains(),
      confidence: fc.record(Object.fromEntries(DIMENSIONS.map(name => [name, value])), { requiredKeys: [] }),
      type: fc.constantFrom('observation', 'inference', 'hearsay'),
      sources: fc.array(source, { maxLength: 2 }),
      validDays: fc.constantFrom(null, 3, 30),
    },
    { requiredKeys: whole ? ['content'] : [] },
  )
  const seen = whole ? visible : fc.option(visible, { nil: {} })
  return fc.tuple(rest, seen).map(([given, level]) => ({ ...given, ...level }) as Draft)
}

function asks(): fc.Arbitrary<BeliefsAct> {
  return fc.record({ do: fc.constant('ask' as const), by: agents(), asked: questions() })
}

export function questions(): fc.Arbitrary<Asked> {
  const filters = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.array(filterParts(), { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(filterParts(), { maxLength: 3 }) },
  )
  const some = fc.record({ words: texts(), filters, context: contexts(), options: optionSets() })
  const listed = fc
    .record({ words: fc.constant([]), filters, context: contexts(), options: optionSets() })
    // What asks for nothing makes no list.
    .map(asked => ({ ...asked, filters: [...asked.filters.slice(0, 2), { min_confidence: { overall: 0.001 } }] }))
  return fc.oneof({ weight: 5, arbitrary: some }, { weight: 1, arbitrary: listed })
}

function texts(): fc.Arbitrary<readonly AskedWord[]> {
  const word = fc.constantFrom('fox', 'garden', 'honey', 'bees', 'moon', 'finance', 'sea', 'history', 'latest')
  const plain = fc
    .tuple(word, fc.constantFrom(1, 1, 1, 0.5, 2, 10))
    .map(([text, boost]) => word_('', text, false, boost))
  const operator = fc.oneof(
    fc.tuple(fc.constantFrom('+' as const, '-' as const), word).map(([sign, text]) => word_(sign, text, false, 1)),
    fc.constantFrom(word_('+', 'honey bees', true, 1), word_('-', 'old moon', true, 1)),
    fc.constantFrom(word_('', 'honey  Bees', true, 1), word_('', 'fox', true, 1), word_('', 'fin', true, 1)),
  )
  return fc
    .tuple(
      fc.array(plain, { minLength: 1, maxLength: 3 }),
      fc.oneof(fc.constant([]), fc.array(operator, { maxLength: 2 })),
    )
    .map(([words, operators]) => [...words, ...operators])
}

function word_(sign: AskedWord['sign'], text: string, quoted: boolean, boost: number): AskedWord {
  return { sign, text, quoted, boost }
}

function filterParts(): fc.Arbitrary<string | Json> {
  const preset = fc.constantFrom('high_confidence', 'recent', 'verified', 'from_trusted')
  const bound = fc.constantFrom(0, 0.3, 0.5, 0.7)
  const ago = fc.constantFrom(0, 1, 5, 20, 100).map(daysAgo => ({ daysAgo }))
  const shown = fc.record({ holder: agents(), via: fc.constantFrom(null, null, ...FEDERATIONS) })
  const holders = fc.uniqueArray(shown, { maxLength: 3, selector: one => JSON.stringify(one) })
  const members = fc.record(
    {
      preset: fc.oneof(preset, fc.uniqueArray(preset, { maxLength: 2 })),
      min_confidence: fc.oneof(
        bound,
        fc.record({ overall: bound, temporal_freshness: bound }, { requiredKeys: [] }),
        fc.constantFrom({ corroboration: 0 }, { method_quality: 0.7, overall: null }),
      ),
      valid_at: fc.constantFrom(null, { daysAgo: -2 }, { daysAgo: 4 }),
      created_after: ago.map(({ daysAgo }) => ({ daysAgo: daysAgo + 100 })),
      created_before: ago,
      domains_include: domains(),
      domains_exclude: domains(),
      holder_ids: fc.oneof(fc.constant(null), holders),
      exclude_holders: holders,
      min_holder_reputation: fc.constantFrom(null, 0, 0.4, 0.5),
      derivation_types: fc.constantFrom(null, [], ['observation', 'assumption'], ['inference', 'hearsay']),
      max_derivation_depth: fc.constantFrom(null, 0, 1, 2),
      visibility_levels: fc.constantFrom(null, ['Public'], ['federated', 'private'], []),
    },
    { requiredKeys: [] },
  )
  // Few members at a time, lest nothing passes.
  const few = fc.tuple(members, fc.nat()).map(([all, at]) => {
    const names = Object.keys(all)
    const kept = names.filter(
      (_, place) => place === at % names.length || (at % 4 === 0 && place === (at + 3) % names.length),
    )
    return Object.fromEntries(kept.map(name => [name, all[name as keyof typeof all]]))
  })
  return fc.oneof({ weight: 1, arbitrary: preset }, { weight: 3, arbitrary: few })
}

export function contexts(): fc.Arbitrary<Json> {
  return fc.record(
    {
      trust_weight: fc.constantFrom(0, 0.5, 0.9, 1),
      query_domains: domains(),
      domain_trust_weight: fc.constantFrom(0, 0.5, 0.8, 1),
      max_trust_hops: fc.constantFrom(0, 1, 2, 3, 99),
      transitive_damping: fc.constantFrom(0.05, 0.33, 0.83, 7),
      confidence_weights: fc.constantFrom({ source_reliability: 0.75 }, { corroboration: 0, method_quality: 3 }),
      ranking_weights: fc.constantFrom({ trust: 1 }, { semantic: 0, confidence: 1 }, { recency: 2 }),
    },
    { requiredKeys: [] },
  )
}

function optionSets(): fc.Arbitrary<Json> {
  const diversity = fc.record(
    {
      enabled: fc.constant(true),
      max_per_holder: fc.constantFrom(1, 2),
      max_per_domain: fc.constantFrom(1, 2),
      min_semantic_distance: fc.constantFrom(0.2, 0.6),
      lambda: fc.constantFrom(0, 0.4, 1),
    },
    { requiredKeys: ['enabled'] },
  )
  return fc.record(
    {
      scope: fc.constantFrom(
        ...[
          { local: true, federated: true, network: true },
          { local: true, federated: true, network: true },
        ],
        ...[{ federated: true, network: true }, { network: true }, { federated: true }, { local: true }],
      ),
      limit: fc.constantFrom(1, 2, 3, 50),
      min_similarity: fc.constantFrom(-1, 0.05, 0.2, 0.5),
      any: fc.boolean(),
      diversity,
      temporal_intent: fc.boolean(),
      dry_run: fc.boolean(),
      include_derivation: fc.boolean(),
      max_derivation_depth: fc.constantFrom(1, 3),
    },
    { requiredKeys: ['limit', 'scope'] },
  )
}
