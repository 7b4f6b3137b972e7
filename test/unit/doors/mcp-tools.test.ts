import { describe, expect, it } from 'vitest'
import { refuseUnknown } from '../../../src/doors/mcp/known-fields.ts'
import { closedOutline, outline } from '../../../src/doors/mcp/tools/outline.ts'
import { makeTools } from '../../../src/doors/mcp/tools/tools.ts'
import { makeCatalog } from '../../../src/ops/catalog.ts'
import { catalogOf, operation } from '../../support/operations.ts'

describe('tools', () => {
  const catalog = makeCatalog({ lensOperations: [] })

  it('are eight, in one order, each with a description', () => {
    const tools = makeTools(catalog, undefined, ['default'])
    expect(tools.map(tool => tool.name).join(' ')).toBe('query explain similar get list put delete status')
    for (const { description } of tools) expect(description).toMatch(/^[A-Z].{10,}\.$/)
  })

  it("are a lens's own when it brings operations, and the default ones when it does not", () => {
    const withLens = new Map([...catalog, ...catalogOf(operation('paint.mix', () => ({})))])
    expect(makeTools(withLens, 'paint', ['default', 'paint']).map(tool => tool.name)).toEqual(['paint_mix'])
    expect(makeTools(withLens, 'default', ['default', 'paint'])).toHaveLength(8)
    expect(() => makeTools(withLens, 'pain', ['default', 'paint'])).toThrow('there is no lens "pain"')
  })

  it('are not what goes on until its caller ends it', () => {
    const watch = operation('paint.watch', () => ({}), { resumeAt: 'resume_token' })
    const withLens = catalogOf(
      operation('paint.mix', () => ({})),
      watch,
    )
    expect(makeTools(withLens, 'paint', ['paint']).map(tool => tool.name)).toEqual(['paint_mix'])
  })

  it('show agents the fields they need and no other', () => {
    const query = makeTools(catalog, undefined, []).find(tool => tool.name === 'query')
    expect(query?.inputSchema).toMatchObject({
      type: 'object',
      required: ['text'],
      additionalProperties: false,
      properties: {
        limit: { type: 'integer', minimum: 1, maximum: 1000 },
        mode: { enum: ['hybrid', 'words', 'meaning'] },
        as_of: { type: ['string', 'integer'] },
        filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } } } },
      },
    })
    expect(query?.inputSchema['properties']).not.toHaveProperty('diversity')
  })
})

describe('fields that a tool refuses itself', () => {
  it('are named, with what is spelled like them, or with all there are', () => {
    expect(() => refuseUnknown({ query: 'x', depht: 2 }, ['query', 'depth'])).toThrow(
      'depht: there is no such field; did you mean depth?',
    )
    expect(() => refuseUnknown({ colour: 1 }, ['query', 'depth'])).toThrow(
      'colour: there is no such field; there are query, depth',
    )
    expect(() => refuseUnknown({ query: 'x' }, ['query', 'depth'])).not.toThrow()
  })
})

describe('the outline of a schema', () => {
  const schema = {
    $schema: 'x',
    type: 'object',
    properties: {
      a: { type: 'string', minLength: 1 },
      b: { type: 'object', properties: { c: { type: 'integer', maximum: 2 ** 53 - 1, minimum: 0 }, d: { $ref: '#' } } },
      e: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      f: { anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] },
    },
    required: ['a', 'b'],
  }

  it('leaves out what an agent does not need', () => {
    expect(outline(schema, 2)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'object', properties: { c: { type: 'integer', minimum: 0 }, d: {} } },
        e: { type: 'array', items: { type: ['string', 'null'] } },
        f: {},
      },
      required: ['a', 'b'],
    })
  })

  it('goes as deep as told, along the paths told', () => {
    expect(outline(schema, 1)['properties']).toMatchObject({ b: { type: 'object' } })
    expect(closedOutline(schema, 2, ['b.c'])).toEqual({
      type: 'object',
      properties: { b: { type: 'object', properties: { c: { type: 'integer', minimum: 0 } } } },
      required: ['b'],
      additionalProperties: false,
    })
  })
})
