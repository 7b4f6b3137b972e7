/** The tools that lenses offer over MCP: names, schemas, hints, answers and errors. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HASHTAGS } from '../support/chroma-nodes.ts'
import { guidePage } from '../support/guide-page.ts'
import { querentHere } from '../support/in-process.ts'
import { ask, MCP_ENV, mcpClient } from './mcp-client.ts'

const CHROMA =
  'chroma_query chroma_batch_query chroma_store chroma_get_node chroma_update_node chroma_delete_node chroma_suggest_hashtags chroma_assign_hashtag chroma_list_hashtags chroma_statistics'
const BELIEFS =
  'beliefs_query beliefs_count beliefs_facets beliefs_batch beliefs_context_query beliefs_similar beliefs_contradictions beliefs_derivation beliefs_explain beliefs_put'

/** What an agent reads before its first thought. */
const MAX_TOKENS: Readonly<Record<string, number>> = {
  beliefs: 2800,
  c64: 550,
  chroma: 2300,
  collections: 900,
  context: 1600,
  conversations: 1200,
}

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-mcp-lenses-'))
  expect(await querentHere(['init'], { cwd: folder, env: MCP_ENV })).toMatchObject({ status: 0 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each([
  ['beliefs', BELIEFS],
  ['c64', 'c64_query c64_enrich'],
  ['chroma', CHROMA],
  ['collections', 'collections_query collections_format'],
  ['context', 'context_query context_definition context_references context_callers context_index context_extract'],
  ['conversations', 'remember recall explain get list delete'],
])('the lens %s', (lens, names) => {
  let client: Client
  beforeAll(async () => {
    client = await mcpClient(folder, ['--lens', lens])
  })
  afterAll(() => client.close())

  it('offers its tools, with titles, and parameters in snake_case that are all there are (BQ-198, CQ-118)', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(tool => tool.name).join(' ')).toBe(names)
    const named = tools.map(tool => `\`${tool.name}\``).join(' ')
    expect(guidePage('mcp.md')).toContain(`| \`${lens}\` | ${named} |`)
    for (const { title, description, inputSchema } of tools) {
      expect(title).toMatch(/^[A-Z]/)
      expect(description).toMatch(/^[A-Z].{10,}/)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      for (const [name, property] of Object.entries(inputSchema.properties ?? {})) {
        expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/)
        expect(property).toHaveProperty('description')
      }
      expect(inputSchema.properties).toMatchObject({ detail: {}, max_tokens: {} })
    }
  })

  it('describes its tools in no more tokens than stated', async () => {
    const { tools } = await client.listTools()
    expect(encode(JSON.stringify(tools)).length, lens).toBeLessThan(MAX_TOKENS[lens] ?? 0)
  })

  it('refuses parameters that no tool has', async () => {
    const { tools } = await client.listTools()
    for (const { name } of tools) {
      const answer = await client.callTool({ name, arguments: { no_such_parameter: 1 } })
      expect(answer.isError, name).toBe(true)
      // Others may name first the parameter that is missing.
      if (lens === 'context') expect(JSON.stringify(answer.content), name).toContain('unknown_field')
    }
  })
})

it('the tools of beliefs refuse what is of this interface alone in the words of the lens too (BQ-183)', async () => {
  const client = await mcpClient(folder, ['--lens', 'beliefs'])
  const reported = await ask(client, 'beliefs_query', { semantic: 'rain', max_tokens: 10 }).finally(() =>
    client.close(),
  )
  expect(reported).toMatchObject({
    error: { type: 'QueryError', code: 'INVALID_QUERY', details: { path: 'max_tokens', reason: 'invalid_argument' } },
  })
})

