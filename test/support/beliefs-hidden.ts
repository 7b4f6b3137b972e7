/**
 * Stories for the question whether what a viewer may not see changes what the lens `beliefs` answers it (BQ-111). ann asks.
 * ann is active in the lab and, with pseudonyms hidden too, in the vault; suspended in the guild; no member of the moon.
 * bob and cyd are active in the lab, eve is too but shares nothing with it, dan is only on the moon, fay is nowhere, and
 * nobody whom ann reaches trusts fay. The crypt is bob's and cyd's, for good.
 */
import fc from 'fast-check'
import { contexts, questions, written } from './beliefs-acts.ts'

export const REQUESTER = 'ann'

type Json = Readonly<Record<string, unknown>>

/** An operation of the lens. */
export interface Call {
  readonly by: string
  readonly operation: string
  readonly input: Json
  /** Sources that a belief has in the one world only: secrets. */
  readonly alsoNames?: readonly string[] | undefined
}

export type Act = Call | { readonly waits: number }

/** Done between the two checks of a question of ann's: by all, and what only one of the worlds receives. */
export interface Gap {
  readonly shown: readonly Call[]
  readonly hidden: readonly Call[]
}

export interface Request extends Call {
  readonly gap?: Gap | undefined
}

export interface HiddenStory {
  readonly embedder: 'toy' | 'none'
  readonly before: readonly Act[]
  readonly after: readonly Act[]
  /** By their place in `before` and `after` joined, modulo the length. */
  readonly hidden: readonly { readonly at: number; readonly act: Call }[]
  readonly requests: readonly Request[]
}

const DAY = 86_400_000
const AGENTS = ['ann', 'bob', 'cyd', 'dan', 'eve', 'fay']

/** The same in both worlds, before anything else. Edges that ann's routes go over do not fade: others may use them. */
export const PEOPLE: readonly Call[] = [
  ...AGENTS.map(id => owner('agents.create', { id, reputation: id === 'cyd' ? 0.8 : null })),
  owner('federations.create', { id: 'lab', anonymity: 'pseudonyms' }),
  owner('federations.create', { id: 'vault', anonymity: 'strict', reputation: 0.6 }),
  owner('federations.create', { id: 'guild' }),
  owner('federations.create', { id: 'moon' }),
  ...['ann', 'bob', 'cyd', 'eve'].map(agent => standing('lab', agent, 'active')),
  ...['ann', 'bob', 'cyd'].map(agent => standing('vault', agent, 'active')),
  standing('guild', 'ann', 'suspended'),
  ...['bob', 'cyd'].map(agent => standing('guild', agent, 'active')),
  standing('moon', 'dan', 'active'),
  owner('federations.create', { id: 'crypt' }),
  ...['bob', 'cyd'].map(agent => standing('crypt', agent, 'active')),
  edge('ann', 'bob', 0.9, { persistent: true }),
  edge('ann', 'eve', 0.8, { persistent: true }),
  edge('bob', 'cyd', 0.9, { persistent: true }),
  edge('eve', 'cyd', 0.7, { persistent: true, domain_trust: { science: 1 } }),
  edge('fay', 'ann', 1),
  edge('dan', 'cyd', 1),
]

/** Of bob's: visible at first, then narrowed by both histories, then changed while hidden. Never shown again. */
const FADING = ['f0', 'f1']
/** Of holders who have visible beliefs too: a hidden act must not touch a visible one. */
const HIDDEN_IDS = ['h0', 'h1', 'h2']
const VISIBLE_IDS = Array.from({ length: 8 }, (_, at) => `v${at}`)
/**
 * Those that sources may name. Of several beliefs with one id a source names one that its writer sees, and a writer tells
 * whom it lets read which one that is; so under these bob and cyd see nothing that depends on what is hidden from ann.
 */
const NAMED_IDS = VISIBLE_IDS.slice(0, 4)
const UNNAMED_IDS = VISIBLE_IDS.slice(4)
/** In one world only, from the beginning; ann guesses these ids. */
const SECRET_IDS = ['s0', 's1']
const WORDS = ['fox', 'garden', 'honey', 'bees', 'moon', 'old', 'finance', 'sea']

