/** The operation `beliefs.watch`: streamed alone, its errors the lens's, one status at its end (BQ-157, BQ-165, BQ-167). */
import { expect, it } from 'vitest'
import { LOCAL_OWNER } from '../../../../../src/model/viewer.ts'
import { findOperation, makeCatalog, streamOperation } from '../../../../../src/ops/catalog.ts'
import { openMemoryStore } from '../../../../../src/store/memory-store.ts'
import { callOperation, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'

it('streams events, refuses to run, and tells what is wrong with the lens’s codes', async () => {
  const engine = await openBeliefsEngine({ store: openMemoryStore() })
  const operation = findOperation(makeCatalog(engine), 'beliefs.watch')
  const stop = new AbortController()
  const begin = (input: unknown) =>
    streamOperation(operation, engine, input, { viewer: LOCAL_OWNER, signal: stop.signal })[Symbol.asyncIterator]()
  await expect(callOperation(engine, 'beliefs.watch', 'owner', { query: { semantic: 'fox' } })).rejects.toMatchObject({
    code: 'INVALID_QUERY',
    details: { reason: 'only_streamed' },
  })
  await expect(begin({ query: { semantic: 'fox', options: { offset: 5 } } }).next()).rejects.toMatchObject({
    code: 'INVALID_QUERY',
    details: { path: 'query.options.offset', reason: 'not_watched' },
    requestId: expect.stringMatching(/./),
  })
  await expect(begin({ query: { semantic: 'fox' }, resume_token: 'mine' }).next()).rejects.toMatchObject({
    code: 'INVALID_QUERY',
    details: { reason: 'resume_invalid' },
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