describe('the tools of chroma (CQ-118)', () => {
  let client: Client
  beforeAll(async () => {
    client = await mcpClient(folder, ['--lens', 'chroma'])
  })
  afterAll(() => client.close())

  it('say who reads, who deletes, and what is not the same twice', async () => {
    const { tools } = await client.listTools()
    const having = (hint: 'readOnlyHint' | 'destructiveHint', value: boolean): string =>
      tools
        .filter(({ annotations }) => annotations?.[hint] === value)
        .map(tool => tool.name)
        .join(' ')
    expect(having('readOnlyHint', true)).toBe(
      'chroma_get_node chroma_suggest_hashtags chroma_list_hashtags chroma_statistics',
    )
    expect(having('destructiveHint', true)).toBe('chroma_delete_node')
    expect(tools.find(tool => tool.name === 'chroma_store')?.annotations).toMatchObject({ idempotentHint: false })
  })

  it('answer a query in the detailed envelope, and keep, change and delete nodes', async () => {
    expect(await ask(client, 'chroma_assign_hashtag', { starter: true })).not.toHaveProperty('error')
    const node = { hashtags: HASHTAGS.web, label: 'Bees', content: 'Honey keeps for centuries.' }
    const first = await ask(client, 'chroma_store', node)
    const second = await ask(client, 'chroma_store', node)
    expect(first['entry_id']).not.toBe(second['entry_id'])
    const answer = await ask(client, 'chroma_query', { hashtags: HASHTAGS.web })
    expect(Object.keys(answer).sort()).toEqual(['query', 'reason', 'results', 'verdict', 'warnings'])
    expect(answer['results']).toHaveLength(2)
    const id = { entry_id: first['entry_id'] }
    expect(await ask(client, 'chroma_update_node', { ...id, label: 'Honey' })).not.toHaveProperty('error')
    expect(await ask(client, 'chroma_get_node', id)).toMatchObject({ label: 'Honey' })
    expect(await ask(client, 'chroma_delete_node', id)).not.toHaveProperty('error')
    expect(await ask(client, 'chroma_statistics', {})).toMatchObject({ total_nodes: 1 })
  })

  it('report failures as tool errors with type and code', async () => {
    expect(await ask(client, 'chroma_query', { hashtags: ['#nothing'] })).toMatchObject({
      error: { type: 'UnknownHashtagError', code: 'unknown_hashtag' },
    })
    // CQ-036: in the words of the interface.
    expect(await ask(client, 'chroma_query', { hashtags: [] })).toMatchObject({
      error: { message: expect.stringContaining('; the tool chroma_suggest_hashtags finds assigned tags') },
    })
  })
})

describe('the tools of context', () => {
  it('report an envelope with errors as a tool error, whole, with what to do next (CX-001, CX-012)', async () => {
    const client = await mcpClient(folder, ['--lens', 'context'])
    const failed = async (name: string, args: Record<string, unknown>) => {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
      const [first, next] = content.map(block => (block.type === 'text' ? block.text : ''))
      expect(JSON.parse(first ?? '')).toEqual(structuredContent)
      return { isError, next, envelope: structuredContent }
    }
    expect(await failed('context_query', { query: ' ' })).toEqual({
      isError: true,
      next: 'Next: Correct what the errors name and call again; nothing was changed.',
      envelope: {
        ...{ status: 'error', result: null, meta: expect.objectContaining({ path: '/context/query' }) },
        errors: { query: [{ code: 'required', message: 'query is required' }] },
      },
    })
    expect(await failed('context_query', { query: 'store' })).toMatchObject({
      isError: true,
      next: expect.stringContaining('The code has not been read yet: call context_index'),
      envelope: { errors: { body: [{ code: 'not_initialized' }] } },
    })
    expect(await client.callTool({ name: 'context_index', arguments: {} })).not.toHaveProperty('isError')
    expect(await client.callTool({ name: 'context_query', arguments: { query: 'store' } })).toMatchObject({
      structuredContent: { status: 'success' },
    })
    await client.close()
  })
})

describe('the tools of conversations', () => {
  let client: Client
  beforeAll(async () => {
    client = await mcpClient(folder, ['--lens', 'conversations'])
  })
  afterAll(() => client.close())

  it('explain the score that recall gives, for a query that names the lens', async () => {
    const { id } = await ask(client, 'remember', { text: 'The kiln stands in the barn.', conversation: 'workshop' })
    const { messages } = await ask(client, 'recall', { text: 'kiln' })
    const [{ score }] = messages as [{ score: number }]
    const query = { text: 'kiln', lens: 'conversations' }
    expect(await ask(client, 'explain', { query, id })).toMatchObject({ rank: 1, score })
  })
})
