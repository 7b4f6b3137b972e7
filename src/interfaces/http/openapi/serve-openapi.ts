/**
 * `GET /openapi.json`. It answers also those who have not said who they are: it tells of operations, nothing of a store, and
 * programs and the page want it before they have a token. What only the local owner may call is in it for that one alone.
 */
import type { Engine } from '../../../engine/engine.ts'
import { VERSION } from '../../../engine/version.ts'
import { QuerentError } from '../../../model/errors.ts'
import { isOwner } from '../../../model/viewer.ts'
import type { Catalog } from '../../../ops/catalog.ts'
import { conditional } from '../conditional.ts'
import type { App, RequestContext } from '../env.ts'
import { requesterOf } from '../requester.ts'
import { CALL_ROUTE } from '../routes/context-call.ts'
import { ROUTES } from '../routes/mount.ts'
import type { Authenticator } from '../tokens.ts'
import { openApiDocument } from './document.ts'

export interface OpenApiOptions {
  readonly authenticator: Authenticator
  readonly metrics: boolean
  readonly mcp: boolean
}

export function serveOpenApi(
  app: App,
  engine: Pick<Engine, 'lensOperations'>,
  catalog: Catalog,
  options: OpenApiOptions,
): void {
  const made = new Map<boolean, string>()
  const documentFor = (owner: boolean): string => {
    const document = made.get(owner) ?? JSON.stringify(describedTo(owner, engine, catalog, options))
    made.set(owner, document)
    return document
  }
  app.get('/openapi.json', async c => {
    const document = documentFor(await isAskedByOwner(c, options.authenticator))
    return conditional(c, c.body(document, 200, { 'content-type': 'application/json' }))
  })
}

function describedTo(
  owner: boolean,
  engine: Pick<Engine, 'lensOperations'>,
  catalog: Catalog,
  { metrics, mcp }: OpenApiOptions,
): object {
  const lenses = new Map(engine.lensOperations.map(({ lens, operation }) => [operation.name, lens]))
  return openApiDocument(new Map([...catalog].filter(([, { effect }]) => owner || effect.ownerOnly !== true)), {
    version: VERSION,
    routes: [...ROUTES, CALL_ROUTE],
    lenses: lenses.has('context.query') ? lenses.set(CALL_ROUTE.operation, 'context') : lenses,
    metrics,
    mcp,
    owner,
  })
}

/** Nobody is not the owner; a token that is none is refused as everywhere. */
async function isAskedByOwner(c: RequestContext, authenticator: Authenticator): Promise<boolean> {
  try {
    return isOwner((await requesterOf(c, authenticator)).viewer)
  } catch (thrown) {
    const isUnsaid = c.req.header('authorization') === undefined
    if (isUnsaid && thrown instanceof QuerentError && thrown.code === 'unauthenticated') return false
    throw thrown
  }
}
