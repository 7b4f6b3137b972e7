/** What a connection may cost before anything is known of who is at its other end. */
import type { Server, ServerOptions } from 'node:http'
import { invalidArgument } from '../../model/errors.ts'
import { MAX_BODY_BYTES } from './body.ts'

export interface Bounds {
  /** The longest body that is read, in bytes. */
  readonly maxBodyBytes: number
  /**
   * Milliseconds that a client may take to send a whole request; for its head it has a sixth of that. So long it may also
   * leave an answer lying of which it takes nothing.
   */
  readonly receiveMs: number
  /** Further ones are closed at once. */
  readonly maxConnections: number
}

/** File handles are what is short: a thousand streams are well within. */
const DEFAULTS: Bounds = { maxBodyBytes: MAX_BODY_BYTES, receiveMs: 60_000, maxConnections: 4_000 }

/** A client that goes on with a stream sends what it has of it as a header: `Last-Event-ID`. */
const MAX_HEAD_BYTES = 64 * 1024
const MAX_HEADERS = 256
const HEAD_SHARE = 6
/** Overdue clients are looked for so often, or twice in the time that they have. */
const LOOK_EVERY_MS = 2_000

/** What is not given is as by default. Throws `invalid_argument`. */
export function boundsOf(given: { readonly [Name in keyof Bounds]?: Bounds[Name] | undefined }): Bounds {
  const maxBodyBytes = given.maxBodyBytes ?? DEFAULTS.maxBodyBytes
  const receiveMs = given.receiveMs ?? DEFAULTS.receiveMs
  const maxConnections = given.maxConnections ?? DEFAULTS.maxConnections
  if (!isCount(maxBodyBytes)) throw invalidArgument('--max-body', maxBodyBytes, 'a whole number of bytes, 1 or more')
  if (!(receiveMs > 0 && receiveMs < 2 ** 31)) {
    throw invalidArgument('--receive-timeout', receiveMs / 1000, 'more than 0 seconds, and less than 24 days')
  }
  if (!isCount(maxConnections)) {
    throw invalidArgument('--max-connections', maxConnections, 'a whole number, 1 or more')
  }
  return { maxBodyBytes, receiveMs, maxConnections }
}

export function serverOptions({ receiveMs }: Bounds): ServerOptions {
  return {
    maxHeaderSize: MAX_HEAD_BYTES,
    connectionsCheckingInterval: Math.ceil(Math.min(LOOK_EVERY_MS, receiveMs / (2 * HEAD_SHARE))),
    headersTimeout: Math.ceil(receiveMs / HEAD_SHARE),
    requestTimeout: Math.ceil(receiveMs),
    // Who names no host is told so in words, like who names another.
    requireHostHeader: false,
  }
}

export function bound(server: Server, { maxConnections }: Bounds): void {
  server.maxHeadersCount = MAX_HEADERS
  server.maxConnections = maxConnections
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}
