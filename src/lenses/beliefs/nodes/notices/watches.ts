/**
 * Watches sources on other nodes (the beliefs of a federation there, or the public beliefs of a node) for changes. A watch is started when
 * an answer is cached or a live query has run, and ended when no cached answer and no live query needs it (BQ-140). Only long-running
 * processes watch; a process that answers a single query does not.
 */
import type { Json } from '../../../../base/canonical.ts'
import { onePer } from '../../../../base/recent.ts'
import { pause } from '../../../../base/turns.ts'
import type { Keys } from '../../../../identity/keys.ts'
import { type NodeTransport, TransportFailure } from '../../../../pipeline/transport.ts'
import type { LensHost } from '../../../lens.ts'
import { knownKeys, nodeBookOf } from '../peers.ts'
import type { AskedSource, NodesAnswer } from '../remote-belief.ts'
import {
  asChanges,
  CHANGES_PATH,
  changesStatement,
  isAnswerTo,
  machineNow,
  PROTOCOL,
  scopeOf,
  sealedQuestion,
  type WireChangesQuery,
} from '../wire/protocol.ts'

interface WatchParts {
  /**
   * Asks the node for an identifier of the state of the watched source. Resolves when the state differs from `since`, or when the longest
   * wait is over; if `atOnce` is true, it resolves with the present state without waiting.
   */
  next(since: string, atOnce: boolean, signal: AbortSignal): Promise<string>
  isNeeded(): boolean
  /**
   * Called when the source may have changed. `state`: identifier of its present state; null: unknown, or the requester may no longer see
   * the source.
   */
  changed(state: string | null): void
  ended(): void
}

/** Minimum interval in milliseconds between two requests for changes, even to a node that always answers at once. */
const MIN_MS = 1_000
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
const REFUSED: readonly (number | null)[] = [401, 403]

/**
 * Watches one source (a federation's beliefs on another node, or its public beliefs) for one requester as long as a cached answer or a live
 * query needs it: sends a request that the node answers when the source changes, then the next one. If the node is unreachable, the pauses
 * between requests grow.
 */
export class Watch {
  readonly #parts: WatchParts
  readonly #stop = new AbortController()
  #seen: string

  constructor(seen: string, parts: WatchParts) {
    this.#seen = seen
    this.#parts = parts
    void this.#run()
  }

  /**
   * Records the source's state as learned from the answer to a query. Returns whether the state is new; the caller must then report the
   * change.
   */
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
    // Waits one turn of the event loop, so that the caller can store this new watch before it reports anything.
    await Promise.resolve()
    let failures = 0
    while (!signal.aborted && this.#parts.isNeeded()) {
      const since = this.#seen
      const began = performance.now()
      try {
        const state = await this.#parts.next(since, failures > 0, signal)
        if (signal.aborted) break
        // After a period without contact a change is always reported, because notices may have been missed even if the state is now equal.
        if (failures > 0) this.#parts.changed(null)
        else if (state !== this.#seen) this.#parts.changed(state)
        this.#seen = state
        failures = 0
        await pause(Math.max(0, MIN_MS - (performance.now() - began)), signal, { unref: true })
      } catch (thrown) {
        if (signal.aborted) break
        if (isRefusal(thrown)) {
          this.#parts.changed(null)
          break
        }
        failures++
        await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), signal, { unref: true })
      }
    }
    this.#parts.ended()
  }
}

/** Whether the node refuses the requester (HTTP status 401 or 403); it is then sent no further requests. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof TransportFailure && thrown.code === 'refused' && REFUSED.includes(thrown.status)
}

const MAX_BYTES = 16_384
/** Milliseconds allowed for transmitting request and answer, in addition to the time that the node may wait before it answers. */
const WAY_MS = 10_000

/** Maximum number of watches of an engine. Sources without a watch are queried again when their cached answer expires. */
const MOST = 256
const WAIT_MS = 20_000

interface Watched {
  readonly source: AskedSource
  readonly requester: string
}

/** Called when a watched source has changed. `state`: identifier of its new state; null: unknown. */
type ChangeListener = (watched: Watched, state: string | null) => void

