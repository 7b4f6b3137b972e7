/**
 * What is published of each operation, lens by lens: nothing that is a bare object, no field without a description that says
 * more than its name, and the schema that is published is the one that checks.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../src/base/canonical.ts'
import { isRecord } from '../src/base/record.ts'
import { openEngine } from '../src/engine/open.ts'
import { QuerentError } from '../src/model/errors.ts'
import { callOperation, type EngineOperation, makeCatalog } from '../src/ops/catalog.ts'
import { jsonSchema } from '../src/ops/schemas.ts'
import { arbitraryOf, mutationsOf } from './support/json-schema-arbitrary.ts'

/** First parts of the names of operations whose schemas are complete, by lens. */
const COMPLETE: Readonly<Record<string, readonly string[]>> = {
  beliefs: ['beliefs', 'trust', 'agents', 'federations', 'nodes', 'peers'],
}

/** Objects whose fields are not ours to name: what they hold depends on the error that they are about. */
const OPEN: ReadonlySet<string> = new Set(['details'])

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
/** Bounds by another field. */
const BY_OTHER_FIELD: ReadonlySet<string> = new Set(['target_tokens', 'daily_epsilon'])

const engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
const catalog = makeCatalog(engine)
const families = Object.values(COMPLETE).flat()
const operations = [...catalog.values()].filter(({ name }) => families.includes(name.split('.', 1)[0] ?? ''))
afterAll(() => engine.close())

describe('every published schema', () => {
  it('describes every field, and leaves no object bare', () => {
    expect(operations.length).toBeGreaterThan(40)
    const found = operations.flatMap(({ name, input, output }) => [
      ...wrongIn(jsonSchema(input, 'input'), `${name} input`, 'input'),
      ...(WITHOUT_ANSWER.has(name) ? [] : wrongIn(jsonSchema(output, 'output'), `${name} output`, 'output')),
    ])
    expect(found).toEqual([])
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
})

describe('the published schema of an input is its check', () => {
  it.each(operations.map(operation => [operation.name, operation] as const))(
    'what the schema of %s accepts is not refused for its form',
    (_, operation) => {
      const { schema, validate } = published(operation)
      const accepted = arbitraryOf(schema).filter(input => validate(input))
      fc.assert(
        fc.property(accepted, input => {
          expect(formFaults(operation, input)).toEqual([])
        }),
        { numRuns: 40 },
      )
    },
  )

  const refusing = operations.filter(({ name }) => !REFUSED_OTHERWISE.test(name))
  it.each(refusing.map(operation => [operation.name, operation] as const))(
    'what the schema of %s refuses is refused with a fault that names a field',
    async (name, operation) => {
      const { schema, validate } = published(operation)
      const refused = arbitraryOf(schema)
        .filter(input => validate(input))
        .chain(input => mutationsOf(input))
        .filter(input => !validate(input))
      await fc.assert(
        fc.asyncProperty(refused, async input => {
          const error = await refusalOf(name, input)
          if (APART.has(name) && error === null) return
          expect(error).toMatchObject({ kind: 'usage', details: { path: expect.stringMatching(/./) } })
          expect(['INVALID_QUERY', 'INVALID_FILTERS']).toContain(error?.code)
        }),
        { numRuns: 40 },
      )
    },
  )
})

interface Published {
  readonly schema: JsonObject
  readonly validate: ValidateFunction
}

function published({ input }: EngineOperation): Published {
  const schema = jsonSchema(input, 'input')
  return { schema, validate: new Ajv2020({ strict: false, validateFormats: false }).compile(schema) }
}

/** Faults of the form alone. Read at admission: nothing runs. */
function formFaults(operation: EngineOperation, input: unknown): readonly unknown[] {
  const result = operation.input.safeParse(input)
  if (result.success) return []
  const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
  const cause = new QuerentError('invalid_argument', 'refused', {}, result.error)
  const error = operation.refusal?.(engine, cause, input, context) ?? cause
  const all = error.details['all'] as readonly { readonly path: string; readonly reason: string }[]
  return all.filter(({ path, reason }) => !OF_MEANING.has(reason) && !BY_OTHER_FIELD.has(path))
}

/** Null: it was not refused for its input. */
async function refusalOf(name: string, input: unknown): Promise<QuerentError | null> {
  try {
    const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
    await callOperation(catalog, engine, name, input, context)
    return null
  } catch (thrown) {
    if (thrown instanceof QuerentError) return thrown
    throw thrown
  }
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
      return [
        ...describedWrongly(name, field as JsonObject, place),
        ...below({ ...(field as JsonObject), description: undefined, default: undefined }, place),
        ...(io === 'input' && !required.includes(name) ? withoutDefault(field as JsonObject, place) : []),
        ...withoutRange(field as JsonObject, place),
      ]
    })
  }
  if (choices.length > 0) return choices.flatMap(choice => below(choice, at))
  if (type === 'object' && isRecord(additionalProperties)) return below(additionalProperties, `${at}.*`)
  if (type === 'object') return additionalProperties === false ? [] : [`${at}: a bare object`]
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

function withoutDefault({ description, default: fallback }: JsonObject, place: string): readonly string[] {
  const isStated = fallback !== undefined || /\bdefault\b/i.test(String(description))
  return isStated ? [] : [`${place}: no default is stated`]
}

/** Of numbers: bounds in the schema, or in words with a figure; a moment or a count of its own needs none above. */
function withoutRange(field: JsonObject, place: string): readonly string[] {
  const isStated = /\d|\b(milliseconds|days|position|rate)\b/i.test(String(field['description']))
  return isStated || numbersIn(field).every(hasBounds) ? [] : [`${place}: no range is stated`]
}

function numbersIn(schema: JsonObject): readonly JsonObject[] {
  const choices = [schema['anyOf'], schema['oneOf']].flatMap(choice => (Array.isArray(choice) ? choice : []))
  if (choices.length > 0) return choices.flatMap(choice => numbersIn(choice as JsonObject))
  const isOpen = (schema['type'] === 'number' || schema['type'] === 'integer') && schema['const'] === undefined
  return isOpen ? [schema] : []
}

/** A bound that only says "a safe integer" says nothing. */
function hasBounds({ minimum, maximum }: JsonObject): boolean {
  return [minimum, maximum].some(bound => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER)
}
