/** A query from its hashtags or text to its rows: through the pipeline, then what the seed does with the rows (CQ-055). */
import type { Instant } from '../../../base/clock.ts'
import type { Ranked } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { Note } from '../../../model/page.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { Answer } from '../../../pipeline/stage.ts'
import { placed } from '../errors.ts'
import type { DetailedAnswer, EffectiveQuery, ResultRow, Warning } from '../model.ts'
import { asDatabaseError, retrying } from '../retry.ts'
import type { ChromaState } from '../state.ts'
import { type CheckedItem, wholeQuery } from './question.ts'
import type { RankedBy } from './search.ts'
import { type ChromaFacts, factsOf, HASHTAGS, rowsOf } from './stages.ts'

type Asking = Pick<CallContext, 'viewer' | 'signal'>

/** Ranked and cut to k, before anything was written. */
interface Found {
  readonly facts: ChromaFacts
  readonly query: EffectiveQuery
  readonly rows: readonly ResultRow[]
  readonly entries: readonly EntryKey[]
  readonly verdict: Pick<DetailedAnswer, 'verdict' | 'reason'>
  readonly warnings: readonly Warning[]
}

export async function ask(
  state: ChromaState,
  call: Asking,
  item: CheckedItem,
  by: RankedBy = 'score',
): Promise<DetailedAnswer> {
  const now = state.host.clock.now()
  return finish(state, await withAccess(state, call.viewer, await find(state, { ...call, now }, item, by)))
}

/**
 * CQ-101, CQ-102: all items are checked and ranked, then their accesses written in order; or none of it. `check` may refuse an
 * item; the first one that is wrong in any way is reported.
 */
export async function askMany(
  state: ChromaState,
  call: Asking,
  items: readonly unknown[],
  check: (item: unknown) => CheckedItem,
): Promise<readonly DetailedAnswer[]> {
  const now = state.host.clock.now()
  const found: Found[] = []
  for (const [at, item] of items.entries()) {
    try {
      found.push(await find(state, { ...call, now }, check(item), 'score'))
    } catch (error) {
      throw placed(error, `queries[${at}]`, { batch_index: at })
    }
  }
  const updated: Found[] = []
  for (const one of found) updated.push(await withAccess(state, call.viewer, one))
  return Promise.all(updated.map(one => finish(state, one)))
}

/** Phases 1 to 8. */
async function find(
  state: ChromaState,
  call: Asking & { readonly now: Instant },
  item: CheckedItem,
  by: RankedBy,
): Promise<Found> {
  const asked = wholeQuery(item, by)
  const ranked: Ranked[] = []
  const page = (cursor?: string): Promise<Answer> =>
    state.host.query({ ...asked, cursor }, { ...call, rowsOnly: true }).catch((error: unknown) => {
      throw asDatabaseError(error, 1)
    })
  const answer = await page()
  for (let one = answer; ; ) {
    ranked.push(...one.ranked)
    const { cursor } = one.page
    if (cursor === null) break
    one = await page(cursor)
  }
  const facts = factsOf(answer)
  const rows = rowsOf(state, ranked)
  const shown = ranked.flatMap(({ entry }) => rows.get(entry) ?? [])
  const { verdict, reason, notes } = answer.page
  return {
    facts,
    query: { ...facts.query, update_access: item.update_access ?? true },
    rows: shown,
    entries: [...rows.keys()],
    verdict: { verdict, reason },
    warnings: [...notes.flatMap(warningOf), ...(facts.custom?.warnings ?? [])],
  }
}

/** What a profile could not score is told with its figures, when all is scored. */
function warningOf({ code, message, details }: Note): readonly Warning[] {
  if (code === HASHTAGS || code === 'custom_scoring_failed') return []
  return [{ code, message, ...(details !== undefined && { details }) }]
}

/** Phase 9. With nothing returned, or by request, nothing is written. */
async function withAccess(state: ChromaState, viewer: Viewer, found: Found): Promise<Found> {
  const { query, entries, warnings } = found
  if (!query.update_access || entries.length === 0) return found
  const record = () => state.access.record(viewer.id, entries, query.now)
  return { ...found, warnings: [...warnings, ...(await retrying(record, state.sleep))] }
}

/** Phases 10 and 11. */
async function finish(state: ChromaState, { facts, query, rows, verdict, warnings }: Found): Promise<DetailedAnswer> {
  if (facts.by === 'distance') return { results: rows, query, ...verdict, warnings }
  const post = await state.profiles.postProcess(query.profile, rows, { query, state: facts.state, now: query.now })
  return { results: post.rows, query, ...verdict, warnings: [...warnings, ...post.warnings] }
}
