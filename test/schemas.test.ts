/**
 * What is published of each operation: nothing that is a bare object, no field without a description that says more than its
 * name, and the schema that is published is the one that checks.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../src/base/canonical.ts'
import { isRecord } from '../src/base/record.ts'
import { openEngine } from '../src/engine/open.ts'
import { makeApp } from '../src/interfaces/http/app.ts'
import { Authenticator } from '../src/interfaces/http/auth.ts'
import { namesOf } from '../src/interfaces/http/guard.ts'
import { makeTools } from '../src/interfaces/mcp/tools.ts'
import { QuerentError } from '../src/model/errors.ts'
import { callOperation, describeOperation, type EngineOperation, jsonSchema, makeCatalog } from '../src/ops/catalog.ts'
import { connected, onConnection } from './interfaces/mcp-in-process.ts'
import { runInProcess } from './support/in-process.ts'
import { arbitraryOf, mutationsOf } from './support/json-schema-arbitrary.ts'
import { bearer, tokensOf } from './support/tokens.ts'

/** What users, plug-ins, errors and the tables of lenses put there: its form is not said here. */
const OPEN: ReadonlySet<string> = new Set([
  'metadata',
  'plugin_fields',
  'profile_state',
  'details',
  'meta',
  'payload',
  'lines',
])

/** It answers with events alone, which the guide describes. */
const WITHOUT_ANSWER: ReadonlySet<string> = new Set(['beliefs.watch'])

/** What comes signed from other nodes is refused alike whatever is wrong with it: UNAUTHORIZED, and no word about a field. */
const REFUSED_OTHERWISE = /^nodes\./

/** Each query of a batch is refused on its own: the batch is not. */
const APART: ReadonlySet<string> = new Set(['beliefs.batch'])

/** Reasons for which a value is refused that has the form the schema states: rules over several fields, and over meanings. */
const OF_MEANING: ReadonlySet<string> = new Set([
  ...['created_window', 'duplicate', 'empty_query', 'empty_scope', 'no_reference', 'not_aggregate', 'not_federated'],
  ...['not_watched', 'not_supported', 'offset_with_cursor', 'valid_window', 'wrong_hash', 'zero_sum'],
])
/** Counted over the members of lists, or over what the text means: parts of filters, operators. */
const COUNTED = /(?:^|\.)(?:filters|semantic)$/
/** Bounds by another field. */
const BY_OTHER_FIELD: ReadonlySet<string> = new Set(['target_tokens', 'daily_epsilon'])

/** Families of operations with the errors of the lens beliefs. */
const BELIEFS = /^(?:beliefs|trust|agents|federations|nodes|peers)\./

const engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
const catalog = makeCatalog(engine)
const operations = [...catalog.values()]
const named = operations.map(operation => [operation.name, operation] as const)
const app = makeApp(engine, catalog, {
  authenticator: new Authenticator({ tokens: tokensOf(), local: true }),
  names: namesOf(true, [], []),
  requestId: () => 'r',
  log: text => expect.fail(text),
  ending: new AbortController().signal,
})
afterAll(() => engine.close())

interface ToolOf {
  readonly client: Client
  readonly tool: string
}

/** The tool of each operation that has one, on a server that offers it. */
const tools = new Map<string, ToolOf>()
const lensNames = engine.lenses.map(({ name }) => name)
for (const lens of [undefined, ...lensNames.filter(name => name !== 'default')]) {
  const asking = { viewer: 'owner', ...(lens !== undefined && { lens }) }
  const client = await connected(engine, onConnection, '2026-07-28', asking)
  for (const { name: tool, operation } of makeTools(catalog, { lenses: lens === undefined ? [] : [lens] }, lensNames)) {
    if (!tools.has(operation.name)) tools.set(operation.name, { client, tool })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'querent-schemas-'))
const home = join(folder, 'home')
await (await openEngine({ home, embedder: 'none', background: false })).close()
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  vi.stubEnv('QUERENT_HOME', home)
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
})
afterEach(() => vi.unstubAllEnvs())

