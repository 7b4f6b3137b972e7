/** Who a node says that it is: its own word, and others' words checked. */
import type { Instant } from '../../../../base/clock.ts'
import { isRecord } from '../../../../base/record.ts'
import { isTimely } from '../../../../identity/freshness.ts'
import { isStatementOf, signStatement } from '../../../../identity/statement.ts'
import { toIso } from '../../../../model/instant.ts'
import type { LensHost } from '../../../lens.ts'
import { BeliefsError } from '../../errors.ts'
import type { BeliefsSettings } from '../../settings.ts'
import { ABOUT_PATH, aboutStatement, PROTOCOL, type WireAbout } from '../wire/protocol.ts'
import { asAbout } from '../wire/shapes.ts'
import { readFrom, Unreached } from './reach.ts'

export interface Met {
  readonly about: WireAbout
  readonly latencyMs: number
  /** How far its clock is ahead of ours. */
  readonly clockAheadMs: number
}

/** Throws `Unreached`, also for an answer that is not signed by the key that it names. */
export async function askAbout(host: LensHost, address: string, signal: AbortSignal): Promise<Met> {
  const started = performance.now()
  const answer = await readFrom(host, address, ABOUT_PATH, signal)
  const latencyMs = Math.round((performance.now() - started) * 1000) / 1000
  const about = aboutIn(answer)
  const said = Date.parse(about.timestamp)
  return { about, latencyMs, clockAheadMs: said - machineNow(host) }
}

/** Throws `Unreached` of the reason `clock`: what was said long ago may be said by another now. */
export function mustBeTimely(host: LensHost, timestamp: string): void {
  if (!isTimely(Date.parse(timestamp), machineNow(host))) throw new Unreached('clock')
}

/** Of this node. `model`: key of the model that it embeds with. Federations are not told of. Not within a read. */
export function ownAbout(
  { node }: LensHost,
  model: string | null,
  { answerNodes: answers, answerNetwork }: Pick<BeliefsSettings, 'answerNodes' | 'answerNetwork'>,
): WireAbout {
  if (node === undefined) throw new BeliefsError('NODE_UNAVAILABLE', 'this store has no node to speak for')
  const keys = node.keys()
  const open: WireAbout = {
    protocol: PROTOCOL,
    ...{ did: keys.did, model, answers, network: answers && answerNetwork, federations: [] },
    ...{ timestamp: toIso(node.now()), signature: '' },
  }
  return { ...open, signature: signStatement(keys, aboutStatement(open)) }
}

function aboutIn(answer: unknown): WireAbout {
  if (isRecord(answer) && typeof answer['protocol'] === 'number' && answer['protocol'] !== PROTOCOL)
    throw new Unreached('protocol')
  const about = asAbout(answer)
  if (about === null || !isStatementOf(about.did, aboutStatement(about), about.signature)) {
    throw new Unreached('invalid_data')
  }
  return about
}

/** Clocks of machines are compared, whatever time it is here otherwise. */
function machineNow({ node, clock }: LensHost): Instant {
  return node?.now() ?? clock.now()
}
