/** What a node says of itself at its well-known address, signed by it. */
import * as z from 'zod'
import type { JsonObject } from '../../../../base/canonical.ts'
import { isTimely } from '../../../../identity/freshness.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import { isStatementOf, signStatement } from '../../../../identity/statement.ts'
import { toIso } from '../../../../model/instant.ts'
import type { NodeTransport } from '../../../../pipeline/transport.ts'
import { ABOUT_PATH, PROTOCOL } from '../wire/protocol.ts'

export interface AboutNode {
  readonly protocol: number
  readonly did: string
  /** Key of the model that it embeds with; null: it has none. */
  readonly model: string | null
  readonly timestamp: string
  readonly signature: string
}

const MOST_BYTES = 65_536

// What later versions say beside these is not looked at, but it is under the signature.
const shape = z.looseObject({
  protocol: z.int().min(1),
  did: z.string().max(200),
  model: z.string().max(400).nullable(),
  timestamp: z.iso.datetime(),
  signature: z.string().max(200),
})

export function aboutThis(node: NodeIdentity, model: string | null): AboutNode {
  const keys = node.keys()
  const open = { protocol: PROTOCOL, did: keys.did, model, timestamp: toIso(node.now()) }
  return { ...open, signature: signStatement(keys, statementOf(open)) }
}

/** What a node at an address says; null: nothing that can be believed. Rejects with a `TransportFailure`. */
export async function readAbout(
  transport: NodeTransport,
  address: string,
  node: NodeIdentity,
  signal: AbortSignal,
): Promise<AboutNode | null> {
  const given = await transport.send(address, { path: ABOUT_PATH, body: null, mostBytes: MOST_BYTES }, signal)
  const about = shape.safeParse(given).data
  if (about === undefined || !isTimely(Date.parse(about.timestamp), node.now())) return null
  const { signature, ...open } = about
  return isStatementOf(about.did, statementOf(open as JsonObject), signature) ? about : null
}

function statementOf(open: JsonObject): JsonObject {
  return { type: 'querent.node.v1', ...open }
}