describe('every published schema', () => {
  it('states a filter once, however often it is used, and is smaller for it', () => {
    for (const name of ['beliefs.query', 'query', 'list', 'explain', 'watch']) {
      const operation = catalog.get(name) as EngineOperation
      const { input } = describeOperation(operation)
      const text = JSON.stringify(input)
      const field = name.startsWith('beliefs.') ? '"min_holder_reputation":' : '"not_tags":'
      expect(text.split(field).length - 1, name).toBe(1)
      expect(input, name).toMatchObject({ type: 'object', properties: {} })
      expect(text.length, name).toBeLessThan(JSON.stringify(jsonSchema(operation.input, 'input')).length)
    }
  })

  it('describes every field, states ranges and defaults, and leaves no object bare', () => {
    expect(operations.length).toBeGreaterThan(100)
    const found = operations.flatMap(({ name, input, output }) => [
      ...wrongIn(jsonSchema(input, 'input'), `${name} input`, 'input'),
      ...(WITHOUT_ANSWER.has(name) ? [] : wrongIn(jsonSchema(output, 'output'), `${name} output`, 'output')),
    ])
    expect([...new Set(found)]).toEqual([])
  })

  it('says what is wrong with a schema that is not complete', () => {
    const schema = {
      type: 'object',
      properties: {
        belief_id: { type: 'string', description: 'Id of the belief' },
        options: { type: 'object', description: 'How it is answered' },
        limit: { type: 'integer', description: 'Results of a page' },
        items: { type: 'array', description: 'What was found', items: {} },
        plain: { type: 'string' },
      },
      required: ['belief_id'],
    }
    expect(wrongIn(schema, 'x', 'input')).toEqual([
      'x.belief_id: its description only restates its name',
      'x.options: a bare object',
      'x.options: no default is stated',
      'x.limit: no default is stated',
      'x.limit: no range is stated',
      'x.items[]: a value of any type',
      'x.items: no default is stated',
      'x.plain: no description',
      'x.plain: no default is stated',
    ])
  })

  it('accepts the examples it gives', () => {
    for (const operation of operations) {
      const { name, input: schema } = describeOperation(operation)
      for (const [inner, example] of examplesIn(schema)) {
        const { $defs } = schema
        expect(ajv().validate({ ...inner, ...($defs === undefined ? {} : { $defs }) }, example), name).toBe(true)
      }
    }
  })
})

