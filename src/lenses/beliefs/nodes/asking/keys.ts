/** Keys of those who ask, and names of agents here by their key (BQ-122). */
import type { Keys } from '../../../../identity/keys.ts'
import { QuerentError } from '../../../../model/errors.ts'
import { AGENTS } from '../../../../store/core-tables.ts'
import type { Store } from '../../../../store/store.ts'
import type { LensHost } from '../../../lens.ts'
import { ensureKeys, signingKeys } from '../../trust/agent-facts.ts'
import type { AskedSource } from '../guest.ts'

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

interface Names {
  readonly version: number
  readonly byDid: ReadonlyMap<string, string>
}

const NAMES = new WeakMap<Store, Names>()

/** What an agent with this key is called here; else the key itself. */
export function nameOfDid(store: Store, did: string): string {
  return namesOf(store).get(did) ?? did
}

function namesOf(store: Store): ReadonlyMap<string, string> {
  const version = store.version(AGENTS)
  const known = NAMES.get(store)
  if (known?.version === version) return known.byDid
  const rows = store.table(AGENTS).scan({}, { columns: ['id', 'did'] })
  const byDid = new Map(rows.flatMap(({ id, did }) => (typeof did === 'string' ? [[did, id as string] as const] : [])))
  NAMES.set(store, { version, byDid })
  return byDid
}
