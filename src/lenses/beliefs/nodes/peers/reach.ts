/** Asks another node for what it tells anybody. Whatever goes wrong becomes one of few fixed reasons. */
import { QuerentError } from '../../../../model/errors.ts'
import type { NodeTransport } from '../../../../pipeline/transport.ts'
import { TransportFailure } from '../../../../pipeline/transport.ts'
import type { LensHost } from '../../../lens.ts'
import { BeliefsError } from '../../errors.ts'

export type UnreachedReason =
  /** Nobody answers there, or not in time. */
  | 'unreachable'
  | 'refused'
  | 'too_large'
  /** It is no answer of a node, or not signed by it. */
  | 'invalid_data'
  /** Its clock, or ours, is off by more than five minutes. */
  | 'clock'
  /** It speaks another version of the protocol. */
  | 'protocol'

/** Thrown within; what leaves an operation is `unreachedError`. */
export class Unreached extends Error {
  override readonly name: string = 'Unreached'
  readonly reason: UnreachedReason
  constructor(reason: UnreachedReason, cause?: unknown) {
    super(reason, { cause })
    this.reason = reason
  }
}

/** Milliseconds that a node has to say who it is. */
const MOST_MS = 5_000
/** A document without beliefs: this is some hundred times what it takes. */
const MOST_BYTES = 64 * 1024

/** Throws `Unreached`; `cancelled` when the caller has gone. */
export async function readFrom(host: LensHost, address: string, path: string, signal: AbortSignal): Promise<unknown> {
  const timely = AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])
  try {
    return await transportOf(host).send(address, { path, body: null, mostBytes: MOST_BYTES }, timely)
  } catch (thrown) {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller has gone', {})
    if (thrown instanceof TransportFailure) throw new Unreached(REASONS[thrown.code], thrown)
    throw thrown
  }
}

const REASONS: Readonly<Record<TransportFailure['code'], UnreachedReason>> = {
  unreachable: 'unreachable',
  aborted: 'unreachable',
  refused: 'refused',
  malformed: 'invalid_data',
  too_large: 'too_large',
}

const TEXTS: Readonly<Record<UnreachedReason, string>> = {
  unreachable: 'no node answers at the address',
  refused: 'what answers at the address does not say who it is',
  too_large: 'what answers at the address says too much to be a node',
  invalid_data: 'what answers at the address is no node, or did not sign what it says',
  clock: 'the clocks of the two nodes are more than five minutes apart',
  protocol: 'the node speaks another version of the protocol',
}

/** What the operation that needed the answer fails with. */
export function unreachedError({ reason, cause }: Unreached, path: string): BeliefsError {
  return new BeliefsError('NODE_UNAVAILABLE', `${path}: ${TEXTS[reason]}`, { path, reason }, { cause })
}

function transportOf({ transport }: LensHost): NodeTransport {
  if (transport === undefined) throw new Unreached('unreachable')
  return transport
}
