/** Routes of the lens beliefs (BQ-198). */
import { withValueAt } from '../input-path.ts'
import type { Route } from './route.ts'

export const BELIEFS_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/beliefs/query', operation: 'beliefs.query' },
  {
    method: 'POST',
    path: '/v1/beliefs/stream',
    operation: 'beliefs.query',
    input: ({ body }) => withValueAt(body, 'options.stream', true),
    streams: 'ndjson',
  },
  { method: 'POST', path: '/v1/beliefs/events', operation: 'beliefs.watch', streams: 'ndjson' },
  { method: 'POST', path: '/v1/beliefs/count', operation: 'beliefs.count' },
  { method: 'POST', path: '/v1/beliefs/facets', operation: 'beliefs.facets' },
  { method: 'POST', path: '/v1/beliefs/batch', operation: 'beliefs.batch' },
  { method: 'POST', path: '/v1/beliefs/context', operation: 'beliefs.context_query' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/similar', operation: 'beliefs.similar' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/contradictions', operation: 'beliefs.contradictions' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/derivation', operation: 'beliefs.derivation' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/explain', operation: 'beliefs.explain' },
]
