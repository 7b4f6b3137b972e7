/** Names to complete with: of visible entries alone, so that none tells of an entry that the viewer may not see. */
import { OWNER } from '../model/partition.ts'
import { SUGGESTED_FIELDS, type SuggestedField, type SuggestInput, type Suggestion } from '../model/suggest.ts'
import { isOwner, type Sight } from '../model/viewer.ts'
import type { Store } from '../store/store.ts'
import { countVisible } from './counts.ts'

const DEFAULT_LIMIT = 10
/** Names of a field that are compared with the prefix: the commonest. */
const MOST_COMPARED = 10_000

type Named = Pick<Suggestion, 'value' | 'count'>

export function suggest(store: Store, input: SuggestInput, sight: Sight): readonly Suggestion[] {
  const { prefix = '', fields = SUGGESTED_FIELDS, limit = DEFAULT_LIMIT } = input
  const begin = prefix.toLowerCase()
  return SUGGESTED_FIELDS.filter(field => fields.includes(field)).flatMap(field =>
    namesOf(store, field, sight)
      .filter(({ value }) => value.toLowerCase().startsWith(begin))
      .slice(0, limit)
      .map(({ value, count }) => ({ field, value, count })),
  )
}

function namesOf(store: Store, field: SuggestedField, sight: Sight): readonly Named[] {
  if (field !== 'holder') return store.facet(sight, field, MOST_COMPARED)
  return isOwner(sight.viewer) ? holdersOf(store, sight) : []
}

/** What is public belongs to no partition of its holder's; the owner's own name is nobody to look as. */
function holdersOf(store: Store, sight: Sight): readonly Named[] {
  const held = Map.groupBy(store.partitions(), ({ audience }) => audience.holder)
  held.delete(OWNER)
  return [...held]
    .map(([value, parts]) => ({
      value,
      count: countVisible(store, { ...sight, partitions: parts.map(({ id }) => id) }),
    }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
}
