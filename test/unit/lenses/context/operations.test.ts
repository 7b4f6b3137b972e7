import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONTEXT_OPERATIONS, HANDLERS, operationName } from '../../../../src/lenses/context/operations.ts'
import { checkSettings } from '../../../../src/lenses/context/state.ts'
import { findOperation, makeCatalog, runOperation } from '../../../../src/ops/catalog.ts'
import { openTestEngine } from '../../../support/engines.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'
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

  it('are one a path, and explain, count and watch of the question', () => {
    const names = new Set(CONTEXT_OPERATIONS.map(({ name }) => name))
    const others = ['context.explain', 'context.count', 'context.watch']
    expect(names).toEqual(new Set([...[...HANDLERS.keys()].map(operationName), ...others]))
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
    using folder = tempFolder()
    const found = async () => {
      await using world = await openWorld({ embedder: openToyEmbedder(), home: folder.path, empty: true })
      return idsOf(await world.query({ query: 'vehicle', mode: 'semantic', depth: 0 }))
    }
    {
      await using world = await openWorld({ embedder: openToyEmbedder(), home: folder.path })
      await world.concepts('Car', 'CarTeapotLampDesk')
    }
    expect(await found()).toEqual([1])
    writeFileSync(
      join(folder.path, 'config.json'),
      JSON.stringify({ lenses: { context: { least_share: 0, least_score: 0.1 } } }),
    )
    expect(await found()).toEqual([1, 2])
  })

  it.each([
    [[], 'invalid_argument'],
    [{ least: 1 }, 'unknown_field'],
    [{ least_score: 2 }, 'invalid_argument'],
    [{ least_share: '0.5' }, 'invalid_argument'],
    [{ max_files: 0 }, 'invalid_argument'],
    [{ max_files: 1.5 }, 'invalid_argument'],
    [{ max_wait: -1 }, 'invalid_argument'],
    [{ max_wait: 1e9 }, 'invalid_argument'],
    [{ max_wait: '1' }, 'invalid_argument'],
  ])('are not %j', (given, code) => {
    expect(() => checkSettings(given)).toThrow(expect.objectContaining({ code }))
  })
})
