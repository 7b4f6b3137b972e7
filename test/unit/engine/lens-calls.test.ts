import { describe, expect, expectTypeOf, it } from 'vitest'
import { BeliefsError } from '../../../src/lenses/beliefs/errors.ts'
import { camelName } from '../../../src/lenses/camel-name.ts'
import { ChromaError } from '../../../src/lenses/chroma/errors.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { openTestEngine } from '../../support/engines.ts'

const ANN = { id: 'ann' }

describe('operations of lenses as functions of the engine', () => {
  it('are there for each operation of each lens, by both parts of its name', async () => {
    await using engine = await openTestEngine()
    expect(engine.lensOperations.length).toBeGreaterThan(90)
    const calls = engine as unknown as Record<string, Record<string, unknown>>
    for (const { operation } of engine.lensOperations) {
      const [family = '', verb = ''] = operation.name.split('.')
      expect(calls[family]?.[camelName(verb)], operation.name).toBeTypeOf('function')
    }
  })

  it('answer what the operation answers, with the types of its schemas', async () => {
    await using engine = await openTestEngine()
    const { belief } = await engine.beliefs.put({ id: 'ferry', content: 'The ferry runs daily.' })
    expectTypeOf(belief?.content).toEqualTypeOf<string | undefined>()
    const query = { semantic: 'ferry' }
    const found = await engine.beliefs.query(query)
    expectTypeOf(found.total_count).toEqualTypeOf<number>()
    const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
    const same = await callOperation(makeCatalog(engine), engine, 'beliefs.query', query, context)
    expect({ ...found, query_time_ms: 0 }).toEqual({ ...(same as object), query_time_ms: 0 })
    expect(found.beliefs.map(each => each.belief.id)).toEqual(['ferry'])
    const { result } = await engine.context.query({ query: 'ferry' })
    expectTypeOf(result).not.toBeAny()
    expect((await engine.chroma.hashtags()).hashtags).toEqual([])
    expect((await engine.c64.enrich({ query: '$D020' })).numbers).toMatchObject([{ decimal: '53280' }])
  })

  it('ask as the viewer of the calls, or as the one that a call names', async () => {
    await using engine = await openTestEngine()
    const ann = engine.as(ANN)
    await ann.beliefs.put({ id: 'hers', content: 'The ferry is late.' })
    await ann.beliefs.put({ id: 'owners', content: 'The ferry is early.' }, { viewer: { id: 'owner' } })
    const ids = async (viewer?: { id: string }) =>
      (await engine.beliefs.query({ semantic: 'ferry' }, viewer && { viewer })).beliefs.map(({ belief }) => belief.id)
    expect(await ids()).toEqual(['owners'])
    expect(await ids(ANN)).toEqual(['hers'])
    expect((await ann.federations.list()).federations).toEqual([])
  })

  it('refuse what the operation refuses, with its error, before anything runs', async () => {
    await using engine = await openTestEngine()
    const refused = async (call: Promise<unknown>) => call.catch((error: unknown) => error)
    const beliefs = await refused(engine.beliefs.query({ semantic: 'x', options: { limit: 0 } }))
    expect(beliefs).toBeInstanceOf(BeliefsError)
    expect(beliefs).toMatchObject({ code: 'INVALID_QUERY', details: { path: 'options.limit' } })
    const chroma = await refused(engine.chroma.queryKnn({ hashtags: ['#a'], k: -1 }))
    expect(chroma).toBeInstanceOf(ChromaError)
    expect(chroma).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'k' } })
    expect(await refused(engine.as(ANN).peers.list())).toMatchObject({ code: 'UNAUTHORIZED' })
    const gone = { signal: AbortSignal.abort() }
    expect(await refused(engine.c64.enrich({ query: '$D020' }, gone))).toMatchObject({ code: 'cancelled' })
  })

  it('stream where the operation has a streamed form, and refuse it elsewhere', async () => {
    await using engine = await openTestEngine()
    for (const id of ['a', 'b']) await engine.beliefs.put({ id, content: `The ferry ${id}.` })
    const pieces = []
    for await (const piece of engine.beliefs.query.stream({ semantic: 'ferry', options: { chunk_size: 1 } })) {
      pieces.push(piece)
    }
    expect(pieces.length).toBeGreaterThanOrEqual(2)
    expect(() => engine.c64.enrich.stream({ query: '$D020' })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { operation: 'c64.enrich' } }),
    )
  })

  it('of a lens that the engine does not have throw unknown_lens, which names those there are', async () => {
    await using engine = await openTestEngine({ onlyLenses: ['chroma'] })
    expect(() => engine.trust).toThrow(QuerentError)
    expect(() => engine.trust).toThrow(/there is no lens "beliefs"; there are .*chroma/)
    expect((await engine.chroma.statistics()).total_nodes).toBe(0)
  })

  it('leave the methods of the engine as they are where a lens has the name of one', async () => {
    await using engine = await openTestEngine({
      lenses: [{ name: 'query', summary: 'A lens with the name of a method' }],
    })
    expect((await engine.query({ text: 'x' })).items).toEqual([])
  })
})
