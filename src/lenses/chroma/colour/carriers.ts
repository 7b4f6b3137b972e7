/** The nodes that carry a hashtag, whoever holds them. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Filter } from '../../../model/filter.ts'
import { LOCAL_OWNER } from '../../../model/viewer.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { NODES } from '../tables.ts'

/**
 * In every partition, ascending. Asked of the nodes' own column, not of the entries' tags, which others may rewrite. Looks
 * at every node: about a second for a million, and only for the rare change of a binding.
 */
export function nodesCarrying(host: LensHost, reader: StoreReader, hashtag: string): readonly EntryKey[] {
  const written: Filter = { op: 'contains', field: `${NODES.aspect}.hashtags`, text: JSON.stringify(hashtag) }
  const candidates = reader.matching(host.sight(LOCAL_OWNER), written)
  return [...candidates].filter(entry => hashtagsOf(reader, entry).includes(hashtag))
}

/** As stored, by ascending anchor of that time; none when the entry is no node. */
export function hashtagsOf(reader: StoreReader, entry: EntryKey): readonly string[] {
  const row = reader.table(NODES).get({ entry })
  return row === undefined ? [] : (JSON.parse(String(row['hashtags'])) as string[])
}
