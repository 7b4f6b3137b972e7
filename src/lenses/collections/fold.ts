/** An item and the analysis that names it, as one result: the better of the two, with the other's id beside it. */
import type { DetailedResult } from './result.ts'

/** `results`: best first. What names an item that is not among them stands by itself. */
export function foldRelated(results: readonly DetailedResult[]): readonly DetailedResult[] {
  const items = Map.groupBy(
    results.filter(result => [null, result.id].includes(namedBy(result))),
    ({ id }) => id,
  )
  const groups = Map.groupBy(results, result => subjectOf(result, items))
  return [...groups.values()].map(([best, ...others]) => {
    const keys = others.flatMap(({ key }) => key ?? [])
    return {
      ...(best as DetailedResult),
      relatedIds: [...new Set(others.map(({ id }) => id))],
      ...(best?.key !== undefined && { relatedKeys: keys }),
    }
  })
}

/** Ids are unique in a collection only: of several items of one id, that of another collection is meant. */
function subjectOf(result: DetailedResult, items: ReadonlyMap<string, readonly DetailedResult[]>): DetailedResult {
  const name = namedBy(result)
  if (name === null) return result
  const candidates = items.get(name) ?? []
  // A record may name itself; a plain item of that id comes first.
  const plain = candidates.filter(one => namedBy(one) === null)
  return plain.find(({ source }) => source !== result.source) ?? plain[0] ?? candidates[0] ?? result
}

/** The item's id that a record has in its metadata. */
function namedBy({ metadata }: DetailedResult): string | null {
  const name = metadata['item_id']
  return typeof name === 'string' && name !== '' ? name : null
}
