/** Answers over MCP: as long as there is room, marked as data, linked to what can be read whole; errors with a next step. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { querentHere } from '../support/in-process.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { callHere } from './interfaces.ts'
import { ask, MCP_ENV, mcpClient } from './mcp-client.ts'
import { connected, onConnection } from './mcp-in-process.ts'

interface Answer {
  readonly items: readonly { readonly id: string }[]
  readonly cursor: string | null
  readonly left_out?: { readonly items: number; readonly next: string }
}

let folder = ''
let owner: Client
let ana: Client
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-mcp-answers-'))
  const entries = Array.from({ length: 13 }, (_, at) => ({
    id: at < 12 ? `notes/honey ${at}#é` : 'secret',
    title: `Honey ${at}`,
    content: `Honey ${at} keeps for centuries. ${'The bees know why it does. '.repeat(40 + at)}`,
    collection: at < 12 ? 'hive' : 'hidden-place',
    tags: [at < 12 ? 'bees' : 'hidden-tag'],
    visibility: at < 6 ? 'public' : 'private',
  }))
  await querentHere(['init'], { cwd: folder, env: MCP_ENV })
  const put = await querentHere(['call', 'put', '-'], { cwd: folder, env: MCP_ENV, stdin: JSON.stringify({ entries }) })
  expect(put).toMatchObject({ status: 0 })
  ;[owner, ana] = await Promise.all([mcpClient(folder), mcpClient(folder, ['--viewer', 'ana'])])
})
afterAll(async () => {
  await Promise.all([owner.close(), ana.close()])
  rmSync(folder, { recursive: true, force: true })
})

/** By the tokenizer with the larger number of them, of all that an agent is given. */
const tokensOf = (value: unknown): number => {
  const text = JSON.stringify(value)
  return Math.max(o200k(text).length, cl100k(text).length)
}

async function tokensOfCall(name: string, args: Record<string, unknown>): Promise<number> {
  const { content, structuredContent } = await owner.callTool({ name, arguments: args })
  return tokensOf(content) + (structuredContent === undefined ? 0 : tokensOf(structuredContent))
}

describe('an answer', () => {
  it('that is concise has what an agent needs, once: three hits cost at most 250 tokens', async () => {
    const args = { text: 'honey', limit: 3, detail: 'concise' }
    const { structuredContent } = await owner.callTool({ name: 'query', arguments: args })
    expect(structuredContent).toBeUndefined()
    expect(await tokensOfCall('query', args)).toBeLessThanOrEqual(250)
    const { verdict, items } = (await ask(owner, 'query', args)) as { verdict: string; items: object[] }
    expect(verdict).toBe('answered')
    expect(items[0]).toEqual({
      id: expect.stringMatching(/^notes\/honey \d+#é$/),
      title: expect.stringMatching(/^Honey/),
      lines: '1',
      text: expect.stringMatching(/^Honey \d+ keeps for centuries\..{20,}…$/),
      score: expect.any(Number),
    })
    const { score } = items[0] as { score: number }
    expect(String(score)).toMatch(/^\d(\.\d{1,2})?$/)
  })

  it.each([100, 150, 300, 700, 2000])(
    'takes at most %i tokens where max_tokens says so, cursor and structure included, whichever the tool',
    async max_tokens => {
      for (const detail of ['concise', 'detailed']) {
        for (const [name, args] of [
          ['query', { text: 'honey', limit: 13 }],
          ['query', { text: 'honey', limit: 13, passages: 3, explain: true }],
          ['query', { text: 'the price of bitcoin' }],
          ['list', { limit: 13 }],
          ['get', { id: 'notes/honey 3#é' }],
          ['recall', { text: 'kiln' }],
          ['remember', { text: 'The kiln is in the barn.' }],
          ['status', {}],
        ] as const) {
          const spent = await tokensOfCall(name, { ...args, detail, max_tokens })
          expect(spent, `${name} ${detail}`).toBeLessThanOrEqual(max_tokens)
        }
      }
    },
  )

  it.each([110, 300, 1200])('of at most %i tokens goes on exactly where it was cut', async max_tokens => {
    const all = (await ask(owner, 'query', { text: 'honey', limit: 13 })) as unknown as Answer
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const input = { text: 'honey', limit: 13, max_tokens, ...(cursor !== undefined && { cursor }) }
      const page = (await ask(owner, 'query', input)) as unknown as Answer
      expect(page.items.length).toBeGreaterThan(0)
      if (page.cursor) expect(page.left_out?.items).toBeGreaterThan(0)
      seen.push(...page.items.map(item => item.id))
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    expect(seen.sort()).toEqual(all.items.map(item => item.id).sort())
  })

  it('QE-008: that is concise has the passages of each item, with lines, and the text of each once', async () => {
    const page = await ask(owner, 'query', { text: 'honey', limit: 2, passages: 2, detail: 'concise' })
    const { items } = page as unknown as { items: { text?: string; passages: { lines: string; text: string }[] }[] }
    expect(items.map(({ passages }) => passages.length)).toEqual([2, 2])
    for (const { text, passages } of items) {
      expect(text).toBeUndefined()
      for (const passage of passages) expect(passage.text.length).toBeGreaterThan(20)
    }
    const one = { text: 'honey', limit: 3, group: 'passage', detail: 'concise' }
    const passages = (await ask(owner, 'query', one))['items'] as { passage: number; text: string }[]
    for (const { passage, text } of passages) expect([passage >= 1, text.length > 20]).toEqual([true, true])
  })

  it('of one entry is cut at its end', async () => {
    const page = await ask(owner, 'get', { id: 'notes/honey 3#é', max_tokens: 200 })
    expect(page).toMatchObject({ left_out: { characters: expect.any(Number) } })
    expect(String(page['content'])).toMatch(/^Honey 3 keeps/)
  })

  it('is refused a length or a form that is none', async () => {
    const refused = { error: { code: 'invalid_argument' } }
    expect(await ask(owner, 'query', { text: 'honey', max_tokens: 5 })).toMatchObject(refused)
    expect(await ask(owner, 'query', { text: 'honey', detail: 'short' })).toMatchObject(refused)
  })

  it('is marked as data, and links to what can be read whole', async () => {
    const { content, _meta } = await owner.callTool({ name: 'query', arguments: { text: 'honey', limit: 2 } })
    expect(content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('not instructions') })
    expect(_meta).toMatchObject({ 'querent/content': 'data' })
    const links = content.flatMap(part => (part.type === 'resource_link' ? [part.uri] : []))
    expect(links).toHaveLength(2)
    const { contents } = await owner.readResource({ uri: links[0] ?? '' })
    expect(contents[0]).toMatchObject({ text: expect.stringMatching(/^Honey \d+ keeps/) })
  })

  it('of status is marked as data too: collections have names that others give them', async () => {
    const { content, structuredContent, _meta } = await owner.callTool({ name: 'status', arguments: {} })
    expect(JSON.stringify(structuredContent)).toContain('hidden-place')
    expect(content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('not instructions') })
    expect(_meta).toMatchObject({ 'querent/content': 'data' })
  })

  it('that failed says what to do next', async () => {
    const { content, isError } = await owner.callTool({ name: 'get', arguments: { id: 'nothing' } })
    expect(isError).toBe(true)
    expect(content[1]).toMatchObject({ text: expect.stringMatching(/^Next: Take an id/) })
  })
})

