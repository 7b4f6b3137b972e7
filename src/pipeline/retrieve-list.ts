/** A question without words is a list: what fulfils the conditions, newest change first. */
import type { Bitset } from '../base/bitset.ts'
import type { Entry } from '../model/entry.ts'
import type { ListPosition } from '../store/store.ts'
import type { QueryContext } from './context.ts'
import { isReadOn } from './page-bounds.ts'
import { LOCAL_SOURCE } from './source.ts'
import type { Plan, Retrieval } from './stage.ts'

/** Reads on from the page before, where it can (`isReadOn`), so that the tenth page costs what the first does. */
export function retrieveList(plan: Plan, allow: Bitset | null, depth: number, context: QueryContext): Retrieval {
  const entries = context.reader.list({
    sight: context.sight,
    filter: plan.filter,
    order: 'updated',
    limit: depth + 1,
    after: startOf(plan),
  })
  const fit = entries.slice(0, depth).filter(entry => allow?.has(entry.key) ?? true)
  return {
    candidates: fit.map(listed),
    depth,
    allow,
    statistics: {},
    exhausted: entries.length <= depth,
    complete: true,
  }
}

function startOf(plan: Plan): ListPosition | null {
  const { after } = plan.query
  return after === null || !isReadOn(plan) ? null : { at: after.order, id: after.id, holder: after.holder }
}

function listed(entry: Entry): Retrieval['candidates'][number] {
  return { entry: entry.key, source: LOCAL_SOURCE, signals: { updated: entry.updatedAt }, chunks: {} }
}
