/**
 * Chooses from a ranked list so that results are not all alike (maximal marginal relevance), and so that no group has
 * more than its share. Greedy: each step takes the item with the most of `lambda·score − (1 − lambda)·likeness` to what
 * was taken before; equals go to the one ranked higher. With lambda 1 the order stays, and only caps act.
 */

export interface Choice {
  /** Items 0 to `count` - 1, in their order so far. */
  readonly count: number
  /** How many to take at most. */
  readonly limit: number
  /** 0 to 1: the share of relevance. */
  readonly lambda: number
  score(item: number): number
  /** Cosine of two items, -1 to 1. Only asked for when lambda is below 1. */
  likeness(a: number, b: number): number
  /** The groups an item counts in, with the most that each may have. */
  groups?(item: number): readonly Group[]
  /** Does not fall from item to item. Those of a lower tier are all chosen from before one of a higher is looked at. */
  tier?(item: number): number
  /** Once true, the rest is taken in the order so far. */
  isOver?(): boolean
}

export interface Group {
  readonly name: string
  readonly cap: number
}

/** The chosen items in the order of choice. With lambda below 1, costs limit × the items of the tiers looked at, in likenesses. */
export function choose(choice: Choice): number[] {
  const room = new Room(choice)
  return choice.lambda >= 1 ? inOrder(choice, room) : spread(choice, room)
}

function inOrder(choice: Choice, room: Room): number[] {
  const chosen: number[] = []
  for (let item = 0; item < choice.count && chosen.length < choice.limit; item++) {
    if (room.take(item)) chosen.push(item)
  }
  return chosen
}

function spread(choice: Choice, room: Room): number[] {
  const { count, limit } = choice
  const chosen: number[] = []
  let from = 0
  while (from < count && chosen.length < limit) {
    const to = endOfTier(choice, from)
    spreadTier(choice, { from, to }, room, chosen)
    from = to
  }
  return chosen
}

function endOfTier({ count, tier = () => 0 }: Choice, from: number): number {
  let to = from + 1
  while (to < count && tier(to) === tier(from)) to++
  return to
}

/** Adds to `chosen`. */
function spreadTier(choice: Choice, { from, to }: { from: number; to: number }, room: Room, chosen: number[]): void {
  const { limit, lambda, isOver = () => false } = choice
  const open = Array.from({ length: to - from }, (_, at) => from + at)
  /** By item, less `from`: the greatest likeness to anything chosen. */
  const likest = new Float64Array(to - from).fill(Number.NEGATIVE_INFINITY)
  const compareWith = (taken: number) => {
    for (const other of open) {
      likest[other - from] = Math.max(likest[other - from] as number, choice.likeness(taken, other))
    }
  }
  for (const taken of chosen) {
    if (isOver()) break
    compareWith(taken)
  }
  while (chosen.length < limit && open.length > 0) {
    const [item] = open.splice(isOver() ? 0 : worthiest(), 1) as [number]
    if (!room.take(item)) continue
    chosen.push(item)
    if (!isOver()) compareWith(item)
  }

  function worthiest(): number {
    let best = 0
    let bestWorth = Number.NEGATIVE_INFINITY
    for (let at = 0; at < open.length; at++) {
      const item = open[at] as number
      const like = chosen.length === 0 ? 0 : (likest[item - from] as number)
      const worth = lambda * choice.score(item) - (1 - lambda) * like
      if (worth > bestWorth) [best, bestWorth] = [at, worth]
    }
    return best
  }
}

/** Counts how many of each group were taken. */
class Room {
  readonly #choice: Choice
  readonly #taken = new Map<string, number>()

  constructor(choice: Choice) {
    this.#choice = choice
  }

  /** False when one of its groups is full. */
  take(item: number): boolean {
    const groups = this.#choice.groups?.(item) ?? []
    if (groups.some(({ name, cap }) => (this.#taken.get(name) ?? 0) >= cap)) return false
    for (const { name } of groups) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1)
    return true
  }
}