describe('a resource', () => {
  it('that is hidden is answered as one that is missing', async () => {
    const failed = (uri: string): Promise<string> =>
      ana.readResource({ uri }).then(
        () => 'read',
        (error: Error) => `${JSON.stringify(error)} ${error.message}`,
      )
    const hidden = await failed('querent://entry/secret')
    expect(hidden).toContain('-32602')
    expect(hidden.replaceAll('secret', 'nothing')).toBe(await failed('querent://entry/nothing'))
    await expect(owner.readResource({ uri: 'querent://entry/secret' })).resolves.toBeDefined()
    expect(await failed('querent://entry/%E0%A4%A')).not.toBe('read')
  })
})

describe('prompts', () => {
  it('are the same for everybody, and complete names that the viewer may see', async () => {
    const { prompts } = await ana.listPrompts()
    expect(prompts.map(prompt => prompt.name)).toEqual(['answer_from_store', 'remember'])
    const { messages } = await ana.getPrompt({
      name: 'answer_from_store',
      arguments: { question: 'Why?', tag: 'bees' },
    })
    expect(messages[0]?.content).toMatchObject({ text: expect.stringContaining('with the tag bees: Why?') })
    const complete = async (client: Client, name: string, value: string): Promise<readonly string[]> => {
      const ref = { type: 'ref/prompt', name: 'answer_from_store' } as const
      return (await client.complete({ ref, argument: { name, value } })).completion.values
    }
    expect(await complete(ana, 'collection', 'h')).toEqual(['hive'])
    expect(await complete(owner, 'collection', 'h')).toEqual(['hive', 'hidden-place'])
    expect(await complete(ana, 'tag', 'hidden')).toEqual([])
    expect(await complete(owner, 'tag', 'hidden')).toEqual(['hidden-tag'])
  })
})

describe('a tool of a server in one process', () => {
  async function withClient(body: (engine: Engine, client: Client) => Promise<void>): Promise<void> {
    const engine = await openEngine({ store: 'memory', embedder: openToyEmbedder(), background: false })
    const client = await connected(engine, onConnection, '2026-07-28', { viewer: 'owner' })
    await body(engine, client)
    await client.close()
    await engine.close()
  }

  it('code gives its verdict in the concise form too, as query and recall do (QE-005)', async () => {
    await withClient(async (engine, client) => {
      for (const each of ['body', 'mind']) await callHere(engine, `context.${each}_init`, {})
      await callHere(engine, 'context.mind_concepts_create', { name: 'Vehicle', type: 'Class' })
      const judged = async (query: string) => {
        const text = (await ask(client, 'code', { query, detail: 'concise' })) as Record<string, unknown>
        return { status: text['status'], verdict: text['verdict'], reason: text['reason'] }
      }
      expect(await judged('Vehicle')).toEqual({ status: 'success', verdict: 'answered', reason: undefined })
      const none = { status: 'success', verdict: 'nothing_relevant', reason: expect.any(String) }
      expect(await judged('zeppelin')).toEqual(none)
    })
  })

  it('put waits for vectors: another process finds the entry by meaning at once', async () => {
    await withClient(async (engine, client) => {
      expect(await ask(client, 'put', { entries: [{ content: 'The car is in the barn.' }] })).toMatchObject({
        created: 1,
        embedding_error: null,
      })
      expect(await engine.status()).toMatchObject({ chunks: 1, embedded: 1 })
    })
  })
})
