/** Sixth stage: what leaves the engine. Each entry is held against what the viewer may see now, as it is stored now. */
import { atOnce, type Steps } from '../base/turns.ts'
import { modelKey } from '../embed/embedder.ts'
import { itemKey, type Named, type Ranked } from '../model/candidate.ts'
import type { Chunk, Entry } from '../model/entry.ts'
import { toIso } from '../model/instant.ts'
import type { Coverage, Item, Note } from '../model/page.ts'
import type { Position } from '../model/query.ts'
import { stillVisible } from './access.ts'
import { noteDamage } from './around-damage.ts'
import type { QueryContext } from './context.ts'
import { LateCursor, placeOf, writeCursor } from './cursor.ts'
import { orderOf, roundOf } from './order.ts'
import { firstDepth, isReadOn } from './page-bounds.ts'
import { positionOf } from './passage.ts'
import { type MadeItem, presentItems, type Shown } from './present-items.ts'
import { hasRounds } from './rounds.ts'
import { alsoShown } from './shown.ts'
import { LOCAL_SOURCE } from './source.ts'
import type { Answer, Plan, Ranking, Retrieval } from './stage.ts'
import { waitingOf } from './waiting.ts'

/** Results that come nearest where nothing is relevant. */
const MOST_NEAREST = 3

export function* present(ranking: Ranking, retrieval: Retrieval, plan: Plan, context: QueryContext): Steps<Answer> {
  const { query } = plan
  const { verdict, reason, verdictBy } = ranking.scoring
  const isRefused = verdict === 'nothing_relevant' && !query.any
  const waiting = stillToCome(ranking, plan, context)
  const first = (query.after?.rank ?? 0) + 1
  const { shown, isLast, items } = yield* itemsOf(
    isRefused ? [] : waiting,
    query.limit,
    first,
    ranking,
    retrieval,
    plan,
    context,
  )
  // Handed over where nothing is shown.
  const near =
    isRefused && plan.mode !== 'list'
      ? yield* itemsOf(waiting, Math.min(MOST_NEAREST, query.limit), 1, ranking, retrieval, plan, context)
      : null
  const end = endOf(shown, retrieval, plan, context)
  const last = shown.at(-1)
  const cursor = isLast || end === null ? null : cursorOf(end, plan, context)
  const coverage = coverageOf(retrieval.complete && ranking.complete !== false, plan, context)
  return {
    page: {
      items,
      get cursor() {
        return cursor?.read() ?? null
      },
      verdict,
      reason,
      ...(verdictBy !== undefined && { verdict_by: verdictBy }),
      ...(near !== null && { nearest: near.items }),
      ...(plan.respelled && { did_you_mean: plan.parsed.text }),
      lens: query.lens,
      mode: plan.mode,
      as_of: toIso(query.asOf),
      coverage,
      notes: [...context.notes, ...coverageNotes(coverage, plan)],
    },
    entries: shown.map(({ entry }) => entry),
    ...(near !== null && { nearest: near.shown.map(({ entry }) => entry) }),
    total: isRefused ? 0 : first - 1 + waiting.length,
    facts: plan.facts,
    last: end?.order ?? null,
    end,
    cursor,
    endKey: last === undefined ? null : itemKey(last.ranked),
  }
}

function stillToCome({ ranked, isRest }: Ranking, plan: Plan, context: QueryContext): readonly Ranked[] {
  return isRest === true ? ranked : waitingOf(ranked, plan, context)
}

/** Times that what was written in a pause is looked for again, before a page is made without one. */
const MOST_LOOKS = 5

