/**
 * Operations as tools. An agent reads every tool's schema before its first thought, so they show the fields that agents
 * need and outlines of results. An operation takes its other fields too, when a caller knows them.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Catalog, EngineOperation } from '../../../ops/catalog.ts'
import { jsonSchema } from '../../../ops/schemas.ts'
import { BELIEFS_TOOLS } from './beliefs.ts'
import { C64_TOOLS } from './c64.ts'
import type { AnswerShape, ToolChoice } from './choice.ts'
import { CHROMA_TOOLS } from './chroma.ts'
import { COLLECTIONS_TOOLS } from './collections.ts'
import { COMMON_TOOLS } from './common.ts'
import { CONTEXT_TOOLS } from './context.ts'
import { CONVERSATIONS_TOOLS } from './conversations.ts'
import { answerOutline, closedOutline } from './outline.ts'

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly operation: EngineOperation
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  readonly readOnly: boolean
  readonly answer: AnswerShape | undefined
  readonly stored: boolean
  /** Every field there is, where the operation itself ignores others. */
  readonly known: readonly string[] | undefined
  readonly nextAfter: ToolChoice['nextAfter']
}

const OF_LENS: Readonly<Record<string, readonly ToolChoice[]>> = {
  beliefs: BELIEFS_TOOLS,
  c64: C64_TOOLS,
  chroma: CHROMA_TOOLS,
  collections: COLLECTIONS_TOOLS,
  context: CONTEXT_TOOLS,
  conversations: CONVERSATIONS_TOOLS,
}

/** The default tools, or a lens's own when it brings operations. Throws `unknown_lens`. */
export function makeTools(catalog: Catalog, lens: string | undefined, lenses: readonly string[]): readonly Tool[] {
  if (lens !== undefined && !lenses.includes(lens)) {
    throw new QuerentError('unknown_lens', `there is no lens ${JSON.stringify(lens)}`, { lens, known: lenses })
  }
  return choicesOf(catalog, lens).flatMap(choice => {
    const operation = catalog.get(choice.operation)
    return operation === undefined ? [] : [makeTool(operation, choice)]
  })
}

function choicesOf(catalog: Catalog, lens: string | undefined): readonly ToolChoice[] {
  if (lens === undefined) return COMMON_TOOLS
  if (Object.hasOwn(OF_LENS, lens)) return OF_LENS[lens] ?? []
  const own = [...catalog.values()].filter(({ name }) => name.startsWith(`${lens}.`))
  // What goes on until its caller ends it is no tool: a tool answers once.
  const answering = own.filter(({ resumeAt }) => resumeAt === undefined)
  if (answering.length === 0) return COMMON_TOOLS
  return answering.map(({ name, summary }) => ({ operation: name, title: summary, stored: true }))
}

function makeTool(operation: EngineOperation, choice: ToolChoice): Tool {
  const { answer, fields, stored = false, ignoresUnknown = false, nextAfter } = choice
  const { kind } = operation.effect
  const input = jsonSchema(operation.input, 'input')
  return {
    name: choice.name ?? operation.name.replaceAll('.', '_'),
    title: choice.title,
    description: choice.description ?? operation.summary,
    operation,
    inputSchema: withRoom(closedOutline(input, 3, fields), answer),
    outputSchema: answerOutline(jsonSchema(operation.output, 'output'), choice.shows),
    readOnly: choice.readOnly ?? kind === 'read',
    answer,
    stored,
    known: ignoresUnknown ? Object.keys(input['properties'] ?? {}) : undefined,
    nextAfter,
  }
}

/** Adds how long the answer may be, where it can be made shorter. */
function withRoom(schema: JsonObject, answer: AnswerShape | undefined): JsonObject {
  if (answer === undefined) return schema
  const own = {
    ...(answer.concise && { detail: { enum: ['concise', 'detailed'] } }),
    max_tokens: { type: 'integer' },
  }
  return { ...schema, properties: { ...(schema['properties'] as JsonObject), ...own } }
}
