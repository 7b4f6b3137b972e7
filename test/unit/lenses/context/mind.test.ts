import { describe, expect } from 'vitest'
import { EDGES, PROVENANCE } from '../../../../src/lenses/context/tables.ts'
import { openCodeFolder } from '../../../support/code-folder.ts'
import { TOY_KEY } from '../../../support/toy-embedder.ts'
import { it, openWorld } from './world.ts'

const ann = { id: 'ann' }
const notFound = (field: string, message = 'concept not found') => ({
  errors: { [field]: [{ code: 'not_found', message }] },
})

describe('the parts (CX-047, CX-056)', () => {
  it('are made once, each by itself', async () => {
    await using world = await openWorld({ empty: true })
    expect(await world.call('/mind/concepts/list')).toMatchObject({ errors: { mind: [{ code: 'not_initialized' }] } })
    expect(await world.do('/mind/init')).toMatchObject({ created: true, schema_version: expect.any(String) })
    expect(await world.do('/mind/init')).toMatchObject({ path: expect.any(String), created: false })
    expect(await world.call('/context/query', { query: 'a' })).toMatchObject({
      errors: { body: [{ code: 'not_initialized' }] },
    })
    expect(await world.do('/body/init')).toMatchObject({ path: expect.any(String), created: true })
    expect(await world.do('/body/init')).toMatchObject({ created: false })
    expect(await world.do('/context/query', { query: 'a' })).toMatchObject({ concepts: [] })
  })

  it('are emptied by force, and ids go on', async ({ world }) => {
    await world.concepts('A', 'B')
    await world.edges([1, 2])
    expect(await world.do('/mind/init', { force: true })).toMatchObject({ created: true })
    expect(await world.do('/graph/summary')).toMatchObject({ concepts: { total: 0 }, edges: { total: 0 } })
    await world.concepts('C')
    expect(await world.do('/mind/concepts/list')).toMatchObject({ concepts: [{ id: 3, name: 'C' }] })
  })
})

describe('concepts (CX-050)', () => {
  it('are created, read, changed, listed and deleted', async ({ world }) => {
    const made = await world.do('/mind/concepts/create', { name: 'AuthService', type: 'Entity' })
    expect(made).toStrictEqual({ id: 1, name: 'AuthService', type: 'Entity' })
    expect(await world.do('/mind/concepts/create', { name: 'AuthService', type: 'Class' })).toMatchObject({ id: 2 })
    expect(await world.do('/mind/concepts/update', { id: 2, name: 'Login' })).toEqual({
      ...{ id: 2, name: 'Login', type: 'Class' },
    })
    expect(await world.do('/mind/concepts/get', { id: 2 })).toEqual({ id: 2, name: 'Login', type: 'Class' })
    expect(await world.do('/mind/concepts/list', { type: 'Entity' })).toEqual({ concepts: [made], total: 1 })
    expect(await world.do('/mind/concepts/delete', { id: 2 })).toEqual({ id: 2, deleted: true })
    expect(await world.call('/mind/concepts/get', { id: 2 })).toMatchObject(notFound('id'))
    expect(await world.do('/mind/concepts/create', { name: 'C', type: 'Entity' })).toMatchObject({ id: 3 })
  })

  it.each([
    [{}, { name: 'required', type: 'required' }],
    [{ name: ' ', type: 'T' }, { name: 'required' }],
    [{ name: 'a\ud800', type: 'T' }, { name: 'invalid' }],
    [{ name: ['a'], type: 'T' }, { name: 'invalid' }],
  ])('need a name and a type: %j', async (params, codes) => {
    await using world = await openWorld()
    const { errors } = await world.call('/mind/concepts/create', params)
    const reported = Object.entries(errors ?? {}).map(([field, details]) => [
      field,
      (details as readonly { code: string }[])[0]?.code,
    ])
    expect(Object.fromEntries(reported)).toEqual(codes)
  })

  it.each([[0], [-1], [1.5], ['1'], [Number.MAX_VALUE]])('have no id %j', async id => {
    await using world = await openWorld()
    expect(await world.call('/mind/concepts/get', { id })).toMatchObject({ errors: { id: [{ code: 'invalid' }] } })
  })

  it('are entries that any question finds, with what they are embedded by (CX-024)', async ({ embedded: world }) => {
    await world.concepts('UserAuthService')
    const { items } = await world.engine.query({ text: 'auth', mode: 'words', any: true })
    expect(items).toMatchObject([{ kind: 'concept', title: 'UserAuthService', collection: 'concepts' }])
    const { content } = await world.engine.get({ id: items[0]?.id ?? '' })
    expect(content).toBe('User Auth Service\nEntity')
    const { store } = world.host
    expect(store.chunksWithoutVector(TOY_KEY, 10)).toEqual([])
    await world.do('/mind/concepts/update', { id: 1, name: 'FoxHole' })
    expect(store.chunksWithoutVector(TOY_KEY, 10)).toEqual([])
    expect(await world.do('/mind/search', { query: 'vixen' })).toMatchObject({ matches: [{ id: 1 }] })
  })

  it('stay the indexer’s when they are renamed: it gives them back their name when it reads them again', async () => {
    const text = '/** Says b. */\nexport function b(): number { return 1 }\n'
    await using code = await openCodeFolder({ 'b.ts': text })
    await code.do('/context/index')
    const id = code.ids().get('Function b b.ts')
    const before = await code.do('/context/definition', { name: 'b' })
    await code.do('/mind/concepts/update', { id })
    expect(await code.do('/context/definition', { name: 'b' })).toEqual(before)
    await code.do('/mind/concepts/update', { id, name: 'the b' })
    expect(code.concepts()).toEqual(['Function the b b.ts', 'Module b.ts b.ts'])
    code.write({ 'b.ts': `${text}// more\n` })
    await code.do('/context/index')
    expect(code.concepts()).toEqual(['Function b b.ts', 'Module b.ts b.ts'])
    expect(code.ids().get('Function b b.ts')).toBe(id)
    expect(code.relations()).toContain('Function b b.ts DEFINED_IN Module b.ts b.ts 1')
  })

  it('take their links and provenance along (CX-055)', async ({ world }) => {
    await world.concepts('A', 'B', 'C')
    await world.edges([1, 2], [2, 3], [3, 1])
    await world.do('/mind/provenance/create', { concept_id: 2, file_url: 'file:///b.ts' })
    await world.do('/mind/concepts/delete', { id: 2 })
    const { store } = world.host
    expect(store.table(EDGES).scan()).toMatchObject([{ source: 3, target: 1 }])
    expect(store.table(PROVENANCE).scan()).toEqual([])
    expect(await world.do('/graph/neighbors', { id: 1 })).toMatchObject({ neighbors: { total: 1 } })
  })
})

