/** The HTTP interface in the process of the test, on a free port of this machine. */
import type { Engine } from '../../src/engine/engine.ts'
import { type HttpOptions, serveHttp } from '../../src/interfaces/http/server.ts'
import { type Catalog, makeCatalog } from '../../src/ops/catalog.ts'

export interface ServedHere extends AsyncDisposable {
  readonly url: string
  /** Resolves when it has ended. */
  readonly served: Promise<void>
  end(): void
}

/** Disposing of it ends it; the engine stays open. Rejects where it cannot listen. */
export async function serveHere(
  engine: Engine,
  options: Partial<HttpOptions> = {},
  catalog: Catalog = makeCatalog(engine),
): Promise<ServedHere> {
  const ending = new AbortController()
  const listening = Promise.withResolvers<string>()
  const all = { host: '127.0.0.1', port: 0, tokens: undefined, ...options }
  const served = serveHttp(engine, catalog, all, ending.signal, listening.resolve)
  served.catch(listening.reject)
  const url = await listening.promise
  return {
    url,
    served,
    end: () => ending.abort(),
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await served
    },
  }
}
