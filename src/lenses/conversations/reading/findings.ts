/** What a reader could not read, and what it left out on purpose. */

export interface Place {
  readonly path: string
  /** From 1; null or absent when it concerns the whole file. */
  readonly line?: number | null | undefined
  /** Within the line or the file: a path of JSON (`[3].mapping.abc`), or the number of a mail. */
  readonly at?: string | null | undefined
}

export interface Problem {
  readonly path: string
  readonly line: number | null
  readonly at: string | null
  readonly message: string
}

/** Listed for one export; more are counted. */
const MAX_PROBLEMS = 1_000
/** Characters of one: what a file holds may be quoted in it. */
const MAX_MESSAGE = 500
/** Names in a list of what was left out. */
const MAX_NAMED = 10

/** What a reader could not read, and what it left out on purpose: nothing is dropped in silence. */
export class Findings {
  readonly problems: Problem[] = []
  /** Problems beyond those listed. */
  unlisted = 0
  readonly #left = new Map<string, number>()

  problem({ path, line = null, at = null }: Place, message: string): void {
    if (this.problems.length >= MAX_PROBLEMS) {
      this.unlisted++
      return
    }
    const short = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
    this.problems.push({ path, line, at, message: short.toWellFormed() })
  }

  /** Something that is no message (a person joined, a call was missed), by what it is. */
  leave(what: string, count = 1): void {
    if (count > 0) this.#left.set(what, (this.#left.get(what) ?? 0) + count)
  }

  /** How many of each were left out because they are no messages. */
  get left(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#left)
  }
}

/** The first ten, and a sign that there are more. */
export function listed(all: Iterable<string>): string {
  const names = [...all]
  return [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? ['…'] : [])].join(', ')
}
