/** Whether an order that is not held can be found again: it can while nothing that its viewer sees has changed. */
import type { Instant } from '../base/clock.ts'
import type { QueryContext } from './context.ts'
import { changesOrNull } from './feed.ts'

const PAGE = 500

/**
 * Whether something in sight was written after this moment, as far back as the feed reaches: what it has forgotten may have
 * been. Of what is hidden nothing is asked.
 */
export function changedSince(moment: Instant, { reader, sight }: Pick<QueryContext, 'reader' | 'sight'>): boolean {
  const visible = new Set(sight.partitions)
  for (let end = reader.lastSeq(); end > 0; end -= PAGE) {
    const found = changesOrNull(reader, Math.max(0, end - PAGE), PAGE)
    if (found === null) return true
    const page = found.filter(({ seq }) => seq <= end)
    const seen = page.filter(({ partition, from }) => visible.has(partition) || (from !== null && visible.has(from)))
    if (seen.some(({ at }) => at > moment)) return true
    const oldest = page[0]
    if (oldest === undefined || oldest.at <= moment) return false
    if (oldest.seq === reader.firstSeq()) return oldest.seq > 1
  }
  return false
}