/** What the fading beliefs are before and after. */
export const SHOWN_FIRST: readonly Call[] = FADING.map(id => ({
  by: 'bob',
  operation: 'beliefs.put',
  input: { id, content: `Old fox ${id}.`, visibility: 'public', domains: ['science'] },
}))
export const FADE: readonly Call[] = FADING.map(id => ({
  by: 'bob',
  operation: 'beliefs.supersede',
  input: { belief_id: id, id: `${id}+1`, visibility: 'private' },
}))

/** What is in the one world only before all else; visible beliefs rest on it. */
export const SECRETS: readonly Call[] = SECRET_IDS.map((id, at) => ({
  by: at === 0 ? 'bob' : 'cyd',
  operation: 'beliefs.put',
  input: { id, content: `Secret garden ${id}.`, visibility: 'federated', federation_ids: ['crypt'] },
}))

export function hiddenStories(operations?: readonly string[]): fc.Arbitrary<HiddenStory> {
  const asked =
    operations === undefined ? requests() : requests().filter(({ operation }) => operations.includes(operation))
  return fc.record({
    embedder: fc.constantFrom('toy' as const, 'toy' as const, 'none' as const),
    before: fc.array(visibleActs(), { minLength: 6, maxLength: 16, size: 'max' }),
    after: fc.array(visibleActs(), { maxLength: 5 }),
    hidden: fc.array(fc.record({ at: fc.nat(), act: hiddenActs() }), { minLength: 1, maxLength: 12, size: 'max' }),
    requests: fc.array(asked, { minLength: 2, maxLength: 8, size: 'max' }),
  })
}

/** What touches a fading belief must wait until it has faded. */
export function isOfFading({ input }: Call): boolean {
  return FADING.some(id => String(input['belief_id']).startsWith(id))
}

function visibleActs(): fc.Arbitrary<Act> {
  const id = fc.constantFrom(...VISIBLE_IDS)
  const withAnn = [['lab'], ['lab', 'vault'], ['vault']]
  const withOthersToo = [
    ['guild', 'lab'],
    ['moon', 'vault'],
  ]
  const publicOr = (...shared: readonly (readonly string[])[]) =>
    fc.oneof(
      fc.constant({ visibility: 'public' }),
      fc.constantFrom(...shared).map(federation_ids => ({ visibility: 'federated', federation_ids })),
    )
  const ofAnn = fc.oneof(
    fc.constantFrom({ visibility: 'private' }, { visibility: 'public' }),
    fc.constantFrom(...[['guild'], ['lab']]).map(federation_ids => ({ visibility: 'federated', federation_ids })),
  )
  const secrets = fc.oneof(fc.constant([]), fc.subarray(SECRET_IDS, { minLength: 1 }))
  const ofBobOrCyd = fc
    .tuple(
      fc.oneof(
        puts(fc.constantFrom('bob', 'cyd'), fc.constantFrom(...NAMED_IDS), publicOr(...withAnn)),
        puts(fc.constantFrom('bob', 'cyd'), fc.constantFrom(...UNNAMED_IDS), publicOr(...withAnn, ...withOthersToo)),
      ),
      secrets,
    )
    .map(([call, alsoNames]) => ({ ...call, alsoNames }))
  const wrote = fc.oneof(ofBobOrCyd, puts(fc.constant(REQUESTER), id, ofAnn))
  const changes = fc.record({ by: fc.constantFrom('bob', 'cyd', REQUESTER), id, content: contents() }).map(given => ({
    by: given.by,
    operation: 'beliefs.supersede',
    input: { belief_id: given.id, id: `${given.id}+${given.content.length}`, content: given.content },
  }))
  const removed = fc
    .record({ by: fc.constantFrom('bob', REQUESTER), id })
    .map(given => ({ by: given.by, operation: 'beliefs.delete', input: { belief_id: given.id } }))
  const trusted = fc
    .record({ target: fc.constantFrom('bob', 'cyd', 'federation:vault'), level: fc.constantFrom(0, 0.3, 0.95) })
    .map(({ target, level }) => edge(REQUESTER, target, level))
  return fc.oneof(
    { weight: 10, arbitrary: wrote },
    { weight: 2, arbitrary: changes },
    { weight: 1, arbitrary: removed },
    { weight: 1, arbitrary: trusted },
    { weight: 1, arbitrary: asks() },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 * 24 }).map(hours => ({ waits: (hours * DAY) / 24 })) },
  )
}

