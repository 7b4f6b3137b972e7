/**
 * Adds the readable routes to the app, such as `GET /v1/entries/:id`. Each runs one operation, exactly as the path `POST /v1/ops/<name>` of
 * that operation does.
 */

import { etag } from 'hono/etag'
import { isRecord } from '../../base/record.ts'
import { reportedByContract } from '../../engine/run-operation.ts'
import { type ErrorKind, QuerentError } from '../../model/errors.ts'
import { asQuerentError, reportedError } from '../../model/reported-error.ts'
import { type Catalog, type EngineOperation, findOperation, jsonSchema } from '../../ops/catalog.ts'
import { answer, bodyInput } from './answer.ts'
import { VIEWER_HEADER } from './auth.ts'
import type { App, RequestContext } from './env.ts'
import {
  BELIEFS_ROUTES,
  CALL_ROUTE,
  CHROMA_ROUTES,
  contextCall,
  LENS_ROUTES,
  MAIN_ROUTES,
  NODE_ROUTES,
  type Route,
} from './routes.ts'

// Conditional reads: an answer has an ETag made from its content, and a client that already has this content gets status 304 instead of the
// answer.

const withETag = etag()

/** Makes a response conditional (ETag, status 304) and private: the answer depends on the requester, so no shared cache may keep it. */
export async function conditional(c: RequestContext, response: Response): Promise<Response> {
  await withETag(c, async () => {
    c.res = response
  })
  c.header('cache-control', 'private, no-cache')
  c.header('vary', `authorization, ${VIEWER_HEADER}`, { append: true })
  return c.res
}

// Converts the query string of a request to fields of an operation's input, each to the type that the field has in the input's schema.

/**
 * Fields of the input from the query string. `schema`: JSON Schema of the input. A value that cannot be converted remains a text, which the
 * operation then rejects.
 */
export function queryFields(
  queries: Readonly<Record<string, readonly string[]>>,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(Object.entries(queries).map(([name, texts]) => [name, fieldOf(texts, properties[name])]))
}

function fieldOf(texts: readonly string[], schema: unknown): unknown {
  const [text = ''] = texts
  const types = typesIn(schema)
  if (types.has('array') && !text.startsWith('[')) return texts.map(each => readAs(each, typesIn(itemsOf(schema))))
  // If a field that takes a single value is given several times, the values are passed as a list, which the operation rejects.
  return texts.length > 1 ? texts : readAs(text, types)
}

