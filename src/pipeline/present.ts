/**
 * Sixth stage of the query pipeline, present: makes the page of results that leaves the engine. Each entry is read from the store as it is
 * now, and it is checked again that the viewer may see it.
 */

import { atOnce, type Steps } from '../base/turns.ts'
import { modelKey } from '../embed/embedder.ts'
import { type ItemKey, itemKey, type Named as Name, type Ranked } from '../model/candidate.ts'
import type { Chunk, Entry, EntryKey } from '../model/entry.ts'
import { toIso } from '../model/instant.ts'
import type { Coverage, Item, Note } from '../model/page.ts'
import type { Position } from '../model/query.ts'
import { stillVisible, visibleOrigin } from './access.ts'
import type { QueryContext } from './context.ts'
import { alsoShown, forgotten, LateCursor, orderLost, placeOf, wasShown, writeCursor } from './cursor.ts'
import { behind, orderOf, placesOf, roundOf } from './diversify.ts'
import { languageNotes } from './languages.ts'
import { noteDamage } from './many-rows.ts'
import { firstDepth, hasRounds, isReadOn } from './page-depth.ts'
import { assertScoresPassages, positionOf, shownTexts } from './passage.ts'
import { LOCAL_SOURCE } from './source.ts'
import type { Answer, Plan, Ranking, Retrieval, ShownParts } from './stage.ts'

/** Number of nearest results that a page names, apart from its items, where its verdict is that nothing is relevant. */
const MAX_NEAREST = 3

