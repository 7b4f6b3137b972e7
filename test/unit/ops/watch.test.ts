/** The operation `watch`: a stream that is made as it is taken, and frees everything when nobody takes it. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/base/canonical.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { callOperation, makeCatalog, streamOperation } from '../../../src/ops/catalog.ts'
import { watch } from '../../../src/ops/watch-op.ts'
import { openTestEngine } from '../../support/engines.ts'
import { ManualTimers } from '../../support/manual-timers.ts'

interface Opened {
  readonly engine: Engine
  readonly timers: ManualTimers
  readonly stop: AbortController
  open(input: object): AsyncIterator<JsonObject>
  put(id: string, content: string): Promise<unknown>
}

async function opened(): Promise<Opened> {
  const timers = new ManualTimers()
  const engine = await openTestEngine({ live: { timers } })
  const stop = new AbortController()
  const context = { viewer: LOCAL_OWNER, signal: stop.signal }
  return {
    engine,
    timers,
    stop,
    open: input => streamOperation(watch as never, engine, input, context)[Symbol.asyncIterator](),
    put: (id, content) => engine.put({ entries: [{ id, content }] }),
  }
}

describe('watch', () => {
  it('says first that it stands, then gives events', async () => {
    const { engine, timers, open, put } = await opened()
    await put('a', 'a fox')
    const stream = open({ text: 'fox', limit: 3, debounce_ms: 10 })
    const { value: head } = await stream.next()
    expect(head).toMatchObject({
      type: 'subscribed',
      subscription_id: expect.any(String),
      query: { text: 'fox', limit: 3 },
      created_at: '2026-03-01T12:00:00.000Z',
      began: 'anew',
      resume_token: expect.any(String),
    })
    const { value: event } = await stream.next()
    expect(event).toMatchObject({
      seq: 1,
      type: 'added',
      id: 'a',
      reason: 'initial',
      item: { title: expect.anything() },
    })
    const next = stream.next()
    await put('b', 'another fox')
    await timers.pass(60)
    expect((await next).value).toMatchObject({ seq: 2, type: 'added', id: 'b', reason: 'new_match' })
    expect(JSON.parse(JSON.stringify((await stream.return?.())?.done))).toBe(true)
    expect([engine.live.count(), timers.waiting]).toEqual([0, 0])
    await engine.close()
  })

  it('makes no event before the one before was taken, and then one for all that has changed', async () => {
    const { engine, timers, open, put } = await opened()
    const stream = open({ text: 'fox', debounce_ms: 10, max_events_per_minute: 600 })
    await stream.next()
    for (let at = 0; at < 20; at++) {
      await put('a', `fox number ${at}`)
      await timers.pass(60)
    }
    expect((await stream.next()).value).toMatchObject({ seq: 1, id: 'a' })
    const next = stream.next()
    await timers.pass(60)
    expect((await next).value).toMatchObject({ seq: 2, type: 'updated', id: 'a' })
    const last = stream.next()
    await timers.pass(1000)
    await stream.return?.()
    expect(await last).toEqual({ done: true, value: undefined })
    await engine.close()
  })

  it('ends quietly with the signal, whatever it waits for', async () => {
    const { engine, timers, stop, open } = await opened()
    const stream = open({ text: 'fox' })
    await stream.next()
    const next = stream.next()
    stop.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    expect([engine.live.count(), timers.waiting]).toEqual([0, 0])
    await engine.close()
  })

  it('says so when the engine closes, and how to go on', async () => {
    const { engine, open } = await opened()
    const stream = open({ text: 'fox' })
    await stream.next()
    const next = stream.next()
    await engine.close()
    await expect(next).rejects.toMatchObject({ code: 'cancelled', message: expect.stringContaining('resume token') })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('goes on with a token of its own', async () => {
    const { engine, open, put } = await opened()
    await put('a', 'a fox')
    const stream = open({ text: 'fox' })
    await stream.next()
    const { value: first } = await stream.next()
    await stream.return?.()
    await put('b', 'a fox')
    const again = open({ text: 'fox', resume_token: (first as JsonObject)['resume_token'] })
    expect((await again.next()).value).toMatchObject({ began: 'continued' })
    expect((await again.next()).value).toMatchObject({ seq: 2, id: 'b' })
    await again.return?.()
    const other = open({ text: 'hen', resume_token: (first as JsonObject)['resume_token'] })
    await expect(other.next()).rejects.toMatchObject({ code: 'resume_invalid' })
    await engine.close()
  })

  it('throws what is wrong with the question before anything is sent', async () => {
    const { engine, open } = await opened()
    await expect(open({ text: '"fox' }).next()).rejects.toMatchObject({ code: 'query_syntax' })
    await expect(open({ text: 'fox', lens: 'none' }).next()).rejects.toMatchObject({ code: 'unknown_lens' })
    await engine.close()
  })

  it.each([
    { cursor: 'x' },
    { offset: 3 },
    { touch: true },
    { debounce_ms: -1 },
    { debounce_ms: 60_001 },
    { max_events_per_minute: 0 },
    { max_events_per_minute: 601 },
    { resume_token: '' },
  ])('refuses %j (BQ-156, BQ-157)', async wrong => {
    const { engine, open } = await opened()
    expect(() => open({ text: 'fox', ...wrong })).toThrow(expect.objectContaining({ kind: 'usage' }))
    await engine.close()
  })

  it('has no answer, and says how to ask', async () => {
    const { engine } = await opened()
    const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
    const asked = callOperation(makeCatalog(engine), engine, 'watch', { text: 'fox' }, context)
    await expect(asked).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('stream') })
    await engine.close()
  })
})
