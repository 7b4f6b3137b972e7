/** How well a ranking of messages finds those that answer a question. */

export interface Found {
  readonly id: string
  /** As it is returned: the message, or its best excerpt. */
  readonly text: string
}

export interface Measures {
  readonly recallAt10: number
  readonly hitAt10: number
  readonly reciprocalRank: number
  /** Share of the gold messages among the hits that fit `BUDGET` tokens. */
  readonly recallInBudget: number
}

const FIRST = 10
const BUDGET = 2000
const CHARACTERS_A_TOKEN = 4
const TOKENS_A_MESSAGE = 10

/** Of one question that has gold messages. */
export function measuresOf(ranked: readonly Found[], gold: ReadonlySet<string>): Measures {
  const share = (hits: readonly Found[]) => hits.filter(({ id }) => gold.has(id)).length / gold.size
  const recallAt10 = share(ranked.slice(0, FIRST))
  const at = ranked.findIndex(({ id }) => gold.has(id))
  return {
    recallAt10,
    hitAt10: recallAt10 > 0 ? 1 : 0,
    reciprocalRank: at < 0 ? 0 : 1 / (at + 1),
    recallInBudget: share(withinBudget(ranked)),
  }
}

/** The first hits up to the one that no longer fits. */
function withinBudget(ranked: readonly Found[]): readonly Found[] {
  let left = BUDGET
  const end = ranked.findIndex(({ text }) => {
    left -= text.length / CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE
    return left < 0
  })
  return end < 0 ? ranked : ranked.slice(0, end)
}
