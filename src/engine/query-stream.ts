/**
 * A question answered piece by piece: what a page of the same limit would hold, in its order, each piece checked against what
 * the viewer may see as it leaves. No transaction is open between pieces, and nothing is made before it is asked for.
 */
import { DEFAULT_CHUNK_SIZE } from '../model/limits.ts'
import type { CallContext } from '../model/operation.ts'
import type { PageChunk } from '../model/page.ts'
import type { QueryInput } from '../model/query-input.ts'
import type { Part } from '../pipeline/run.ts'
import type { Asking } from './asking.ts'

export async function* streamQuery(
  asking: Asking,
  { chunk_size = DEFAULT_CHUNK_SIZE, ...input }: QueryInput,
  call: CallContext,
): AsyncGenerator<PageChunk, void> {
  let query = asking.resolve(input, call)
  const { limit } = query
  let from = asking.heldFor(query, call)
  for (let shown = 0, isFirst = true; ; isFirst = false) {
    const part = await asking.part(query, from, Math.min(chunk_size, limit - shown), call)
    const { page, end } = part.answer
    shown += page.items.length
    const isLast = page.cursor === null || end === null || shown >= limit
    if (isLast) asking.holdRest(part, call)
    yield chunkOf(part, isFirst, isLast ? null : shown / limit)
    if (isLast) return
    from = part.next
    query = { ...query, after: end, cursor: null }
  }
}

/** `progress` null: it is the last one. */
function chunkOf({ answer: { page } }: Part, isFirst: boolean, progress: number | null): PageChunk {
  const { items, verdict, reason, lens, mode, as_of, notes, coverage, cursor } = page
  return {
    ...(isFirst && { verdict, reason, lens, mode, as_of, notes }),
    items,
    progress: progress ?? 1,
    done: progress === null,
    ...(progress === null && { coverage, cursor }),
  }
}
