/** QE-015 over real sockets: cursors over HTTP and MCP are short, and every process on the store can use them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import { openEngine } from '../../src/engine/open.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

const DAY = 86_400_000
const HANDLE = /^c_[\w-]{16}$/

let home = ''
let clock: SettableClock
const ends: (() => Promise<unknown>)[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'querent-cursors-'))
  clock = new SettableClock(Date.UTC(2026, 5, 1, 12))
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  rmSync(home, { recursive: true, force: true })
})

interface Page {
  readonly items: readonly { readonly id: string }[]
  readonly cursor: string | null
}

/** A server of its own on the home. */
async function serve(readOnly = false) {
  const engine = await openEngine({ home, embedder: 'none', background: false, clock, readOnly })
  const catalog = makeCatalog(engine)
  const options = { tokens: tokensOf('ben', 'cyd'), mcp: mcpOverHttp(engine, catalog) }
  const server = await serveHere(engine, options, catalog)
  const { url } = server
  ends.push(async () => {
    await server[Symbol.asyncDispose]()
    await engine.close()
  })
  const call = async (name: string, input: object, by = 'ben') => {
    const headers = { 'content-type': 'application/json', ...bearer(by) }
    const response = await fetch(`${url}/v1/ops/${name}`, { method: 'POST', body: JSON.stringify(input), headers })
    const { messages, ...answer } = (await response.json()) as Page & { readonly messages?: Page['items'] }
    return messages === undefined ? answer : { ...answer, items: messages }
  }
  const tool = async (name: string, args: object) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...bearer('ben'),
    }
    const response = await fetch(`${url}/mcp`, { method: 'POST', body: JSON.stringify(message), headers })
    const text = await response.text()
    const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
    return (JSON.parse(data) as { readonly result: { readonly structuredContent: Page } }).result.structuredContent
  }
  const stream = async (name: string, input: object) => {
    const headers = { 'content-type': 'application/json', accept: 'application/x-ndjson', ...bearer('ben') }
    return (await fetch(`${url}/v1/ops/${name}`, { method: 'POST', body: JSON.stringify(input), headers })).text()
  }
  return { engine, call, tool, stream }
}

const notes = Array.from({ length: 9 }, (_, at) => ({
  id: `note ${at}`,
  content: `Honey number ${at} keeps for centuries.`,
  visibility: 'public' as const,
}))

/** Ids of all pages of two, asked by turns. */
async function readAll(ways: readonly ((cursor: string | null) => Promise<Page>)[]): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  for (let at = 0; at === 0 || cursor !== null; at++) {
    const page = await (ways[at % ways.length] as (typeof ways)[number])(cursor)
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.cursor
    if (cursor !== null) expect(cursor).toMatch(HANDLE)
  }
  return ids
}

describe('a cursor over HTTP and MCP', () => {
  it.each(['query', 'list', 'conversations.query'])(
    'of %s is a handle, and another process and the other interface go on with it (QE-015)',
    async name => {
      const first = await serve()
      await first.engine.put({ entries: notes })
      for (const { id, content } of notes) await first.call('conversations.remember', { id, text: content })
      const second = await serve()
      const words = name === 'list' ? {} : { text: 'honey' }
      const input = (cursor: string | null) => ({ ...words, limit: 2, ...(cursor !== null && { cursor }) })
      const over =
        ({ call }: typeof first) =>
        (cursor: string | null) =>
          call(name, input(cursor))
      const whole = await first.call(name, { ...words, limit: 20 })
      const pages = [over(first), over(second)]
      if (name !== 'conversations.query') pages.push(cursor => second.tool(name, input(cursor)))
      expect(await readAll(pages)).toEqual(whole.items.map(({ id }) => id))
    },
  )

  it('is the same for the same answer, whatever is hidden between (QE-015)', async () => {
    const { engine, call } = await serve()
    await engine.put({ entries: notes })
    const before = await call('query', { text: 'honey', limit: 2 })
    await engine.put({ entries: [{ id: 'secret', content: 'Honey that nobody sees.', visibility: 'private' }] })
    expect((await call('query', { text: 'honey', limit: 2 })).cursor).toBe(before.cursor)
  })

  it('of somebody else is refused, and one that is not kept any more has expired (QE-015)', async () => {
    const { engine, call } = await serve()
    await engine.put({ entries: notes })
    const { cursor } = await call('query', { text: 'honey', limit: 2 })
    expect(await call('query', { text: 'honey', limit: 2, cursor }, 'cyd')).toMatchObject({
      error: { code: 'cursor_mismatch' },
    })
    expect(await call('query', { text: 'honey', cursor: 'c_0123456789abcdef' })).toMatchObject({
      error: { code: 'cursor_expired', message: expect.stringContaining('cursor: ') },
    })
    clock.set(clock.now() + 2 * DAY)
    await call('query', { text: 'honey', limit: 3 })
    expect(await call('query', { text: 'honey', limit: 2, cursor })).toMatchObject({
      error: { code: 'cursor_expired' },
    })
  })

  it('is continued at once by a stream of another process (QE-015)', async () => {
    const first = await serve()
    await first.engine.put({ entries: notes })
    const second = await serve()
    const { cursor } = await first.call('query', { text: 'honey', limit: 2 })
    const streamed = await second.stream('query', { text: 'honey', limit: 2, cursor })
    expect(streamed).toContain('Honey number')
    expect(streamed).not.toContain('cursor_expired')
  })

  it('of an engine that is closed right after its answer goes on at the next server (QE-015)', async () => {
    const first = await serve()
    await first.engine.put({ entries: notes })
    const page = await first.call('list', { limit: 2 })
    await first.engine.close()
    const { call } = await serve()
    const pages = [page]
    const way = async (cursor: string | null) => pages.shift() ?? call('list', { limit: 2, cursor: cursor ?? '' })
    expect(await readAll([way])).toHaveLength(notes.length)
  })

  it('of a store that cannot be written is kept by the process that gave it (QE-015)', async () => {
    const writing = await serve()
    await writing.engine.put({ entries: notes })
    await ends.pop()?.()
    const { call } = await serve(true)
    const way = (cursor: string | null) => call('list', { limit: 2, ...(cursor !== null && { cursor }) })
    expect(await readAll([way])).toHaveLength(notes.length)
  })
})
