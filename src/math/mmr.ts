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
}

export interface Group {
  readonly name: string
  readonly cap: number
}

/** The chosen items in the order of choice. Costs limit × count likenesses when lambda is below 1. */
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
  const { count, limit, lambda } = choice
  const chosen: number[] = []
  const open = Array.from({ length: count }, (_, item) => item)
  /** By item: the greatest likeness to anything chosen. */
  const likest = new Float64Array(count)
  while (chosen.length < limit && open.length > 0) {
    let best = 0
    let bestWorth = Number.NEGATIVE_INFINITY
    for (let at = 0; at < open.length; at++) {
      const item = open[at] as number
      const worth = lambda * choice.score(item) - (1 - lambda) * (chosen.length === 0 ? 0 : (likest[item] as number))
      if (worth > bestWorth) [best, bestWorth] = [at, worth]
    }
    const [item] = open.splice(best, 1) as [number]
    if (!room.take(item)) continue
    const first = chosen.length === 0
    chosen.push(item)
    for (const other of open) {
      const likeness = choice.likeness(item, other)
      if (first || likeness > (likest[other] as number)) likest[other] = likeness
    }
  }
  return chosen
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
