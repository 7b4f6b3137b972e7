import { describe, expect, it } from 'vitest'
import { QueryProfileError } from '../../../../../src/lenses/chroma/errors.ts'
import { KnowledgePatchQueryProfile } from '../../../../../src/lenses/chroma/profiles/knowledge-patch.ts'
import type { ProfileView } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
import { CHROMA_BASE } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
import { Profiles } from '../../../../../src/lenses/chroma/profiles/registry.ts'
import { NEW_YEAR, QUERY, row, viewOf, type World, words } from './view.ts'

const PATH = ['ai_tools', 'claude', 'tools', 'updates']
const WORLD: World = {
  core: ['ai_tools'],
  mid: ['claude', 'tools', 'updates', ...words('m', 6)],
  outer: ['o'],
  nodes: [[...PATH, 'o', 'm0', 'm1', 'm2']],
}
const profiles = new Profiles()
const parse = (text: string, view: ProfileView = viewOf(WORLD), registry = profiles) =>
  registry.parse('knowledge_patch', text, view)
const failure = (text: string, registry = profiles) =>
  parse(text, viewOf(WORLD), registry).catch((error: unknown) => error)

describe('a structured question', () => {
  it('becomes tags, a range and filters (CQ-107, CQ-108, CQ-112)', async () => {
    const { params, reported } = await parse('ai_tools | claude : :tools | 2025-06-01 | Latest | XML')
    expect(params).toMatchObject({
      k: 100,
      temporalRange: [1_748_736_000, NEW_YEAR],
      metadataFilters: {
        paradigm: 'ai_tools',
        subdomain_path: ['ai_tools:claude:tools', 'claude:tools'],
        release_status: ['public', 'lts', 'latest'],
      },
    })
    expect(params.hashtags).toEqual(['#ai_tools', '#claude', '#tools'])
    expect(reported).toEqual({ full_path: 'ai_tools:claude:tools', release: 'Latest', format: 'xml' })
  })

  it('may write the paradigm in the path or not (CQ-108)', async () => {
    const both = await Promise.all(['claude:tools', 'ai_tools:claude:tools'].map(path => parse(`ai_tools|${path}|`)))
    expect(both[0]).toEqual(both[1])
  })

  it.each([
    ' | claude:tools | 2025-06-01',
    'ai_tools | : : | 2025',
    'ai_tools |  | 2025',
    'a | b | 2025 | latest | xml | more',
    'ai_tools | claude | soon',
    'ai_tools | claude | 2025-02-30',
    'ai_tools | claude | 2026-01-02',
    'ai_tools | claude | 2025-06-01T25:00',
    'ai_tools | claude | 12345678',
    'ai_tools | claude | 3 fortnights ago',
  ])('is QueryProfileError naming the fault (CQ-107, CQ-110): %s', async text => {
    const error = await failure(text)
    expect(error).toBeInstanceOf(QueryProfileError)
    expect(error).toMatchObject({ details: { profile: 'knowledge_patch', field: expect.stringMatching(/^[a-z]+$/) } })
  })

  it('raises segments that are not assigned, all of them (CQ-108)', async () => {
    expect(await failure('ai_tools | Rust:claude:#GO:go | ')).toMatchObject({
      name: 'UnknownHashtagError',
      details: { hashtags: ['#rust', '#go'] },
    })
  })

  it.each([
    ['', 1_735_689_600],
    ['2025', 1_735_689_600],
    ['2025-06', 1_748_736_000],
    ['2025-06-01', 1_748_736_000],
    ['2025-06-01T12:00', 1_748_779_200],
    ['2025-06-01T12:00:00Z', 1_748_779_200],
    ['2025-06-01T12:00:00.9+02:00', 1_748_772_000],
    ['2 hours ago', NEW_YEAR - 7_200],
    ['1 month ago', NEW_YEAR - 30 * 86_400],
    ['1 YEARS AGO', NEW_YEAR - 365 * 86_400],
    ['now', NEW_YEAR],
    ['today', NEW_YEAR],
    ['yesterday', NEW_YEAR - 86_400],
    ['1748736000', 1_748_736_000],
    ['999999999', 999_999_999],
  ])('reads the cutoff %j (CQ-110)', async (text, cutoff) => {
    expect((await parse(`ai_tools | claude | ${text}`)).params.temporalRange).toEqual([cutoff, NEW_YEAR])
  })

  it.each([
    ['', ['public', 'lts', 'latest']],
    ['LATEST', ['public', 'lts', 'latest']],
    ['Beta', ['beta', 'public', 'lts']],
    ['v3.14', ['public']],
    ['nightly', ['public']],
  ])('reads the release %j (CQ-111)', async (text, statuses) => {
    const { params } = await parse(`ai_tools | claude | | ${text}`)
    expect(params.metadataFilters?.['release_status']).toEqual(statuses)
  })

  it('is filled with the implicit tags of its paradigm that are assigned (CQ-109)', async () => {
    const implicitTags = { ai_tools: ['#m5', '#not_assigned', '#o'], other: ['#m3'] }
    const own = new Profiles({ profiles: { knowledge_patch: new KnowledgePatchQueryProfile({ implicitTags }) } })
    const { params } = await parse('ai_tools | claude | ', viewOf(WORLD), own)
    expect(params.hashtags).toEqual(['#ai_tools', '#claude', '#m5', '#o'])
  })

  it('is left as it is when its path is enough (CQ-109)', async () => {
    const world: World = { core: ['p'], mid: words('m', 8), outer: ['o'], nodes: [] }
    const implicitTags = { p: ['#m7'] }
    const own = new Profiles({ profiles: { knowledge_patch: new KnowledgePatchQueryProfile({ implicitTags }) } })
    const { params } = await parse(`p | ${words('m', 6).join(':')}:o | `, viewOf(world), own)
    expect(params.hashtags).toHaveLength(8)
  })
})

