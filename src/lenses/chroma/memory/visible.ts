/** Which nodes a viewer's cycles, statistics and forecasts are about: those it sees now. */
import type { EntryKey } from '../../../model/entry.ts'
import { isOwner } from '../../../model/viewer.ts'
import type { LensHost } from '../../lens.ts'

/** Any column of the aspect that is never null. */
const IS_NODE = 'color.created_at'

export function visibleNodes(host: LensHost, viewer: string): (entry: EntryKey) => boolean {
  if (isOwner({ id: viewer })) return () => true
  const seen = host.store.matching(host.sight({ id: viewer }), { op: 'exists', field: IS_NODE })
  return entry => seen.has(entry)
}
