/**
 * Chooses from a ranked list so that results are not all alike (maximal marginal relevance) and no group exceeds its share. Each step takes
 * the item with the highest `lambda · score − (1 − lambda) · likeness`, where likeness is the largest cosine to an item already taken; of
 * equal items the higher-ranked one. With lambda 1 the ranked order stays, and only the shares of groups apply.
 */
import type { Steps } from '../base/turns.ts'

export interface Choice {
  /** Number of items, which are numbered 0 to `count` - 1 in their ranked order. */
  readonly count: number
  /** Largest number of items to take. */
  readonly limit: number
  /** Weight of an item's score (relevance) against its difference from items already taken (diversity), 0 to 1; 1: only relevance. */
  readonly lambda: number
  score(item: number): number
  /** Cosine of two items, -1 to 1. Called only when items are compared, so never where `lambda` is 1 and `admits` is absent. */
  likeness(a: number, b: number): number
  /** The groups to which an item belongs, each with the largest number of its items that may be taken. */
  groups?(item: number): readonly Group[]
  /**
   * Tier (priority group) of an item, which never falls in ranked order. All items of a lower tier are considered before those of a higher
   * tier.
   */
  tier?(item: number): number
  /** Asked before each choice; once true (time is up), remaining items are taken in their ranked order without comparison. */
  isOver?(): boolean
  /** Whether an item may be taken, given its largest cosine to the items already taken (0 for the first). Absent: every item may. */
  admits?(likeness: number): boolean
  /** Called when an item is left out because one of its groups has its full share already. */
  leftOut?(item: number, group: Group): void
}

export interface Chosen {
  readonly item: number
  /** The item's largest cosine to the items taken before it, at least 0. */
  readonly likeness: number
}

export interface Group {
  readonly name: string
  readonly cap: number
}

/**
 * The indexes of the chosen items, in the order of choice. With lambda below 1 it pauses after each item that is compared with the items
 * already taken. The number of cosines computed is about half the square of `limit` in all, and seldom as much as `limit` times the number
 * of items.
 */
export function* choose(choice: Choice): Steps<number[]> {
  const chosen: Chosen[] = []
  yield* chooseInto(choice, chosen)
  return chosen.map(({ item }) => item)
}

/**
 * Chooses items from a ranked list by relevance and diversity, and adds each to `chosen` as soon as it is found, for callers that need the
 * first item before the last is found.
 */
export function* chooseInto(choice: Choice, chosen: Chosen[]): Steps<void> {
  const room = new Room(choice)
  const { count, limit, lambda, admits } = choice
  if (lambda >= 1 && admits === undefined) {
    inOrder(choice, room, chosen)
    return
  }
  let from = 0
  while (from < count && chosen.length < limit) {
    const to = endOfTier(choice, from)
    yield* spreadTier(choice, { from, to }, room, chosen)
    from = to
  }
}

function inOrder({ count, limit }: Choice, room: Room, chosen: Chosen[]): void {
  for (let item = 0; item < count && chosen.length < limit; item++) {
    if (room.take(item)) chosen.push({ item, likeness: 0 })
  }
}

function endOfTier({ count, tier = () => 0 }: Choice, from: number): number {
  let to = from + 1
  while (to < count && tier(to) === tier(from)) to++
  return to
}

/**
 * Chooses items from one tier and adds them to `chosen`. The value of an item (relevance minus likeness) only falls as more items are
 * chosen, so its last computed value is an upper bound: an item is compared with newly chosen ones only when it has the highest bound.
 */