function hiddenActs(): fc.Arbitrary<Call> {
  const unseen = fc.oneof(
    fc.constant({ visibility: 'private' }),
    fc.constantFrom(...[['guild'], ['moon'], [], ['guild', 'moon']]).map(federation_ids => ({
      visibility: 'federated',
      federation_ids,
    })),
  )
  const inNobodysName = fc.constant({ visibility: 'federated', federation_ids: ['lab', 'vault'] })
  const closed = fc.constantFrom<Json>({ visibility: 'private' }, { visibility: 'federated', federation_ids: [] })
  const others = fc.constantFrom('dan', 'fay', 'owner')
  const all = fc.constantFrom('bob', 'cyd', 'dan', 'eve', 'fay', 'owner')
  const danOrFay = fc.constantFrom('dan', 'fay')
  const hiddenId = fc.constantFrom(...HIDDEN_IDS)
  const unnamedId = fc.constantFrom(...HIDDEN_IDS, ...UNNAMED_IDS, ...FADING)
  // Ids of visible beliefs too, of holders who have none of them: an id is unique for its holder only.
  const anyId = fc.constantFrom(...HIDDEN_IDS, ...VISIBLE_IDS, ...FADING)
  const known = fc.oneof(fc.tuple(all, hiddenId), fc.tuple(others, anyId), fc.tuple(fc.constant('bob'), faded()))
  const supersede = fc.tuple(known, unseen, fc.nat({ max: 9 })).map(([[by, belief_id], visibility, n]) => ({
    by,
    operation: 'beliefs.supersede',
    input: { belief_id, id: `${belief_id}/${n}`, ...visibility, content: 'fox honey.' },
  }))
  const remove = known.map(([by, belief_id]) => ({ by, operation: 'beliefs.delete', input: { belief_id } }))
  const status = fc.constantFrom('active', 'suspended', 'departed')
  const someone = fc.constantFrom('bob', 'cyd', 'dan', 'eve', 'fay')
  const members = fc.oneof(
    fc.tuple(fc.constantFrom('guild', 'moon'), someone, status).map(([id, agent, as]) => standing(id, agent, as)),
    // ann shares nothing with it.
    status.map(as => standing('lab', 'eve', as)),
  )
  const within = fc.constantFrom(0.86, 0.9, 0.93)
  const edges = fc.oneof(
    // Nobody whom ann reaches trusts fay, and no route leads back to ann.
    fc
      .tuple(someone, fc.constantFrom(0, 0.5, 1))
      .map(([to, level]) => (to === 'fay' ? edge('dan', 'fay', level) : edge('fay', to, level))),
    fc
      .tuple(fc.constantFrom('bob', 'cyd', 'eve', 'dan'), fc.constantFrom(0, 1))
      .map(([by, level]) => edge(by, REQUESTER, level)),
    // Within its tenth a foreign edge may be anything (BQ-108).
    within.map(level => edge('bob', 'cyd', level, { persistent: true })),
    within.map(level =>
      edge('bob', 'cyd', level, { persistent: true, exposure: 'exposed', basis: [{ type: 'MANUAL' }] }),
    ),
    fc.constant({ by: 'fay', operation: 'trust.remove', input: { target: 'bob' } }),
  )
  const asked = fc.tuple(fc.constantFrom('bob', 'cyd', 'eve', 'fay'), asks()).map(([by, call]) => ({ ...call, by }))
  const founded = fc.constantFrom('moon2', 'club').map(id => owner('federations.create', { id }))
  const hosted = fc.constantFrom('gus', 'hal').map(id => owner('agents.create', { id }))
  return fc.oneof(
    { weight: 6, arbitrary: puts(all, hiddenId, unseen) },
    { weight: 2, arbitrary: puts(danOrFay, unnamedId, fc.oneof(unseen, inNobodysName)) },
    { weight: 2, arbitrary: puts(danOrFay, fc.constantFrom(...NAMED_IDS), fc.oneof(closed, inNobodysName)) },
    { weight: 3, arbitrary: supersede },
    { weight: 2, arbitrary: remove },
    { weight: 3, arbitrary: members },
    { weight: 3, arbitrary: edges },
    { weight: 2, arbitrary: asked },
    { weight: 1, arbitrary: fc.oneof(founded, hosted) },
  )
}

