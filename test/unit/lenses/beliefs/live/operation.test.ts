/** The operation `beliefs.watch`: streamed alone, its errors the lens's, one status at its end (BQ-157, BQ-165, BQ-167). */
import { describe, expect, it, vi } from 'vitest'
import type { Embedder } from '../../../../../src/embed/embedder.ts'
import { BeliefsError } from '../../../../../src/lenses/beliefs/errors.ts'
import { LiveBeliefQuery } from '../../../../../src/lenses/beliefs/live/live-belief-query.ts'
import { LOCAL_OWNER } from '../../../../../src/model/viewer.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { findOperation, makeCatalog, streamOperation } from '../../../../../src/ops/catalog.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import { callOperation, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { ManualTimers } from '../../../../support/manual-timers.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

it('streams events, refuses to run, and tells what is wrong with the lens’s codes', async () => {
  const engine = await openBeliefsEngine({ store: openMemoryStore() })
  const operation = findOperation(makeCatalog(engine), 'beliefs.watch')
  const stop = new AbortController()
  const begin = (input: unknown) =>
    streamOperation(operation, engine, input, { viewer: LOCAL_OWNER, signal: stop.signal })[Symbol.asyncIterator]()
  await expect(callOperation(engine, 'beliefs.watch', 'owner', { query: { semantic: 'fox' } })).rejects.toMatchObject({
    code: 'INVALID_QUERY',
    details: { path: 'input', constraint: expect.any(String), reason: 'only_streamed' },
  })
  expect(() => begin({ query: { semantic: 'fox', options: { offset: 5 } } })).toThrow(
    expect.objectContaining({
      code: 'INVALID_QUERY',
      details: expect.objectContaining({ path: 'query.options.offset', reason: 'not_watched' }),
      requestId: expect.stringMatching(/./),
    }),
  )
  await expect(begin({ query: { semantic: 'fox' }, resume_token: 'mine' }).next()).rejects.toMatchObject({
    code: 'INVALID_QUERY',
    details: { path: 'resume_token', constraint: expect.any(String), reason: 'resume_invalid' },
  })
  await callOperation(engine, 'beliefs.put', 'owner', { id: 'a', content: 'A fox.' })
  const pieces = begin({ query: { semantic: 'fox' }, options: { debounce_ms: 0 } })
  expect((await pieces.next()).value).toMatchObject({ type: 'subscribed', query: { semantic: 'fox' } })
  const { value } = await pieces.next()
  expect(value).toMatchObject({ type: 'added', seq: 1, id: 'a', belief: { content: 'A fox.' }, reason: 'initial' })
  expect(value).not.toHaveProperty('item')
  const ending = pieces.next()
  engine.live.endAll(LOCAL_OWNER)
  await expect(ending).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(engine.live.count()).toBe(0)
  await engine.close()
})

it('tells with the lens’s codes that asking fails for now, each time, and that it works again', async () => {
  const timers = new ManualTimers()
  const engine = await openBeliefsEngine({ store: openMemoryStore(), live: { timers } })
  const operation = findOperation(makeCatalog(engine), 'beliefs.watch')
  const stop = new AbortController()
  const input = { query: { semantic: 'fox' }, options: { debounce_ms: 0 } }
  const pieces = streamOperation(operation, engine, input, { viewer: LOCAL_OWNER, signal: stop.signal })
  const iterator = pieces[Symbol.asyncIterator]()
  await iterator.next()
  const failing = vi.spyOn(LiveBeliefQuery.prototype, 'ask')
  failing.mockRejectedValueOnce(new BeliefsError('TIMEOUT', 'too late')).mockRejectedValueOnce(new Error('a bug'))
  const failed = iterator.next()
  await callOperation(engine, 'beliefs.put', 'owner', { id: 'a', content: 'A fox.' })
  await timers.pass(100)
  expect((await failed).value).toMatchObject({ type: 'error', error: { code: 'TIMEOUT' } })
  await callOperation(engine, 'beliefs.delete', 'owner', { belief_id: 'a' })
  const again = iterator.next()
  await timers.pass(1000)
  const { value } = await again
  expect(value).toMatchObject({ type: 'error', error: { code: 'INTERNAL_ERROR' } })
  expect(JSON.stringify(value)).not.toContain('a bug')
  const alive = iterator.next()
  await timers.pass(2100)
  expect((await alive).value).toEqual({ type: 'alive', resume_token: expect.any(String) })
  failing.mockRestore()
  await iterator.return?.()
  await engine.close()
})

describe('an embedder that never answers (BQ-166, BQ-192)', () => {
  /** Never answers for texts with `hang`. */
  async function opened() {
    const toy = openToyEmbedder()
    const embed: Embedder['embed'] = (texts, kind, signal) => {
      if (kind !== 'query') return toy.embed(texts, kind, signal)
      if (texts[0]?.includes('hang')) return new Promise(() => undefined)
      return toy.embed(texts, kind, signal)
    }
    const embedder: Embedder = { ...toy, model: toy.model, embed, close: () => toy.close() }
    const engine = await openBeliefsEngine({ store: openMemoryStore(), embedder })
    for (const id of ['ann', 'bob']) await callOperation(engine, 'agents.create', 'owner', { id })
    return { engine, as: (id: string) => beliefsOf(engine, { id }) }
  }

  it('refuses who has no time left, and holds up nobody else', async () => {
    const { engine, as } = await opened()
    const hanging = as('ann').subscribe({ semantic: 'hang', options: { timeout_ms: 50 } }, () => undefined)
    const refused = expect(hanging).rejects.toMatchObject({ code: 'TIMEOUT' })
    const heard = Promise.withResolvers<string>()
    await as('bob').subscribe({ semantic: 'fox' }, ({ id }) => heard.resolve(id), { debounce_ms: 0 })
    await refused
    await callOperation(engine, 'beliefs.put', 'bob', { id: 'b', content: 'fox' })
    expect(await heard.promise).toBe('b')
    expect(engine.live.count()).toBe(1)
    await engine.close()
  })
})
