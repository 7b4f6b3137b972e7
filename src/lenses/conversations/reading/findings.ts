/** What a reader could not read, and what it left out on purpose: nothing is dropped without a word. */

export interface Problem {
  readonly path: string
  /** From 1; null when it concerns the whole file. */
  readonly line: number | null
  /** Within the line or the file: a path of JSON (`[3].mapping.abc`), or the number of a mail. */
  readonly at: string | null
  readonly message: string
}

export interface Place {
  readonly path: string
  readonly line?: number | null | undefined
  readonly at?: string | null | undefined
}

/** Listed for one export; more are counted. */
const MAX_PROBLEMS = 1_000
/** Characters of one: what a file holds may be quoted in it. */
const MAX_MESSAGE = 500

/** Of what was left out, so many are named; of more it is said that there are others. */
const MOST_NAMED = 10

export function namesOf(all: Iterable<string>): string {
  const names = [...all]
  return [...names.slice(0, MOST_NAMED), ...(names.length > MOST_NAMED ? ['…'] : [])].join(', ')
}

export class Findings {
  readonly #problems: Problem[] = []
  readonly #left = new Map<string, number>()
  #untold = 0

  problem(place: Place, message: string): void {
    if (this.#problems.length >= MAX_PROBLEMS) {
      this.#untold++
      return
    }
    const told = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
    this.#problems.push({
      path: place.path,
      line: place.line ?? null,
      at: place.at ?? null,
      message: told.toWellFormed(),
    })
  }

  /** Something that is no message (a person joined, a call was missed), by what it is. */
  leave(what: string, count = 1): void {
    if (count > 0) this.#left.set(what, (this.#left.get(what) ?? 0) + count)
  }

  get problems(): readonly Problem[] {
    return this.#problems
  }

  /** Problems beyond those listed. */
  get untold(): number {
    return this.#untold
  }

  /** How many of each were left out because they are no messages. */
  get left(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#left)
  }
}
