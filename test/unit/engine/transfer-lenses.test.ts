/** Export and import over all lenses: what comes out of an empty home is what went in, and answers are the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Engine, ExportLine } from '../../../src/engine/engine.ts'
import { keysOf } from '../../../src/identity/keys.ts'
import { beliefsLens } from '../../../src/lenses/beliefs/beliefs-lens.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { openTestEngine } from '../../support/engines.ts'
import { seededBytes } from '../../support/seeded.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

type Json = Record<string, unknown>

const open = (): Promise<Engine> => openTestEngine({ embedder: openToyEmbedder() })

function call(engine: Engine, name: string, viewer: string, input: Json = {}): Promise<unknown> {
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, name, input, context)
}

async function exported(engine: Engine): Promise<readonly ExportLine[]> {
  const lines: ExportLine[] = []
  for await (const line of engine.export()) lines.push(line)
  return lines
}

async function imported(lines: readonly unknown[], engine?: Engine): Promise<Engine> {
  const target = engine ?? (await open())
  const wire = JSON.parse(JSON.stringify(lines)) as readonly unknown[]
  await target.import(
    (async function* () {
      yield* wire
    })(),
  )
  await target.embedded()
  return target
}

const FOLDER = mkdtempSync(join(tmpdir(), 'querent-test-'))
writeFileSync(join(FOLDER, 'a.md'), '---\ntags: [red]\n---\n# Kettle\n\nThe kettle boils.\n')
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

const VIEWERS = ['owner', 'ann', 'ben', 'eve'] as const
const WORDS = ['kettle', 'lamp', 'kiln', 'tea', 'river', 'glass']
const TAGS = {
  Core: ['core1', 'core2'],
  Mid: Array.from({ length: 10 }, (_, at) => `mid${at}`),
  Outer: ['outer1', 'outer2'],
}
const COLOURS = [0, 1, 2].map(at => ['core1', ...TAGS.Mid.slice(at, at + 7), `outer${1 + (at % 2)}`])

async function world(): Promise<Engine> {
  const engine = await open()
  for (const id of ['ann', 'ben']) await call(engine, 'agents.create', 'owner', { id, reputation: 0.4 })
  await call(engine, 'federations.create', 'owner', { id: 'lab' })
  await call(engine, 'federations.set_member', 'owner', { federation: 'lab', agent: 'ann' })
  const assignments = Object.entries(TAGS).flatMap(([zone, tags]) => tags.map(hashtag => ({ hashtag, zone })))
  await call(engine, 'chroma.assign', 'owner', { assignments })
  return engine
}

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map(words => words.join(' '))
const viewer = fc.constantFrom(...VIEWERS.slice(0, 3))
const audience = fc.constantFrom({}, { visibility: 'public' }, { visibility: 'shared', federations: ['lab'] })
const visible = fc.constantFrom(
  { visibility: 'private' },
  { visibility: 'public' },
  { visibility: 'federated', federation_ids: ['lab'] },
)
const level = fc.integer({ min: 0, max: 10 }).map(tenths => tenths / 10)
const id = fc.constantFrom('1', '2', '3')

interface Act {
  readonly name: string
  readonly by: string
  readonly input: Json
}

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ by: viewer, id, content: text, more: audience }).map(({ by, id: name, content, more }) => ({
    ...{ name: 'put', by },
    input: { entries: [{ id: name, content, tags: ['t'], collection: 'items', metadata: { n: 1 }, ...more }] },
  })),
  fc.record({ by: viewer, id, content: text, more: audience }).map(({ by, id: name, content, more }) => ({
    ...{ name: 'conversations.remember', by },
    input: { text: content, id: name, conversation: 'c', speaker: 'Mira', ...more },
  })),
  fc.record({ by: viewer, target: viewer, trust_level: level }).map(({ by, ...input }) => ({
    ...{ name: 'trust.set', by },
    input: { ...input, domain_trust: { science: input.trust_level } },
  })),
  fc.record({ by: viewer, content: text, more: visible, id }).map(({ by, content, more, id: name }) => ({
    ...{ name: 'beliefs.put', by },
    input: { ...more, content, id: `b${name}`, domains: ['science'], confidence: { source_reliability: 0.8 } },
  })),
  fc.record({ by: viewer, content: text, id }).map(({ by, content, id: name }) => ({
    ...{ name: 'beliefs.supersede', by },
    input: { belief_id: `b${name}`, content, confidence: { source_reliability: 0.5 } },
  })),
  fc.record({ by: viewer, id }).map(({ by, id: name }) => ({
    ...{ name: 'beliefs.delete', by },
    input: { belief_id: `b${name}` },
  })),
  fc.constant({
    name: 'add',
    by: 'owner',
    input: { paths: [FOLDER], tags: ['file'], visibility: 'public', wait: false },
  }),
  fc.constant({ name: 'chroma.decay', by: 'owner', input: {} }),
  fc
    .record({ by: viewer, label: text, hashtags: fc.constantFrom(...COLOURS), more: audience })
    .map(({ by, label, hashtags, more }) => ({
      ...{ name: 'chroma.store', by },
      input: { hashtags, label, content: label, ...more },
    })),
  fc.record({ by: viewer, hashtags: fc.constantFrom(...COLOURS) }).map(({ by, hashtags }) => ({
    ...{ name: 'chroma.query', by },
    input: { hashtags, k: 2 },
  })),
  fc.record({ by: viewer, name: text }).map(({ by, name }) => ({
    ...{ name: 'context.mind_concepts_create', by },
    input: { name, type: 'Idea' },
  })),
  fc
    .record({ by: viewer, source: fc.integer({ min: 1, max: 3 }), target: fc.integer({ min: 1, max: 3 }) })
    .map(({ by, ...input }) => ({
      ...{ name: 'context.mind_edges_create', by },
      input: { ...input, relation: 'USES' },
    })),
  fc.record({ by: viewer, query: text }).map(({ by, query }) => ({ name: 'query', by, input: { text: query } })),
  fc.record({ by: viewer, id }).map(({ by, id: name }) => ({ name: 'delete', by, input: { ids: [name] } })),
)

/** Names of acts that were done, and not refused. */
const done = new Set<string>()