function faded(): fc.Arbitrary<string> {
  return fc.constantFrom(...FADING.map(id => `${id}+1`), ...FADING.map(id => `${id}+1/3`))
}

const EVERYWHERE = { local: true, federated: true, network: true }

function asks(): fc.Arbitrary<Call> {
  return queries().map(input => ({ by: REQUESTER, operation: 'beliefs.query', input }))
}

/** As in the stories of the plain implementation, but for times and pseudonyms, which are of each world. */
function queries(): fc.Arbitrary<Json> {
  const more = fc.record(
    { include_explanation: fc.boolean(), offset: fc.constantFrom(0, 2), approximate: fc.boolean() },
    { requiredKeys: [] },
  )
  return fc.tuple(questions(), more, fc.nat({ max: 3 })).map(([{ words, filters, context, options }, extra, wide]) => ({
    semantic: written(words),
    filters: filters.map(part => (typeof part === 'string' ? part : withoutWhatMoves(part))),
    context,
    options: { ...options, ...extra, ...(wide === 0 ? {} : { scope: EVERYWHERE }) },
  }))
}

function withoutWhatMoves(part: Json): Json {
  const names = ['valid_at', 'created_after', 'created_before', 'holder_ids', 'exclude_holders']
  const kept = Object.entries(part).filter(([name]) => !names.includes(name))
  return { ...Object.fromEntries(kept), exclude_holders: ['nobody'] }
}

function requests(): fc.Arbitrary<Request> {
  const id = fc.constantFrom(...VISIBLE_IDS, ...HIDDEN_IDS, ...SECRET_IDS, ...FADING, 'f0+1', 'h0/3', 'nowhere')
  const levels = fc.constantFrom(
    ...['private', 'public'].map(visibility => ({ visibility })),
    ...[['lab'], ['lab', 'vault']].map(federation_ids => ({ visibility: 'federated', federation_ids })),
  )
  const guesses = fc
    .tuple(fc.constantFrom(...SECRET_IDS), contents(), levels)
    .map(([guess, content, level]) => ({ id: guess, content, ...level }))
  const by = (operation: string, input: fc.Arbitrary<Json>) =>
    input.map(given => ({ by: REQUESTER, operation, input: given }))
  const about = (more: fc.Arbitrary<Json>) => fc.tuple(id, more).map(([belief_id, rest]) => ({ belief_id, ...rest }))
  const nothing = fc.constant({})
  const page = fc.record({
    context: contexts(),
    options: fc.constantFrom({ scope: EVERYWHERE }, { limit: 3, scope: EVERYWHERE }),
  })
  const fields = fc.subarray(['domains', 'holder_id', 'derivation_type', 'visibility', 'confidence_bucket'], {
    minLength: 1,
  })
  const target = fc.constantFrom(
    'bob',
    'cyd',
    'dan',
    'eve',
    'fay',
    'gus',
    'nobody',
    'federation:vault',
    'federation:moon',
  )
  const federation = fc.constantFrom('lab', 'guild', 'moon', 'club', 'nowhere').map(one => ({ federation: one }))
  const similar = page.map(({ context, options }) => ({ context, options: { ...options, min_similarity: 0.2 } }))
  const purpose = fc.constantFrom('answer', 'verify', 'explore', 'decide', 'create')
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(asks(), fc.option(gaps(), { freq: 2, nil: undefined }))
        .map(([call, gap]) => ({ ...call, gap })),
    },
    { weight: 4, arbitrary: by('beliefs.explain', about(fc.record({ query: queries() }))) },
    { weight: 3, arbitrary: by('beliefs.count', queries()) },
    { weight: 3, arbitrary: by('beliefs.facets', fc.record({ query: queries(), fields })) },
    { weight: 3, arbitrary: by('beliefs.similar', about(similar)) },
    { weight: 2, arbitrary: by('beliefs.contradictions', about(page)) },
    {
      weight: 1,
      arbitrary: by(
        'beliefs.batch',
        fc.array(queries(), { minLength: 1, maxLength: 2 }).map(some => ({ queries: some })),
      ),
    },
    {
      weight: 2,
      arbitrary: by(
        'beliefs.context_query',
        fc.tuple(queries(), purpose).map(([query, one]) => ({ ...query, purpose: one, max_tokens: 60 })),
      ),
    },
    { weight: 2, arbitrary: by('beliefs.derivation', about(nothing)) },
    { weight: 3, arbitrary: by('beliefs.get', about(fc.constantFrom({}, { include_superseded: true }))) },
    { weight: 1, arbitrary: by('beliefs.diagnostics', nothing) },
    // Beliefs are entries too, and the engine's own operations meet them.
    {
      weight: 3,
      arbitrary: by(
        'query',
        fc.record({
          text: fc.constantFrom('fox', 'honey bees', 'old'),
          lens: fc.constantFrom('beliefs', 'default'),
          limit: fc.constantFrom(2, 10),
          explain: fc.boolean(),
        }),
      ),
    },
    { weight: 1, arbitrary: by('list', fc.constantFrom({}, { limit: 2, order: 'updated' })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('get', 'similar'), id)
        .map(([operation, one]) => ({ by: REQUESTER, operation, input: { id: one } })),
    },
    { weight: 1, arbitrary: by('status', nothing) },
    { weight: 1, arbitrary: by('trust.list', nothing) },
    { weight: 2, arbitrary: by('trust.compute', fc.record({ target, context: contexts() })) },
    { weight: 1, arbitrary: by('agents.list', nothing) },
    { weight: 1, arbitrary: by('federations.list', nothing) },
    {
      weight: 1,
      arbitrary: by(
        'federations.set_member',
        federation.map(one => ({ ...one, agent: 'ann' })),
      ),
    },
    { weight: 1, arbitrary: by('beliefs.delete', about(nothing)) },
    { weight: 1, arbitrary: by('beliefs.supersede', about(fc.constant({ content: 'Mine now.', id: 'mine' }))) },
    { weight: 1, arbitrary: by('beliefs.put', fc.record({ id, content: contents() })) },
    { weight: 2, arbitrary: by('beliefs.put', guesses) },
  )
}

