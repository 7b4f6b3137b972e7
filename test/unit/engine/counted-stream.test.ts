import { describe, expect, it } from 'vitest'
import { RequesterLimits } from '../../../src/identity/limits.ts'
import { Places } from '../../../src/identity/rates.ts'
import type { CallContext } from '../../../src/model/operation.ts'
import { streamOperation } from '../../../src/ops/catalog.ts'
import { noEngine, operation } from '../../support/operations.ts'

const streams = new Places(1, 'streams')
const engine = { ...noEngine, limits: new RequesterLimits({ unitsPerMinute: 1, burst: 1e6 }, () => 0, { streams }) }
const leaving = new AbortController()
const of = (id: string, signal = leaving.signal): CallContext => ({ viewer: { id }, signal, remote: true })

const three = operation('three', () => ({}), {
  async *stream() {
    for (let at = 1; at <= 3; at++) yield { at }
  },
})

function begun(one = three, context = of('ann')) {
  return streamOperation(one, engine, {}, context)[Symbol.asyncIterator]()
}

describe('a stream from outside has its place', () => {
  it('until its end', async () => {
    const stream = begun()
    for (let at = 1; at <= 3; at++) {
      expect(await stream.next()).toMatchObject({ value: { at } })
      expect(() => begun()).toThrow(expect.objectContaining({ code: 'rate_limited', details: { limit: 1 } }))
    }
    expect(await stream.next()).toMatchObject({ done: true })
    expect(streams.size).toBe(0)
  })

  it('until it is left', async () => {
    const stream = begun()
    await stream.next()
    await stream.return?.()
    expect(await stream.next()).toMatchObject({ done: true })
    expect(streams.size).toBe(0)
  })

  it('until it fails, or cannot begin', async () => {
    const failing = operation('failing', () => ({}), {
      async *stream() {
        yield { at: 1 }
        throw new Error('broken')
      },
    })
    const stream = begun(failing)
    await stream.next()
    expect(streams.size).toBe(1)
    await expect(stream.next()).rejects.toThrow('broken')
    expect(streams.size).toBe(0)
    const never = operation('never', () => ({}), {
      stream: () => {
        throw new Error('never')
      },
    })
    expect(() => begun(never)).toThrow('never')
    expect(streams.size).toBe(0)
  })

  it('until its caller goes, though nobody asks for a piece', () => {
    const gone = new AbortController()
    begun(three, of('ann', gone.signal))
    expect(streams.size).toBe(1)
    gone.abort()
    expect(streams.size).toBe(0)
  })
})

it.each([
  ['the local owner', three, of('owner')],
  ['who asks on this machine', three, { ...of('ann'), remote: false }],
  ['a live query, which has room of its own', { ...three, resumeAt: 'token' }, of('ann')],
])('%s takes no place', (_, one, context) => {
  for (let at = 0; at < 20; at++) begun(one, context)
  expect(streams.size).toBe(0)
})
