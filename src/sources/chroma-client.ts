/** The one place that meets the package `chromadb`: opens its client, and tells its errors in the contract's words. */
import type { AdminClientArgs, ChromaClient } from 'chromadb'
import { serverUrl } from './address.ts'
import { malformed, notFound, packageMissing, SourceFailure, wrongDimensions } from './failure.ts'

export interface ChromaAddress {
  /** Base address, for example http://localhost:8000. */
  readonly url: string
  /** Default `default_tenant`. */
  readonly tenant?: string | undefined
  /** Default `default_database`. */
  readonly database?: string | undefined
  readonly token?: string | undefined
}

/** Made for one request, since the client takes its signal when it is made; making one sends nothing. */
export async function openChromaClient(address: ChromaAddress, signal?: AbortSignal): Promise<ChromaClient> {
  const { ChromaClient } = await importClient()
  return new ChromaClient({ ...connection(address, signal), ...placeOf(address) })
}

/**
 * Throws `SourceFailure` where the server has no such database: it says of each collection of it only that it is not
 * there, and so would look as if it were empty. What else comes of asking is no matter: not every token may ask.
 */
export async function mustHaveDatabase(address: ChromaAddress, signal?: AbortSignal): Promise<void> {
  const { AdminClient } = await importClient()
  const { tenant, database } = placeOf(address)
  try {
    await new AdminClient(connection(address, signal)).getDatabase({ name: database, tenant })
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ChromaNotFoundError')) return
    const message = `there is no database ${database} of the tenant ${tenant} at ${address.url}`
    throw new SourceFailure('unreachable', message, error)
  }
}

async function importClient(): Promise<typeof import('chromadb')> {
  return import('chromadb').catch(cause => {
    throw packageMissing('chromadb', cause)
  })
}

function placeOf({ tenant = 'default_tenant', database = 'default_database' }: ChromaAddress): {
  readonly tenant: string
  readonly database: string
} {
  return { tenant, database }
}

function connection({ url, token }: ChromaAddress, signal: AbortSignal | undefined): AdminClientArgs {
  const { hostname, port, protocol } = serverUrl(url)
  const ssl = protocol === 'https:'
  return {
    host: hostname,
    port: port === '' ? (ssl ? 443 : 80) : Number(port),
    ssl,
    // Servers look for a token in one of two places, by their configuration.
    headers: token === undefined ? {} : { authorization: `Bearer ${token}`, 'x-chroma-token': token },
    ...(signal === undefined ? {} : { fetchOptions: { signal } }),
  }
}

/** What a call of the client threw. `size`: dimensions of the question's vector. */
export function chromaFailure(thrown: unknown, collection: string, url: string, size: number): Error {
  if (thrown instanceof SourceFailure || !(thrown instanceof Error)) {
    return thrown instanceof Error ? thrown : new Error(String(thrown))
  }
  const { name, message } = thrown
  switch (name) {
    case 'ChromaAuthError':
    case 'ChromaForbiddenError':
      return new SourceFailure('unauthenticated', `${collection}: the server at ${url} refuses the token`, thrown)
    case 'ChromaNotFoundError':
      return notFound(collection)
    case 'ChromaConnectionError':
      return new SourceFailure('unreachable', `${collection}: nothing answers at ${url}`, thrown)
    case 'TypeError':
    case 'SyntaxError':
      return malformed(collection, `what answers at ${url} does not answer as ChromaDB does`, thrown)
  }
  if (/dimension/i.test(message)) {
    const [, expected] = /dimension of (\d+)/.exec(message) ?? []
    return wrongDimensions(collection, expected === undefined ? null : Number(expected), size)
  }
  return new SourceFailure('query_failed', `${collection}: ${message}`, thrown)
}
