/** An operation's input as a request to the readable route that stands for it. */
import { isRecord } from '../../src/base/record.ts'
import { ROUTES } from '../../src/interfaces/http/mount.ts'
import type { Route } from '../../src/interfaces/http/routes.ts'

export interface PlainRequest {
  readonly method: string
  readonly path: string
  readonly body?: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Null: no route says this. */
export function byRoute(operation: string, input: unknown): PlainRequest | null {
  const fields = isRecord(input) ? input : {}
  for (const route of ROUTES.filter(known => known.operation === operation).toReversed()) {
    const request = route.streams === undefined ? requestFor(route, fields) : null
    if (request !== null) return request
  }
  return null
}

/** Null where the route cannot say it: it has no place for a field, or the path lacks one. */
export function requestFor({ method, path, operation }: Route, input: Fields): PlainRequest | null {
  const given = path.includes(':') ? inPath(operation, input) : input
  if (given === null) return null
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const values = names.map(name => given[name])
  // What a URL cannot hold as a segment is no id that anybody could write into one.
  if (!values.every(value => typeof value === 'string' && value !== '' && value.isWellFormed())) return null
  const filled = path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(String(given[name])))
  const rest = Object.entries(given).filter(([name]) => !names.includes(name))
  if (method !== 'GET' && method !== 'DELETE') {
    return { method, path: filled, body: JSON.stringify(Object.fromEntries(rest)) }
  }
  if (rest.some(([, value]) => value === null)) return null
  const query = new URLSearchParams(
    rest.map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  return { method, path: rest.length === 0 ? filled : `${filled}?${query}` }
}

/** Routes to one entry hold its id in their path, their operations in a list. */
function inPath(operation: string, input: Fields): Fields | null {
  if (operation === 'put') {
    const { entries, ...rest } = input
    const [entry, ...others] = Array.isArray(entries) ? entries : []
    return isRecord(entry) && others.length === 0 && Object.keys(rest).length === 0 ? entry : null
  }
  if (operation === 'delete') {
    const { ids, ...rest } = input
    const [id, ...others] = Array.isArray(ids) ? ids : []
    return others.length === 0 ? { ...rest, id } : null
  }
  return input
}
