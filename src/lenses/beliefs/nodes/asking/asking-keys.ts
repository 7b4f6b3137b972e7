/** What a question to another node is signed with: by who asks, where that one is to know; else by this node (BQ-122). */
import type { Keys } from '../../../../identity/keys.ts'
import { QuerentError } from '../../../../model/errors.ts'
import type { LensHost } from '../../../lens.ts'
import { ensureKeys, signingKeys } from '../../trust/agent-keys.ts'
import type { AskedSource } from '../peer.ts'

/** Made where the requester has none yet: a write. Null: there are none, and none can be made. */
export function askingKeys(host: LensHost, kind: AskedSource['kind'], requester: string): Keys | null {
  const { store, random, clock, node } = host
  try {
    if (kind === 'network') return node?.keys() ?? null
    const kept = store.read(reader => signingKeys(reader, requester))
    return kept ?? store.write(clock.now(), writer => ensureKeys(writer, requester, bytes => random(bytes)))
  } catch (thrown) {
    if (thrown instanceof QuerentError) return null
    throw thrown
  }
}