/** bob is suspended for good while ann waits; later changes to what bob shared do not concern ann. */
function gaps(): fc.Arbitrary<Gap> {
  const gone = ['lab', 'vault'].map(id => standing(id, 'bob', 'suspended'))
  const touched = UNNAMED_IDS.flatMap(belief_id => [
    { by: 'bob', operation: 'beliefs.supersede', input: { belief_id, id: `${belief_id}/gap`, content: 'Secret fox.' } },
  ])
  return fc.subarray(touched, { minLength: 1 }).map(hidden => ({ shown: gone, hidden }))
}

function puts(by: fc.Arbitrary<string>, id: fc.Arbitrary<string>, visible: fc.Arbitrary<Json>): fc.Arbitrary<Call> {
  const source = fc.record({ belief_id: fc.constantFrom(...NAMED_IDS, ...HIDDEN_IDS, ...FADING) })
  const more = fc.record(
    {
      domains: fc.subarray(['science', 'science/sea', 'news'], { maxLength: 2 }),
      confidence: fc.constantFrom({}, { corroboration: 0.9 }, { source_reliability: null }),
      derivation: fc.array(source, { maxLength: 2 }).map(sources => ({ type: 'inference', sources })),
    },
    { requiredKeys: [] },
  )
  return fc.tuple(by, id, contents(), visible, more).map(([holder, belief, content, level, rest]) => ({
    by: holder,
    operation: 'beliefs.put',
    input: { id: belief, content, ...level, ...rest },
  }))
}

function contents(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 2, maxLength: 4 }), fc.constantFrom('', ' is not', ' 12'))
    .map(([words, more]) => `${words.join(' ')}${more}.`)
}

function owner(operation: string, input: Json): Call {
  return { by: 'owner', operation, input }
}

function standing(federation: string, agent: string, status: string): Call {
  return owner('federations.set_member', { federation, agent, status })
}

function edge(by: string, target: string, trust_level: number, more: Json = {}): Call {
  return { by, operation: 'trust.set', input: { target, trust_level, ...more } }
}
