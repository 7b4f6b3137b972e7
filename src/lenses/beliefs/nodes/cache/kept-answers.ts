/** Answers of other nodes that are kept for a while: the most recently used, as far as there is room (BQ-137). */
import type { Instant } from '../../../../base/clock.ts'
import type { NodesAnswer } from '../guest.ts'

export interface KeptAnswer {
  readonly answer: NodesAnswer
  /** By the name of the source: what the requester may see there, as it was called then. */
  readonly states: ReadonlyMap<string, string>
  /** When it was asked for. */
  readonly at: Instant
  readonly bytes: number
}

const MOST_ENTRIES = 10_000
const MOST_BYTES = 64 * 2 ** 20
/** Of a guest, beside its content and vector. */
const GUEST_BYTES = 1_500

export class KeptAnswers {
  /** In the order of use, oldest first. */
  readonly #kept = new Map<string, KeptAnswer>()
  #bytes = 0

  get size(): number {
    return this.#kept.size
  }

  /** Counts as used. */
  find(key: string): KeptAnswer | undefined {
    const found = this.#kept.get(key)
    if (found === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found
  }

  keep(key: string, answer: NodesAnswer, states: KeptAnswer['states'], at: Instant): void {
    this.drop(key)
    const bytes = bytesOf(answer)
    this.#kept.set(key, { answer, states, at, bytes })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_ENTRIES && this.#bytes <= MOST_BYTES) return
      this.drop(oldest)
    }
  }

  drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }

  dropThose(isMeant: (kept: KeptAnswer) => boolean): void {
    for (const [key, kept] of this.#kept) if (isMeant(kept)) this.drop(key)
  }

  some(isMeant: (kept: KeptAnswer) => boolean): boolean {
    return [...this.#kept.values()].some(isMeant)
  }
}

/** Near enough. */
function bytesOf({ answers }: NodesAnswer): number {
  return answers
    .flatMap(({ guests }) => guests)
    .reduce((sum, { belief, vector }) => sum + GUEST_BYTES + 2 * belief.content.length + (vector?.byteLength ?? 0), 0)
}