/** An act that its viewer may not do, or that finds nothing, changes nothing. */
async function play(engine: Engine, acts: readonly Act[]): Promise<void> {
  for (const { name, by, input } of acts) {
    try {
      const answer = (await call(engine, name, by, input)) as Json | null
      if (answer?.['status'] !== 'error') done.add(name)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
  await engine.embedded()
}

/** What everybody is answered. Left out: what a store makes for itself (cursors, keys, pseudonyms) and how long it took. */
async function answers(engine: Engine): Promise<readonly unknown[]> {
  const given: unknown[] = []
  for (const by of VIEWERS) {
    const ask = async (name: string, input: Json) => {
      const answer = await call(engine, name, by, input).catch((error: unknown) => ({ error: String(error) }))
      given.push([by, name, scrubbed(answer)])
    }
    for (const word of ['kettle', 'tea river']) {
      await ask('query', { text: word, any: true, explain: true })
      await ask('conversations.query', { text: word })
      await ask('beliefs.query', { semantic: word, options: { include_explanation: true } })
      await ask('context.query', { query: word })
      await ask('collections.query', { query: word, collections: ['items'] })
      await ask('beliefs.context_query', { semantic: word, purpose: 'answer', max_tokens: 500 })
    }
    await ask('list', { order: 'id', limit: 100 })
    for (const name of ['1', 'c/1']) await ask('get', { id: name })
    for (const target of VIEWERS) await ask('trust.compute', { target })
    await ask('trust.list', {})
    await ask('agents.list', {})
    await ask('federations.list', {})
    await ask('chroma.query', { hashtags: COLOURS[0], update_access: false })
    await ask('chroma.export', {})
    await ask('chroma.hashtags', {})
    await ask('status', {})
    await ask('context.mind_concepts_list', {})
    await ask('beliefs.get', { belief_id: 'b1', include_history: true })
  }
  return given
}

const OWN = new Set([
  'next_cursor',
  'cursor',
  'did',
  'signature',
  'duration_ms',
  'durationMs',
  'timestamp',
  'query_time_ms',
  'ms',
  'indexes',
  'trace',
])

function scrubbed(answer: unknown): unknown {
  const texts = JSON.stringify(answer, (key, value) => (OWN.has(key) ? undefined : value))
  return JSON.parse(texts.replaceAll(/holder:[\w-]{26}/g, 'holder:…').replaceAll(/did:key:\w+/g, 'did:key:…'))
}

/** One of each, so that none is left out by chance. */
const EVERY_ACT: readonly Act[] = [
  ...['context.mind_init', 'context.body_init'].map(name => ({ name, by: 'owner', input: {} })),
  {
    name: 'put',
    by: 'ann',
    input: { entries: [{ id: '1', content: 'kettle', collection: 'items', visibility: 'public' }] },
  },
  { name: 'conversations.remember', by: 'owner', input: { text: 'tea', id: '1', conversation: 'c' } },
  { name: 'trust.set', by: 'owner', input: { target: 'ann', trust_level: 0.7 } },
  ...['b1', 'b2'].map(id => ({
    name: 'beliefs.put',
    by: 'ann',
    input: { id, content: 'kettle', visibility: 'federated', federation_ids: ['lab'] },
  })),
  { name: 'beliefs.supersede', by: 'ann', input: { belief_id: 'b1', id: 'b3', content: 'the kettle is hot' } },
  { name: 'beliefs.delete', by: 'ann', input: { belief_id: 'b2' } },
  { name: 'add', by: 'owner', input: { paths: [FOLDER], tags: ['file'], visibility: 'public', wait: false } },
  { name: 'chroma.store', by: 'owner', input: { hashtags: COLOURS[0], label: 'x', content: 'x' } },
  { name: 'chroma.query', by: 'owner', input: { hashtags: COLOURS[0], k: 2 } },
  { name: 'chroma.decay', by: 'owner', input: {} },
  ...['kettle', 'tea'].map(name => ({
    name: 'context.mind_concepts_create',
    by: 'owner',
    input: { name, type: 'Idea' },
  })),
  { name: 'context.mind_edges_create', by: 'owner', input: { source: 1, target: 2, relation: 'USES' } },
  { name: 'query', by: 'owner', input: { text: 'kettle' } },
  { name: 'delete', by: 'ann', input: { ids: ['1'] } },
]

const isLong = process.env['QUERENT_LONG'] === '1'

describe('a store of all lenses, exported and imported into an empty home,', () => {
  it('is exported as the same lines, and answers everybody the same', {
    timeout: isLong ? 3_600_000 : 600_000,
  }, async () => {
    const property = fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 30 }), async acts => {
      const from = await world()
      await play(from, acts)
      const lines = await exported(from)
      const to = await imported(lines)
      expect(await exported(to)).toEqual(lines)
      expect(await answers(to)).toEqual(await answers(from))
      await Promise.all([from.close(), to.close()])
    })
    await fc.assert(property, { numRuns: isLong ? 400 : 3, examples: [[EVERY_ACT]] })
    expect(done).toEqual(new Set(EVERY_ACT.map(({ name }) => name)))
  })

  it('keeps trust that everybody has stated, and lets everybody state more', async () => {
    const from = await world()
    await call(from, 'trust.set', 'owner', { target: 'ann', trust_level: 0.6 })
    await call(from, 'trust.set', 'ann', { target: 'ben', trust_level: 0.9 })
    const to = await imported(await exported(from))
    expect(await call(to, 'trust.compute', 'owner', { target: 'ann' })).toMatchObject({ trust: 0.6, kind: 'direct' })
    expect(await call(to, 'trust.compute', 'ann', { target: 'ben' })).toMatchObject({ trust: 0.9, kind: 'direct' })
    for (const by of ['owner', 'ann', 'ben']) await call(to, 'trust.set', by, { target: 'eve', trust_level: 0.2 })
    const { findings } = await to.doctor()
    expect(findings.filter(({ check, ok }) => check === 'lens beliefs' && !ok)).toEqual([])
  })

  it('knows its files and what was given with them', async () => {
    const from = await open()
    await call(from, 'add', 'owner', { paths: [FOLDER], collection: 'team', tags: ['file'], visibility: 'public' })
    const to = await imported(await exported(from))
    expect(await call(to, 'add', 'owner', { paths: [FOLDER] })).toMatchObject({ added: 0, updated: 0, unchanged: 1 })
    expect(await exported(to)).toEqual(await exported(from))
  })

  it('holds no key that a store has made', async () => {
    const from = await world()
    await call(from, 'trust.set', 'ann', { target: 'ben', trust_level: 0.9 })
    const { agents } = (await call(from, 'agents.list', 'owner')) as { agents: { did: string }[] }
    const text = JSON.stringify(await exported(from))
    for (const { did } of agents) expect(text).not.toContain(did)
  })

  it('holds its vocabulary: nodes can be stored and found by hashtags at once', async () => {
    const from = await world()
    await call(from, 'chroma.store', 'owner', { hashtags: COLOURS[0], label: 'x', content: 'x' })
    // Other random bytes than the first: so what is stored in both has other ids.
    const empty = await openTestEngine({ embedder: openToyEmbedder(), random: seededBytes(1) })
    const to = await imported(await exported(from), empty)
    expect(await call(to, 'chroma.hashtags', 'owner')).toEqual(await call(from, 'chroma.hashtags', 'owner'))
    await call(to, 'chroma.store', 'owner', { hashtags: COLOURS[1], label: 'y', content: 'y' })
    const found = await call(to, 'chroma.query', 'owner', { hashtags: COLOURS[0] })
    expect(JSON.stringify(found)).toContain('"x"')
  })
})

