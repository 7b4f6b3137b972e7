/** `Engine.stream` and the streamed form of `query`. */
import { describe, expect, it } from 'vitest'
import type { Timers } from '../../../src/base/turns.ts'
import { streamQuery } from '../../../src/engine/asking.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { PageChunk } from '../../../src/model/page.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { findOperation, makeCatalog, streamOperation } from '../../../src/ops/catalog.ts'
import type { Part } from '../../../src/pipeline/run.ts'
import { idsOf, openTestEngine } from '../../support/engines.ts'

async function openFilled(options: Parameters<typeof openTestEngine>[0] = {}): Promise<Engine> {
  const engine = await openTestEngine(options)
  await engine.put({ entries: Array.from({ length: 50 }, (_, at) => ({ id: `e${at}`, content: `fox ${at}` })) })
  return engine
}

const question = { text: 'fox', limit: 45, touch: false }

describe('a stream', () => {
  it('is the page in chunks of twenty; what is known at once comes first, and what at the end last', async () => {
    await using engine = await openFilled()
    const page = await engine.query(question)
    const chunks = []
    for await (const chunk of engine.stream(question)) chunks.push(chunk)
    expect(chunks.map(({ items, done }) => [items.length, done])).toEqual([
      [20, false],
      [20, false],
      [5, true],
    ])
    expect(chunks.map(({ progress }) => progress)).toEqual([20 / 45, 40 / 45, 1])
    const { items, cursor, coverage, trace: _, ...head } = page
    expect(chunks.flatMap(chunk => chunk.items)).toEqual(items)
    const { items: _first, progress: _of, done: _no, ...first } = chunks[0] as (typeof chunks)[0]
    expect(first).toEqual(head)
    expect(chunks[2]).toMatchObject({ coverage, cursor: expect.any(String) })
    const [rest, more] = [chunks[2]?.cursor as string, cursor as string]
    const after = await Promise.all([rest, more].map(at => engine.query({ ...question, cursor: at })))
    expect(idsOf(after[0] as never)).toEqual(idsOf(after[1] as never))
  })

  it('says by its end all that a page would: what was cut short on the way, and notes that came later', async () => {
    const page = { verdict: 'answered', reason: null, lens: 'default', mode: 'words', as_of: '', cursor: 'c' }
    const coverage = { embedded: 1, sources: [], failed: [], complete: true }
    const notes = ['a', 'b', 'a', 'c'].map(code => [{ code, message: code }])
    let at = 0
    const part = (): Promise<Part> => {
      const own = { notes: notes[at], coverage: { ...coverage, complete: at !== 1 }, items: [{}] }
      at++
      return Promise.resolve({
        answer: { page: { ...page, ...own }, end: {}, cursor: {} },
        next: null,
        size: 0,
      } as unknown as Part)
    }
    const asking = {
      ...{ part, resolve: () => ({ limit: 4 }), cachedFor: () => null, holdRest: () => {} },
      for: () => Promise.resolve(asking),
      place: () => ({ hold: () => {}, find: () => null, release: () => {} }),
    }
    const chunks: PageChunk[] = []
    for await (const chunk of streamQuery(asking as never, { text: '', chunk_size: 1 }, {} as never)) chunks.push(chunk)
    expect(chunks.map(chunk => chunk.notes?.map(({ code }) => code))).toEqual([['a'], undefined, undefined, ['b', 'c']])
    expect(chunks.map(chunk => chunk.coverage?.complete)).toEqual([undefined, undefined, undefined, false])
  })

  it('goes on behind a cursor', async () => {
    await using engine = await openFilled()
    const { cursor } = await engine.query({ ...question, limit: 10 })
    const whole = await engine.query({ ...question, limit: 50 })
    const ids: string[] = []
    for await (const chunk of engine.stream({ ...question, limit: 100, cursor: cursor as string, chunk_size: 7 })) {
      ids.push(...idsOf(chunk))
    }
    expect(ids).toEqual(idsOf(whole).slice(10))
  })

  it('is one chunk that says so where there is nothing', async () => {
    await using engine = await openFilled()
    const chunks = []
    for await (const chunk of engine.stream({ text: 'tulip' })) chunks.push(chunk)
    expect(chunks).toMatchObject([{ items: [], progress: 1, done: true, verdict: 'nothing_relevant', cursor: null }])
  })

  it('counts what it has shown as used, once', async () => {
    await using engine = await openFilled()
    let shown: readonly string[] = []
    for await (const chunk of engine.stream({ ...question, touch: true, chunk_size: 9 })) {
      shown = [...shown, ...idsOf(chunk)]
      if (shown.length === 18) break
    }
    const { items } = await engine.list({ limit: 100 })
    const used = items.filter(({ access }) => access !== null)
    expect(used.map(({ id }) => id).sort()).toEqual([...shown].sort())
    expect(used.filter(({ access }) => access?.count !== 1)).toEqual([])
  })

  it('ends with the engine, with its caller, and when nobody reads on for a minute', async () => {
    const late: (() => void)[] = []
    const timers: Timers = {
      now: () => 0,
      after: (ms, callback) => {
        if (ms === 60_000) late.push(callback)
        return () => {}
      },
      turn: () => Promise.resolve(),
    }
    const engine = await openFilled({ live: { timers } })
    const caller = new AbortController()
    const [one, two, three] = [
      engine.stream(question),
      engine.stream(question, { signal: caller.signal }),
      engine.stream(question),
    ] as const
    for (const stream of [one, two, three]) expect((await stream.next()).value.items).toHaveLength(20)
    caller.abort()
    await expect(two.next()).rejects.toMatchObject({ code: 'cancelled' })
    late[0]?.()
    await expect(one.next()).rejects.toMatchObject({ code: 'deadline_exceeded' })
    await engine.close()
    await expect(three.next()).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(() => engine.stream(question)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })

  it('is what the operation `query` gives piece by piece, refusing as it does', async () => {
    await using engine = await openFilled()
    const query = findOperation(makeCatalog(engine), 'query')
    const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
    const ids: string[] = []
    for await (const chunk of streamOperation(query, engine, { ...question, chunk_size: 30 }, context)) {
      ids.push(...idsOf(chunk as never))
    }
    expect(ids).toEqual(idsOf(await engine.query(question)))
    for (const chunk_size of [0, 101, 1.5]) {
      expect(() => streamOperation(query, engine, { ...question, chunk_size }, context)).toThrow(/chunk_size/)
    }
    const [first] = [streamOperation(query, engine, { text: 'fox', cursor: 'x' }, context)[Symbol.asyncIterator]()]
    await expect(first.next()).rejects.toMatchObject({ code: 'cursor_invalid' })
  })
})
