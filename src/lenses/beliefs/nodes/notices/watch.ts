/**
 * One source of one requester, watched for as long as somebody needs it: it is asked to answer when it is no longer in the
 * state that was seen, and then again. Where it cannot be reached it is tried ever more seldom.
 */
import { pause } from '../../../../base/pause.ts'
import { TransportFailure } from '../../../../pipeline/transport.ts'

export interface WatchParts {
  /** Resolves with the state of the source when it is another than this, or after a while; `atOnce`: with the one that it is in. */
  next(since: string, atOnce: boolean, signal: AbortSignal): Promise<string>
  isNeeded(): boolean
  /** `state`: the one that it is in now; null: not known, or nothing may be seen there any more. */
  changed(state: string | null): void
  ended(): void
}

/** Between two questions: also a node that answers at once, whatever it is asked, is not asked more often. */
const LEAST_MS = 1_000
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** The node refuses who asks. */
const REFUSED: readonly (number | null)[] = [401, 403]
/** It has no such path: it is older. */
const UNKNOWN: readonly (number | null)[] = [404, 405]

export class Watch {
  readonly #parts: WatchParts
  readonly #stop = new AbortController()
  #seen: string

  constructor(seen: string, parts: WatchParts) {
    this.#seen = seen
    this.#parts = parts
    void this.#run()
  }

  /** A state came in another way. Whether it is another than the last: then whoever calls this tells of it. */
  saw(state: string): boolean {
    const isNews = state !== this.#seen
    this.#seen = state
    return isNews
  }

  stop(): void {
    this.#stop.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    // Whoever begins it first has what it returns.
    await Promise.resolve()
    let failures = 0
    while (!signal.aborted && this.#parts.isNeeded()) {
      const since = this.#seen
      const began = performance.now()
      try {
        const state = await this.#parts.next(since, failures > 0, signal)
        if (signal.aborted) break
        // After a silence it may have been asked in vain, whatever its state.
        if (failures > 0) this.#parts.changed(null)
        else if (state !== this.#seen) this.#parts.changed(state)
        this.#seen = state
        failures = 0
        await pause(Math.max(0, LEAST_MS - (performance.now() - began)), signal, { unref: true })
      } catch (thrown) {
        if (signal.aborted || this.#isOver(thrown)) break
        failures++
        await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), signal, { unref: true })
      }
    }
    this.#parts.ended()
  }

  /** Whether it is not to be asked again. */
  #isOver(thrown: unknown): boolean {
    if (!(thrown instanceof TransportFailure) || thrown.code !== 'refused') return false
    if (REFUSED.includes(thrown.status)) this.#parts.changed(null)
    return REFUSED.includes(thrown.status) || UNKNOWN.includes(thrown.status)
  }
}
