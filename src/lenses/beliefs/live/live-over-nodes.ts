/**
 * A live query that includes beliefs of other nodes. Those nodes send a notice when something visible to the requester has changed on them;
 * then the query runs again. If a node does not respond, its previous results are kept and the missing response is reported once.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { LiveItem, LiveState } from '../../../model/live.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { BeliefsError } from '../errors.ts'
import { sourcesToAsk } from '../nodes/asking/ask-nodes.ts'
import { followAnswer, nameOf, watchesOf } from '../nodes/notices/watches.ts'
import { knownPeers } from '../nodes/peers.ts'
import { queryNodes } from '../nodes/query-nodes.ts'
import type { AskedSource, NodeAnswer, NodeFailure, NodesAnswer } from '../nodes/remote-belief.ts'
import type { Embedded } from '../query/understand.ts'
import { type RemoteLeg, trustQuestion } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { PEERS } from '../tables.ts'
import type { TimeLimit } from '../time-limit.ts'
import { LiveBeliefQuery } from './live-belief-query.ts'
import { nodeOfKey } from './live-items.ts'

/**
 * Milliseconds after which nodes are queried again: those that send no change notices (`RECHECK_MS`), and those that did not respond
 * (`RETRY_MS`).
 */
const RECHECK_MS = 60_000
const RETRY_MS = 5_000

export class LiveOverNodes extends LiveBeliefQuery {
  readonly #reportGap: (gap: BeliefsError) => void
  readonly #unlisten: () => void
  /**
   * Two maps by name of the queried source. `#held`: a function that ends the watch on the source; `#given`: the last answer of the source.
   */
  readonly #held = new Map<string, () => void>()
  readonly #given = new Map<string, NodeAnswer>()
  #sources: readonly AskedSource[] = []
  /** Names of the queried sources that did not respond to the last query. */
  #silent: ReadonlySet<string> = new Set()
  #isStirred = false
  /** Time in milliseconds of a monotonic clock at which other nodes were last queried. */
  #askedAt = 0
  #peers = -1
  /**
   * Number of changes of the viewer's own trust edges when other nodes were last queried. Their results are scored with this trust, so a
   * change requires a new query.
   */
  #ownTrust = -1

  /** `reportGap`: called once for each node that has stopped responding. */
  constructor(
    state: BeliefsState,
    viewer: Viewer,
    checked: CheckedQuery,
    query: JsonObject,
    isAllowed: () => boolean,
    reportGap: (gap: BeliefsError) => void,
  ) {
    super(state, viewer, checked, query, isAllowed)
    this.#reportGap = reportGap
    this.#unlisten = watchesOf(state.host).listen((watched, seen) => {
      const given = this.#given.get(nameOf(watched))
      if (this.#held.has(nameOf(watched)) && given?.state !== seen) this.#isStirred = true
    })
  }

  override ask(signal: AbortSignal): Promise<LiveState> {
    this.#isStirred = false
    this.#askedAt = performance.now()
    this.#peers = this.state.host.store.version(PEERS)
    this.#ownTrust = this.#ownChanges()
    return super.ask(signal)
  }

  protected override async askNodes(
    embedded: Embedded,
    asOf: Instant,
    time: TimeLimit,
  ): Promise<{ readonly leg: RemoteLeg | null; readonly time: TimeLimit }> {
    const { state, checked: query } = this
    const requester = this.viewer.id
    const sources = sourcesToAsk(state.host.store, state.requester(requester), query.options.scope)
    this.#hold(sources)
    if (sources.length === 0) return { leg: null, time }
    const asked = { state, query, requester, sources, embedded, asOf }
    const { nodes, time: left } = await queryNodes(asked, time, answer => this.#completed(answer))
    return { leg: nodes.leg, time: left }
  }

  override concerned(last: LiveState): boolean {
    // Changes in this node's store and changes of the viewer's trust edges are both always checked, even if the first check is positive:
    // each check notices a commit only once, so a skipped check would report the same commit again later.
    const isOwn = super.concerned(last)
    const isTrustOther = this.#sources.length > 0 && this.#ownChanges() !== this.#ownTrust
    return isOwn || isTrustOther || this.stirred() || this.state.host.store.version(PEERS) !== this.#peers
  }

  stirred(): boolean {
    if (this.#isStirred) return true
    const age = performance.now() - this.#askedAt
    return (this.#silent.size > 0 && age >= RETRY_MS) || (age >= RECHECK_MS && !this.#isWatched())
  }

  override lost(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] {
    const ofStore = items.filter(({ key }) => nodeOfKey(key) === null)
    const ofNodes = items.filter(({ key }) => nodeOfKey(key) !== null && !this.#mayComeFrom(key))
    return [...super.lost(ofStore), ...ofNodes.map(({ key }) => key)]
  }

  /** Ends the watches on other nodes; called when the live query is no longer needed. */
  close(): void {
    this.#unlisten()
    for (const release of this.#held.values()) release()
    this.#held.clear()
  }

  #ownChanges(): number {
    return this.state.trust.mark(this.viewer.id, trustQuestion(this.checked.context)).own
  }

  #isWatched(): boolean {
    const watches = watchesOf(this.state.host)
    return this.#sources.every(source => watches.has({ source, requester: this.viewer.id }))
  }

  #mayComeFrom(key: string): boolean {
    const from = nodeOfKey(key)
    if (from === null) return false
    const peer = knownPeers(this.state.host.store).peers.find(({ id }) => id === from.node)
    if (peer === undefined) return false
    if (from.kind === 'network') return peer.network
    const { federations } = this.state.requester(this.viewer.id)
    return from.id !== null && federations.includes(from.id) && peer.federations.includes(from.id)
  }

  #hold(sources: readonly AskedSource[]): void {
    this.#sources = sources
    const names = new Map(sources.map(source => [this.#nameOf(source), source]))
    for (const [name, release] of this.#held) {
      if (names.has(name)) continue
      release()
      this.#held.delete(name)
      this.#given.delete(name)
    }
    const watches = watchesOf(this.state.host)
    for (const [name, source] of names) {
      if (!this.#held.has(name)) this.#held.set(name, watches.hold({ source, requester: this.viewer.id }))
    }
  }

  /** Adds to an answer the earlier results of nodes that failed to respond. Results of a node that now refuses the viewer are dropped. */
  #completed(answer: NodesAnswer): NodesAnswer {
    for (const one of answer.answers) this.#given.set(this.#nameOf(one.source), one)
    // Watches on the other nodes continue from the state of this answer, so that the answer itself is not reported as a change.
    followAnswer(this.state.host, this.viewer.id, answer)
    const silent = answer.failures.filter(({ source }) => !answer.answers.some(one => one.source === source))
    for (const { source, code } of silent) if (code === 'UNAUTHORIZED') this.#given.delete(this.#nameOf(source))
    this.#reportSilent(silent)
    const before = silent.flatMap(({ source }) => this.#given.get(this.#nameOf(source)) ?? [])
    return { ...answer, answers: [...answer.answers, ...before] }
  }

  #reportSilent(failures: readonly NodeFailure[]): void {
    const before = this.#silent
    this.#silent = new Set(failures.map(({ source }) => this.#nameOf(source)))
    for (const { source, reason } of failures) {
      if (before.has(this.#nameOf(source))) continue
      const message = 'a node does not answer; its earlier answer is kept until it does'
      this.#reportGap(new BeliefsError('NODE_UNAVAILABLE', message, { node: source.peer.id, reason }))
    }
  }

  #nameOf(source: AskedSource): string {
    return nameOf({ source, requester: this.viewer.id })
  }
}
