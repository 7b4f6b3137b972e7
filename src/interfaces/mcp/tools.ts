/** Makes MCP tools from operations. A tool's schema, which an agent reads before its first action, contains no more than it needs. */

import type { Json, JsonObject } from '../../base/canonical.ts'
import { nearNames } from '../../base/near-names.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { type Catalog, type EngineOperation, jsonSchema } from '../../ops/catalog.ts'
import { type Answering, MIN_TOKENS } from './answer.ts'
import { isObject } from './brief.ts'
import { DEFAULT_TOOLS, LENS_TOOLS, MORE_TOOLS, type ToolEntry } from './tool-table.ts'

export interface Tool extends Answering {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly operation: EngineOperation
  readonly inputSchema: JsonObject
  readonly readOnly: boolean
  readonly preset: JsonObject
  readonly briefly: JsonObject
  /** Whether the operation's input has a field `max_tokens`, so that the argument of this name is passed on to the operation too. */
  readonly ownsMaxTokens: boolean
  /** Names of all input fields, if the operation ignores unknown fields; undefined: the operation rejects unknown fields itself. */
  readonly known: readonly string[] | undefined
}

/** Tools that a client or its user has chosen. If neither lenses nor tools are chosen, the default tools are offered. */
export interface ToolChoice {
  /** Names of lenses whose tools are offered, in this order. */
  readonly lenses?: readonly string[] | undefined
  /** Names of tools to offer: default tools, tools of a lens, or any other operation that answers once. */
  readonly tools?: readonly string[] | undefined
}

/** Maximum nesting depth of objects whose fields a tool's published schema contains. */
const MAX_DEPTH = 3
/** Maximum length of a field's description in a tool's published schema, in UTF-16 units. */
const HELP_LENGTH = 90
const ROOM: JsonObject = {
  detail: { enum: ['concise', 'detailed'], description: 'Of the answer' },
  max_tokens: { type: 'integer', minimum: MIN_TOKENS, description: 'Of the answer' },
}

/** Makes the chosen tools. Throws `unknown_lens`, or `invalid_argument` if a chosen tool does not exist. */
export function makeTools(
  catalog: Catalog,
  { lenses = [], tools = [] }: ToolChoice,
  known: readonly string[],
): readonly Tool[] {
  const lens = lenses.find(name => !known.includes(name))
  if (lens !== undefined)
    throw new QuerentError('unknown_lens', `there is no lens ${JSON.stringify(lens)}`, { lens, known })
  const ofLenses = lenses.flatMap(name => entriesOf(catalog, name))
  const named = tools.length === 0 ? [] : byName(tools, catalog, known)
  const chosen = lenses.length + tools.length === 0 ? DEFAULT_TOOLS : [...named, ...ofLenses]
  const unique = new Map(chosen.map(entry => [nameOf(entry), entry]))
  return [...unique.values()].flatMap(entry => {
    const operation = catalog.get(entry.operation)
    return operation === undefined ? [] : [makeTool(operation, entry)]
  })
}

function nameOf({ name, operation }: ToolEntry): string {
  return name ?? operation.replaceAll('.', '_')
}

/** Table entries of the tools of a lens. A lens without operations of its own is queried by the default tools. */
function entriesOf(catalog: Catalog, lens: string): readonly ToolEntry[] {
  if (Object.hasOwn(LENS_TOOLS, lens)) return (LENS_TOOLS[lens] ?? []).map(asEntry)
  // Operations that run until the caller ends them are no tools, because a tool call has a single answer.
  const own = [...catalog.values()].filter(
    ({ name, resumeAt }) => name.startsWith(`${lens}.`) && resumeAt === undefined,
  )
  return own.length === 0 ? DEFAULT_TOOLS : own.map(({ name }) => ({ operation: name }))
}

function asEntry(entry: ToolEntry | string): ToolEntry {
  return typeof entry === 'string' ? { operation: entry } : entry
}

/**
 * Finds table entries of tools by name. All operations that answer once can be named; entries of the tables are looked up first, because
 * they describe their operations better.
 */
function byName(names: readonly string[], catalog: Catalog, lenses: readonly string[]): readonly ToolEntry[] {
  const tables = [...DEFAULT_TOOLS, ...MORE_TOOLS, ...lenses.flatMap(lens => entriesOf(catalog, lens))]
  const others = [...catalog.values()].filter(({ resumeAt }) => resumeAt === undefined)
  const all = [...tables, ...others.map(({ name }) => ({ operation: name }))]
  return names.map(name => {
    const entry = all.find(one => nameOf(one) === name)
    if (entry !== undefined) return entry
    const known = [...new Set(all.map(nameOf))]
    const near = nearNames(name, known)
    throw invalidArgument(
      'tools',
      name,
      near.length > 0 ? `the name of a tool, such as ${near.join(' or ')}` : `one of ${known.join(', ')}`,
    )
  })
}

function makeTool(operation: EngineOperation, entry: ToolEntry): Tool {
  const { answer = {}, fields, help = {}, ignoresUnknown = false, nextAfter, preset = {}, briefly = {} } = entry
  const input = jsonSchema(operation.input, 'input')
  const own = isObject(input['properties']) ? input['properties'] : {}
  const outlined = outline(input, MAX_DEPTH, { fields, help, path: '' })
  const properties = { ...(isObject(outlined['properties']) ? outlined['properties'] : {}), ...ROOM }
  return {
    name: nameOf(entry),
    title: titleOf(entry),
    description: entry.description ?? `${operation.summary}.`,
    operation,
    inputSchema: { ...outlined, properties, additionalProperties: false },
    readOnly: entry.readOnly ?? operation.effect.kind === 'read',
    answer,
    stored: operation.effect.kind === 'read',
    preset,
    briefly,
    ownsMaxTokens: own['max_tokens'] !== undefined && fields?.includes('max_tokens') !== false,
    known: ignoresUnknown ? Object.keys(own) : undefined,
    nextAfter,
  }
}

