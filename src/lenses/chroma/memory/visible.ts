/** Which nodes a viewer's cycles, statistics and forecasts are about: those it sees now. */
import type { EntryKey } from '../../../model/entry.ts'
import { isOwner } from '../../../model/viewer.ts'
import type { LensHost } from '../../lens.ts'

/** Any column of the aspect that is never null. */
const IS_NODE = 'color.created_at'

export interface VisibleNodes {
  has(entry: EntryKey): boolean
  /** Null: all there are. */
  readonly size: number | null
}

export function visibleNodes(host: LensHost, viewer: string): VisibleNodes {
  if (isOwner({ id: viewer })) return { has: () => true, size: null }
  return host.store.matching(host.sight({ id: viewer }), { op: 'exists', field: IS_NODE })
}
