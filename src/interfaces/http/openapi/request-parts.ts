/** What a request for an operation is made of, in the document: parameters of path and query, headers, a body. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { typesIn } from '../routes/query-fields.ts'
import type { Route } from '../routes/route.ts'
import type { Components } from './components.ts'
import { exampleOf } from './example.ts'

/** `says`: schema of all that the request says, wherever it says it. */
export function requestParts(
  { method, path }: Pick<Route, 'method' | 'path'>,
  says: JsonObject,
  components: Components,
): { readonly parameters: readonly JsonObject[]; readonly requestBody?: JsonObject } {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
  const schema = components.resolve(says)
  const { properties = {}, required = [] } = schema
  const fields = isRecord(properties) ? (properties as JsonObject) : {}
  const needed = new Set(Array.isArray(required) ? required : [])
  const parameters: JsonObject[] = inPath.map(name => ({
    name,
    in: 'path',
    required: true,
    schema: fields[name] ?? { type: 'string' },
  }))
  const rest = Object.entries(fields).filter(([name]) => !inPath.includes(name))
  if (method === 'GET' || method === 'DELETE') {
    for (const [name, field] of rest) parameters.push(queryParameter(name, field, needed.has(name), components))
    return { parameters }
  }
  const stillNeeded = [...needed].filter(name => !inPath.includes(name as string))
  const body = inPath.length === 0 ? says : { ...schema, properties: Object.fromEntries(rest), required: stillNeeded }
  return {
    parameters,
    requestBody: {
      required: stillNeeded.length > 0,
      content: { 'application/json': { schema: body, example: exampleOf(body, components) } },
    },
  }
}

/** Texts and numbers stand as they are, lists as several of one name, objects as JSON. */
function queryParameter(name: string, field: Json, required: boolean, components: Components): JsonObject {
  const schema = components.resolve(field)
  const { description } = schema
  const isObject = typesIn(schema).has('object')
  return {
    name,
    in: 'query',
    required,
    ...(typeof description === 'string' && { description }),
    ...(isObject
      ? { content: { 'application/json': { schema: field, example: exampleOf(field, components) } } }
      : { schema: field }),
  }
}
