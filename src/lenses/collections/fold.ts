/** An item and the analysis that names it, as one result: the better of the two, with the other's id beside it. */
import type { DetailedResult } from './result.ts'

/** `results`: best first. */
export function foldRelated(results: readonly DetailedResult[]): readonly DetailedResult[] {
  const groups = new Map<string, DetailedResult[]>()
  for (const result of results) {
    const key = subjectOf(result)
    groups.set(key, [...(groups.get(key) ?? []), result])
  }
  return [...groups.values()].map(([best, ...others]) => ({
    ...(best as DetailedResult),
    relatedIds: [...new Set(others.map(({ id }) => id))],
  }))
}

/** An analysis is about the item it names; anything else is about itself. */
function subjectOf({ id, metadata }: DetailedResult): string {
  const about = metadata['item_id']
  return typeof about === 'string' && about !== '' ? about : id
}
