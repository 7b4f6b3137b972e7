/**
 * A live query that other nodes are asked too. They tell when what may be seen there has changed; then all is put together
 * again and held against what was told. What a node gave stays while it does not answer: only that it does not is told.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Steps } from '../../../base/turns.ts'
import type { LiveItem, LiveQuery, LiveState } from '../../../model/live.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { type ShowView, showCurrent } from '../access/show.ts'
import { pickPage } from '../answer/front.ts'
import { BeliefsError } from '../errors.ts'
import type { BeliefSource } from '../model.ts'
import { sourcesToAsk } from '../nodes/asking/ask-nodes.ts'
import { type Gathering, gather } from '../nodes/gather-nodes.ts'
import type { AskedSource, Guest, NodeAnswer, NodeFailure, NodesAnswer } from '../nodes/guest.ts'
import { followAnswer, nameOf, watchesOf } from '../nodes/notices/watches.ts'
import { knownPeers } from '../nodes/peers.ts'
import { evaluateInSteps } from '../query/evaluation.ts'
import { embedText } from '../query/understand.ts'
import { type ScoredBelief, trustFound, trustQuestion } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { PEERS } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import { itemOf, saidBy, textOfTrust, type UnratedItem } from './live-items.ts'
import type { StandingBeliefs } from './standing-question.ts'

/** Nodes that tell of no changes are asked again after so long, and those that did not answer. */
const RECHECK_MS = 60_000
const RETRY_MS = 5_000

export class StandingEverywhere implements LiveQuery {
  readonly viewer: Viewer
  readonly binding: string
  readonly query: JsonObject
  readonly timeoutMs: number
  readonly #state: BeliefsState
  readonly #own: StandingBeliefs
  readonly #checked: CheckedQuery
  readonly #tellGap: (gap: BeliefsError) => void
  readonly #unlisten: () => void
  /** By name of the source: what gives its watch back, and what it gave last. */
  readonly #held = new Map<string, () => void>()
  readonly #given = new Map<string, NodeAnswer>()
  #sources: readonly AskedSource[] = []
  /** Sources that did not answer when they were asked last. */
  #silent: ReadonlySet<string> = new Set()
  #isStirred = false
  /** Machine time. */
  #askedAt = 0
  #peers = -1
  /** How often the viewer's own trust had changed: it weighs what other nodes give. */
  #ownTrust = -1

