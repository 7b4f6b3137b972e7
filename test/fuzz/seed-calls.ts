/** A good call of every operation, and what must be in the store for them: what fuzzing of operations begins with. */
import type { JsonObject } from '../../src/base/canonical.ts'
import { nodeOf as anyNode, HASHTAGS } from '../support/chroma-nodes.ts'

export interface Call {
  readonly operation: string
  readonly viewer: string
  readonly input: JsonObject
  /** Whether the streamed form is asked for. */
  readonly streamed: boolean
}

export const OWNER_NAME = 'owner'
/** May not see what ben holds. */
export const ASKER = 'ana'
export const HIDER = 'ben'
/** Stands in all that ben keeps to himself. */
export const SECRET = 'zqsecretzq'

const nodeOf = (...given: Parameters<typeof anyNode>) => anyNode(...given) as JsonObject

function by(viewer: string, operation: string, input: JsonObject = {}, streamed = false): Call {
  return { operation, viewer, input, streamed }
}

const FOX = {
  id: 'fox',
  title: 'Fox',
  content: 'The quick fox jumps over a fence.\n\nIt sleeps.',
  tags: ['red'],
  kind: 'note',
}
const CAR = {
  id: 'car',
  content: 'A car waits on the road.',
  metadata: { wheels: 4, a: { b: [1, null] } },
  collection: 'notes',
}
const NODE = {
  hashtags: HASHTAGS.python,
  label: 'Asyncio',
  content: 'Asyncio runs tasks.',
  metadata: { language: 'python' },
}
/** As the first concepts of this store are numbered. */
const CONCEPT = 1_825_013_208_449_025
const ISO = '2026-02-01T00:00:00.000Z'
const IMPORTED = {
  type: 'entry',
  entry: {
    id: 'i1',
    collection: 'c',
    kind: 'k',
    title: 't',
    content: 'imported',
    tags: ['x'],
    metadata: {},
    audience: { kind: 'private', holder: OWNER_NAME },
    origin: null,
    createdAt: 1,
    updatedAt: 2,
    validFrom: null,
    validUntil: 3,
    knownAt: 4,
    chunks: [{ start: 0, end: 8, startLine: 1, endLine: 1, headings: ['h'] }],
  },
}
const SCOPE = { local: true, federated: true, network: true }

/** What is there before the first input. */
export const SETUP: readonly Call[] = [
  by(OWNER_NAME, 'put', { entries: [FOX, CAR, { ...FOX, id: 'open', visibility: 'public' }], wait: true }),
  by(ASKER, 'put', {
    entries: [{ id: 'mine', content: 'Ana keeps bees; honey is sweet.', created_at: '2026-01-01' }],
    wait: true,
  }),
  by(HIDER, 'put', {
    entries: [
      { id: SECRET, title: SECRET, content: `A fox ${SECRET} in the garden`, tags: [SECRET], collection: SECRET },
    ],
    wait: true,
  }),
  by(OWNER_NAME, 'chroma.assign', { starter: true }),
  by(OWNER_NAME, 'chroma.store', { ...NODE, visibility: 'public' }),
  by(ASKER, 'chroma.import', { version: 1, nodes: [nodeOf('n1', HASHTAGS.database, { created_at: 1_760_000_000 })] }),
  by(HIDER, 'chroma.store', { ...NODE, label: SECRET, content: SECRET }),
  by(OWNER_NAME, 'context.body_init'),
  by(ASKER, 'context.mind_concepts_create_many', {
    concepts: [
      { name: 'Login', type: 'Class' },
      { name: 'Token', type: 'Entity' },
    ],
  }),
  by(HIDER, 'context.mind_concepts_create', { name: SECRET, type: 'Class' }),
  by(ASKER, 'context.mind_edges_create', { source: CONCEPT, target: CONCEPT + 1, relation: 'USES', weight: 0.5 }),
  by(OWNER_NAME, 'context.index', { path: '.' }),
  by(OWNER_NAME, 'context.body_fts_index'),
  by(OWNER_NAME, 'agents.create', { id: ASKER, reputation: 0.5 }),
  by(OWNER_NAME, 'agents.create', { id: HIDER }),
  by(OWNER_NAME, 'federations.create', { id: 'lab', joining: 'open' }),
  by(ASKER, 'federations.join', { federation: 'lab' }),
  by(ASKER, 'beliefs.put', {
    id: 'b1',
    content: 'The fox is quick.',
    confidence: { corroboration: 0.9 },
    domains: ['science'],
    visibility: 'public',
  }),
  by(ASKER, 'beliefs.put', {
    id: 'b2',
    content: 'The fox is not quick.',
    derivation: { type: 'inference', sources: [{ belief_id: 'b1' }] },
  }),
  by(HIDER, 'beliefs.put', { id: `${SECRET}-b`, content: `The garden of ${SECRET} is old.` }),
  by(ASKER, 'trust.set', { target: 'carl', trust_level: 0.7, domain_trust: { science: 0.9 } }),
]

