/** What a question to another node is signed with: by who asks, where that one is to know; else by this node (BQ-122). */
import type { Keys } from '../../../../identity/keys.ts'
import { QuerentError } from '../../../../model/errors.ts'
import type { LensHost } from '../../../lens.ts'
import { ensureKeys, signingKeys } from '../../trust/agent-keys.ts'
import type { AskedSource } from '../peer.ts'

/** Made where the requester has none yet: a write. Null: there are none, and none can be made. */
export async function askingKeys(host: LensHost, kind: AskedSource['kind'], requester: string): Promise<Keys | null> {
  const { store, random, clock } = host
  try {
    const known = knownKeys(host, kind, requester)
    if (known !== null || kind === 'network') return known
    return await store.writeWhenFree(clock.now(), writer => ensureKeys(writer, requester, bytes => random(bytes)))
  } catch (thrown) {
    if (thrown instanceof QuerentError) return null
    throw thrown
  }
}

/** The same, where they were made before; else null. */
export function knownKeys({ store, node }: LensHost, kind: AskedSource['kind'], requester: string): Keys | null {
  if (kind === 'network') return node?.keys() ?? null
  return store.read(reader => signingKeys(reader, requester))
}