function readAs(text: string, types: ReadonlySet<unknown>): unknown {
  if (types.size === 0 || (types.has('string') && !types.has('array') && !types.has('object'))) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function typesIn(schema: unknown): ReadonlySet<unknown> {
  if (!isRecord(schema)) return new Set()
  const choices = schema['anyOf'] ?? schema['oneOf'] ?? []
  const inner = Array.isArray(choices) ? choices.flatMap(choice => [...typesIn(choice)]) : []
  return new Set([schema['type'] ?? [], inner].flat())
}

function itemsOf(schema: unknown): unknown {
  return isRecord(schema) ? schema['items'] : undefined
}

// Changes operations for the routes of a lens whose contract says more about errors than the operations themselves do.

/**
 * For each kind of error that does not come from the lens chroma itself: the `type` that such an error gets in answers, as the contract of
 * that lens requires (CQ-105).
 */
const CHROMA_TYPES: Readonly<Record<ErrorKind, string>> = {
  usage: 'ValidationError',
  limit: 'QueryError',
  denied: 'QueryError',
  not_found: 'QueryError',
  conflict: 'QueryError',
  busy: 'DatabaseError',
  broken: 'StorageError',
  unavailable: 'StorageError',
}

/**
 * Wraps an operation of the lens chroma so that every error has a `type`, and contains no information about the machine, whoever the caller
 * is (CQ-120).
 */
function typedForChroma(operation: EngineOperation): EngineOperation {
  return {
    ...operation,
    refusal: (engine, error, input, context) => typed(operation.refusal?.(engine, error, input, context) ?? error),
    async run(engine, input, context) {
      try {
        return await operation.run(engine, input, context)
      } catch (thrown) {
        throw typed(asQuerentError(thrown))
      }
    },
  }
}

/**
 * Wraps an operation so that an answer whose field `flag` is false becomes the error `not_found` (CQ-120). If the request gives only ids
 * and so asks for no change, false need not mean "not found": `reading` then looks the ids up, and fails if they do not exist.
 */
function foundOrRefused(operation: EngineOperation, flag: string, reading?: EngineOperation): EngineOperation {
  return {
    ...operation,
    async run(engine, input, context) {
      const answer = await operation.run(engine, input, context)
      if (!isRecord(answer) || answer[flag] !== false) return answer
      const given = isRecord(input) ? Object.entries(input) : []
      const ids = given.filter(([name]) => name.endsWith('_id'))
      if (reading !== undefined && ids.length === given.length) {
        await reading.run(engine, input, context)
        return answer
      }
      const [[field, id] = ['id', '']] = ids
      throw new QuerentError('not_found', `${field}: there is no ${JSON.stringify(id)}`, { [field]: String(id) })
    },
  }
}

function typed(error: QuerentError): QuerentError {
  const reported = reportedError(error, null)
  if (reported.toJSON().type !== undefined) return reported
  const { code, kind, retryable, help } = reported
  const row = { code, type: CHROMA_TYPES[kind], kind, retryable, help }
  return new QuerentError(row, reported.message, reported.details, reported.cause)
}

export const ROUTES: readonly Route[] = [
  ...MAIN_ROUTES,
  ...CHROMA_ROUTES,
  ...BELIEFS_ROUTES,
  ...LENS_ROUTES,
  ...NODE_ROUTES,
]

/** Adds the routes that need no authentication. */
export function mountOpenRoutes(app: App, catalog: Catalog): void {
  mount(app, catalog, ({ open }) => open === true)
}

/** Adds the routes that need authentication. Routes of lenses that the engine does not have are left out. */
export function mountRoutes(app: App, catalog: Catalog): void {
  mount(app, catalog, ({ open }) => open !== true)
  if (!catalog.has('context.query')) return
  app.post(CALL_ROUTE.path, async c => answer(c, contextCall, await bodyInput(c, contextCall)))
}

/** Viewer on whose behalf requests without authentication are answered; no agent can have this name. */
const ANYBODY = { id: 'did:key:anybody' }

function mount(app: App, catalog: Catalog, isMeant: (route: Route) => boolean): void {
  for (const route of ROUTES.filter(each => isMeant(each) && catalog.has(each.operation))) {
    const operation = operationOf(catalog, route)
    const schema = jsonSchema(operation.input, 'input')
    app.on(route.method, route.path, async c => {
      if (route.open === true) c.set('viewer', ANYBODY)
      const input = revalidation(c, operation, await inputOf(c, route, operation, schema))
      const response = await answer(c, operation, input, route.streams)
      return route.method === 'GET' && route.open !== true ? conditional(c, response) : response
    })
  }
}

/**
 * For a conditional `get`, sets `touch: false`: a client that only checks whether its copy of an entry is current does not count as using
 * the entry.
 */
function revalidation(c: RequestContext, { name }: EngineOperation, input: unknown): unknown {
  if (name !== 'get' || c.req.header('if-none-match') === undefined || !isRecord(input)) return input
  return { touch: false, ...input }
}

/** The operation that a request calls, found by method and path alone, for errors before routing; undefined: there is none. */
function operationAt(catalog: Catalog, method: string, path: string): EngineOperation | undefined {
  const name = /^\/v1\/ops\/([^/]+)$/.exec(path)?.[1]
  if (name !== undefined) return catalog.get(name)
  const route = ROUTES.find(known => known.method === method && isAt(known, path) && catalog.has(known.operation))
  return route && operationOf(catalog, route)
}

/** The HTTP methods that exist for a path, for the error about a wrong method; empty: there is no such path. */
export function methodsAt(catalog: Catalog, path: string): readonly string[] {
  if (/^\/v1\/ops\/[^/]+$/.test(path)) return ['GET', 'POST']
  if (path === CALL_ROUTE.path && catalog.has('context.query')) return [CALL_ROUTE.method]
  return ROUTES.filter(route => isAt(route, path) && catalog.has(route.operation)).map(({ method }) => method)
}

function isAt(route: Pick<Route, 'path'>, path: string): boolean {
  const [there, here] = [route.path, path].map(each => each.split('/'))
  return (
    there?.length === here?.length && there?.every((part, at) => part.startsWith(':') || part === here?.[at]) === true
  )
}

function operationOf(catalog: Catalog, { operation: name, found, reads }: Route): EngineOperation {
  const operation = findOperation(catalog, name)
  const reading = reads === undefined ? undefined : findOperation(catalog, reads)
  const checked = found === undefined ? operation : foundOrRefused(operation, found, reading)
  return name.startsWith('chroma.') ? typedForChroma(checked) : checked
}

async function inputOf(
  c: RequestContext,
  route: Route,
  operation: EngineOperation,
  schema: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const params = c.req.param() as Record<string, string>
  const query = queryFields(c.req.queries(), schema)
  const isBodied = route.method !== 'GET' && route.method !== 'DELETE'
  const body = isBodied ? await bodyInput(c, operation) : null
  if (route.input !== undefined) return route.input({ params, query, body })
  if (!isBodied) return { ...query, ...params }
  return isRecord(body ?? {}) ? { ...((body ?? {}) as object), ...params } : body
}

// Failures of requests whose requester is not authenticated.

/** The error of a failed authentication, in the form that the contract of the requested operation defines (BQ-184, CQ-120). */
export function strangerView(c: RequestContext, thrown: unknown): unknown {
  const { engine, catalog } = c.get('app')
  const operation = operationAt(catalog, c.req.method, c.req.path)
  const nobody = { viewer: { id: '' }, signal: c.req.raw.signal }
  return operation === undefined ? thrown : reportedByContract(operation, engine, thrown, nobody)
}
