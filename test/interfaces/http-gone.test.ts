/** BQ-192 over a real socket: a question ends with the connection of whoever asked it. */
import { afterEach, expect, it } from 'vitest'
import { nextTurn } from '../../src/base/turns.ts'
import type { Embedder } from '../../src/embed/embedder.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { HttpRequestLine } from '../../src/model/request-log.ts'
import { LEASES } from '../../src/store/core-tables.ts'
import { openCodeFolder } from '../support/code-folder.ts'
import { serveHere } from '../support/serve-here.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Questions wait in its embedder until they are cancelled. */
async function serve() {
  const toy = openToyEmbedder()
  const asked: AbortSignal[] = []
  const waiting = new EventTarget()
  const embed: Embedder['embed'] = (texts, kind, signal) => {
    if (kind !== 'query') return toy.embed(texts, kind, signal)
    asked.push(signal as AbortSignal)
    waiting.dispatchEvent(new Event('asked'))
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
  const lines: HttpRequestLine[] = []
  const logged = new EventTarget()
  const note = (line: HttpRequestLine) => {
    lines.push(line)
    logged.dispatchEvent(new Event('line'))
  }
  const embedder = { ...toy, model: toy.model, embed, close: () => toy.close() }
  const engine = await openEngine({ store: 'memory', embedder, background: false })
  const bugs: string[] = []
  const tokens = { 'token-of-ben-in-tests': 'ben' }
  const server = await serveHere(engine, { tokens, note, log: text => bugs.push(text) })
  ends.push(async () => {
    await server[Symbol.asyncDispose]()
    await engine.close()
  })
  return { url: server.url, asked, lines, bugs, waiting, logged }
}

function once(target: EventTarget, name: string): Promise<unknown> {
  return new Promise(resolve => target.addEventListener(name, resolve, { once: true }))
}

const QUERY = { semantic: 'rain', options: { timeout_ms: 30_000 } }

it.each([
  ['beliefs.query', QUERY, 'TIMEOUT'],
  // A stream that was left has ended well.
  ['beliefs.query', { ...QUERY, options: { ...QUERY.options, stream: true } }, null],
  ['beliefs.count', QUERY, 'TIMEOUT'],
  ['beliefs.facets', { query: QUERY, fields: ['domains'] }, 'TIMEOUT'],
  ['beliefs.context_query', { ...QUERY, purpose: 'answer', max_tokens: 100 }, 'TIMEOUT'],
  ['beliefs.batch', { queries: Array.from({ length: 20 }, () => QUERY) }, 'TIMEOUT'],
  ['query', { text: 'rain', timeout_ms: 30_000 }, null],
  ['collections.query', { query: 'rain', collections: ['notes'], timeout_ms: 30_000 }, null],
])('%s ends when the client goes away: %#', async (name, input, code) => {
  const { url, asked, lines, bugs, waiting, logged } = await serve()
  const gone = new AbortController()
  const isAsked = once(waiting, 'asked')
  const isLogged = once(logged, 'line')
  const response = fetch(`${url}/v1/ops/${name}`, {
    ...{ method: 'POST', body: JSON.stringify(input), signal: gone.signal },
    headers: { authorization: 'Bearer token-of-ben-in-tests' },
  }).then(answer => answer.text())
  await isAsked
  const [signal] = asked as [AbortSignal]
  expect(signal.aborted).toBe(false)
  const stopped = once(signal, 'abort')
  gone.abort()
  await expect(response).rejects.toThrow()
  await stopped
  if (name.startsWith('beliefs.')) {
    await isLogged
    expect(lines).toMatchObject([{ operation: name, requester: 'ben', code }])
    expect(bugs).toEqual([])
  }
  // Nothing else was begun for it, such as the rest of a batch.
  expect(asked).toHaveLength(1)
})

it('ends a run over the code of the folder with the connection of whoever asked for it (CX-075)', async () => {
  const FILES = 300
  await using code = await openCodeFolder(
    Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`f${at}.ts`, `export function made${at}() {}\n`])),
  )
  await using server = await serveHere(code.engine)
  const { url } = server
  const leave = new AbortController()
  const { store } = code.engine.host('context')
  const isAtWork = () => store.table(LEASES).get({ name: 'context:files' }) !== undefined
  const asking = fetch(`${url}/v1/ops/context.index`, { method: 'POST', body: '{}', signal: leave.signal })
  while (!isAtWork()) await nextTurn()
  leave.abort()
  await expect(asking).rejects.toThrow()
  while (isAtWork()) await nextTurn()
  expect(code.concepts().length).toBeLessThan(2 * FILES)
  expect(await code.do('/context/index')).toMatchObject({ errors: { total: 0 } })
  expect(code.concepts()).toHaveLength(2 * FILES)
})
