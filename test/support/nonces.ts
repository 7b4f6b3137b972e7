/** The numbers that senders have used, as the node of a store remembers them. */
import { nodeIdentity } from '../../src/engine/node-identity.ts'
import type { Nonces } from '../../src/identity/messages.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'

/** With a store of their own. */
export function newNonces(): Nonces {
  const clock = { now: () => 0 }
  const random = (bytes: number) => new Uint8Array(bytes)
  return nodeIdentity({ store: openSqliteStore({ file: ':memory:' }), random, clock, machineTime: () => 0 }).nonces
}
