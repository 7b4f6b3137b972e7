import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { nearNames } from '../../../src/base/near-names.ts'
import type { LensHost } from '../../../src/lenses/lens.ts'
import type { Operation } from '../../../src/model/operation.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { callOperation, describeOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { catalogOf, echo, noEngine, operation } from '../../support/operations.ts'

const signal = new AbortController().signal
const owner = { viewer: LOCAL_OWNER, signal }
const ana = { viewer: { id: 'ana' }, signal }

describe('the catalog', () => {
  it('has the operations of the engine in one order, then those of lenses', () => {
    const paint: Operation<LensHost> = {
      name: 'paint.mix',
      summary: 'Mix two colours',
      input: z.strictObject({ a: z.string() }),
      output: z.strictObject({ host: z.string(), a: z.string() }),
      effect: { kind: 'read', idempotent: true },
      run: async (host, input) => ({ host: (host as unknown as { name: string }).name, ...(input as { a: string }) }),
    }
    const catalog = makeCatalog({ lensOperations: [{ lens: 'paint', operation: paint }] })
    expect([...catalog.keys()].join(' ')).toBe(
      'query explain count similar watch get touch list suggest put add sync delete status doctor backup export import lenses brief mirror models check_model use_model paint.mix',
    )
    const engine = { ...noEngine, host: (lens: string) => ({ name: `host of ${lens}` }) as unknown as LensHost }
    const result = callOperation(catalog, engine, 'paint.mix', { a: 'red' }, owner)
    return expect(result).resolves.toEqual({ host: 'host of paint', a: 'red' })
  })

  it('knows an operation by its other name, which is not listed', async () => {
    const enrich: Operation<LensHost> = {
      name: 'c64.enrich',
      summary: 'Enrich',
      input: z.strictObject({}),
      output: z.strictObject({}),
      effect: { kind: 'read', idempotent: true },
      run: async () => ({}),
    }
    const catalog = makeCatalog({ lensOperations: [{ lens: 'c64', operation: enrich }] })
    const engine = { ...noEngine, host: () => ({}) as unknown as LensHost }
    await expect(callOperation(catalog, engine, 'enrich', {}, owner)).resolves.toEqual({})
    expect([...catalog.keys()]).not.toContain('enrich')
  })

  it('names operations that are spelled like an unknown one', async () => {
    const catalog = makeCatalog({ lensOperations: [] })
    const call = (name: string) => callOperation(catalog, noEngine, name, {}, owner)
    await expect(call('qurey')).rejects.toMatchObject({
      code: 'unknown_operation',
      message: 'there is no operation "qurey"; did you mean query?',
      details: { operation: 'qurey', near: ['query'] },
    })
    await expect(call('zzzzzz')).rejects.toMatchObject({ message: 'there is no operation "zzzzzz"' })
    await expect(call('__proto__')).rejects.toMatchObject({ code: 'unknown_operation' })
  })

  it('keeps what reads the disk or everything to the local owner', async () => {
    const catalog = makeCatalog({ lensOperations: [] })
    for (const name of [
      'add',
      'sync',
      'doctor',
      'backup',
      'export',
      'import',
      'mirror',
      'models',
      'check_model',
      'use_model',
    ]) {
      // Denied before the input is looked at: an error about a field would say more than it should.
      await expect(callOperation(catalog, noEngine, name, { no: 1 }, ana)).rejects.toMatchObject({ code: 'denied' })
    }
    const others = [...catalog.values()].filter(({ effect }) => effect.ownerOnly !== true).map(({ name }) => name)
    expect(others).toEqual([
      'query',
      'explain',
      'count',
      'similar',
      'watch',
      'get',
      'touch',
      'list',
      'suggest',
      'put',
      'delete',
      'status',
      'lenses',
      'brief',
    ])
  })

  it.each([
    ['get', null, 'invalid_argument', 'id'],
    ['get', { id: 'a', idd: 'b' }, 'unknown_field', 'idd'],
    ['get', { id: 7 }, 'invalid_argument', 'id'],
    ['get', [], 'invalid_argument', 'input'],
    ['get', 'a', 'invalid_argument', 'input'],
    ['query', { text: 'a', limit: 0 }, 'invalid_argument', 'limit'],
    ['query', { text: 'a', limit: 1e9 }, 'invalid_argument', 'limit'],
    ['query', { text: 'a', limit: 2.5 }, 'invalid_argument', 'limit'],
    ['query', { text: 'a', filter: { tag: ['x'] } }, 'unknown_field', 'filter.tag'],
    ['put', { entries: [{ content: 'a', metadata: 3 }] }, 'invalid_argument', 'entries.0.metadata'],
    ['delete', { ids: [] }, 'invalid_argument', 'ids'],
    ['status', { a: 1 }, 'unknown_field', 'a'],
  ])('refuses %s with %j: %s at %s', async (name, input, code, field) => {
    const catalog = makeCatalog({ lensOperations: [] })
    const call = callOperation(catalog, noEngine, name, input, owner)
    await expect(call).rejects.toMatchObject({ code, details: { field } })
  })

  it('takes null and nothing as an empty object', async () => {
    const catalog = catalogOf(echo)
    for (const input of [null, undefined, {}]) {
      expect(await callOperation(catalog, noEngine, 'echo', input, owner)).toEqual({ input: {}, viewer: 'owner' })
    }
  })

  it('does not begin when the caller disconnected', async () => {
    let ran = false
    const catalog = catalogOf(
      operation('work', () => {
        ran = true
        return {}
      }),
    )
    const gone = { viewer: LOCAL_OWNER, signal: AbortSignal.abort() }
    await expect(callOperation(catalog, noEngine, 'work', {}, gone)).rejects.toMatchObject({ code: 'cancelled' })
    expect(ran).toBe(false)
  })
})

describe('an operation described as JSON', () => {
  it('allows no field that is not defined, and needs those that are not optional', () => {
    const catalog = makeCatalog({ lensOperations: [] })
    for (const one of catalog.values()) {
      const { input, output, summary, effect } = describeOperation(one)
      expect(input).toMatchObject({ type: 'object', additionalProperties: false })
      expect(output).toMatchObject({ type: 'object', additionalProperties: false })
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
      expect(effect).toEqual({
        kind: expect.stringMatching(/^(read|write|destroy)$/),
        idempotent: expect.any(Boolean),
        owner_only: expect.any(Boolean),
      })
    }
    const query = catalog.get('query')
    expect(query && describeOperation(query).input['required']).toEqual(['text'])
  })
})

describe('near names', () => {
  it.each([
    ['statsu', ['status']],
    ['stat', ['status']],
    ['exprot', ['export']],
    ['q', ['query']],
    ['xyz', []],
    ['', []],
  ])('%s is like %j', (name, expected) => {
    expect(nearNames(name, ['query', 'status', 'export', 'import', 'doctor'])).toEqual(expected)
  })

  it('finds a name with one letter changed, and lists nearest first', () => {
    const known = ['query', 'explain', 'similar', 'delete', 'status', 'doctor']
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(), fc.constantFrom('x', 'é', '_'), (name, place, letter) => {
        const at = place % name.length
        expect(nearNames(name.slice(0, at) + letter + name.slice(at + 1), known)[0]).toBe(name)
      }),
    )
  })
})