class Watches {
  readonly #host: LensHost
  readonly #byName = new Map<string, Watch>()
  readonly #listeners = new Set<ChangeListener>()
  /** Number of live queries that need the watch on each source, by name of the watch. */
  readonly #held = new Map<string, number>()
  #isKept: (watched: Watched) => boolean = () => false
  #isClosed = false

  constructor(host: LensHost) {
    this.#host = host
  }

  /** Sets the function that says whether cached answers need a source to be watched, apart from live queries. */
  neededBy(isKept: (watched: Watched) => boolean): void {
    this.#isKept = isKept
  }

  /** Registers a listener for changes of watched sources; returns a function that removes it. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Starts a watch on a source from the given state on, or updates the state of an existing watch. */
  follow(watched: Watched, state: string): void {
    const { transport, isLasting } = this.#host
    if (this.#isClosed || isLasting !== true || transport === undefined) return
    const name = nameOf(watched)
    const known = this.#byName.get(name)
    if (known !== undefined) {
      // If the state is new, answers that were given or cached before are outdated, so listeners are called.
      if (known.saw(state)) this.#tell(watched, state)
      return
    }
    if (this.#byName.size >= MOST) return
    const { source, requester } = watched
    const keys = knownKeys(this.#host, source.kind, requester)
    if (keys === null) return
    const watch = new Watch(state, {
      next: (since, atOnce, signal) => this.#ask(transport, source, keys, since, atOnce ? 0 : WAIT_MS, signal),
      isNeeded: () => this.#held.has(name) || this.#isKept(watched),
      changed: now => this.#tell(watched, now),
      ended: () => this.#byName.delete(name),
    })
    this.#byName.set(name, watch)
  }

  /**
   * Sends a request for changes and resolves with the state of the source, at the latest after the wait. Rejects with a `TransportFailure`;
   * its code is `malformed` if the answer is not signed by the node.
   */
  async #ask(
    transport: NodeTransport,
    source: AskedSource,
    keys: Keys,
    since: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<string> {
    const { did, address } = source.peer
    const query: WireChangesQuery = { protocol: PROTOCOL, scope: scopeOf(source), since, wait_ms: waitMs }
    const envelope = sealedQuestion(this.#host, keys, did, query)
    // The cast is safe: an envelope is plain data, but its interface has no index signature.
    const message = { path: CHANGES_PATH, body: envelope as unknown as Json, maxBytes: MAX_BYTES }
    const timely = AbortSignal.any([signal, AbortSignal.timeout(waitMs + WAY_MS)])
    const answer = asChanges(await transport.send(address, message, timely))
    if (answer === null || !isAnswerTo(envelope, did, answer, changesStatement(answer), machineNow(this.#host)))
      throw new TransportFailure('malformed', 'the answer is not of that node')
    // An answer proves that the node is reachable, so earlier failed queries no longer count against it.
    nodeBookOf(this.#host).of(did).breaker.succeeded()
    return answer.state
  }

  /** Marks a source as needed by a live query; calling the returned function removes the mark. */
  hold(watched: Watched): () => void {
    const name = nameOf(watched)
    this.#held.set(name, (this.#held.get(name) ?? 0) + 1)
    return () => {
      const left = (this.#held.get(name) ?? 1) - 1
      if (left > 0) this.#held.set(name, left)
      else this.#held.delete(name)
    }
  }

  has(watched: Watched): boolean {
    return this.#byName.has(nameOf(watched))
  }

  close(): void {
    this.#isClosed = true
    for (const watch of this.#byName.values()) watch.stop()
    this.#byName.clear()
  }

  #tell(watched: Watched, state: string | null): void {
    for (const listener of [...this.#listeners]) listener(watched, state)
  }
}

/**
 * Name of the watch on a source. For public beliefs, which are the same for everybody, it does not contain the requester, so that all
 * requesters share one watch.
 */
export function nameOf({ source: { kind, id, peer }, requester }: Watched): string {
  return JSON.stringify([kind, id, peer.did, peer.address, kind === 'federated' ? requester : null])
}

export const watchesOf: (host: LensHost) => Watches = onePer(host => new Watches(host))

/** Starts or updates a watch on each source of an answer, from the state that the answer contains. */
export function followAnswer(host: LensHost, requester: string, { answers }: NodesAnswer): void {
  const watches = watchesOf(host)
  for (const { source, state } of answers) watches.follow({ source, requester }, state)
}
