/**
 * The only module that uses the npm package `chromadb`: opens its client, and translates its errors to the codes of the source contract.
 */
import type { AdminClientArgs, ChromaClient, Collection } from 'chromadb'
import { serverAddress } from './address.ts'
import { malformed, notFound, packageMissing, SourceFailure, wrongDimensions } from './failure.ts'

export interface ChromaAddress {
  /** Base address of the ChromaDB server, for example http://localhost:8000. */
  readonly url: string
  /** Tenant on the ChromaDB server; default `default_tenant`. */
  readonly tenant?: string | undefined
  /** Database on the ChromaDB server; default `default_database`. */
  readonly database?: string | undefined
  readonly token?: string | undefined
}

/** Opens a ChromaDB client for one request, since the client takes its abort signal when it is created. Creating a client sends nothing. */
export async function openChromaClient(address: ChromaAddress, signal?: AbortSignal): Promise<ChromaClient> {
  const { ChromaClient } = await importClient()
  return new ChromaClient({ ...connection(address, signal), ...placeOf(address) })
}

/**
 * A ChromaDB collection by name; null where the server answers that there is none. A server that is no ChromaDB, or that lacks the
 * database, may give the same answer.
 */
export async function findCollection(client: ChromaClient, name: string): Promise<Collection | null> {
  try {
    // With null instead of an embedding function, the client does not look for one and prints no warnings.
    return await client.getCollection({ name, embeddingFunction: null as never })
  } catch (error) {
    if (isNotFound(error)) return null
    // The server refuses an impossible name as invalid; a collection of that name cannot exist, so this counts as not found.
    if (error instanceof Error && error.name === 'ChromaClientError' && /name/i.test(error.message)) return null
    throw error
  }
}

/**
 * Throws `SourceFailure` where the server is not a ChromaDB, or has no such database: in both cases the server only answers that each
 * collection does not exist, so it would look empty. Nothing is checked on a server that does not permit this token to look up databases.
 */
export async function requireDatabase(address: ChromaAddress, collection: string, signal?: AbortSignal): Promise<void> {
  const { AdminClient } = await importClient()
  const { tenant, database } = placeOf(address)
  try {
    await new AdminClient(connection(address, signal)).getDatabase({ name: database, tenant })
  } catch (error) {
    if (!isNotFound(error)) return
    await requireHeartbeat(address, collection, signal)
    const message = `there is no database ${database} of the tenant ${tenant} at ${address.url}`
    throw new SourceFailure('unreachable', message, error)
  }
}

async function requireHeartbeat(
  address: ChromaAddress,
  collection: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    const client = await openChromaClient(address, signal)
    if (Number.isFinite(await client.heartbeat())) return
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  throw malformed(collection, strangerAt(address.url))
}

function strangerAt(url: string): string {
  return `the server at ${url} does not answer like ChromaDB; check the address and its path`
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === 'ChromaNotFoundError'
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
  const { hostname, port, protocol, path } = serverAddress(url)
  return {
    host: hostname,
    // The path prefix is appended to the port, since the client builds every address from protocol, host and port, and has no option for a
    // path.
    port: `${port}${path}` as never,
    ssl: protocol === 'https:',
    // The token is sent in both headers, since a server expects it in one of them, depending on its configuration.
    headers: token === undefined ? {} : { authorization: `Bearer ${token}`, 'x-chroma-token': token },
    ...(signal === undefined ? {} : { fetchOptions: { signal } }),
  }
}

/** Translates an error of the ChromaDB client to the source contract. `size`: number of dimensions of the query's vector. */
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
      return new SourceFailure('unreachable', `${collection}: no server answers at ${url}`, thrown)
    case 'TypeError':
    case 'SyntaxError':
      return malformed(collection, strangerAt(url), thrown)
  }
  if (/dimension/i.test(message)) {
    const [, expected] = /dimension of (\d+)/.exec(message) ?? []
    return wrongDimensions(collection, expected === undefined ? null : Number(expected), size)
  }
  return new SourceFailure('query_failed', `${collection}: ${message}`, thrown)
}
