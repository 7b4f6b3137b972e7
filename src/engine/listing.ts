/** Lists visible entries by page. A cursor holds the place of the last entry shown, so pages neither skip nor repeat. */
import { canonicalJson, type Json, sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Entry } from '../model/entry.ts'
import type { Filter } from '../model/filter.ts'
import { DEFAULT_LIMIT } from '../model/limits.ts'
import type { Position } from '../model/query.ts'
import type { Sight } from '../model/viewer.ts'
import { readCursor, writeCursor } from '../pipeline/cursor.ts'
import { allOf, filterFromInput } from '../pipeline/filter-input.ts'
import type { ListPosition } from '../store/store.ts'
import { countVisible } from './counts.ts'
import type { ListInput, ListPage } from './engine.ts'
import { viewHead } from './entry-view.ts'
import type { Parts } from './parts.ts'
import { queryFields } from './question-contexts.ts'
import { storeSecret } from './secret.ts'

/** In a cursor: no instant. JSON writes it as null. */
const NO_INSTANT = Number.NaN

type Order = NonNullable<ListInput['order']>

export function listEntries(
  { store, clock, random, tables }: Pick<Parts, 'store' | 'clock' | 'random' | 'tables'>,
  input: ListInput,
  sight: Sight,
): ListPage {
  const { order = 'updated', limit = DEFAULT_LIMIT } = input
  const filter = input.filter === undefined ? null : allOf(filterFromInput(input.filter, queryFields({ tables })))
  const now = clock.now()
  const seal = { secret: storeSecret(store, random), binding: bindingOf(filter, order, sight), now }
  const after = input.cursor === undefined ? null : positionOf(readCursor(input.cursor, seal).position)
  return store.read(reader => {
    const found = reader.list({ sight, filter, order, limit: limit + 1, after })
    const shown = found.slice(0, limit)
    const access = reader.access(
      sight.viewer,
      shown.map(entry => entry.key),
    )
    const last = found.length > limit ? shown.at(-1) : undefined
    return {
      items: shown.map(entry => viewHead(entry, access.get(entry.key) ?? null, sight.viewer, reader)),
      total: filter === null ? countVisible(store, sight) : reader.count(sight, filter),
      cursor:
        last === undefined
          ? null
          : writeCursor(
              { position: placeOf(last, order, access.get(last.key)?.lastAccessed ?? null), asOf: now, begun: now },
              seal,
            ),
    }
  })
}

/** Who asks, for what and in which order: a cursor serves no other list. */
function bindingOf(filter: Filter | null, order: Order, sight: Sight): string {
  return sha256(canonicalJson({ list: order, filter: filter as unknown as Json, viewer: sight.viewer.id }))
}

function placeOf(entry: Entry, order: Order, lastAccessed: Instant | null): Position {
  const at = { created: entry.createdAt, updated: entry.updatedAt, accessed: lastAccessed, id: null }[order]
  return {
    order: at ?? NO_INSTANT,
    id: entry.id,
    holder: entry.audience.holder,
    rank: 0,
    depth: 0,
    round: 0,
    shown: '',
  }
}

function positionOf({ order, id, holder }: Position): ListPosition {
  return { at: Number.isFinite(order) ? order : null, id, holder }
}
