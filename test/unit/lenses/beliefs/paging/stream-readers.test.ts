/** Who reads a stream of `beliefs.query` slowly, or leaves it. */
import { describe, expect, it, vi } from 'vitest'
import { ordersOf } from '../../../../../src/lenses/beliefs/paging/cached-order.ts'
import type { LastChunk, QueryChunk } from '../../../../../src/lenses/beliefs/paging/reading.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { MAX_IDLE_MS } from '../../../../../src/pipeline/paced.ts'
import { allOf, filled, streamOf, Timers } from './streaming.ts'

describe('BQ-153: who reads slowly', () => {
  it('has nothing made ahead, and no transaction kept open', async () => {
    const world = await filled(30)
    const stream = streamOf(world, { chunk_size: 5 })
    await stream.next()
    const { store } = world.engine.host('beliefs')
    const reads = vi.spyOn(store, 'read')
    await new Promise(resolve => setImmediate(resolve))
    expect(reads).not.toHaveBeenCalled()
    store.write(world.clock.now(), writer => writer.setMeta('test', 'free'))
    await stream.next()
    expect(reads).toHaveBeenCalled()
    await stream.return?.()
  })

  it('has a cached order, and frees it at the end', async () => {
    const world = await filled(30)
    const held = ordersOf(stateOf(world.engine.host('beliefs')))
    const stream = streamOf(world, { chunk_size: 5, limit: 15 })
    await stream.next()
    expect([held.size, held.bytes > 0]).toEqual([1, true])
    const left = streamOf(world, { chunk_size: 5 })
    await left.next()
    expect(held.size).toBe(2)
    await left.return?.()
    await new Promise(resolve => setImmediate(resolve))
    expect(held.size).toBe(1)
    const chunks = await allOf(stream)
    expect(chunks).toHaveLength(2)
    // What is held now is for the cursor of the last piece.
    expect([held.size, typeof (chunks.at(-1) as LastChunk).next_cursor]).toEqual([1, 'string'])
  })

  it('goes on though its order did not fit the cache: the order is computed again, or its loss is reported', async () => {
    for (const isLost of [false, true]) {
      const world = await filled(12)
      const whole = await world.ask({ limit: 100 })
      const stream = streamOf(world, { chunk_size: 5 })
      const read = [...((await stream.next()).value as QueryChunk).beliefs]
      ordersOf(stateOf(world.engine.host('beliefs'))).clear()
      if (isLost) await world.call('trust.set', 'ann', { target: 'bob', trust_level: 0 })
      const rest = await allOf(stream)
      for (const { beliefs } of rest) read.push(...beliefs)
      expect(read).toEqual(isLost ? whole.beliefs.slice(0, 5) : whole.beliefs)
      const errors = isLost ? [{ code: 'INVALID_QUERY', details: { reason: 'cursor_expired' } }] : []
      expect(rest.at(-1)).toMatchObject({ done: true, partial: isLost, errors, total_count: 12 })
    }
  })

  it('is given sixty seconds, and then TIMEOUT', async () => {
    const world = await filled(30)
    const timers = new Timers()
    const stream = streamOf(world, { chunk_size: 5 }, { timers })
    await stream.next()
    expect([...timers.set.values()].map(({ ms }) => ms)).toEqual([MAX_IDLE_MS])
    expect(MAX_IDLE_MS).toBe(60_000)
    // Asking for the next piece calls it off.
    await stream.next()
    expect(timers.set.size).toBe(1)
    timers.fire()
    const reported = { code: 'TIMEOUT', retryable: true, details: { elapsed_ms: MAX_IDLE_MS } }
    await expect(stream.next()).rejects.toMatchObject(reported)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(timers.set.size).toBe(0)
  })
})

describe('BQ-154: a stream that is left', () => {
  it('gives no chunk more, and keeps nothing: by its reader', async () => {
    const world = await filled(30)
    const timers = new Timers()
    const stream = streamOf(world, { chunk_size: 5 }, { timers })
    for await (const chunk of stream) {
      expect(chunk.beliefs).toHaveLength(5)
      break
    }
    expect(timers.set.size).toBe(0)
    const reads = vi.spyOn(world.engine.host('beliefs').store, 'read')
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(reads).not.toHaveBeenCalled()
  })

  it('or by its signal, also while a piece is made', async () => {
    const world = await filled(30)
    const timers = new Timers()
    const asking = new AbortController()
    const stream = streamOf(world, { chunk_size: 5 }, { timers, signal: asking.signal })
    await stream.next()
    asking.abort()
    expect(timers.set.size).toBe(0)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    const early = new AbortController()
    const other = streamOf(world, { chunk_size: 5 }, { timers, signal: early.signal })
    const first = other.next()
    early.abort()
    expect(await first).toEqual({ done: true, value: undefined })
    expect(timers.set.size).toBe(0)
  })
})