describe('edges (CX-051)', () => {
  it('are created, read, changed, listed and deleted', async ({ world }) => {
    await world.concepts('A', 'B')
    const made = await world.do('/mind/edges/create', { source: 1, target: 2, relation: 'CALLS' })
    expect(made).toStrictEqual({ id: 1, source: 1, target: 2, relation: 'CALLS', weight: 1 })
    expect(await world.do('/mind/edges/update', { id: 1, weight: 0.5 })).toEqual({ ...made, weight: 0.5 })
    expect(await world.do('/mind/edges/get', { id: 1 })).toEqual({ ...made, weight: 0.5 })
    expect(await world.do('/mind/edges/list', { source: 2 })).toEqual({ edges: [], total: 0 })
    expect(await world.do('/mind/edges/list', { target: 2, relation: 'CALLS' })).toMatchObject({ total: 1 })
    expect(await world.do('/mind/edges/delete', { id: 1 })).toEqual({ id: 1, deleted: true })
    expect(await world.call('/mind/edges/get', { id: 1 })).toMatchObject(notFound('id', 'edge not found'))
    expect(await world.do('/mind/edges/create', { source: 1, target: 2, relation: 'X' })).toMatchObject({ id: 2 })
  })

  it('have ends that exist', async ({ world }) => {
    await world.concepts('A')
    const draft = { relation: 'CALLS' }
    expect(await world.call('/mind/edges/create', { ...draft, source: 9, target: 1 })).toMatchObject(notFound('source'))
    expect(await world.call('/mind/edges/create', { ...draft, source: 1, target: 9 })).toMatchObject(notFound('target'))
    const { errors } = await world.call('/mind/edges/create-many', {
      edges: [
        { ...draft, source: 1, target: 1 },
        { ...draft, source: 8, target: 9 },
      ],
    })
    expect(errors).toMatchObject({
      edges: { '1': { source: [{ code: 'not_found' }], target: [{ code: 'not_found' }] } },
    })
    expect(await world.do('/mind/edges/list')).toMatchObject({ total: 0 })
  })

  it.each([[-1], ['1'], [Number.POSITIVE_INFINITY]])('have no weight %j', async weight => {
    await using world = await openWorld()
    await world.concepts('A')
    expect(await world.call('/mind/edges/create', { source: 1, target: 1, relation: 'R', weight })).toMatchObject({
      errors: { weight: [{ code: 'invalid' }] },
    })
  })
})

