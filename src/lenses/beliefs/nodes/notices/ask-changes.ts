/** Asks one node to tell when what may be seen there has changed. */
import type { Json } from '../../../../base/canonical.ts'
import { sealEnvelope } from '../../../../identity/envelope.ts'
import { isTimely, newNonce } from '../../../../identity/freshness.ts'
import type { Keys } from '../../../../identity/keys.ts'
import { isStatementOf } from '../../../../identity/statement.ts'
import { type NodeTransport, TransportFailure } from '../../../../pipeline/transport.ts'
import type { LensHost } from '../../../lens.ts'
import type { AskedSource } from '../peer.ts'
import { CHANGES_PATH, changesStatement, PROTOCOL, type WireChangesQuery } from '../wire/protocol.ts'
import { asChanges } from '../wire/shapes.ts'
import { scopeOf } from '../wire/wire-query.ts'

const MOST_BYTES = 16_384
/** For the way there and back, beside the waiting. */
const WAY_MS = 10_000

export interface ChangesRequest {
  readonly host: LensHost
  readonly transport: NodeTransport
  readonly source: AskedSource
  /** Of who asks. */
  readonly keys: Keys
  readonly since: string
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** Resolves with the state that it is in by then. Rejects with a `TransportFailure`, `malformed` for what that node has not signed. */
export async function askChanges(request: ChangesRequest): Promise<string> {
  const { host, transport, source, keys, since, waitMs, signal } = request
  const { did, address } = source.peer
  const query: WireChangesQuery = { protocol: PROTOCOL, scope: scopeOf(source), since, wait_ms: waitMs }
  const now = () => host.node?.now() ?? host.clock.now()
  const nonce = newNonce(bytes => host.random(bytes))
  // The casts: both are plain data, but their interfaces have no index signature.
  const envelope = sealEnvelope(keys, query as unknown as Json, { audience: did, timestamp: now(), nonce })
  const message = { path: CHANGES_PATH, body: envelope as unknown as Json, mostBytes: MOST_BYTES }
  const timely = AbortSignal.any([signal, AbortSignal.timeout(waitMs + WAY_MS)])
  const answer = asChanges(await transport.send(address, message, timely))
  const isOurs =
    answer?.node === did &&
    answer.audience === keys.did &&
    answer.nonce === nonce &&
    isTimely(Date.parse(answer.timestamp), now()) &&
    isStatementOf(did, changesStatement(answer), answer.signature)
  if (!isOurs) throw new TransportFailure('malformed', 'the answer is not of that node')
  return answer.state
}
