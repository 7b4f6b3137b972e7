/**
 * Transport of messages to other nodes (BQ-117). One contract: HTTP in the product (`sources/http-transport.ts`), several nodes in one
 * process in tests (`test/support/in-process-nodes.ts`).
 */
import type { Json } from '../base/canonical.ts'

export interface NodeMessage {
  /** Path of the request, from the first slash on. */
  readonly path: string
  /** Body to send; null: nothing is sent, the path is read. */
  readonly body: Json | null
  /** Largest answer in bytes; a longer one ends in `too_large`, without being read completely. */
  readonly maxBytes: number
}

export interface NodeTransport {
  /**
   * Sends a message and resolves with the JSON of the answer, of which nothing is checked here. Rejects with a `TransportFailure`; with
   * `aborted` at once when the signal is aborted.
   */
  send(address: string, message: NodeMessage, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

export type TransportFailureCode =
  /** Failure of a message: no server answers at the address. */
  | 'unreachable'
  /** Failure of a message: the node answered with a status that is no success. */
  | 'refused'
  /** Failure of a message: the answer is no JSON. */
  | 'malformed'
  | 'too_large'
  | 'aborted'

export class TransportFailure extends Error {
  override readonly name: string = 'TransportFailure'
  readonly code: TransportFailureCode
  /** HTTP status of a refused message; null: there was none. */
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
