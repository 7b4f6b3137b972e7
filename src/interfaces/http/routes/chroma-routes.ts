/** Routes of the lens chroma (CQ-119). */
import type { Route } from './route.ts'

export const CHROMA_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/chroma/query', operation: 'chroma.query' },
  { method: 'POST', path: '/v1/chroma/batch-query', operation: 'chroma.batch_query' },
  { method: 'POST', path: '/v1/chroma/nodes', operation: 'chroma.store' },
  { method: 'GET', path: '/v1/chroma/nodes/:entry_id', operation: 'chroma.get' },
  {
    method: 'PATCH',
    path: '/v1/chroma/nodes/:entry_id',
    operation: 'chroma.update',
    found: 'updated',
    reads: 'chroma.get',
  },
  { method: 'DELETE', path: '/v1/chroma/nodes/:entry_id', operation: 'chroma.delete', found: 'deleted' },
  { method: 'POST', path: '/v1/chroma/suggest-hashtags', operation: 'chroma.suggest_hashtags' },
  { method: 'GET', path: '/v1/chroma/hashtags', operation: 'chroma.hashtags' },
  { method: 'POST', path: '/v1/chroma/hashtags', operation: 'chroma.assign' },
  { method: 'GET', path: '/v1/chroma/statistics', operation: 'chroma.statistics' },
]
