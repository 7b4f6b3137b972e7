import { describe, expect, it } from 'vitest'
import { makeTools, type Tool, type ToolChoice } from '../../../src/interfaces/mcp/tools.ts'
import { makeCatalog } from '../../../src/ops/catalog.ts'
import { catalogOf, operation } from '../../support/operations.ts'

const catalog = makeCatalog({ lensOperations: [] })
const names = (tools: readonly Tool[]) => tools.map(({ name }) => name).join(' ')

describe('tools', () => {
  it('are default ones where nothing is chosen, each with a description', () => {
    const tools = makeTools(catalog, {}, ['default'])
    expect(names(tools)).toBe('query get put list status')
    for (const { description } of tools) expect(description).toMatch(/^[A-Z].{10,}\.$/)
  })

  it('are those of the lenses that were chosen, in their order; a lens without operations has the default ones', () => {
    const operations = catalogOf(
      operation('paint.mix', () => ({})),
      operation('sing.hum', () => ({})),
    )
    const lenses = ['default', 'paint', 'sing']
    const chosen = (choice: ToolChoice) => names(makeTools(new Map([...catalog, ...operations]), choice, lenses))
    expect(chosen({ lenses: ['paint'] })).toBe('paint_mix')
    expect(chosen({ lenses: ['sing', 'paint'] })).toBe('sing_hum paint_mix')
    expect(chosen({ lenses: ['default'] })).toBe('query get put list status')
    expect(chosen({ lenses: ['paint'], tools: ['get', 'explain'] })).toBe('get explain paint_mix')
    expect(() => chosen({ lenses: ['pain'] })).toThrow('there is no lens "pain"')
    expect(() => chosen({ tools: ['gets'] })).toThrow('tools: expected the name of a tool, such as get, got "gets"')
    expect(() => chosen({ tools: ['x'] })).toThrow('tools: expected one of query, get')
  })

  it('are not what goes on until its caller ends it', () => {
    const watch = operation('paint.watch', () => ({}), { resumeAt: 'resume_token' })
    const withLens = catalogOf(
      operation('paint.mix', () => ({})),
      watch,
    )
    expect(names(makeTools(withLens, { lenses: ['paint'] }, ['paint']))).toBe('paint_mix')
  })

  it('show agents the fields they need and no other, each with a description', () => {
    const query = makeTools(catalog, {}, []).find(tool => tool.name === 'query')
    expect(query?.inputSchema).toMatchObject({
      type: 'object',
      required: ['text'],
      additionalProperties: false,
      properties: {
        text: { type: 'string', description: expect.stringContaining('words') },
        limit: { type: 'integer', minimum: 1, maximum: 1000, description: 'Default: 10' },
        mode: { enum: ['hybrid', 'words', 'meaning'] },
        filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } } } },
        detail: { enum: ['concise', 'detailed'] },
        max_tokens: { type: 'integer' },
      },
    })
    expect(query?.inputSchema['properties']).not.toHaveProperty('diversity')
  })
})