export const SEED_CALLS: readonly Call[] = [
  ...[false, true].map(streamed =>
    by(ASKER, 'query', { text: 'fox tag:red', limit: 2, explain: true, chunk_size: 1 }, streamed),
  ),
  by(ASKER, 'query', {
    text: '+fox -car "a fence"^2 created:>2020-01-01',
    filter: {
      collections: ['notes'],
      kinds: ['note'],
      tags: ['red'],
      any_tags: ['red'],
      not_tags: ['x'],
      ids: ['fox'],
      metadata: { wheels: { gte: 4, lt: 5 }, 'a.b': [1], c: { exists: false } },
      created: { after: '2020-01-01', before: ISO },
      updated: {},
      accessed: {},
      known: {},
      valid_at: 1_760_000_000_000,
    },
    mode: 'hybrid',
    meaning_weight: 0.5,
    memory: true,
    touch: true,
    diversity: 0.5,
    per_collection: 2,
    per_origin: 2,
    any: true,
    trace: true,
    approximate: false,
    as_of: ISO,
    known_at: ISO,
    timeout_ms: 1000,
    excerpt_length: 100,
  }),
  ...['chroma', 'collections', 'c64', 'context', 'beliefs'].map(lens =>
    by(ASKER, 'query', { text: 'quick fox $D020', lens, any: true, explain: true }),
  ),
  by(ASKER, 'explain', { query: { text: 'fox' }, id: 'open', over: 'mine' }),
  by(ASKER, 'similar', { id: 'open', limit: 3 }),
  by(ASKER, 'watch', { text: 'fox', limit: 3, notify_on_connect: true }, true),
  by(ASKER, 'get', { id: 'mine' }),
  by(ASKER, 'get', { id: SECRET }),
  by(ASKER, 'list', { filter: { tags: ['red'] }, order: 'created', limit: 1 }),
  by(ASKER, 'put', {
    entries: [
      {
        id: 'e',
        title: 't',
        content: 'words',
        collection: 'c',
        kind: 'k',
        tags: ['a'],
        metadata: { x: 1 },
        visibility: 'shared',
        federations: ['lab'],
        origin: 'o',
        created_at: 0,
        valid_from: '2026-01-01',
        valid_until: '2027-01-01T00:00Z',
      },
    ],
    wait: true,
  }),
  by(ASKER, 'delete', { ids: ['mine', 'fox', SECRET] }),
  by(OWNER_NAME, 'delete', { ids: ['car'] }),
  by(ASKER, 'status'),
  by(OWNER_NAME, 'status'),
  by(OWNER_NAME, 'doctor'),
  by(OWNER_NAME, 'export'),
  by(OWNER_NAME, 'lenses'),
  by(ASKER, 'chroma.query', {
    hashtags: HASHTAGS.python,
    k: 3,
    max_distance: 0.5,
    temporal_range: [0, 2_000_000_000],
    include_rotten: true,
    metadata_filters: { language: 'python', n: { $gte: 3, $in: [1, 2] } },
    update_access: false,
  }),
  by(ASKER, 'chroma.query', { input: 'asyncio #python', profile: 'code_search' }),
  by(ASKER, 'chroma.batch_query', { queries: [{ hashtags: HASHTAGS.python, k: 1 }, { hashtags: HASHTAGS.web }] }),
  by(ASKER, 'chroma.query_knn', { hashtags: HASHTAGS.database, k: 2, include_rotten: false, update_access: true }),
  by(ASKER, 'chroma.store', { ...NODE, mode_name: 'Eidetic', visibility: 'private', plugin_fields: {} }),
  by(ASKER, 'chroma.get', { entry_id: 'n1' }),
  by(ASKER, 'chroma.update', { entry_id: 'n1', label: 'L', content: 'c', metadata: { x: [1] } }),
  by(ASKER, 'chroma.set', { entry_id: 'n1', mode_name: 'Spacey', decay_enabled: false, rotten: true }),
  by(ASKER, 'chroma.delete', { entry_id: 'n1' }),
  by(ASKER, 'chroma.export'),
  by(ASKER, 'chroma.import', {
    version: 1,
    exported_at: 1_760_000_000,
    nodes: [nodeOf('n3', HASHTAGS.web, { created_at: 1_760_000_000 })],
  }),
  by(OWNER_NAME, 'chroma.assign', { hashtag: '#fresh', zone: 'Mid' }),
  by(OWNER_NAME, 'chroma.assign', { assignments: [{ hashtag: 'x', anchor_id: 7 }] }),
  by(OWNER_NAME, 'chroma.assign', { text: '#y core\n#z 99 # comment' }),
  by(OWNER_NAME, 'chroma.unassign', { hashtag: '#fresh' }),
  by(OWNER_NAME, 'chroma.migrate', { hashtag: '#css', anchor_id: 3000 }),
  by(ASKER, 'chroma.hashtags', { zone: 'Core', hashtag: '#python' }),
  by(ASKER, 'chroma.place', { hashtags: HASHTAGS.python }),
  by(ASKER, 'chroma.suggest_hashtags', { content: 'python asyncio sqlite' }),
  by(OWNER_NAME, 'chroma.decay'),
  by(OWNER_NAME, 'chroma.lifecycle'),
  by(ASKER, 'chroma.statistics'),
  by(ASKER, 'chroma.forecast', { days: 30, limit: 3 }),
  by(ASKER, 'chroma.forecast', { until: 1_900_000_000 }),
  by(ASKER, 'chroma.map', { hashtags: HASHTAGS.python, k: 3, query: { include_rotten: true } }),
  by(ASKER, 'collections.query', {
    query: 'fox en rojo',
    collections: ['notes', 'items'],
    n_results: 3,
    days: 30,
    since: '2020-01-01',
    until: '2027-01-01',
  }),
  by(ASKER, 'collections.format', {
    results: [{ title: 't', content: 'c', source: 's', score: 0.5, metadata: { url: 'u', d: [1, null] } }],
    query: 'q',
    lang: 'en',
    urls: true,
  }),
  by(ASKER, 'c64.enrich', { query: 'What is at $D020 53280 &HFF %1010 1,000.5?', raw: false }),
  by(ASKER, 'c64.query', { query: 'POKE 53280,0', limit: 3, raw: true }),
  by(OWNER_NAME, 'add', {
    paths: ['notes.md', 'data.jsonl'],
    collection: 'files',
    kind: 'k',
    tags: ['t'],
    visibility: 'public',
    map: { content: 'body' },
    wait: true,
  }),
  by(OWNER_NAME, 'import', {
    lines: [
      { type: 'querent', version: 1 },
      IMPORTED,
      {
        type: 'access',
        viewer: ASKER,
        holder: OWNER_NAME,
        id: 'i1',
        state: { lastAccessed: 1, count: 2, strength: 0.5 },
      },
    ],
  }),
  by(OWNER_NAME, 'context.index', { paths: ['src/login.ts'], force: true }),
  by(OWNER_NAME, 'context.body_init'),
  by(OWNER_NAME, 'context.body_files_add', { path: 'src/login.ts', paths: ['notes.md'] }),
  by(OWNER_NAME, 'context.body_scan', { path: 'src', dry_run: true }),
  by(OWNER_NAME, 'context.body_fts_index', { force: true }),
  by(ASKER, 'context.query', { query: 'Login token', depth: 2, limit: 5, mode: 'hybrid', type: 'Class' }),
  by(ASKER, 'context.definition', { name: 'Login', limit: 3 }),
  by(ASKER, 'context.references', { name: 'Login', relation: 'USES', limit: 3 }),
  by(ASKER, 'context.callers', { id: CONCEPT + 1, depth: 3 }),
  by(OWNER_NAME, 'context.impact', {
    diff: '--- a/x.ts\n+++ b/x.ts\n@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n',
    paths: ['x.ts'],
    depth: 2,
  }),
  by(ASKER, 'context.map', { max_tokens: 500, path: 'src' }),
  by(ASKER, 'context.body_fts_search', { query: 'login', path: 'src', limit: 3 }),
  by(ASKER, 'context.mind_concepts_create', { name: 'A', type: 'Class', visibility: 'public' }),
  by(ASKER, 'context.mind_concepts_create_many', { concepts: [{ name: 'A', type: 'B' }] }),
  ...['get', 'delete'].map(verb => by(ASKER, `context.mind_concepts_${verb}`, { id: CONCEPT })),
  by(ASKER, 'context.mind_concepts_list', { type: 'Class' }),
  by(ASKER, 'context.mind_concepts_update', { id: CONCEPT, name: 'B', type: 'Enum' }),
  by(ASKER, 'context.mind_edges_create', { source: CONCEPT + 1, target: CONCEPT, relation: 'CALLS', weight: 1 }),
  by(ASKER, 'context.mind_edges_create_many', {
    edges: [{ source: CONCEPT, target: CONCEPT + 1, relation: 'x', weight: 0.1 }],
  }),
  ...['get', 'delete'].map(verb => by(ASKER, `context.mind_edges_${verb}`, { id: CONCEPT })),
  by(ASKER, 'context.mind_edges_list', { source: CONCEPT, target: CONCEPT + 1, relation: 'USES' }),
  by(ASKER, 'context.mind_edges_update', { id: CONCEPT, relation: 'y', weight: 0.3 }),
  ...['create', 'list', 'delete'].map(verb =>
    by(ASKER, `context.mind_provenance_${verb}`, { concept_id: CONCEPT, file_url: 'file:///src/login.ts' }),
  ),
  by(ASKER, 'context.mind_search', { query: 'Log', limit: 2 }),
  by(ASKER, 'context.graph_summary'),
  by(ASKER, 'context.graph_neighbors', { id: CONCEPT }),
  by(ASKER, 'context.graph_viz', { format: 'mermaid', center: CONCEPT, limit: 5 }),
  by(ASKER, 'context.extract', {
    file_url: 'file:///src/login.ts',
    concepts: [{ name: 'C', type: 'Class' }],
    edges: [{ source_name: 'C', target_name: 'C', relation: 'USES' }],
  }),
  ...[false, true].map(streamed =>
    by(
      ASKER,
      'beliefs.query',
      {
        semantic: '+fox -moon "is quick"^2 sea^0.5',
        filters: [
          'recent',
          {
            min_confidence: { overall: 0.001, corroboration: 0 },
            valid_at: ISO,
            created_after: '2020-01-01T00:00:00Z',
            created_before: ISO,
            domains_include: ['science'],
            domains_exclude: ['finance'],
            holder_ids: [ASKER],
            exclude_holders: [HIDER],
            min_holder_reputation: 0.1,
            derivation_types: ['observation', 'inference'],
            max_derivation_depth: 2,
            visibility_levels: ['Public'],
            preset: 'verified',
          },
        ],
        context: {
          trust_weight: 0.5,
          query_domains: ['science'],
          max_trust_hops: 2,
          confidence_weights: { source_reliability: 0.75 },
          ranking_weights: { trust: 1 },
        },
        options: {
          scope: SCOPE,
          limit: 5,
          offset: 1,
          include_explanation: true,
          diversity: { enabled: true, lambda: 0.4, max_per_holder: 2 },
          timeout_ms: 1000,
        },
      },
      streamed,
    ),
  ),
  by(ASKER, 'beliefs.query', { semantic: 'fox', options: { scope: SCOPE, limit: 1 } }),
  by(
    ASKER,
    'beliefs.watch',
    { query: { semantic: 'fox', options: { scope: SCOPE } }, options: { notify_on_connect: true } },
    true,
  ),
  by(ASKER, 'beliefs.explain', { belief_id: 'b1', query: { semantic: 'fox' }, other_id: 'b2' }),
  by(ASKER, 'beliefs.count', { semantic: 'fox', filters: { min_confidence: 0.1 } }),
  by(ASKER, 'beliefs.facets', { query: { semantic: 'fox' }, fields: ['domains', 'holder_id'] }),
  by(ASKER, 'beliefs.batch', { queries: [{ semantic: 'fox' }, { semantic: '"' }] }),
  by(ASKER, 'beliefs.derivation', { belief_id: 'b2', max_depth: 3 }),
  by(ASKER, 'beliefs.similar', {
    belief_id: 'b1',
    options: { limit: 3, scope: SCOPE, min_similarity: 0.1, include_same_holder: true },
  }),
  by(ASKER, 'beliefs.contradictions', { belief_id: 'b1', options: { limit: 3, scope: SCOPE, min_confidence: 0.1 } }),
  by(ASKER, 'beliefs.context_query', {
    semantic: 'fox',
    purpose: 'verify',
    max_tokens: 500,
    options: { scope: SCOPE },
  }),
  by(ASKER, 'beliefs.expand', {
    belief_id: 'b1',
    include: ['derivation', 'contradictions', 'similar'],
    max_additional_tokens: 500,
  }),
  by(ASKER, 'beliefs.put', {
    id: 'b3',
    content: 'Bees make honey.',
    confidence: { source_reliability: 0.5, method_quality: null },
    domains: ['science/biology'],
    visibility: 'federated',
    federation_ids: ['lab'],
    valid_from: ISO,
    valid_until: '2030-01-01T00:00:00Z',
    derivation: { type: 'aggregation', sources: [{ belief_id: 'b1', contribution_type: 'supporting', weight: 0.5 }] },
  }),
  by(ASKER, 'beliefs.put', { beliefs: [{ content: 'One.' }, { content: 'Two.' }] }),
  by(ASKER, 'beliefs.supersede', { belief_id: 'b1', id: 'b1+1', content: 'The fox is very quick.' }),
  by(ASKER, 'beliefs.delete', { belief_id: 'b2' }),
  by(ASKER, 'beliefs.get', { belief_id: 'b1', include_superseded: true }),
  by(ASKER, 'beliefs.get', { belief_id: `${SECRET}-b` }),
  by(ASKER, 'trust.set', {
    target: HIDER,
    trust_level: 0.9,
    domain_trust: { science: 1 },
    basis: [{ type: 'MANUAL', confidence: 1 }],
    persistent: true,
    exposure: 'exposed',
  }),
  by(ASKER, 'trust.remove', { target: 'carl' }),
  by(ASKER, 'trust.list', { after: 'a', limit: 3 }),
  by(ASKER, 'trust.compute', { target: HIDER, context: { query_domains: ['science'] } }),
  by(OWNER_NAME, 'agents.create', {
    id: 'dan',
    label: 'Dan',
    did: null,
    reputation: 0.3,
    reputation_by_domain: { science: 1 },
    trust_graph: 'g',
  }),
  by(OWNER_NAME, 'agents.list'),
  by(OWNER_NAME, 'agents.update', { id: ASKER, label: 'Ana', reputation: 0.7 }),
  by(OWNER_NAME, 'federations.create', {
    id: 'vault',
    label: 'V',
    joining: 'invited',
    results: 'aggregate',
    anonymity: 'strict',
    reputation: 0.4,
  }),
  by(HIDER, 'federations.join', { federation: 'lab' }),
  by(ASKER, 'federations.leave', { federation: 'lab' }),
  by(OWNER_NAME, 'federations.set_member', {
    federation: 'lab',
    agent: HIDER,
    status: 'active',
    role: 'member',
    permissions: ['query_beliefs'],
  }),
  by(ASKER, 'federations.list'),
  by(OWNER_NAME, 'beliefs.diagnostics', { calibrate: false }),
  by(OWNER_NAME, 'context.mind_init', { force: true }),
]
