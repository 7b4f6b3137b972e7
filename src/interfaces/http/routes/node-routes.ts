/** Routes by which nodes speak with each other, without a token: requests bear their own signature, or everybody gets the same answer. */
import type { Route } from './route.ts'

export const NODE_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/nodes/query', operation: 'nodes.query', open: true },
  { method: 'POST', path: '/v1/nodes/changes', operation: 'nodes.changes', open: true },
  { method: 'GET', path: '/.well-known/querent', operation: 'peers.about', open: true },
]
