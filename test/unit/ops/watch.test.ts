/** The operation `watch`: a stream that is made as it is taken, and frees everything when nobody takes it. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/base/canonical.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { EngineOptions } from '../../../src/engine/options.ts'
import type { Lens } from '../../../src/lenses/lens.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { callOperation, makeCatalog, streamOperation } from '../../../src/ops/catalog.ts'
import { watch } from '../../../src/ops/query-ops.ts'
import { DEFAULT_LENS_STAGES } from '../../../src/pipeline/default-stages.ts'
import type { Stages } from '../../../src/pipeline/stage.ts'
import { openTestEngine } from '../../support/engines.ts'
import { ManualTimers } from '../../support/manual-timers.ts'

interface Opened {
  readonly engine: Engine
  readonly timers: ManualTimers
  readonly stop: AbortController
  open(input: object): AsyncIterator<JsonObject>
  put(id: string, content: string): Promise<unknown>
}

/** The default lens; its answers are cut short while it is late. */
function lateLens(isLate: () => boolean | Promise<boolean>): Lens {
  const { retrieve } = DEFAULT_LENS_STAGES
  const stages: Stages = {
    ...DEFAULT_LENS_STAGES,
    retrieve: async (...given) => {
      const found = await retrieve(...given)
      return (await isLate()) ? { ...found, candidates: [], complete: false, exhausted: false } : found
    },
  }
  return { name: 'late', summary: 'Late', stages }
}

async function opened(options: EngineOptions = {}): Promise<Opened> {
  const timers = new ManualTimers()
  const engine = await openTestEngine({ live: { timers }, ...options })
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
  it('says first that it is subscribed, then gives events', async () => {
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

  it('makes no event before somebody waits for it, and then one for all that has changed', async () => {
    const { engine, timers, open, put } = await opened()
    const stream = open({ text: 'fox', debounce_ms: 10, max_events_per_minute: 600 })
    await stream.next()
    for (let at = 0; at < 20; at++) {
      await put('a', `fox number ${at}`)
      await timers.pass(60)
    }
    const reported = { seq: 1, id: 'a', item: { excerpt: { text: 'fox number 19' } } }
    const first = stream.next()
    await timers.pass(60)
    expect((await first).value).toMatchObject(reported)
    await put('a', 'fox number 20')
    await put('a', 'fox number 21')
    const next = stream.next()
    await timers.pass(60)
    expect((await next).value).toMatchObject({ seq: 2, item: { excerpt: { text: 'fox number 21' } } })
    const last = stream.next()
    await timers.pass(1000)
    await stream.return?.()
    expect(await last).toEqual({ done: true, value: undefined })
    await engine.close()
  })

  it('hands nothing over that was hidden before it was taken (BQ-155, BQ-161)', async () => {
    const { engine, timers, open, put } = await opened()
    await put('a', 'a fox')
    const stream = open({ text: 'fox', debounce_ms: 40_000 })
    await stream.next()
    await timers.pass(1000)
    await engine.delete({ ids: ['a'] })
    await put('b', 'a fox')
    const first = stream.next()
    await timers.pass(40_000)
    expect((await first).value).toMatchObject({ seq: 1, id: 'b' })
    await stream.return?.()
    await engine.close()
  })

  it('says that asking fails for now, and goes on', async () => {
    let isLate = false
    const { engine, timers, open, put } = await opened({ lenses: [lateLens(() => isLate)] })
    const stream = open({ text: 'fox', lens: 'late', debounce_ms: 0 })
    await stream.next()
    isLate = true
    await put('a', 'a fox')
    const failed = stream.next()
    await timers.pass(100)
    expect((await failed).value).toEqual({
      type: 'error',
      error: expect.objectContaining({ code: 'deadline_exceeded', message: expect.stringContaining('not complete') }),
    })
    isLate = false
    const next = stream.next()
    await timers.pass(2000)
    expect((await next).value).toMatchObject({ seq: 1, id: 'a' })
    await stream.return?.()
    await engine.close()
  })

  it('says that asking works again where nothing has changed meanwhile', async () => {
    let isLate = false
    const { engine, timers, open, put } = await opened({ lenses: [lateLens(() => isLate)] })
    const stream = open({ text: 'fox', lens: 'late', debounce_ms: 0 })
    await stream.next()
    isLate = true
    await put('a', 'a hen')
    for (const seconds of [0, 1, 2, 4]) {
      const failed = stream.next()
      await timers.pass(seconds * 1000 + 100)
      expect((await failed).value).toMatchObject({ type: 'error' })
    }
    isLate = false
    const next = stream.next()
    await timers.pass(9000)
    expect((await next).value).toEqual({ type: 'alive', resume_token: expect.any(String) })
    await stream.return?.()
    expect(timers.waiting).toBe(0)
    await engine.close()
  })

  it('ends quietly while it begins', async () => {
    const { engine, timers, stop, open } = await opened({ lenses: [lateLens(() => new Promise(() => undefined))] })
    const beginning = open({ text: 'fox', lens: 'late' }).next()
    await timers.pass(100)
    stop.abort()
    expect(await beginning).toEqual({ done: true, value: undefined })
    expect([engine.live.count(), timers.waiting]).toEqual([0, 0])
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
    await expect(open({ text: '"fox', syntax: 'strict' }).next()).rejects.toMatchObject({ code: 'query_syntax' })
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
