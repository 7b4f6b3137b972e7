import { describe, expect, it } from 'vitest'
import { HANDLERS } from '../../../../src/lenses/context/handlers.ts'
import { CONTEXT_OPERATIONS, operationName } from '../../../../src/lenses/context/operations.ts'
import { checkSettings } from '../../../../src/lenses/context/settings.ts'
import { findOperation, makeCatalog, runOperation } from '../../../../src/ops/catalog.ts'
import { openToyEmbedder } from '../../../../src/testing/toy-embedder.ts'
import { openTestEngine } from '../../../support/engines.ts'
import { idsOf, openWorld } from './world.ts'

const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }

describe('operations of the lens', () => {
  it.each([
    ['/context/query', 'context.query'],
    ['/mind/concepts/create-many', 'context.mind_concepts_create_many'],
    ['/body/fts/search', 'context.body_fts_search'],
  ])('name %s %s', (path, name) => {
    expect(operationName(path)).toBe(name)
  })

  it('are one a path', () => {
    expect(new Set(CONTEXT_OPERATIONS.map(({ name }) => name)).size).toBe(HANDLERS.size)
  })

  it('give the envelope, and never throw for parameters (CX-001)', async () => {
    await using engine = await openTestEngine()
    const catalog = makeCatalog(engine)
    const run = (name: string, input: unknown) => runOperation(findOperation(catalog, name), engine, input, context)
    expect(await run('context.query', { query: 7 })).toMatchObject({ errors: { query: [{ code: 'invalid' }] } })
    expect(await run('context.body_init', null)).toMatchObject({ status: 'success', meta: { path: '/body/init' } })
  })
})

describe('settings of the lens (CX-021)', () => {
  it('move the cut of what is meant', async () => {
    await using world = await openWorld({ embedder: openToyEmbedder() })
    await world.concepts('Car', 'CarTeapotLampDesk')
    const ask = { query: 'vehicle', mode: 'semantic', depth: 0 }
    expect(idsOf(await world.query(ask))).toEqual([1])
    const host = { ...world.host, settings: checkSettings({ least_share: 0, least_score: 0.1 }) }
    expect(idsOf(await world.queryOn(host, ask))).toEqual([1, 2])
  })

  it.each([[[]], [{ least: 1 }], [{ least_score: 2 }], [{ least_share: '0.5' }]])('are not %j', given => {
    expect(() => checkSettings(given)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})
