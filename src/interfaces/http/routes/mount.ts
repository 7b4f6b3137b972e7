/** Puts readable routes on the app: each runs the operation it stands for, as that operation's own path does. */
import { isRecord } from '../../../base/record.ts'
import { type Catalog, type EngineOperation, findOperation } from '../../../ops/catalog.ts'
import { jsonSchema } from '../../../ops/schemas.ts'
import { answer, bodyInput } from '../answer.ts'
import { conditional } from '../conditional.ts'
import type { App, RequestContext } from '../env.ts'
import { BELIEFS_ROUTES } from './beliefs-routes.ts'
import { CHROMA_ROUTES } from './chroma-routes.ts'
import { CALL_ROUTE, contextCall } from './context-call.ts'
import { LENS_ROUTES } from './lens-routes.ts'
import { MAIN_ROUTES } from './main-routes.ts'
import { NODE_ROUTES } from './node-routes.ts'
import { queryFields } from './query-fields.ts'
import type { Route } from './route.ts'
import { foundOrRefused, typedForChroma } from './row-errors.ts'

export const ROUTES: readonly Route[] = [
  ...MAIN_ROUTES,
  ...CHROMA_ROUTES,
  ...BELIEFS_ROUTES,
  ...LENS_ROUTES,
  ...NODE_ROUTES,
]

/** Those that answer anybody: before it is asked who that is. */
export function mountOpenRoutes(app: App, catalog: Catalog): void {
  mount(app, catalog, ({ open }) => open === true)
}

/** Routes of lenses that the engine was opened without are not there. */
export function mountRoutes(app: App, catalog: Catalog): void {
  mount(app, catalog, ({ open }) => open !== true)
  if (!catalog.has('context.query')) return
  app.post(CALL_ROUTE.path, async c => answer(c, contextCall, await bodyInput(c, contextCall)))
}

/** A requester who need not be identified: no agent can be called so. */
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

/** A client that asks whether its copy of an entry is still good does not open the entry again. */
function revalidation(c: RequestContext, { name }: EngineOperation, input: unknown): unknown {
  if (name !== 'get' || c.req.header('if-none-match') === undefined || !isRecord(input)) return input
  return { touch: false, ...input }
}

/** What a request is for, by its method and path alone; undefined: no operation. */
export function operationAt(catalog: Catalog, method: string, path: string): EngineOperation | undefined {
  const name = /^\/v1\/ops\/([^/]+)$/.exec(path)?.[1]
  if (name !== undefined) return catalog.get(name)
  const route = ROUTES.find(known => known.method === method && isAt(known, path) && catalog.has(known.operation))
  return route && operationOf(catalog, route)
}

function isAt(route: Route, path: string): boolean {
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