describe('provenance (CX-052)', () => {
  it('is linked once, listed, and unlinked by concept or by file', async ({ world }) => {
    await world.concepts('A', 'B')
    const link = (concept_id: number, file_url: string) => world.do('/mind/provenance/create', { concept_id, file_url })
    await link(1, 'file:///a.ts')
    await link(1, 'file:///a.ts')
    await link(2, 'file:///a.ts')
    await link(2, 'file:///b.ts')
    expect(await world.do('/mind/provenance/list', { file_url: 'file:///a.ts' })).toEqual({
      links: [
        { concept_id: 1, file_url: 'file:///a.ts' },
        { concept_id: 2, file_url: 'file:///a.ts' },
      ],
      total: 2,
    })
    expect(await world.do('/mind/provenance/list', { concept_id: 2 })).toMatchObject({ total: 2 })
    const drop = (params: object) => world.do('/mind/provenance/delete', params)
    expect(await drop({ concept_id: 2, file_url: 'file:///b.ts' })).toEqual({ deleted: 1 })
    expect(await drop({ file_url: 'file:///a.ts' })).toEqual({ deleted: 2 })
    expect(await drop({ file_url: 'file:///a.ts' })).toEqual({ deleted: 0 })
    expect(await world.call('/mind/provenance/create', { concept_id: 9, file_url: 'file:///a' })).toMatchObject(
      notFound('concept_id'),
    )
    expect(await world.call('/mind/provenance/create', { concept_id: 1, file_url: 'http://a' })).toMatchObject({
      errors: { file_url: [{ code: 'invalid' }] },
    })
  })
})

describe('the graph (CX-053, CX-054)', () => {
  it('is summed up, looked around in, and drawn', async ({ world }) => {
    await world.concepts('A', 'B', 'C')
    await world.edges([1, 2, 'CALLS', 0.5], [3, 1, 'USES'], [1, 3, 'CALLS'])
    expect(await world.do('/graph/summary')).toEqual({
      concepts: { total: 3, by_type: { Entity: 3 } },
      edges: { total: 3, by_relation: { CALLS: 2, USES: 1 } },
    })
    expect(await world.do('/graph/neighbors', { id: 1 })).toEqual({
      concept: { id: 1, name: 'A', type: 'Entity' },
      neighbors: {
        incoming: [{ id: 3, name: 'C', type: 'Entity', edge_id: 2, relation: 'USES', weight: 1 }],
        outgoing: [
          { id: 2, name: 'B', type: 'Entity', edge_id: 1, relation: 'CALLS', weight: 0.5 },
          { id: 3, name: 'C', type: 'Entity', edge_id: 3, relation: 'CALLS', weight: 1 },
        ],
        total: 3,
      },
    })
    expect(await world.do('/graph/viz')).toMatchObject({
      output:
        '[A] Entity\n├── CALLS → [B] Entity\n└── CALLS → [C] Entity\n[B] Entity\n└── (no outgoing edges)\n[C] Entity\n└── USES → [A] Entity',
      truncated: false,
    })
    expect(await world.do('/graph/viz', { format: 'mermaid', limit: 2 })).toMatchObject({
      output: 'graph TD\n  1["A (Entity)"]\n  2["B (Entity)"]\n  1 -->|CALLS| 2',
      ...{ nodes: 2, truncated: true },
    })
  })

  it('draws nothing of nothing, and no name breaks out of its node', async ({ world }) => {
    expect(await world.do('/graph/viz')).toMatchObject({ output: '(empty graph)' })
    await world.concepts('a"]\n  9["b')
    const { output } = await world.do('/graph/viz', { format: 'mermaid' })
    expect(output).toBe('graph TD\n  1["a#34;] 9[#34;b (Entity)"]')
  })
})

describe('viewers', () => {
  it('see their own and what is public; edges only where they see both ends', async ({ world }) => {
    await world.concepts('Secret')
    const { id: open } = await world.do('/mind/concepts/create', { name: 'Open', type: 'T', visibility: 'public' })
    const { id: mine } = await world.do('/mind/concepts/create', { name: 'Mine', type: 'T' }, ann)
    await world.edges([1, open as number], [open as number, 1])
    const { concepts } = await world.do('/mind/concepts/list', {}, ann)
    expect((concepts as { id: number }[]).map(({ id }) => id).toSorted()).toEqual([open, mine].toSorted())
    expect(await world.do('/mind/edges/list', {}, ann)).toEqual({ edges: [], total: 0 })
    const { edges } = await world.do('/mind/edges/list')
    const [{ id }] = edges as [{ id: number }]
    expect(await world.call('/mind/edges/get', { id }, ann)).toMatchObject(notFound('id', 'edge not found'))
    expect(await world.do('/graph/neighbors', { id: open }, ann)).toMatchObject({ neighbors: { total: 0 } })
    const answer = await world.do('/context/query', { query: 'e', depth: 2 }, ann)
    expect(answer).toMatchObject({ concepts: [{}, {}], graph: { edges: [] } })
    expect(await world.call('/mind/concepts/get', { id: 1 }, ann)).toMatchObject(notFound('id'))
  })

  it('change only what they hold', async ({ world }) => {
    const { id } = await world.do('/mind/concepts/create', { name: 'Open', type: 'T', visibility: 'public' })
    const denied = { errors: { id: [{ code: 'denied' }] } }
    expect(await world.call('/mind/concepts/update', { id, name: 'X' }, ann)).toMatchObject(denied)
    expect(await world.call('/mind/concepts/delete', { id }, ann)).toMatchObject(denied)
    const mine = await world.do('/mind/concepts/create', { name: 'Mine', type: 'T' }, ann)
    expect(await world.do('/mind/concepts/delete', { id: mine['id'] })).toMatchObject({ deleted: true })
  })
})
