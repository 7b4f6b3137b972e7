/** Agents of this node by their key. */
import { AGENTS } from '../../../../store/core-tables.ts'
import type { Store } from '../../../../store/store.ts'

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
