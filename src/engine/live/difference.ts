/** What lies between what a subscriber was told and an answer: the net difference, in the order in which it is sent (BQ-160). */
import { z } from 'zod'
import { type JsonObject, sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { LiveItem, LiveOptions, LiveReason, LiveState } from '../../model/live.ts'

/** An item as the subscriber knows it. */
export interface Told {
  readonly key: string
  readonly id: string
  readonly passage?: number | undefined
  readonly version: string
  readonly standing: string
  readonly score: number
  readonly rank: number
  /** Null: not known any more, since the subscriber came back with a token. */
  readonly fields: Readonly<Record<string, string>> | null
}

export interface Difference {
  readonly type: 'added' | 'updated' | 'removed' | 'reranked'
  readonly key: string
  readonly id: string
  readonly passage?: number | undefined
  readonly reason: LiveReason
  readonly details: JsonObject
  /** The item from now on; null where it is gone. */
  readonly now: LiveItem | null
}

export interface Circumstances {
  readonly options: Pick<LiveOptions, 'includeReranks'>
  /** The last answer that was told whole: what is younger is new. */
  readonly lastAsOf: Instant
  /** Items that belong to how the subscription began. */
  readonly opening: { readonly keys: ReadonlySet<string>; readonly reason: 'initial' | 'resync' } | null
  /** Keys of what the viewer may no longer see. */
  readonly lost: ReadonlySet<string>
  /** Nothing but time has passed: items come and go, and none is updated or reranked (BQ-158). */
  readonly onlyTime: boolean
}

/** Removals first, in the order in which `told` is; then the others in the order of the answer. */
export function differences(
  told: ReadonlyMap<string, Told>,
  state: LiveState,
  circumstances: Circumstances,
): Difference[] {
  const present = new Set(state.items.map(item => item.key))
  const gone = [...told.values()].filter(({ key }) => !present.has(key))
  const removals = gone.map(item => removal(item, reasonToGo(item, state, circumstances)))
  // What was lost goes before all else: it must not wait.
  const lost = removals.filter(({ reason }) => reason === 'unavailable')
  const others = removals.filter(({ reason }) => reason !== 'unavailable')
  const changes = state.items.map(item => changeOf(told.get(item.key), item, circumstances))
  return [...lost, ...others, ...changes.filter(change => change !== null)]
}

export function removal({ key, id, passage, score, rank }: Told, reason: LiveReason): Difference {
  // What is no longer available is told by its id alone (BQ-161), and a passage by its position in it.
  const details: JsonObject = reason === 'unavailable' ? {} : { previous_score: score, previous_rank: rank }
  return { type: 'removed', key, id, passage, reason, details, now: null }
}

export function asTold(item: LiveItem): Told {
  const { key, id, passage, version, standing, score, rank, fields } = item
  return { key, id, passage, version: digest(version), standing: digest(standing), score, rank, fields }
}

function reasonToGo({ key }: Told, { full }: LiveState, { lost, opening }: Circumstances): LiveReason {
  if (lost.has(key)) return 'unavailable'
  if (opening?.reason === 'resync') return 'resync'
  return full ? 'outranked' : 'no_match'
}

function changeOf(before: Told | undefined, item: LiveItem, circumstances: Circumstances): Difference | null {
  const { key, id, passage, score, rank } = item
  if (before === undefined) {
    const details = { score, new_rank: rank }
    return { type: 'added', key, id, passage, reason: reasonToCome(item, circumstances), details, now: item }
  }
  if (circumstances.onlyTime) return null
  const moved = { previous_score: before.score, score, previous_rank: before.rank, new_rank: rank }
  if (before.version !== digest(item.version)) {
    const details = {
      ...moved,
      ...changedFields(before, item),
      ...(before.id === id ? {} : { previous_id: before.id }),
    }
    return { type: 'updated', key, id, passage, reason: 'content_changed', details, now: item }
  }
  if (before.standing !== digest(item.standing)) {
    return { type: 'updated', key, id, passage, reason: 'score_changed', details: moved, now: item }
  }
  if (!circumstances.options.includeReranks || before.rank === rank) return null
  return { type: 'reranked', key, id, passage, reason: 'rank_changed', details: moved, now: item }
}

function reasonToCome({ key, since }: LiveItem, { opening, lastAsOf, onlyTime }: Circumstances): LiveReason {
  if (opening?.keys.has(key)) return opening.reason
  return !onlyTime && since >= lastAsOf ? 'new_match' : 'now_matches'
}

function changedFields({ fields: before }: Told, { fields }: LiveItem): JsonObject {
  if (before === null) return {}
  const names = [...new Set([...Object.keys(before), ...Object.keys(fields)])].sort()
  return { changed_fields: names.filter(name => before[name] !== fields[name]) }
}

/** Short enough to travel in tokens; two in 10¹⁴ are taken for the same. */
function digest(text: string): string {
  return text.length <= DIGEST_LENGTH ? text : sha256(text).slice(0, DIGEST_LENGTH)
}

const DIGEST_LENGTH = 12

/**
 * What a subscriber was told so far, item by item. Keeps count of how long it is in a token, so that each event costs what
 * one item costs, however many there are.
 */
export interface Delivered {
  /** In rank order. */
  readonly items: readonly Told[]
  readonly asOf: Instant
}

/** In the order of ranks, as long as it is told in it. */
export class ToldItems implements Iterable<Told> {
  readonly #items = new Map<string, Told>()
  readonly #lengths = new Map<string, number>()
  #length = 0

  /** Bytes of all of them in a resume token. */
  get rowsLength(): number {
    return this.#length
  }

  /** To look things up in. */
  get all(): ReadonlyMap<string, Told> {
    return this.#items
  }

  get(key: string): Told | undefined {
    return this.#items.get(key)
  }

  set(item: Told): void {
    const length = rowLength(item)
    this.#length += length - (this.#lengths.get(item.key) ?? 0)
    this.#lengths.set(item.key, length)
    this.#items.set(item.key, item)
  }

  delete(key: string): void {
    this.#length -= this.#lengths.get(key) ?? 0
    this.#lengths.delete(key)
    this.#items.delete(key)
  }

  clear(): void {
    this.#items.clear()
    this.#lengths.clear()
    this.#length = 0
  }

  [Symbol.iterator](): Iterator<Told> {
    return this.#items.values()
  }
}

/** An item of a delivered state as a resume token carries it, short for a header line: key, id (a number: the rest of the key from there), version, standing, score, rank, and of a passage its position. */
export const tokenRow: z.ZodTuple<
  [
    z.ZodString,
    z.ZodUnion<[z.ZodString, z.ZodNumber]>,
    z.ZodString,
    z.ZodString,
    z.ZodNumber,
    z.ZodNumber,
    z.ZodOptional<z.ZodInt>,
  ]
> = z.tuple([
  z.string(),
  z.union([z.string(), z.number()]),
  z.string(),
  z.string(),
  z.number(),
  z.number(),
  z.int().optional(),
])

export type TokenRow = z.output<typeof tokenRow>

export function asRow({ key, id, passage, version, standing, score, rank }: Told): TokenRow {
  const told = key.endsWith(id) ? key.length - id.length : id
  const row: TokenRow = [key, told, version, standing, Number(score.toPrecision(9)), rank]
  return passage === undefined ? row : [...row, passage]
}

export function fromRow([key, told, version, standing, score, rank, passage]: TokenRow): Told {
  const id = typeof told === 'number' ? key.slice(told) : told
  return { key, id, passage, version, standing, score, rank, fields: null }
}

/** Bytes of it in a list. */
export function rowLength(item: Told): number {
  return Buffer.byteLength(JSON.stringify(asRow(item))) + 1
}