/** The next `limit` items, as they are and as far as they may be seen when the last of them is made. */
function* itemsOf(
  waiting: readonly Ranked[],
  limit: number,
  first: number,
  ranking: Ranking,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Steps<Cut & { readonly items: readonly Item[] }> {
  const made = new Map<Ranked, MadeItem>()
  for (let look = 1; ; look++) {
    const { shown, isLast } = cut(waiting, limit, context)
    const steps = presentItems(shown, first, made, ranking, retrieval, plan, context)
    const items = look < MOST_LOOKS ? yield* steps : atOnce(steps)
    if (items !== null) return { shown, isLast, items }
  }
}

interface Cut {
  readonly shown: readonly Shown[]
  readonly isLast: boolean
}

/** The next `limit` that are still there and still visible. A passage whose text was changed is not there any more. */
function cut(waiting: readonly Ranked[], limit: number, context: QueryContext): Cut {
  const sight = context.look()
  const shown: Shown[] = []
  let at = 0
  while (shown.length < limit && at < waiting.length) {
    const batch = waiting.slice(at, at + limit - shown.length)
    const { entries, chunks } = context.reader.around(noteDamage(context), () => storedOf(batch, context))
    for (const ranked of batch) {
      const { entry: key, passage } = ranked
      const entry = entries.get(key)
      const chunk = passage === undefined ? null : chunks.get(passage)
      const isThere = chunk === null || chunk?.entry === key
      if (entry !== undefined && isThere && stillVisible(entry, sight)) shown.push({ ranked, entry, chunk })
    }
    at += batch.length
  }
  return { shown, isLast: at >= waiting.length }
}

interface Stored {
  readonly entries: ReadonlyMap<Entry['key'], Entry>
  readonly chunks: ReadonlyMap<Chunk['key'], Chunk>
}

function storedOf(batch: readonly Ranked[], { reader }: QueryContext): Stored {
  const passages = batch.flatMap(({ passage }) => passage ?? [])
  const entries = reader.entries([...new Set(batch.map(({ entry }) => entry))])
  const chunks = passages.length === 0 ? [] : reader.chunks(passages)
  return { entries: byKey(entries), chunks: byKey(chunks) }
}

function byKey<T extends { readonly key: number }>(all: readonly T[]): ReadonlyMap<T['key'], T> {
  return new Map(all.map(one => [one.key, one]))
}

function cursorOf(position: Position, { query }: Plan, { secret, now }: QueryContext): LateCursor {
  const { asOf, begun, binding } = query
  return new LateCursor(placeOf(query, position), () =>
    writeCursor({ position, asOf, begun }, { secret, binding, now }),
  )
}

function endOf(shown: readonly Shown[], retrieval: Retrieval, plan: Plan, { secret }: QueryContext): Position | null {
  const last = shown.at(-1)
  if (last === undefined) return null
  const { ranked } = last
  const { after } = plan.query
  const before = after?.shown ?? ''
  const names = shown.map(nameOf)
  let hashes: string | null = null
  return {
    order: orderOf(ranked),
    ...nameOf(last),
    rank: (after?.rank ?? 0) + shown.length,
    // A list is read on from here, unless it must be counted from the beginning.
    depth: hasRounds(plan) || isReadOn(plan) ? firstDepth(plan.query) : retrieval.depth,
    round: roundOf(ranked),
    // A hash for each item: made when a cursor is read, or the answer goes on.
    get shown() {
      hashes ??= alsoShown(before, names, secret)
      return hashes
    },
  }
}

function nameOf({ entry, chunk }: Shown): Named {
  const name = { id: entry.id, holder: entry.audience.holder }
  return chunk === null ? name : { ...name, passage: positionOf(chunk) }
}

function coverageOf(complete: boolean, plan: Plan, context: QueryContext): Coverage {
  const chunks = context.words.count({ partitions: context.sight.partitions })
  const embedded = chunks === 0 ? 1 : embeddedChunks(plan, context) / chunks
  return { embedded, sources: [LOCAL_SOURCE], failed: [], complete }
}

/** A question by words alone does not load the vector index just to count. */
function embeddedChunks(plan: Plan, context: QueryContext): number {
  const { model, reader, sight } = context
  const { partitions } = sight
  if (plan.vector !== null) return context.vectors?.count({ partitions }) ?? 0
  return model === null ? 0 : reader.countVectors(modelKey(model), partitions)
}

function coverageNotes({ embedded }: Coverage, plan: Plan): readonly Note[] {
  if (plan.vector === null || embedded >= 1) return []
  const share = `${Math.floor(embedded * 100)} %`
  const message = `${share} of the passages have vectors so far; the others are found by their words only.`
  return [{ code: 'partly_embedded', message }]
}
