/**
 * The only module that uses the npm package `@qdrant/js-client-rest`: opens clients, and translates their errors to the codes of the source
 * contract.
 */
import type { QdrantClient } from '@qdrant/js-client-rest'
import { serverAddress } from './address.ts'
import { malformed, notFound, packageMissing, SourceFailure, wrongDimensions } from './failure.ts'

export interface QdrantAddress {
  /** Base address of the Qdrant server, for example http://localhost:6333. */
  readonly url: string
  readonly apiKey?: string | undefined
}

/**
 * Time limits in ms for which a client exists. A Qdrant client takes its limit when it is created and keeps connections open, so only these
 * few are created.
 */
const LIMITS_MS = [500, 2_000, 10_000, 60_000, 300_000] as const

export class QdrantClients {
  readonly #address: QdrantAddress
  readonly #clients = new Map<number, QdrantClient>()

  /** Throws `invalid_argument` for an invalid server address. */
  constructor(address: QdrantAddress) {
    serverAddress(address.url)
    this.#address = address
  }

  /** A client whose own time limit is the next one above `leftMs`, the time left; the caller stops waiting earlier. */
  async client(leftMs: number): Promise<QdrantClient> {
    const timeout = LIMITS_MS.find(limit => limit >= leftMs) ?? LIMITS_MS[LIMITS_MS.length - 1]
    const known = this.#clients.get(timeout as number)
    if (known !== undefined) return known
    const { QdrantClient } = await import('@qdrant/js-client-rest').catch(cause => {
      throw packageMissing('@qdrant/js-client-rest', cause)
    })
    const { url, apiKey } = this.#address
    const { protocol, hostname, port, path } = serverAddress(url)
    const made = new QdrantClient({
      host: hostname,
      port,
      https: protocol === 'https:',
      prefix: path,
      timeout: timeout as number,
      // The client's version check is off, since it would send a request of its own and print warnings to the console.
      checkCompatibility: false,
      // The key is set as a header: with the option `apiKey`, the client would print a warning where the address is not https.
      headers: apiKey === undefined ? {} : { 'api-key': apiKey },
    })
    this.#clients.set(timeout as number, made)
    return made
  }
}

/** Translates an error of the Qdrant client to the source contract. `size`: number of dimensions of the query's vector. */
export function qdrantFailure(thrown: unknown, collection: string, url: string, size: number): Error {
  if (thrown instanceof SourceFailure) return thrown
  const { name = '', message = String(thrown), status } = thrown as Partial<Error> & { readonly status?: unknown }
  if (status === 401 || status === 403) {
    return new SourceFailure(
      'unauthenticated',
      `${collection}: the server at ${url} refuses the key (${status})`,
      thrown,
    )
  }
  if (status === 404) {
    return isMissing(thrown) ? notFound(collection) : malformed(collection, strangerAt(url), thrown)
  }
  const said = reasonIn(thrown)
  const [, expected] = /expected dim: (\d+)/i.exec(said) ?? []
  if (expected !== undefined) return wrongDimensions(collection, Number(expected), size)
  if (typeof status === 'number') {
    return new SourceFailure('query_failed', `${collection}: the server at ${url} answered ${status}: ${said}`, thrown)
  }
  if (name === 'QdrantClientTimeoutError') {
    return new SourceFailure('timeout', `${collection}: no answer from ${url} in time`, thrown)
  }
  if (name === 'TypeError' && /fetch failed/.test(message)) {
    return new SourceFailure('unreachable', `${collection}: no server answers at ${url}`, thrown)
  }
  return malformed(collection, strangerAt(url), thrown)
}

function strangerAt(url: string): string {
  return `the server at ${url} does not answer like Qdrant; check the address and its path`
}

/** Whether Qdrant itself answers that something does not exist; false for a 404 from a server that is not Qdrant. */
export function isMissing(thrown: unknown): boolean {
  return (thrown as { readonly status?: unknown }).status === 404 && errorIn(thrown) !== null
}

/** Whether the server does not support the requested API call, as older versions do not. */
export function isUnknownCall(thrown: unknown): boolean {
  return (thrown as { readonly status?: unknown }).status === 404 && errorIn(thrown) === null
}

/** The reason of an error, at most 200 characters: the text in Qdrant's `{status: {error}}`, otherwise the client's message. */
export function reasonIn(thrown: unknown): string {
  return (errorIn(thrown) ?? (thrown as Partial<Error>).message ?? '').slice(0, 200)
}

function errorIn(thrown: unknown): string | null {
  const { data } = thrown as { readonly data?: { readonly status?: { readonly error?: unknown } | null } | null }
  const error = data?.status?.error
  return typeof error === 'string' ? error : null
}
