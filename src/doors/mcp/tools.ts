/**
 * Operations as tools. An agent reads every tool's schema before its first thought, so there are at most eight, with
 * the fields that agents need and outlines of results: together under 2,000 tokens. An operation takes its other fields
 * too, when a caller knows them.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Catalog, EngineOperation } from '../../ops/catalog.ts'
import { jsonSchema } from '../../ops/schemas.ts'
import { closedOutline, outline } from './outline.ts'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly operation: EngineOperation
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
}

interface Choice {
  readonly operation: string
  readonly description: string
  /** Fields of the input that are shown, as paths; absent: all. */
  readonly fields?: readonly string[]
}

const FILTER = ['filter.collections', 'filter.kinds', 'filter.tags', 'filter.metadata', 'filter.created']

const CHOICES: readonly Choice[] = [
  {
    operation: 'query',
    description:
      'Search what is known, by meaning and words. Returns ranked passages with id, lines, score and why. "quotes" hold a phrase, -word leaves out. verdict nothing_relevant: nothing on this is known here. For the whole text use get.',
    fields: ['text', 'limit', 'cursor', 'mode', 'lens', 'as_of', ...FILTER],
  },
  {
    operation: 'explain',
    description: 'Say why entry `id` has its rank for a query, why it is missing, or why it stands over another.',
    fields: ['query.text', 'query.lens', 'id', 'over'],
  },
  { operation: 'similar', description: 'Find entries like entry `id`.' },
  { operation: 'get', description: 'Read one whole entry by the id that query or list gave.' },
  {
    operation: 'list',
    description: 'List entries without content. To search, use query.',
    fields: ['order', 'limit', 'cursor', ...FILTER],
  },
  {
    operation: 'put',
    description: 'Remember: write entries. One with the id of an entry of yours replaces it.',
    fields: ['id', 'collection', 'kind', 'title', 'content', 'tags', 'metadata', 'visibility', 'valid_until'].map(
      field => `entries.${field}`,
    ),
  },
  { operation: 'delete', description: 'Delete entries of yours by id.' },
  { operation: 'status', description: 'Say what is known here: counts, collections, lenses.' },
]

/** The default tools, or a lens's own when it brings operations. Throws `unknown_lens`. */
export function makeTools(catalog: Catalog, lens: string | undefined, lenses: readonly string[]): readonly Tool[] {
  if (lens !== undefined && !lenses.includes(lens)) {
    throw new QuerentError('unknown_lens', `there is no lens ${JSON.stringify(lens)}`, { lens, known: lenses })
  }
  const ofLens = lens === undefined ? [] : [...catalog.values()].filter(({ name }) => name.startsWith(`${lens}.`))
  // What goes on until its caller ends it is no tool: a tool answers once.
  const own = ofLens.filter(({ resumeAt }) => resumeAt === undefined)
  if (own.length > 0) return own.map(operation => makeTool(operation, operation.summary, undefined))
  return CHOICES.flatMap(choice => {
    const operation = catalog.get(choice.operation)
    return operation === undefined ? [] : [makeTool(operation, choice.description, choice.fields)]
  })
}

function makeTool(operation: EngineOperation, description: string, fields: readonly string[] | undefined): Tool {
  return {
    name: operation.name.replaceAll('.', '_'),
    description,
    operation,
    inputSchema: closedOutline(jsonSchema(operation.input, 'input'), 3, fields),
    outputSchema: outline(jsonSchema(operation.output, 'output'), 1),
  }
}
