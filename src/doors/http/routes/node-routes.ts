/** Routes by which nodes speak with each other; where they are, both ends know. */
import type { Route } from './route.ts'

export const NODE_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/nodes/query', operation: 'nodes.query', open: true },
  { method: 'GET', path: '/.well-known/querent', operation: 'nodes.about', open: true },
]
