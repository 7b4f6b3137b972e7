/** That an answer which is not as declared is seen: by its status, its form and its body. */
import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/base/canonical.ts'
import { Description } from './described.ts'

const NUMBER: JsonObject = { $ref: '#/components/schemas/Number' }
const json = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } })
const description = new Description({
  openapi: '3.1.0',
  paths: {
    '/a/{id}': {
      get: {
        parameters: [{ name: 'id', in: 'path', required: true, schema: NUMBER }],
        responses: {
          '200': json(NUMBER),
          '304': { description: 'none' },
          '404': { $ref: '#/components/responses/No' },
        },
      },
    },
  },
  components: {
    schemas: { Number: { type: 'number', maximum: 5 } },
    responses: { No: json({ type: 'object', required: ['error'] }) },
  },
})
const [get] = description.all
const problem = (status: number, type: string, body: string) =>
  description.problemOf(get as NonNullable<typeof get>, status, type, body)

it('reads parameters with what their references stand for', () => {
  expect(get).toEqual({
    method: 'GET',
    path: '/a/{id}',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'number', maximum: 5 } }],
    body: null,
  })
})

it('lets pass what is declared', () => {
  expect(problem(200, 'application/json; charset=utf-8', '5')).toBeNull()
  expect(problem(304, '', '')).toBeNull()
  expect(problem(404, 'application/json', '{"error":1}')).toBeNull()
})

it.each([
  [500, 'application/json', '{"error":1}', 'status 500'],
  [200, 'application/json', '6', 'must be <= 5'],
  [200, 'application/json', '{', 'no JSON'],
  [200, 'text/html', '<p>', 'text/html'],
  [200, '', '', 'no type'],
  [404, 'application/json', '{}', "must have required property 'error'"],
])('tells what is wrong with %s %s %s', (status, type, body, told) => {
  expect(problem(status, type, body)).toContain(told)
})
