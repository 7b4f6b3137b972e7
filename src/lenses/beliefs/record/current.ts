/** A holder's own current version by id. */
import type { StoreReader } from '../../../store/store.ts'
import { BELIEFS } from '../tables.ts'
import { type CurrentBelief, currentVersion } from './version.ts'

/** Undefined: the holder has no current belief of this id, whoever else has. */
export function currentOf(reader: StoreReader, holder: string, id: string): CurrentBelief | undefined {
  const own = reader.partitions().filter(({ audience }) => audience.kind === 'public' || audience.holder === holder)
  const keys = reader.find(
    id,
    own.map(partition => partition.id),
  )
  const identity = reader.identities(keys).find(found => found.holder === holder)
  const entry = identity && reader.entry(identity.key)
  const row = entry && reader.table(BELIEFS).get({ entry: entry.key })
  return entry && row && { entry, version: currentVersion(entry, row) }
}