function* spreadTier(
  choice: Choice,
  { from, to }: { from: number; to: number },
  room: Room,
  chosen: Chosen[],
): Steps<void> {
  const { limit, lambda, isOver = () => false, admits = () => true } = choice
  const open = new OpenItems(to - from)
  /**
   * For each item of the tier, at its index minus `from`: the largest of its cosines to the chosen items that it was compared with so far.
   * `compared` holds how many those are, counted from the first chosen one.
   */
  const likest = new Float64Array(to - from).fill(Number.NEGATIVE_INFINITY)
  const compared = new Int32Array(to - from)
  if (chosen.length === 0) open.fill(at => lambda * choice.score(from + at))
  else open.fill(() => Number.POSITIVE_INFINITY)
  while (chosen.length < limit && open.size > 0) {
    if (isOver()) return takeRest(choice, from, open.ascending(), room, chosen)
    const at = open.best
    if ((compared[at] as number) < chosen.length) {
      open.setBest(lambda * choice.score(from + at) - (1 - lambda) * compare(at))
      yield
      continue
    }
    open.take()
    const likeness = Math.max(0, likest[at] as number)
    if (!admits(likeness) || !room.take(from + at)) continue
    chosen.push({ item: from + at, likeness })
    // Until the first item was chosen, values were computed without cosines. A negative cosine can raise such a value, so it is no upper
    // bound: all values are set to infinity, and thus computed again before use.
    if (chosen.length === 1) open.fill(() => Number.POSITIVE_INFINITY)
  }

  function compare(at: number): number {
    let most = likest[at] as number
    for (let next = compared[at] as number; next < chosen.length; next++) {
      most = Math.max(most, choice.likeness((chosen[next] as Chosen).item, from + at))
    }
    compared[at] = chosen.length
    likest[at] = most
    return most
  }
}

function takeRest({ limit }: Choice, from: number, rest: readonly number[], room: Room, chosen: Chosen[]): void {
  for (const at of rest) {
    if (chosen.length >= limit) return
    if (room.take(from + at)) chosen.push({ item: from + at, likeness: 0 })
  }
}

/**
 * The items not chosen yet, of 0 to `size` - 1, ordered by a value that only falls, as a binary heap; of items with equal values the
 * lower-numbered comes first.
 */
class OpenItems {
  readonly #heap: number[]
  readonly #worth: Float64Array

  constructor(size: number) {
    this.#heap = Array.from({ length: size }, (_, at) => at)
    this.#worth = new Float64Array(size)
  }

  get size(): number {
    return this.#heap.length
  }

  get best(): number {
    return this.#heap[0] as number
  }

  /** Sets the values of all items not chosen yet. */
  fill(worth: (item: number) => number): void {
    for (const item of this.#heap) this.#worth[item] = worth(item)
    this.#heap.sort((a, b) => (this.#isBetter(a, b) ? -1 : 1))
  }

  /** Lowers the value of the item that is currently the best, and reorders the items. */
  setBest(worth: number): void {
    this.#worth[this.best] = worth
    this.#sink()
  }

  /** Removes the item that is currently the best. */
  take(): void {
    const last = this.#heap.pop() as number
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink()
  }

  ascending(): readonly number[] {
    return [...this.#heap].sort((a, b) => a - b)
  }

  #isBetter(a: number, b: number): boolean {
    const [left, right] = [this.#worth[a] as number, this.#worth[b] as number]
    return left > right || (left === right && a < b)
  }

  #sink(): void {
    const heap = this.#heap
    const item = heap[0] as number
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && this.#isBetter(heap[child + 1] as number, heap[child] as number)) child++
      if (!this.#isBetter(heap[child] as number, item)) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = item
  }
}

/** Counts how many items of each group have been taken. */
class Room {
  readonly #choice: Choice
  readonly #taken = new Map<string, number>()

  constructor(choice: Choice) {
    this.#choice = choice
  }

  /** Counts an item in each of its groups; returns false, and counts nothing, when one of them has its full share. */
  take(item: number): boolean {
    const groups = this.#choice.groups?.(item) ?? []
    const full = groups.find(({ name, cap }) => (this.#taken.get(name) ?? 0) >= cap)
    if (full !== undefined) {
      this.#choice.leftOut?.(item, full)
      return false
    }
    for (const { name } of groups) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1)
    return true
  }
}
