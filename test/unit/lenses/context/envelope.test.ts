import { describe, expect } from 'vitest'
import { z } from 'zod'
import { callHandler, handler } from '../../../../src/lenses/context/call.ts'
import { joined } from '../../../../src/lenses/context/envelope.ts'
import { Context } from '../../../../src/lenses/context/operations.ts'
import { it, openWorld } from './world.ts'

describe('the envelope', () => {
  it('always has four members; a success has no errors (CX-001, CX-002)', async ({ world }) => {
    const envelope = await world.call('/mind/concepts/list')
    expect(Object.keys(envelope).sort()).toEqual(['errors', 'meta', 'result', 'status'])
    expect(envelope).toMatchObject({ status: 'success', result: { concepts: [], total: 0 }, errors: null })
  })

  it('tells path, time and duration, whatever a handler says of them (CX-003)', async ({ world }) => {
    const lying = handler({
      path: '/x',
      summary: '',
      effect: 'read',
      params: () => z.object({}),
      result: () => z.object({}),
      run: () => ({ result: {}, meta: { path: 'no', timestamp: 'no', duration_ms: -1, more: 7 } }),
    })
    const { meta } = await callHandler(new Map([['/x', lying]]), world.host, '/x', null)
    expect(meta).toMatchObject({ path: '/x', timestamp: '2026-03-01T12:00:00.000Z', more: 7 })
    expect(meta.duration_ms).toBeGreaterThanOrEqual(0)
    expect(Math.round(meta.duration_ms * 1000) / 1000).toBe(meta.duration_ms)
  })

  it('names the place of an error as the parameters have it (CX-004)', async ({ world }) => {
    const { errors, status, result } = await world.call('/mind/concepts/create-many', {
      concepts: [{ type: 'Entity' }, { name: 'A', type: 'Entity' }, { name: 7 }],
    })
    expect({ status, result }).toEqual({ status: 'error', result: null })
    expect(errors).toEqual({
      concepts: {
        '0': { name: [{ code: 'required', message: 'name is required' }] },
        '2': {
          name: [{ code: 'invalid', message: 'name must be text' }],
          type: [{ code: 'required', message: 'type is required' }],
        },
      },
    })
    expect(await world.do('/mind/concepts/list')).toEqual({ concepts: [], total: 0 })
  })

  it.each([['/no/such'], ['constructor'], ['']])('knows no path %j (CX-005)', async path => {
    await using world = await openWorld()
    const { status, errors } = await world.call(path)
    expect(status).toBe('error')
    expect(errors).toEqual({ path: [{ code: 'not_found', message: `no handler for ${path}` }] })
  })

  it('comes back for anything that is called or thrown (CX-001, CX-005)', async ({ world }) => {
    const nothing: unknown = Object.create(null)
    const hostile = {
      toString() {
        throw new Error('no text')
      },
    }
    for (const path of [undefined, null, 7, Symbol('x'), nothing, hostile]) {
      const { status, errors } = await callHandler(new Map(), world.host, path, {})
      expect([status, errors]).toMatchObject(['error', { path: [{ code: 'not_found' }] }])
    }
    const broken = handler({
      path: '/x',
      summary: '',
      effect: 'read',
      params: () => z.object({}),
      result: () => z.object({}),
      run: () => {
        throw nothing
      },
    })
    expect((await callHandler(new Map([['/x', broken]]), world.host, '/x', null)).errors).toEqual({
      handler: [{ code: 'exception', message: 'object' }],
    })
  })

  it('turns what a handler throws into an exception (CX-005)', async ({ world }) => {
    const broken = handler({
      path: '/x',
      summary: '',
      effect: 'read',
      params: () => z.object({}),
      result: () => z.object({}),
      run: () => {
        throw new Error('out of luck')
      },
    })
    const { errors } = await callHandler(new Map([['/x', broken]]), world.host, '/x', {})
    expect(errors).toEqual({ handler: [{ code: 'exception', message: 'out of luck' }] })
  })

  it.each([[null], [undefined], [{}]])('takes %j for no parameters (CX-006)', async params => {
    await using world = await openWorld()
    expect(await world.call('/context/query', params)).toMatchObject({
      errors: { query: [{ code: 'required', message: 'query is required' }] },
    })
  })

  it.each([[[]], ['text'], [7], [true]])('refuses %j as parameters', async params => {
    await using world = await openWorld()
    expect(await world.call('/context/query', params)).toMatchObject({ errors: { params: [{ code: 'invalid' }] } })
  })

  it('is plain JSON without undefined (CX-006)', async ({ world }) => {
    await world.concepts('A', 'B')
    await world.edges([1, 2])
    for (const path of ['/graph/summary', '/graph/viz', '/mind/edges/list']) {
      const envelope = await world.call(path)
      expect(JSON.parse(JSON.stringify(envelope))).toStrictEqual(envelope)
    }
    const asked = await world.call('/context/query', { query: 'A', explain: true })
    expect(JSON.parse(JSON.stringify(asked))).toStrictEqual(asked)
  })

  it('comes back for a closed engine too (CX-001)', async () => {
    const world = await openWorld()
    await world.engine.close()
    expect(await new Context(world.host).call('/context/query', { query: 'a' })).toMatchObject({ status: 'error' })
  })

  it('keeps errors of several places, and several of one', () => {
    const detail = (code: string) => [{ code, message: code }]
    expect(
      joined([{ a: detail('x') }, { a: detail('y') }, { b: { '0': detail('z') } }, { b: { '1': detail('w') } }]),
    ).toEqual({ a: [...detail('x'), ...detail('y')], b: { '0': detail('z'), '1': detail('w') } })
  })
})