  /** `own`: the same question to this node's store. `tellGap`: told once of each node that stops answering. */
  constructor(state: BeliefsState, own: StandingBeliefs, checked: CheckedQuery, tellGap: (gap: BeliefsError) => void) {
    this.viewer = own.viewer
    this.binding = own.binding
    this.query = own.query
    this.timeoutMs = own.timeoutMs
    this.#state = state
    this.#own = own
    this.#checked = checked
    this.#tellGap = tellGap
    this.#unlisten = watchesOf(state.host).listen((watched, seen) => {
      const given = this.#given.get(nameOf(watched))
      if (this.#held.has(nameOf(watched)) && given?.state !== seen) this.#isStirred = true
    })
  }

  async ask(signal: AbortSignal): Promise<LiveState> {
    const { host } = this.#state
    this.#isStirred = false
    this.#askedAt = performance.now()
    this.#peers = host.store.version(PEERS)
    this.#ownTrust = this.#ownChanges()
    const own = await this.#own.ask(signal)
    const sources = sourcesToAsk(host.store, this.#state.requester(this.viewer.id), this.#checked.options.scope)
    this.#hold(sources)
    if (sources.length === 0) return own
    const time = new TimeLimit(this.timeoutMs, signal)
    const embedded = await embedText(this.#state, this.#checked.semantic, signal, time)
    if (embedded.warnings.some(({ code }) => code === 'meaning_late')) throw time.error()
    const asOf = host.clock.now()
    const asked = { state: this.#state, query: this.#checked, requester: this.viewer.id, sources, embedded, asOf }
    const found = await gatheredItems(asked, time, answer => this.#completed(answer))
    signal.throwIfAborted()
    const standings = new Map(own.items.map(({ key, standing }) => [key, standing]))
    const items = found.items.map((item): LiveItem => ({ ...item, standing: standings.get(item.key) ?? item.standing }))
    const ends = items.flatMap(({ shown }) =>
      typeof shown['valid_until'] === 'string' ? Date.parse(shown['valid_until']) : [],
    )
    return {
      items,
      full: found.total > items.length,
      matches: key => (guestOfKey(key) === null ? (own.matches?.(key) ?? true) : found.matching.has(key)),
      asOf,
      until: Math.min(own.until, ...ends.filter(end => end > asOf)),
    }
  }

  concerned(last: LiveState): boolean {
    // Both are asked: what was committed is news only once.
    const isOwn = this.#own.concerned(last)
    const isTrustOther = this.#sources.length > 0 && this.#ownChanges() !== this.#ownTrust
    return isOwn || isTrustOther || this.stirred() || this.#state.host.store.version(PEERS) !== this.#peers
  }

  stirred(): boolean {
    if (this.#isStirred) return true
    const age = performance.now() - this.#askedAt
    return (this.#silent.size > 0 && age >= RETRY_MS) || (age >= RECHECK_MS && !this.#isWatched())
  }

  lost(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] {
    const ofStore = items.filter(({ key }) => guestOfKey(key) === null)
    const ofNodes = items.filter(({ key }) => guestOfKey(key) !== null && !this.#mayComeFrom(key))
    return [...this.#own.lost(ofStore), ...ofNodes.map(({ key }) => key)]
  }

  allowed(): boolean {
    return this.#own.allowed()
  }

  /** Nobody asks it any more. */
  close(): void {
    this.#unlisten()
    for (const release of this.#held.values()) release()
    this.#held.clear()
  }

  #ownChanges(): number {
    return this.#state.trust.mark(this.viewer.id, trustQuestion(this.#checked.context)).own
  }

  #isWatched(): boolean {
    const watches = watchesOf(this.#state.host)
    return this.#sources.every(source => watches.has({ source, requester: this.viewer.id }))
  }

  #mayComeFrom(key: string): boolean {
    const from = guestOfKey(key)
    if (from === null) return false
    const peer = knownPeers(this.#state.host.store).peers.find(({ id }) => id === from.node)
    if (peer === undefined) return false
    if (from.kind === 'network') return peer.network
    const { federations } = this.#state.requester(this.viewer.id)
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
    const watches = watchesOf(this.#state.host)
    for (const [name, source] of names) {
      if (!this.#held.has(name)) this.#held.set(name, watches.hold({ source, requester: this.viewer.id }))
    }
  }

  /** With what failed nodes gave before; who says that the viewer may not ask has taken it back. */
  #completed(answer: NodesAnswer): NodesAnswer {
    for (const one of answer.answers) this.#given.set(this.#nameOf(one.source), one)
    // Behind what was given now: that is no news to this question itself.
    followAnswer(this.#state.host, this.viewer.id, answer)
    const silent = answer.failures.filter(({ source }) => !answer.answers.some(one => one.source === source))
    for (const { source, code } of silent) if (code === 'UNAUTHORIZED') this.#given.delete(this.#nameOf(source))
    this.#tellSilent(silent)
    const before = silent.flatMap(({ source }) => this.#given.get(this.#nameOf(source)) ?? [])
    return { ...answer, answers: [...answer.answers, ...before] }
  }

  #tellSilent(failures: readonly NodeFailure[]): void {
    const before = this.#silent
    this.#silent = new Set(failures.map(({ source }) => this.#nameOf(source)))
    for (const { source, reason } of failures) {
      if (before.has(this.#nameOf(source))) continue
      const message = 'a node does not answer: what it gave before stands until it does'
      this.#tellGap(new BeliefsError('NODE_UNAVAILABLE', message, { node: source.peer.id, reason }))
    }
  }

  #nameOf(source: AskedSource): string {
    return nameOf({ source, requester: this.viewer.id })
  }
}

interface GatheredItems {
  readonly items: readonly LiveItem[]
  readonly total: number
  /** Keys of the items that other nodes gave and that match. */
  readonly matching: ReadonlySet<string>
}

/** What this node's own rests on is left to its store: the empty text. */
async function gatheredItems(
  gathering: Gathering,
  limited: TimeLimit,
  completed: (answer: NodesAnswer) => NodesAnswer,
): Promise<GatheredItems> {
  const { state, query, requester, embedded, asOf } = gathering
  const { nodes, time } = await gather(gathering, limited, completed)
  const { leg } = nodes
  const { guests } = leg
  const found = function* (home: ShowView): Steps<GatheredItems> {
    const view = { ...home, guests }
    const evaluation = yield* evaluateInSteps(state, view, query, embedded, asOf, leg)
    const picked = yield* pickPage(evaluation, query.options)
    const first = new Map(picked.map(({ scored }) => [scored.entry, scored]))
    const items = showCurrent(view, [...first.keys()], query.options.scope).map((shown, at): LiveItem => {
      const guest = guests.get(shown.entry)
      const scored = first.get(shown.entry) as ScoredBelief
      const item = guest === undefined ? itemOf(shown, home) : guestItem(guest)
      const standing = guest === undefined ? '' : textOfTrust(trustFound(evaluation, scored).trust)
      return { ...item, score: scored.final, rank: at + 1, standing }
    })
    const matching = evaluation.guests.map(({ entry }) => keyOfGuest(guests.get(entry) as Guest))
    return { items, total: evaluation.total, matching: new Set(matching) }
  }
  return state.lookInSteps(requester, found, time)
}

/** A belief of another node, through all its versions. */
function guestItem(guest: Guest): UnratedItem {
  const { belief } = guest
  return { ...saidBy(belief), key: keyOfGuest(guest), since: Date.parse(belief.created_at) }
}

/** The same for all versions of the belief. */
function keyOfGuest({ node, source, chain }: Guest): string {
  return JSON.stringify([MARK, source.kind, source.id, node, chain])
}

const MARK = 'node'
const PARTS = 5

/** Where an item of that key came from; null: from this node's own store, whose keys have two parts. */
function guestOfKey(key: string): (BeliefSource & { readonly node: string }) | null {
  const parts = JSON.parse(key) as readonly string[]
  if (parts.length !== PARTS) return null
  const [, kind, id, node] = parts as [string, BeliefSource['kind'], string | null, string]
  return { kind, id, node }
}
