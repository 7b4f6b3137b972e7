/**
 * Contract for sending messages to other nodes (BQ-117). The product sends them by HTTP (`sources/http-transport.ts`); tests connect
 * several nodes within one process (`test/support/in-process-nodes.ts`).
 */
import type { Json } from '../base/canonical.ts'

export interface NodeMessage {
  /** Path of the request's URL, from the first slash on. */
  readonly path: string
  /** Body to send with POST; null: nothing is sent, and the path is read with GET. */
  readonly body: Json | null
  /** Largest accepted size of the answer in bytes; a longer answer fails with `too_large`, without being read completely. */
  readonly maxBytes: number
}

export interface NodeTransport {
  /**
   * Sends a message and resolves with the answer, parsed as JSON but not checked otherwise. Rejects with a `TransportFailure`; with code
   * `aborted` immediately when the signal is aborted.
   */
  send(address: string, message: NodeMessage, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

export type TransportFailureCode =
  /** Failure code: no server answers at the address. */
  | 'unreachable'
  /** Failure code: the node answered with an HTTP status that means failure. */
  | 'refused'
  /** Failure code: the answer is not valid JSON. */
  | 'malformed'
  | 'too_large'
  | 'aborted'

export class TransportFailure extends Error {
  override readonly name: string = 'TransportFailure'
  readonly code: TransportFailureCode
  /** HTTP status of the answer that refused the message; null: there was no such answer. */
  readonly status: number | null

  constructor(
    code: TransportFailureCode,
    message: string,
    { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
  }
}