describe('a plain question', () => {
  it('has the grammar of the default profile and 100 results (CQ-113)', async () => {
    const { params } = await parse('recent claude tools')
    expect(params).toMatchObject({ k: 100, temporalRange: [NEW_YEAR - 7 * 86_400, NEW_YEAR] })
    expect(params.metadataFilters).toBeUndefined()
    expect((await parse('top 3 claude | tools')).params.k).toBe(3)
  })

  it.each([
    ['claude latest and beta', ['public', 'lts', 'latest']],
    ['Beta or latest claude', ['beta', 'public', 'lts']],
    ['claude v3.14', ['public']],
  ])('filters by the first release it names (CQ-113): %s', async (text, statuses) => {
    expect((await parse(text)).params.metadataFilters).toEqual({ release_status: statuses })
  })

  it.each([
    ['claude v3.14.', 'v3.14'],
    ['claude v3.14-rc.1, please', 'v3.14-rc.1'],
    ['claude v2', 'v2'],
  ])('reports a release without the punctuation behind it (CQ-111, CQ-113): %s', async (text, release) => {
    expect((await parse(text)).reported).toMatchObject({ release })
  })

  it('is an error for a strict profile (CQ-116)', async () => {
    const strict = new Profiles({ profiles: { knowledge_patch: new KnowledgePatchQueryProfile({ strict: true }) } })
    expect(await failure('recent claude | tools', strict)).toBeInstanceOf(QueryProfileError)
    await expect(parse('ai_tools | claude | ', viewOf(WORLD), strict)).resolves.toBeDefined()
  })
})

describe('the rows', () => {
  const post = async (rows: readonly ReturnType<typeof row>[], state?: unknown) =>
    (await profiles.postProcess('knowledge_patch', rows, { query: QUERY, state, now: NEW_YEAR })).rows
  const STATE = { full_path: 'ai_tools:claude', release: '', format: '' }

  it('of exactly the path asked for stay, column before metadata (CQ-114)', async () => {
    const rows = [
      row({ entry_id: 'column', paradigm: 'ai_tools', subdomain_path: 'claude' }),
      row({ entry_id: 'whole', paradigm: 'ai_tools', subdomain_path: 'ai_tools: claude' }),
      row({ entry_id: 'metadata', metadata: { paradigm: 'ai_tools', subdomain_path: 'claude' } }),
      row({ entry_id: 'beaten', subdomain_path: 'x', metadata: { paradigm: 'ai_tools', subdomain_path: 'claude' } }),
      row({ entry_id: 'longer', paradigm: 'ai_tools', subdomain_path: 'claude:tools' }),
      row({ entry_id: 'other', paradigm: 'zoo', subdomain_path: 'claude' }),
      row({ entry_id: 'none' }),
    ]
    expect((await post(rows, STATE)).map(one => one.entry_id)).toEqual(['column', 'whole', 'metadata'])
    expect(await post(rows, { ...STATE, full_path: null })).toHaveLength(rows.length)
    expect(await post(rows)).toHaveLength(rows.length)
  })

  it('of two questions at once do not meet (CQ-114)', async () => {
    const rows = ['claude', 'tools'].map(path => row({ entry_id: path, paradigm: 'ai_tools', subdomain_path: path }))
    const both = await Promise.all(
      ['claude', 'tools'].map(path => post(rows, { ...STATE, full_path: `ai_tools:${path}` })),
    )
    expect(both.map(answer => answer.map(one => one.entry_id))).toEqual([['claude'], ['tools']])
  })

  it('carry the share of each layout trait (CQ-115)', async () => {
    const rows = [
      row({ layout_traits: { header_body: 0.6, list_format: 0.4 } }),
      row({ layout_traits: { header_body: 1 } }),
    ]
    for (const one of await post(rows)) {
      const traits = one['_aggregated_layout_traits'] as Record<string, number>
      expect(Object.keys(traits)).toEqual(['header_body', 'list_format'])
      expect(traits['header_body']).toBeCloseTo(0.8, 12)
      expect(traits['list_format']).toBeCloseTo(0.2, 12)
    }
  })

  it('count only usable traits, from columns, metadata or JSON text (CQ-115, CQ-117)', async () => {
    const rows = [
      row({ layout_traits: '{"a": 1, "b": -5, "c": "2"}' }),
      row({ metadata: { layout_traits: { a: 1, d: 2 } } }),
      row({ layout_traits: 'not json' }),
      row({ layout_traits: [9] }),
    ]
    expect((await post(rows))[0]?.['_aggregated_layout_traits']).toEqual({ a: 0.5, d: 0.5 })
    expect((await post([row()]))[0]?.['_aggregated_layout_traits']).toEqual({})
    expect((await post([row({ layout_traits: { a: 0 } })]))[0]?.['_aggregated_layout_traits']).toEqual({})
  })
})

it('ships with the columns it reads (CQ-117)', () => {
  expect(CHROMA_BASE.columns).toEqual({
    paradigm: 'text',
    subdomain_path: 'text',
    release_status: 'text',
    relevance_date: 'text',
    source_url: 'text',
    layout_traits: 'json',
  })
})