describe('an import into a home that is not empty', () => {
  const own = keysOf(new Uint8Array(32).fill(7)).did
  const other = keysOf(new Uint8Array(32).fill(8)).did
  const agent = (did: string | null, name = 'ann') => ({
    ...{ type: 'row', table: 'agents' },
    row: {
      ...{ id: name, label: null, created_at: 1, did },
      ...{ reputation: null, reputation_by_domain: null, trust_graph: null },
    },
  })
  const edge = (signature: string) => ({
    ...{ type: 'row', table: 'beliefs_trust' },
    row: {
      ...{ owner: 'ann', target: 'eve', level: 1, domains: '{}', basis: '[]', created_at: 1, updated_at: 1 },
      ...{ persistent: 0, exposure: 'private', signature, last_used: 1, used_before: null, checked: null },
    },
  })

  it('replaces nobody’s key, whether this home keeps it or not', async () => {
    const keeps = await world()
    await expect(imported([agent(other)], keeps)).rejects.toThrow(/line 1: did: .*ann/)
    const engine = await open()
    await call(engine, 'agents.create', 'owner', { id: 'ann', did: own })
    await expect(imported([agent(other)], engine)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(imported([agent(own, 'eve')], engine)).rejects.toThrow(/no other agent here/)
    await imported([agent(own)], engine)
    await imported([agent(null)], engine)
    expect(JSON.stringify(await call(engine, 'agents.list', 'owner'))).toContain(own)
  })

  it.each(['', 'AAAA'])(
    'uses no statement of an agent whose key is elsewhere without that agent’s signature (%j)',
    async signature => {
      const engine = await open()
      await call(engine, 'agents.create', 'owner', { id: 'ann', did: own })
      const lines = JSON.parse(JSON.stringify([edge(signature)])) as readonly unknown[]
      const answer = await engine.import(
        (async function* () {
          yield* lines
        })(),
      )
      expect(answer.warnings).toEqual([expect.stringContaining('1 statement of trust is not used')])
      expect(await call(engine, 'trust.compute', 'ann', { target: 'eve' })).toMatchObject({ kind: 'default' })
      const finding = (await engine.doctor()).findings.find(({ check, ok }) => check === 'lens beliefs' && !ok)
      expect(finding?.message).toContain('ann')
      expect(finding?.help).toContain('querent trust set')
    },
  )

  it('tells followers in the same process', async () => {
    const engine = await world()
    expect(await call(engine, 'trust.compute', 'ann', { target: 'eve' })).toMatchObject({ kind: 'default' })
    await imported([edge('')], engine)
    expect(await call(engine, 'trust.compute', 'ann', { target: 'eve' })).toMatchObject({ kind: 'direct' })
  })

  it('refuses a hashtag on another anchor, or another hashtag on an anchor', async () => {
    const engine = await world()
    const lines = (await exported(engine)).filter(line => line.type === 'row' && line.table === 'chroma_hashtags')
    await imported(lines, engine)
    const row = (anchor: number, hashtag: string) => ({
      type: 'row',
      table: 'chroma_hashtags',
      row: { anchor, hashtag },
    })
    for (const wrong of [row(1, '#other'), row(900, '#core1'), row(99_999, '#far')]) {
      await expect(imported([wrong], engine)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
    await imported([row(900, '#new')], engine)
    expect(JSON.stringify(await call(engine, 'chroma.hashtags', 'owner'))).toContain('#new')
  })

  it('takes an older export: rows of logs that concern one store are passed over', async () => {
    const engine = await open()
    const line = { type: 'row', table: 'beliefs_revisions', row: { name: 'trust', revision: 99 } }
    const source = (async function* () {
      yield line
    })()
    expect(await engine.import(source)).toEqual({ entries: 0, rows: 0, warnings: [] })
  })

  it('asks a lens that was not loaded too', async () => {
    const from = await world()
    await call(from, 'trust.set', 'owner', { target: 'ann', trust_level: 0.6 })
    const lines = await exported(from)
    const plain = await openTestEngine({ onlyLenses: ['default'] })
    await imported(lines, plain)
    expect(await exported(plain)).toEqual(lines)
    expect(beliefsLens.transfer).toBeDefined()
  })
})
