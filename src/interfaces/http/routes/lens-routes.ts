/** Routes of lenses whose contract names none: their main questions. */
import type { Route } from './route.ts'

export const LENS_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/collections/query', operation: 'collections.query' },
  { method: 'POST', path: '/v1/collections/format', operation: 'collections.format' },
  { method: 'POST', path: '/v1/c64/query', operation: 'c64.query' },
  { method: 'POST', path: '/v1/c64/enrich', operation: 'c64.enrich' },
  { method: 'POST', path: '/v1/conversations/remember', operation: 'conversations.remember' },
  { method: 'POST', path: '/v1/conversations/query', operation: 'conversations.query' },
  { method: 'POST', path: '/v1/context/query', operation: 'context.query' },
  { method: 'GET', path: '/v1/context/definition', operation: 'context.definition' },
  { method: 'GET', path: '/v1/context/references', operation: 'context.references' },
  { method: 'GET', path: '/v1/context/callers', operation: 'context.callers' },
]
