/** Routes that other nodes ask, without a token: the operations behind them tell everybody the same, or check who asks themselves. */
import type { Viewer } from '../../../model/viewer.ts'
import { type Catalog, findOperation } from '../../../ops/catalog.ts'
import { answer, bodyInput } from '../answer.ts'
import type { App } from '../env.ts'
import type { Route } from './route.ts'

/** No agent can be called so: names have no colon. */
const STRANGER: Viewer = { id: 'node:stranger' }

export const NODE_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/.well-known/querent', operation: 'peers.about', open: true },
  { method: 'GET', path: '/v1/nodes/peers', operation: 'peers.listed', open: true },
]

/** To be mounted before it is asked who that is. */
export function mountNodeRoutes(app: App, catalog: Catalog): void {
  for (const { method, path, operation: name } of NODE_ROUTES.filter(({ operation }) => catalog.has(operation))) {
    const operation = findOperation(catalog, name)
    app.on(method, path, async c => {
      c.set('viewer', STRANGER)
      return answer(c, operation, method === 'GET' ? {} : await bodyInput(c, operation))
    })
  }
}