export function* present(ranking: Ranking, retrieval: Retrieval, plan: Plan, context: QueryContext): Steps<Answer> {
  const { query } = plan
  const { verdict, reason, verdictBy } = ranking.scoring
  const isRefused = verdict === 'nothing_relevant' && !query.any
  const waiting = stillToCome(ranking, plan, context)
  const first = (query.after?.rank ?? 0) + 1
  const { shown, isLast, ...made } = yield* itemsOf(
    isRefused ? [] : waiting,
    query.limit,
    first,
    ranking,
    retrieval,
    plan,
    context,
  )
  // Where the verdict is that nothing is relevant, the page has no items, and names the nearest results instead.
  const near =
    isRefused && plan.mode !== 'list'
      ? yield* itemsOf(waiting, Math.min(MAX_NEAREST, query.limit), 1, ranking, retrieval, plan, context)
      : null
  const end = endOf(shown, retrieval, plan, context)
  const last = shown.at(-1)
  const cursor = isLast || end === null ? null : cursorOf(end, plan, context)
  const coverage = coverageOf(retrieval.complete && ranking.complete !== false, plan, context)
  return {
    page: {
      items: made.items,
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
      notes: [
        ...context.notes,
        ...coverageNotes(coverage, plan),
        ...languageNotes(
          made.ranked.map(({ entry }) => entry),
          plan,
          context,
        ),
      ],
    },
    ...{ entries: made.entries, ranked: made.ranked, shown: made.parts },
    ...(near !== null && { nearest: { entries: near.entries, ranked: near.ranked, shown: near.parts } }),
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

/**
 * How often the items of a page are made again because other code wrote to the store while the work paused; after that they are made
 * without pauses.
 */
const MAX_LOOKS = 5

/**
 * Makes the next `limit` items of a page. Their content and visibility are those at the moment when the last item is made, so that all
 * items agree.
 */
function* itemsOf(
  waiting: readonly Ranked[],
  limit: number,
  first: number,
  ranking: Ranking,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Steps<Made> {
  const madeOf = ({ shown, isLast }: Cut<Named>, entries: readonly Entry[], items: readonly Item[]): Made => {
    const ranked = shown.map(one => one.ranked)
    return { shown, isLast, entries, items, ranked, parts: partsOf(ranked, ranking, retrieval, plan, context) }
  }
  if (context.rows === 'keys') return madeOf(cut(waiting, limit, identitiesOf, context), [], [])
  const entriesIn = ({ shown }: Cut<Entry>) => shown.map(({ entry }) => entry)
  if (context.rows === 'entries') {
    const found = cut(waiting, limit, entriesOf, context)
    return madeOf(found, entriesIn(found), [])
  }
  const made = new Map<Ranked, MadeItem>()
  for (let look = 1; ; look++) {
    const found = cut(waiting, limit, entriesOf, context)
    const steps = presentItems(found.shown, first, made, ranking, retrieval, plan, context)
    const items = look < MAX_LOOKS ? yield* steps : atOnce(steps)
    if (items !== null) return madeOf(found, entriesIn(found), items)
  }
}

interface Made extends Cut<Named>, Pick<Answer, 'entries' | 'ranked'> {
  readonly items: readonly Item[]
  readonly parts: ShownParts
}

/**
 * The parts of results that are shown together (explanations, excerpts). The chunks of all these results are read at once, when the first
 * excerpt is needed.
 */
function partsOf(
  shown: readonly Ranked[],
  ranking: Ranking,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): ShownParts {
  const { components, explain, why } = ranking.scoring
  let textOf: ReturnType<typeof shownTexts> | undefined
  return {
    components: ranked => components(ranked),
    why: (ranked, entry) => (plan.mode === 'list' ? whyListed(entry) : why(ranked)),
    explanation: ranked => (plan.query.explain ? explain(ranked) : undefined),
    text: (ranked, entry) => {
      textOf ??= shownTexts(shown, ranking, retrieval, plan, context)
      return textOf(entry, ranked)
    },
  }
}

interface Cut<E extends Named> {
  readonly shown: readonly Shown<E>[]
  readonly isLast: boolean
}

/**
 * The next `limit` results whose entry still exists and is visible to the viewer. A passage whose text was changed since it was ranked
 * counts as no longer existing.
 */
function cut<E extends Named>(
  waiting: readonly Ranked[],
  limit: number,
  read: ReadNamed<E>,
  context: QueryContext,
): Cut<E> {
  const accessScope = context.look()
  const shown: Shown<E>[] = []
  let at = 0
  while (shown.length < limit && at < waiting.length) {
    const batch = waiting.slice(at, at + limit - shown.length)
    const { entries, chunks } = context.reader.around(noteDamage(context), () => storedOf(batch, read, context))
    for (const ranked of batch) {
      const { entry: key, passage } = ranked
      const entry = entries.get(key)
      const chunk = passage === undefined ? null : chunks.get(passage)
      const isThere = chunk === null || chunk?.entry === key
      if (entry !== undefined && isThere && stillVisible(entry, accessScope)) shown.push({ ranked, entry, chunk })
    }
    at += batch.length
  }
  return { shown, isLast: at >= waiting.length }
}

interface Stored<E> {
  readonly entries: ReadonlyMap<EntryKey, E>
  readonly chunks: ReadonlyMap<Chunk['key'], Chunk>
}

type ReadNamed<E extends Named> = (context: QueryContext, keys: readonly EntryKey[]) => readonly E[]

const entriesOf: ReadNamed<Entry> = ({ reader }, keys) => reader.entries(keys)

/** Reads the fields that the access check needs, without the entries' contents, for a page of which only keys are requested. */
const identitiesOf: ReadNamed<Named> = ({ memo, reader }, keys) =>
  memo.identities(reader, keys).map(({ key, partition, id, holder }) => ({ key, partition, id, audience: { holder } }))

function storedOf<E extends Named>(batch: readonly Ranked[], read: ReadNamed<E>, context: QueryContext): Stored<E> {
  const { reader } = context
  const passages = batch.flatMap(({ passage }) => passage ?? [])
  const entries = read(context, [...new Set(batch.map(({ entry }) => entry))])
  const chunks = passages.length === 0 ? [] : reader.chunks(passages)
  return { entries: byKey(entries), chunks: byKey(chunks) }
}

function byKey<T extends { readonly key: number }>(all: readonly T[]): ReadonlyMap<T['key'], T> {
  return new Map(all.map(one => [one.key, one]))
}

function cursorOf(position: Position, { query }: Plan, { secret, now }: QueryContext): LateCursor {
  const { asOf, begun, binding } = query
  return new LateCursor(placeOf(query, position), () =>
    writeCursor({ position, asOf, begun }, { secret: secret(), binding: binding(), now }),
  )
}

function endOf(
  shown: readonly Shown<Named>[],
  retrieval: Retrieval,
  plan: Plan,
  { secret }: QueryContext,
): Position | null {
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
    ...(ranked.tie !== undefined && { tie: ranked.tie }),
    rank: (after?.rank ?? 0) + shown.length,
    // How deep the next page retrieves at first. Where it continues from a position in a list, or where retrieval works in rounds, it
    // begins with the usual depth. Otherwise it retrieves the results of all earlier pages too, so it begins with the depth that this page
    // needed.
    depth: hasRounds(plan) || isReadOn(plan) ? firstDepth(plan.query) : retrieval.depth,
    round: roundOf(ranked),
    // Hashes by which the cursor identifies the results shown so far. They are computed only when the cursor is read or the answer is
    // continued.
    get shown() {
      hashes ??= alsoShown(before, names, secret())
      return hashes
    },
  }
}

function nameOf({ entry, chunk }: Shown<Named>): Name {
  const name = { id: entry.id, holder: entry.audience.holder }
  return chunk === null ? name : { ...name, passage: positionOf(chunk) }
}

function coverageOf(complete: boolean, plan: Plan, context: QueryContext): Coverage {
  const chunks = countChunks(plan, context)
  const embedded = chunks === 0 ? 1 : embeddedChunks(plan, context) / chunks
  return { embedded, sources: [LOCAL_SOURCE], failed: [], complete }
}

/**
 * Number of chunks that the viewer may see. For a lens (a named way to query and rank) that uses neither words nor meaning, the number
 * comes from the store, so that the word index is not loaded just to count.
 */
function countChunks({ weights, vector }: Plan, context: QueryContext): number {
  const { partitions } = context.accessScope
  const isOwnRank = weights.words === 0 && vector === null
  return isOwnRank ? context.reader.countChunks(partitions) : context.words.count({ partitions })
}

/**
 * Number of visible chunks that have a vector. For a query by words alone the number comes from the store, so that the vector index is not
 * loaded just to count.
 */
function embeddedChunks(plan: Plan, context: QueryContext): number {
  const { model, reader, accessScope } = context
  const { partitions } = accessScope
  if (plan.vector !== null) return context.vectors?.count({ partitions }) ?? 0
  return model === null ? 0 : reader.countVectors(modelKey(model), partitions)
}

function coverageNotes({ embedded }: Coverage, plan: Plan): readonly Note[] {
  if (plan.vector === null || embedded >= 1) return []
  const share = `${Math.floor(embedded * 100)} %`
  const message = `${share} of the passages have vectors so far; the others are found by their words only.`
  return [{ code: 'partly_embedded', message }]
}

/** The fields of an entry that the access check and the order of results need. */
type Named = Pick<Entry, 'key' | 'partition' | 'id'> & { readonly audience: Pick<Entry['audience'], 'holder'> }

export interface Shown<E extends Named = Entry> {
  readonly ranked: Ranked
  readonly entry: E
  /** The passage that this result is, where results are passages; null where results are entries. */
  readonly chunk: Chunk | null
}

/** A result item, not numbered yet, with the entry from which it was made, so that a later change of the entry is noticed. */
export interface MadeItem {
  readonly entry: Entry
  readonly item: Item
}

/**
 * Makes the result items of a page, with ranks counted from `first`. A generator that pauses before each item but the first. After a pause
 * it returns null, since the entries in `shown` may have changed; the caller reads them again and calls it again. `made` keeps finished
 * items, which are made again only if their entry has changed.
 */
export function* presentItems(
  shown: readonly Shown[],
  first: number,
  made: Map<Ranked, MadeItem>,
  ranking: Ranking,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Steps<readonly Item[] | null> {
  let paused = false
  const parts = partsOf(
    shown.map(({ ranked }) => ranked),
    ranking,
    retrieval,
    plan,
    context,
  )
  assertScoresPassages(ranking, plan)
  for (const [at, { entry, ranked, chunk }] of shown.entries()) {
    const before = made.get(ranked)?.entry
    if (before !== undefined && isSame(before, entry)) continue
    // No pause follows the last item, since a pause would only require reading the entries again.
    if (at > 0 && (yield)) paused = true
    const item: Item = {
      rank: 0,
      id: entry.id,
      holder: entry.audience.holder,
      ...(chunk !== null && { passage: positionOf(chunk) }),
      collection: entry.collection,
      kind: entry.kind,
      title: entry.title,
      score: ranked.score,
      components: parts.components(ranked),
      ...parts.text(ranked, entry),
      tags: entry.tags,
      metadata: entry.metadata,
      origin: visibleOrigin(entry, context.accessScope.viewer, context.reader),
      created_at: toIso(entry.createdAt),
      updated_at: toIso(entry.updatedAt),
      source: ranked.source,
      ...(ranked.related !== undefined && { related_ids: visibleIds(ranked.related, context) }),
      why: parts.why(ranked, entry),
    }
    const explanation = parts.explanation(ranked)
    made.set(ranked, { entry, item: explanation === undefined ? item : { ...item, explanation } })
  }
  if (paused) return null
  return shown.map(({ ranked }, at) => ({ ...(made.get(ranked) as MadeItem).item, rank: first + at }))
}

export function whyListed(entry: Entry): string {
  return `matches the conditions; changed ${toIso(entry.updatedAt).slice(0, 10)}`
}

function visibleIds(keys: readonly EntryKey[], context: QueryContext): readonly string[] {
  const accessScope = context.look()
  return context.reader.entries(keys).flatMap(entry => (stillVisible(entry, accessScope) ? [entry.id] : []))
}

/** Whether two versions of the same entry are equal; contents are compared by their hash. */
function isSame(before: Entry, now: Entry): boolean {
  const head = (entry: Entry) => JSON.stringify({ ...entry, content: '' })
  return before.contentHash === now.contentHash && head(before) === head(now)
}

/**
 * The items of a recomputed order that earlier pages have not shown. Throws `cursor_expired` where the recomputed order turns out to differ
 * from the order of the earlier pages.
 */
export function waitingOf(ranked: readonly Ranked[], plan: Plan, context: QueryContext): readonly Ranked[] {
  const { after } = plan.query
  if (after === null) return ranked
  const waiting = behindPage(ranked, after, plan, context)
  const shown = shownOf(ranked, after, context)
  if (isByPlace(plan)) {
    const accounted = new Set([...shown, ...waiting.map(itemKey)])
    assertAllShown(
      ranked.filter(one => !accounted.has(itemKey(one))),
      forgotten(after),
      context,
    )
  }
  return shown.size === 0 ? waiting : waiting.filter(one => !shown.has(itemKey(one)))
}

function behindPage(ranked: readonly Ranked[], after: Position, plan: Plan, context: QueryContext): readonly Ranked[] {
  if (isReadOn(plan)) return ranked
  if (!isByPlace(plan)) return ranked.slice(after.rank)
  return behind(ranked, after, context)
}

/**
 * Whether the next page begins after a certain score (in a list: after a certain time), so that each item's own score or time tells whether
 * it comes before or after that point. False where results are diversified: then the next page begins after a number of items.
 */
function isByPlace(plan: Plan): boolean {
  return plan.query.diversity >= 1 || isReadOn(plan)
}

/**
 * Those of the ranked items that the cursor records as shown on earlier pages. All ranks are examined, since in some lenses using an entry
 * raises its score, so that an item already shown may now rank lower than before.
 */
function shownOf(ranked: readonly Ranked[], after: Position, context: QueryContext): ReadonlySet<ItemKey> {
  const [isShown, place] = [wasShown(after.shown, context.secret()), placesOf(ranked, context)]
  return new Set(ranked.filter(one => isShown(place(one))).map(itemKey))
}

/**
 * Checks that no unshown item has risen among the items of earlier pages, where it would never be shown (in some lenses, using an entry
 * raises its score). `before`: items that rank before the end of the last page and are not recorded as shown; `count`: how many shown items
 * the record no longer has. Throws `cursor_expired` where more than `count` of `before` are visible.
 */
function assertAllShown(before: readonly Ranked[], count: number, context: QueryContext): void {
  if (before.length <= count) return
  const accessScope = context.look()
  const entries = context.reader.entries([...new Set(before.map(({ entry }) => entry))])
  const visible = new Set(entries.filter(entry => stillVisible(entry, accessScope)).map(({ key }) => key))
  if (before.filter(({ entry }) => visible.has(entry)).length > count) throw orderLost()
}
