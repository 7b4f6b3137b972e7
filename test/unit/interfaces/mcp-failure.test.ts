/** A tool that fails: the client learns what it may, the log has the rest. */
import { afterEach, expect, it, vi } from 'vitest'
import { mcpOverHttp } from '../../../src/interfaces/mcp/http.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { catalogOf, noEngine, operation } from '../../support/operations.ts'

afterEach(() => void vi.restoreAllMocks())

const catalog = catalogOf(
  operation('query', () => {
    throw new TypeError('secret words of the inside')
  }),
  operation('get', () => {
    throw new QuerentError('store_locked', '/home/me/store.db: busy', { file: '/home/me/store.db' })
  }),
)

/** The text of the whole answer. */
function call(tool: string, viewer: string): Promise<string> {
  return send('tools/call', { name: tool, arguments: {} }, viewer)
}

async function send(method: string, params: unknown, viewer: string): Promise<string> {
  const message = { jsonrpc: '2.0', id: 4711, method, params }
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(message),
  })
  const response = await mcpOverHttp(noEngine, catalog)(request, { id: viewer }, false)
  return response.text()
}

it('because of a bug tells the log its stack and the request', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const answer = await call('query', 'owner')
  expect(answer).toContain('internal error')
  expect(answer).not.toContain('secret words')
  expect(write.mock.calls.join()).toMatch(/request 4711 \(query\): TypeError: secret words of the inside\n\s+at /)
})

it('because of the machine tells others not where', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  expect(await call('get', 'ana')).not.toContain('/home/me')
  expect(await call('get', 'ana')).toContain('store_locked')
  expect(await call('get', 'owner')).toContain('/home/me')
  expect(write).not.toHaveBeenCalled()
})

it.each(['querent://entry/bees', 'querent://live/bees'])(
  'of reading %s because of a bug says nothing of the inside',
  async uri => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    // No engine: whatever is asked of it is a TypeError.
    const answer = await send('resources/read', { uri }, 'owner')
    expect(answer).toContain('internal error')
    expect(answer).not.toContain('function')
    expect(write.mock.calls.join()).toMatch(/request 4711 \((?:entry|live)\): TypeError: .*not a function/)
  },
)

it('of reading what is no resource of ours is no bug', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  expect(await send('resources/read', { uri: 'querent://live/%zz' }, 'owner')).toContain('"error"')
  expect(write).not.toHaveBeenCalled()
})