/** Title of a tool, made from its name: `beliefs_context_query` becomes "Beliefs context query". */
function titleOf(entry: ToolEntry): string {
  const words = nameOf(entry).replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

interface Shown {
  /** Paths of the fields that the published schema contains; undefined: all. */
  readonly fields: readonly string[] | undefined
  readonly help: Readonly<Record<string, string>>
  readonly path: string
}

/**
 * A shorter JSON Schema that accepts everything that the full one does. Objects are described to `depth` levels; a deeper value is
 * described by its type only.
 */
function outline(schema: JsonObject, depth: number, shown: Shown): JsonObject {
  const description = shown.path === '' ? undefined : (shown.help[shown.path] ?? shortHelp(schema['description']))
  return { ...shapeOf(schema, depth, shown), ...(description !== undefined && { description }) }
}

function shapeOf(schema: JsonObject, depth: number, shown: Shown): JsonObject {
  const { type, enum: values, minimum, maximum, anyOf, items } = schema
  if (values !== undefined) return { enum: values }
  // In a schema with properties, alternatives (`anyOf`) are conditions on these properties, and are left out.
  if (isObject(schema['properties'])) return objectShape(schema, schema['properties'], depth, shown)
  if (Array.isArray(anyOf)) return alternatives(anyOf.filter(isObject), depth, shown)
  if (type === 'array') return isObject(items) ? { type, items: shapeOf(items, depth, shown) } : { type }
  if (type === undefined) return {}
  return { type, ...limit('minimum', minimum), ...limit('maximum', maximum) }
}

function objectShape(
  schema: JsonObject,
  properties: JsonObject,
  depth: number,
  { fields, help, path }: Shown,
): JsonObject {
  if (depth === 0) return { type: 'object' }
  const shown = Object.entries(properties).filter(([name]) => fields?.some(field => headOf(field) === name) ?? true)
  const inner = (name: string): readonly string[] | undefined => {
    const below = fields?.filter(field => field.startsWith(`${name}.`)).map(field => field.slice(name.length + 1))
    return below?.length === 0 ? undefined : below
  }
  const { required } = schema
  const needed = Array.isArray(required) ? required.filter(name => shown.some(([field]) => field === name)) : []
  const entries = shown.map(([name, of]) => {
    const at = { fields: inner(name), help, path: path === '' ? name : `${path}.${name}` }
    return [name, outline(of as JsonObject, depth - 1, at)] as const
  })
  return { type: 'object', properties: Object.fromEntries(entries), ...(needed.length > 0 && { required: needed }) }
}

/**
 * Shortens a schema of alternatives: simple types become one list of types. Other alternatives are left unspecified, unless fields of one
 * of them are to be shown.
 */
function alternatives(branches: readonly JsonObject[], depth: number, shown: Shown): JsonObject {
  const values = branches.flatMap(({ enum: listed, type }) =>
    type === 'null' ? [null] : ((listed ?? []) as readonly Json[]),
  )
  if (branches.every(({ enum: listed, type }) => listed !== undefined || type === 'null')) return { enum: values }
  const types = branches.flatMap(({ type, properties }) => (typeof type === 'string' && !properties ? [type] : []))
  if (types.length === branches.length) return { type: [...new Set(types)] }
  if (shown.fields === undefined) return {}
  return {
    anyOf: branches.map(branch => (branch['type'] === 'array' ? { type: 'array' } : shapeOf(branch, depth, shown))),
  }
}

/** A short description of a field: the first clause of its description, and its default value. */
function shortHelp(description: Json | undefined): string | undefined {
  if (typeof description !== 'string' || description === '') return undefined
  const [, clause = ''] = /^(.*?)(?:[.;](?:\s|$)|: |$)/s.exec(description) ?? []
  const [, preset] = /Default: ([^.;(]{1,24})(?:[.;]|$)/.exec(description) ?? []
  const short = clause.length > HELP_LENGTH ? `${clause.slice(0, HELP_LENGTH).replace(/\W+\w*$/, '')} …` : clause
  return preset === undefined ? short : `${short}. Default: ${preset}`
}

/** A bound of a number for the published schema. The largest safe integer is left out, because it says nothing about the field. */
function limit(name: string, value: Json | undefined): JsonObject {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? { [name]: value } : {}
}

function headOf(path: string): string {
  return path.split('.', 1)[0] ?? path
}

interface ToolDescription {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly annotations: Readonly<Record<string, boolean>>
}

/** The description of a tool that is sent to a client: name, title, text, schema and hints. */
export function describeTool({ name, title, description, inputSchema, readOnly, operation }: Tool): ToolDescription {
  const { kind, idempotent } = operation.effect
  // The hints `destructiveHint` and `idempotentHint` are given only for tools that change something; MCP defines them as meaningless for
  // others.
  const change = readOnly ? {} : { destructiveHint: kind === 'destroy', idempotentHint: idempotent }
  return {
    name,
    title,
    description,
    inputSchema,
    annotations: { openWorldHint: false, readOnlyHint: readOnly, ...change },
  }
}

interface ToolCost extends Pick<ToolDescription, 'name' | 'title' | 'description'> {
  /**
   * Estimated number of tokens of the tool's description for an agent: a quarter of its bytes, which is close to what tokenizers give for
   * schemas.
   */
  readonly tokens: number
}

export function costOfTool(tool: Tool): ToolCost {
  const { name, title, description } = tool
  return { name, title, description, tokens: Math.ceil(Buffer.byteLength(JSON.stringify(describeTool(tool))) / 4) }
}