describe('the published schema of an input is its check', () => {
  it.each(named)('what the schema of %s accepts is not refused for its form', (_, operation) => {
    const { schema, validate } = published(operation)
    const accepted = arbitraryOf(schema).filter(value => validate(value))
    fc.assert(
      fc.property(accepted, value => {
        expect(formFaults(operation, value)).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  it('is asked for through MCP wherever the operation has a tool', () => {
    expect(tools.size).toBeGreaterThan(35)
  })

  // A call of the lens context without parameters ignores whatever it is given.
  const refusing = named.filter(
    ([name, { input }]) =>
      !REFUSED_OTHERWISE.test(name) && Object.keys(jsonSchema(input, 'input')['properties'] ?? {}).length > 0,
  )
  it.each(refusing)(
    'what the schema of %s refuses is refused, alike by library, HTTP, MCP and command',
    async (name, operation) => {
      const { schema, validate } = published(operation)
      const refused = arbitraryOf(schema)
        .filter(value => validate(value))
        .chain(value => mutationsOf(value))
        .filter(value => isRecord(value) && !validate(value))
      let calls = 0
      await fc.assert(
        fc.asyncProperty(refused, async value => {
          const here = await refusalHere(name, value)
          if (APART.has(name) && here === null) return
          expect(here, JSON.stringify(value)).not.toBeNull()
          expect(await refusalOverHttp(name, value)).toEqual(here)
          // There it bounds the whole answer, and is checked as that.
          const isPlain = !Object.hasOwn(value as object, 'max_tokens')
          if (isPlain && tools.has(name)) expect(await refusalOverMcp(name, value)).toEqual(here)
          // Each opens the store: one is enough to show that it is the same path.
          if (calls++ < 1) expect(await refusalOfCommand(name, value)).toEqual(here)
        }),
        { numRuns: 15 },
      )
    },
  )
})

/** Faults of the form alone. Read at admission: nothing runs. */
function formFaults(operation: EngineOperation, input: unknown): readonly unknown[] {
  const result = operation.input.safeParse(input)
  if (result.success) return []
  // Rules of meaning, such as weights whose sum is 1, are stated in words.
  if (!BELIEFS.test(operation.name)) return result.error.issues.filter(({ code }) => code !== 'custom')
  const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
  const cause = new QuerentError('invalid_argument', 'refused', {}, result.error)
  const error = operation.refusal?.(engine, cause, input, context) ?? cause
  const all = error.details['all'] as readonly { readonly path: string; readonly reason: string }[]
  return all.filter(
    ({ path, reason }) =>
      !OF_MEANING.has(reason) && !BY_OTHER_FIELD.has(path) && !(reason === 'too_complex' && COUNTED.test(path)),
  )
}

/** Code and path of what is wrong, or the errors of an envelope; null: it was not refused. */
async function refusalHere(name: string, input: unknown): Promise<unknown> {
  try {
    const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
    return reportedBy(await callOperation(catalog, engine, name, input, context))
  } catch (thrown) {
    if (thrown instanceof QuerentError) return pathOf(thrown.code, thrown.details)
    throw thrown
  }
}

async function refusalOverHttp(name: string, input: unknown): Promise<unknown> {
  const response = await app.request(`http://127.0.0.1/v1/ops/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', host: '127.0.0.1', ...bearer('owner') },
    body: JSON.stringify(input),
  })
  return reportedIn(await response.json())
}

async function refusalOverMcp(name: string, input: unknown): Promise<unknown> {
  const { client, tool } = tools.get(name) as ToolOf
  const { content, structuredContent } = await client.callTool({ name: tool, arguments: input as JsonObject })
  const [first] = content
  return reportedIn(structuredContent ?? JSON.parse(first?.type === 'text' ? first.text : '{}'))
}

async function refusalOfCommand(name: string, input: unknown): Promise<unknown> {
  const { stdout } = await runInProcess(['call', name, JSON.stringify(input)], { workingFolder: folder })
  return reportedIn(JSON.parse(stdout))
}

function reportedIn(answer: unknown): unknown {
  const { error } = answer as { readonly error?: { readonly code: string; readonly details: JsonObject } }
  return error === undefined ? reportedBy(answer) : pathOf(error.code, error.details)
}

function pathOf(code: string, { field, parameter, path, batch_index, index }: JsonObject): JsonObject {
  return { code, at: field ?? parameter ?? path ?? null, item: batch_index ?? index ?? null }
}

function reportedBy(answer: unknown): unknown {
  return isRecord(answer) && answer['status'] === 'error' ? answer['errors'] : null
}

interface Published {
  readonly schema: JsonObject
  readonly validate: ValidateFunction
}

function ajv(): Ajv2020 {
  return new Ajv2020({ strict: false, validateFormats: false })
}

function published(operation: EngineOperation): Published {
  const validate = ajv().compile(describeOperation(operation).input)
  // The arbitraries follow no references.
  return { schema: jsonSchema(operation.input, 'input'), validate }
}

function* examplesIn(schema: unknown): Generator<readonly [JsonObject, unknown]> {
  if (Array.isArray(schema)) for (const each of schema) yield* examplesIn(each)
  if (!isRecord(schema)) return
  const { examples, ...rest } = schema as JsonObject
  if (Array.isArray(examples)) for (const example of examples) yield [rest, example]
  for (const inner of Object.values(rest)) yield* examplesIn(inner)
}

/** What is wrong with a schema, a line each. */
function wrongIn(schema: JsonObject, at: string, io: 'input' | 'output'): readonly string[] {
  const { type, properties, items, anyOf, oneOf, additionalProperties, prefixItems } = schema
  const below = (inner: unknown, place: string) => (isRecord(inner) ? wrongIn(inner as JsonObject, place, io) : [])
  const choices = [anyOf, oneOf].flatMap(choice => (Array.isArray(choice) ? choice : []))
  if (isRecord(properties)) {
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    return Object.entries(properties as JsonObject).flatMap(([name, field]) => {
      const place = `${at}.${name}`
      if (OPEN.has(name)) return describedWrongly(name, field as JsonObject, place)
      // Operators of a condition compare with values of the user: absent, they ask nothing.
      const isOperator = at.endsWith('.*')
      return [
        ...describedWrongly(name, field as JsonObject, place),
        ...below({ ...(field as JsonObject), description: undefined, default: undefined }, place),
        ...(io === 'input' && !isOperator && !required.includes(name)
          ? withoutDefault(field as JsonObject, place)
          : []),
        ...(isOperator ? [] : withoutRange(field as JsonObject, place)),
      ]
    })
  }
  if (choices.length > 0) return choices.flatMap(choice => below(choice, at))
  if (type === 'object' && isRecord(additionalProperties)) return below(additionalProperties, `${at}.*`)
  // A call of the lens context without parameters ignores what it is given.
  if (type === 'object') return additionalProperties === false || isRecord(properties) ? [] : [`${at}: a bare object`]
  if (type === 'array' && Array.isArray(prefixItems)) return prefixItems.flatMap(item => below(item, `${at}[]`))
  if (type === 'array') return below(items ?? {}, `${at}[]`)
  const isTyped = [type, schema['enum'], schema['const'], schema['$ref']].some(each => each !== undefined)
  return isTyped ? [] : [`${at}: a value of any type`]
}

function describedWrongly(name: string, { description }: JsonObject, place: string): readonly string[] {
  if (typeof description !== 'string' || description === '') return [`${place}: no description`]
  const known = new Set(wordsOf(name.replaceAll('_', ' ')))
  const says = wordsOf(description).filter(word => !EMPTY.has(word))
  return says.every(word => known.has(word)) ? [`${place}: its description only restates its name`] : []
}

const EMPTY: ReadonlySet<string> = new Set([
  ...['a', 'an', 'the', 'of', 'its', 'it', 'this', 'that', 'for', 'to', 'is', 'whether', 'what', 'value', 'in', 'and'],
])

/** Lower case, without the plural's s. */
function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(word => word.replace(/s$/, ''))
}

/** Or what is given instead. */
function withoutDefault({ description, default: fallback }: JsonObject, place: string): readonly string[] {
  const isStated =
    fallback !== undefined || /\b(default|instead of|either|or give|is required)\b/i.test(String(description))
  return isStated ? [] : [`${place}: no default is stated`]
}

/** Of numbers: bounds in the schema, or in words with a figure; a time or a share of a score needs none. */
function withoutRange(field: JsonObject, place: string): readonly string[] {
  const isStated =
    /\d|\b(unix|seconds|milliseconds|days|higher|cosine|relevance|number of|time|validity|when it was|now)\b/i.test(
      String(field['description']),
    )
  return isStated || numbersIn(field).every(hasBounds) ? [] : [`${place}: no range is stated`]
}

function numbersIn(schema: JsonObject): readonly JsonObject[] {
  const choices = [schema['anyOf'], schema['oneOf']].flatMap(choice => (Array.isArray(choice) ? choice : []))
  if (choices.length > 0) return choices.flatMap(choice => numbersIn(choice as JsonObject))
  const types = [schema['type']].flat()
  const isOpen = (types.includes('number') || types.includes('integer')) && schema['const'] === undefined
  return isOpen ? [schema] : []
}

/** A bound that only says "a safe integer" says nothing. */
function hasBounds({ minimum, maximum }: JsonObject): boolean {
  return [minimum, maximum].some(bound => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER)
}
