/**
 * How messages reach other nodes (BQ-117). One contract: HTTP in the product (`sources/http-transport.ts`), several nodes in
 * one process in tests (`test/support/in-process-nodes.ts`).
 */
import type { Json } from '../base/canonical.ts'

export interface NodeMessage {
  /** From the first slash on. */
  readonly path: string
  /** Null: nothing is sent, the path is read. */
  readonly body: Json | null
  /** An answer that is longer ends in `too_large`, without being read to its end. */
  readonly maxBytes: number
}

export interface NodeTransport {
  /**
   * Resolves with the JSON of the answer: whatever it is, for nothing of it is checked here. Rejects with a
   * `TransportFailure`; with `aborted` at once when the signal is.
   */
  send(address: string, message: NodeMessage, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

export type TransportFailureCode =
  /** Nobody answers at the address. */
  | 'unreachable'
  /** It answered with a status that is no success. */
  | 'refused'
  /** What it answered is no JSON. */
  | 'malformed'
  | 'too_large'
  | 'aborted'

export class TransportFailure extends Error {
  override readonly name: string = 'TransportFailure'
  readonly code: TransportFailureCode
  /** Of HTTP, where it was refused; null: there was none. */
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
