/**
 * Queries other nodes in parallel, each with its own time limit (BQ-116 to BQ-124). Answers are verified before they are used; a failing
 * node does not affect the others, and late answers are not waited for. Why a node did not answer is reported in texts of this node, never
 * in text that the other node sent (BQ-133).
 */
import { canonicalJson, type Json, sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import { compareText } from '../../../../base/compare.ts'
import { onePer, Recent } from '../../../../base/recent.ts'
import type { Keys } from '../../../../identity/keys.ts'
import type { NodeIdentity } from '../../../../identity/messages.ts'
import { QuerentError } from '../../../../model/errors.ts'
import { inTime } from '../../../../pipeline/time-limit.ts'
import { type NodeTransport, TransportFailure } from '../../../../pipeline/transport.ts'
import { MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { Store } from '../../../../store/store.ts'
import type { Requester } from '../../access/requester.ts'
import type { ShowView } from '../../access/show.ts'
import { questionHash } from '../../paging/cached-order.ts'
import type { CheckedQuery, CheckedScope } from '../../schema/query.ts'
import { type BeliefsState, countersOf, modelOf } from '../../state.ts'
import { TRUST } from '../../tables.ts'
import { TimeLimit } from '../../time-limit.ts'
import { followAnswer, nameOf, watchesOf } from '../notices/watches.ts'
import { askingKeys, knownPeers, type NodeBook, nodeBookOf } from '../peers.ts'
import type { AskedSource, NodeAnswer, NodeFailure, NodesAnswer, Peer } from '../remote-belief.ts'
import { isOtherVersion, maxAnswerBytes, QUERY_PATH, sealedQuestion, wireQueryOf } from '../wire/protocol.ts'
import { remotesOf, type Verified, type VerifyRequest, verifyAnswer } from './verify.ts'

/**
 * The sources to query: the requester's federations ordered by id, then network nodes ordered by id. Ids in `scope.nodes` that cannot be
 * queried come last as nodes without an address, whether a node of that id exists or not; querying them always fails.
 */
export function sourcesToAsk(
  store: Store,
  requester: Requester,
  { federated, network, nodes }: CheckedScope,
): readonly AskedSource[] {
  if (!federated && !network) return []
  const peers = knownPeers(store).peers.filter(({ id }) => nodes === null || nodes.includes(id))
  const ofFederations = federated
    ? requester.federations.flatMap(id => peers.filter(serves(id)).map(peer => asked('federated', id, peer)))
    : []
  const ofNetwork = network ? peers.filter(peer => peer.network).map(peer => asked('network', peer.id, peer)) : []
  const found = [...ofFederations, ...ofNetwork]
  const missing = (nodes ?? []).filter(id => !found.some(({ peer }) => peer.id === id)).sort(compareText)
  return [...found, ...missing.map(id => asked(network ? 'network' : 'federated', id, unknownNode(id)))]
}

function isUnknown({ peer }: AskedSource): boolean {
  return peer.address === ''
}

function serves(federation: string): (peer: Peer) => boolean {
  return ({ federations }) => federations.includes(federation)
}

function asked(kind: AskedSource['kind'], id: string, peer: Peer): AskedSource {
  return { kind, id, peer }
}

function unknownNode(id: string): Peer {
  return { id, address: '', did: '', network: false, federations: [] }
}

type Why = Pick<NodeFailure, 'code' | 'reason' | 'retryable'>

const LATE: Why = { code: 'TIMEOUT', reason: 'timeout', retryable: true }
const INVALID_DATA: Why = { code: 'NODE_UNAVAILABLE', reason: 'invalid_data', retryable: true }
/** Failure: the node answered in another version of the protocol, or could not read the query. */
const OTHER_VERSION: Why = { code: 'NODE_UNAVAILABLE', reason: 'protocol', retryable: false }
/**
 * Failure: the node could not be reached. Also used for nodes that are paused after failures and for unknown node ids, so that the error
 * does not reveal which of these is the case (BQ-087).
 */
const UNREACHABLE: Why = { code: 'NODE_UNAVAILABLE', reason: 'unreachable', retryable: true }
/** Failure: an unexpected error occurred on this node itself. */
const FAILED: Why = { code: 'NODE_UNAVAILABLE', reason: 'failed', retryable: true }
/** Failure: the query cannot be signed, because the requester's private key is not stored on this node. */
const NO_KEY: Why = { code: 'UNAUTHORIZED', reason: 'no_key', retryable: false }

export function whyOf({ code, status }: TransportFailure): Why {
  switch (code) {
    case 'refused':
      if (status === 400) return OTHER_VERSION
      if (status === 401 || status === 403) return { code: 'UNAUTHORIZED', reason: 'refused', retryable: false }
      if (status === 429) return { code: 'RATE_LIMITED', reason: 'refused', retryable: true }
      return { code: 'NODE_UNAVAILABLE', reason: 'refused', retryable: true }
    case 'unreachable':
      return UNREACHABLE
    case 'malformed':
      return INVALID_DATA
    case 'too_large':
      return { code: 'NODE_UNAVAILABLE', reason: 'too_large', retryable: true }
    case 'aborted':
      return LATE
  }
}

export interface NodesRequest {
  readonly state: BeliefsState
  readonly requester: string
  readonly query: CheckedQuery
  readonly sources: readonly AskedSource[]
  /** Vector of the query's text; null: the text was not embedded, or the query has no text. */
  readonly vector: Float32Array | null
  readonly asOf: Instant
  readonly time: TimeLimit
}

/** Maximum bytes of all nodes' answers to one query together; each source may use an equal share. */
const MAX_BYTES_TOGETHER = 256 * 2 ** 20
/** Minimum time in milliseconds that another node (server) must have had to answer before its timeout counts as a failure of that node. */
const FAIR_MS = 250

/** Queries all given sources in parallel. Rejects only if the caller has cancelled; failures of nodes are part of the result. */
export async function askNodes(request: NodesRequest): Promise<NodesAnswer> {
  const { sources, time } = request
  const query = new NodeQuery(request)
  const outcomes = await Promise.all(sources.map(source => query.ask(source)))
  if (time.signal.aborted) throw new QuerentError('cancelled', 'the caller cancelled the query')
  return {
    asked: sources,
    answers: outcomes.flatMap(({ answer }) => answer ?? []),
    failures: outcomes.flatMap(({ failure }) => failure ?? []),
  }
}

interface Outcome {
  readonly answer?: NodeAnswer | undefined
  readonly failure?: NodeFailure | undefined
}

class NodeQuery {
  readonly #request: NodesRequest
  readonly #node: NodeIdentity
  readonly #transport: NodeTransport
  readonly #book: NodeBook
  /**
   * `#asked`: by key of a node, whether this query is sent to the node. `#noted`: keys of nodes whose success or failure was already
   * recorded.
   */
  readonly #asked = new Map<string, boolean>()
  readonly #noted = new Set<string>()
  readonly #model: VerifyRequest['model']
  /** Keys that sign the messages, by kind of source. They are kept because deriving keys takes longer than signing one message. */
  readonly #keys = new Map<AskedSource['kind'], Promise<Keys | null>>()

  constructor(request: NodesRequest) {
    const { host } = request.state
    if (host.node === undefined || host.transport === undefined) {
      throw new Error('invariant broken: nothing to ask other nodes with')
    }
    this.#request = request
    this.#node = host.node
    this.#transport = host.transport
    this.#book = nodeBookOf(host)
    const key = modelOf(host)
    this.#model = key === null || host.embedder === null ? null : { key, dimensions: host.embedder.model.dimensions }
  }

  async ask(source: AskedSource): Promise<Outcome> {
    const began = performance.now()
    const failed = ({ code, reason, retryable }: Why): NodeFailure => {
      return { source, code, reason, retryable, elapsedMs: performance.now() - began }
    }
    if (isUnknown(source)) return { failure: failed(UNREACHABLE) }
    const keys = await this.#keysFor(source)
    if (keys === null) return { failure: failed(NO_KEY) }
    if (!this.#mayAsk(source)) return { failure: failed(UNREACHABLE) }
    const { query, time } = this.#request
    const limitMs = Math.min(query.options.timeoutPerNodeMs, time.leftMs)
    const { signal } = time
    const verify = (late: AbortSignal) => this.#verified(source, keys, began + limitMs, AbortSignal.any([signal, late]))
    try {
      // The time limit is enforced here in addition to the abort signal, because not every transport reacts to the signal at once.
      const verified = await inTime(verify, { signal, leftMs: limitMs })
      if (verified === null) throw new NoAnswer(LATE)
      const remotes = await remotesOf({ ...this.#request, source }, verified)
      const { more, state } = verified
      const answeredAt = this.#request.state.host.clock.now()
      const answer = { source, remotes, more, state, answeredAt, elapsedMs: performance.now() - began }
      this.#note(source, verified.hasDropped ? INVALID_DATA : null, limitMs)
      return { answer, ...(verified.hasDropped && { failure: failed(INVALID_DATA) }) }
    } catch (thrown) {
      const why = reasonOf(thrown)
      this.#note(source, why, limitMs)
      return { failure: failed(why) }
    }
  }

  /** Whether to query the source's node at all; the decision is made once and holds for all sources of the node. */
  #mayAsk({ peer }: AskedSource): boolean {
    const known = this.#asked.get(peer.did)
    if (known !== undefined) return known
    const may = this.#book.of(peer.did).breaker.mayAsk(this.#node.machineTime())
    this.#asked.set(peer.did, may)
    return may
  }

  /**
   * Sends the query and verifies the answer. The query contains the vector unless the node is known to use another embedding model; if the
   * node then asks for the text, the query is sent again with the text.
   */
  async #verified(source: AskedSource, keys: Keys, until: number, stop: AbortSignal): Promise<Verified> {
    const known = this.#book.of(source.peer.did)
    const model = modelOf(this.#request.state.host)
    const { vector } = this.#request
    const mayHaveModel = known.model === undefined || known.model === model
    const given = vector !== null && model !== null && mayHaveModel ? { model, values: vector } : null
    const first = await this.#sent(source, keys, given, until, stop)
    if (!first.needs_text) return first
    const second = await this.#sent(source, keys, null, until, stop)
    if (second.needs_text) throw new NoAnswer(INVALID_DATA)
    return second
  }

  async #sent(
    source: AskedSource,
    keys: Keys,
    vector: { readonly model: string; readonly values: Float32Array } | null,
    until: number,
    stop: AbortSignal,
  ): Promise<Verified> {
    const { state, query, asOf } = this.#request
    const { peer } = source
    const timeoutMs = until - performance.now()
    const asked = wireQueryOf({ source, query, vector, asOf, timeoutMs })
    const envelope = sealedQuestion(state.host, keys, peer.did, asked)
    const share = Math.floor(MAX_BYTES_TOGETHER / this.#request.sources.length)
    const maxBytes = Math.min(share, maxAnswerBytes(asked.limit))
    // The cast is safe: an envelope is plain data, but its interface has no index signature.
    const message = { path: QUERY_PATH, body: envelope as unknown as Json, maxBytes }
    const given = await this.#transport.send(peer.address, message, stop)
    if (isOtherVersion(given)) throw new NoAnswer(OTHER_VERSION)
    const verified = verifyAnswer(given, {
      source,
      envelope,
      limit: asked.limit,
      now: this.#node.now(),
      known: this.#book.verified,
      model: this.#model,
    })
    if (verified === null) throw new NoAnswer(INVALID_DATA)
    this.#book.of(peer.did).model = verified.model
    return verified
  }

  /** Keys for signing queries to a source; null: the requester has none, and none can be created. */
  #keysFor({ kind }: AskedSource): Promise<Keys | null> {
    const { state, requester } = this.#request
    const keys = this.#keys.get(kind) ?? askingKeys(state.host, kind, requester)
    this.#keys.set(kind, keys)
    return keys
  }

  /**
   * Records for the circuit breaker whether a node answered. `why`: the failure; null if the node answered. Counted once per node, even if
   * a query has several sources on the node.
   */
  #note({ peer }: AskedSource, why: Why | null, limitMs: number): void {
    if (this.#noted.has(peer.did)) return
    this.#noted.add(peer.did)
    const { breaker } = this.#book.of(peer.did)
    if (why === null) {
      breaker.succeeded()
      return
    }
    const isOfNode =
      why !== FAILED && (why.code === 'NODE_UNAVAILABLE' || (why.code === 'TIMEOUT' && limitMs >= FAIR_MS))
    if (isOfNode && !this.#request.time.signal.aborted) breaker.failed(this.#node.machineTime())
    else breaker.gaveUp()
  }
}

class NoAnswer extends Error {
  readonly why: Why
  constructor(why: Why) {
    super(why.reason)
    this.why = why
  }
}

function reasonOf(thrown: unknown): Why {
  if (thrown instanceof TransportFailure) return whyOf(thrown)
  return thrown instanceof NoAnswer ? thrown.why : FAILED
}

// The cache of other nodes' answers (BQ-137 to BQ-141). It contains verified beliefs as received: filters, trust, freshness, validity and
// access are applied at each use. A set of answers is not cached if one of the nodes failed. The cache key contains all data on this node
// that affects what the requester is shown, and nothing that the requester may not see (BQ-111).

interface KeptAnswer {
  readonly answer: NodesAnswer
  /**
   * By name of a source: the state identifier that came with the source's answer. It changes when a belief of the source that the requester
   * may see changes.
   */
  readonly states: ReadonlyMap<string, string>
  /** Time at which the nodes were queried for this answer. */
  readonly at: Instant
  readonly bytes: number
}

const MAX_ENTRIES = 10_000
const MAX_BYTES = 64 * 2 ** 20
/** Estimated bytes in memory of a belief from another node, without its content and vector. */
const REMOTE_BYTES = 1_500

type KeptAnswers = Recent<string, KeptAnswer>

/** Approximate memory use of the nodes' answers in bytes. */
export function bytesOf({ answers }: NodesAnswer): number {
  return answers
    .flatMap(({ remotes }) => remotes)
    .reduce((sum, { belief, vector }) => sum + REMOTE_BYTES + 2 * belief.content.length + (vector?.byteLength ?? 0), 0)
}

function cacheKey(view: ShowView, query: CheckedQuery, sources: readonly AskedSource[]): string {
  const { requester, columns, model } = view
  const { partitions } = requester.accessScope
  const parts = [
    questionHash(query),
    query.options.maxResultsPerNode,
    model,
    sources.map(({ kind, id, peer }) => [kind, id, peer.did]),
    requester.id,
    ownTrust(view),
    ownMemberships(view),
    [...partitions],
    columns.changesIn(partitions),
  ]
  return sha256(canonicalJson(parts))
}

/**
 * The trust edges that the requester has stated, as a text for the cache key. Times of use are left out, so that using an edge does not
 * invalidate cached answers.
 */
function ownTrust({ reader, requester }: ShowView): string {
  const columns = ['target', 'level', 'domains', 'updated_at']
  return JSON.stringify(reader.table(TRUST).scan({ owner: requester.id }, { columns }))
}

function ownMemberships({ reader, requester }: ShowView): string {
  return JSON.stringify(reader.table(MEMBERSHIPS).scan({ agent: requester.id }))
}

/**
 * How long an expired answer may still be shown while a new one is being requested, as a multiple of the cache duration, counted from its
 * expiry.
 */
const STALE_DURATIONS = 10
/** Time limit in milliseconds for requesting a new version of an expired answer in the background. */
const REFRESH_MS = 30_000

export interface CachedAnswer {
  readonly answer: NodesAnswer
  /** Whether the answer is older than the cache duration; a new answer is then being requested in the background. */
  readonly isStale: boolean
}

interface NodeCache {
  readonly kept: KeptAnswers
  /** Keys of cached answers that are being refreshed at the moment. */
  readonly refreshing: Set<string>
}

export const nodeCacheOf: (state: BeliefsState) => NodeCache = onePer(state => {
  const kept: KeptAnswers = new Recent(MAX_ENTRIES, { max: MAX_BYTES, of: ({ bytes }) => bytes })
  if (state.settings.invalidateOnUpdate) dropWhatChanged(state, kept)
  return { kept, refreshing: new Set<string>() }
})

/** Removes cached answers when one of their nodes reports that its beliefs have changed (BQ-140). */
function dropWhatChanged({ settings, host }: BeliefsState, kept: KeptAnswers): void {
  const lifetime = settings.cacheDurationMs * (settings.staleWhileRevalidate ? 1 + STALE_DURATIONS : 1)
  const watches = watchesOf(host)
  watches.neededBy(watched => {
    const [name, now] = [nameOf(watched), host.clock.now()]
    return kept.entries().some(([, { states, at }]) => states.has(name) && now - at < lifetime)
  })
  watches.listen((watched, now) => {
    const name = nameOf(watched)
    kept.forget((_, { states }) => states.has(name) && states.get(name) !== now)
  })
}

function keepAnswer(
  { state, requester, asOf }: NodesRequest,
  key: string,
  kept: KeptAnswers,
  answer: NodesAnswer,
): void {
  const states = answer.answers.map(({ source, state: seen }) => [nameOf({ source, requester }), seen] as const)
  kept.set(key, { answer, states: new Map(states), at: asOf, bytes: bytesOf(answer) })
  if (state.settings.invalidateOnUpdate) followAnswer(state.host, requester, answer)
}

export async function askOrRecall(request: NodesRequest): Promise<CachedAnswer> {
  const { state, requester, query, sources, asOf, time } = request
  const { cacheDurationMs: duration, staleWhileRevalidate: mayBeStale } = state.settings
  if (duration === 0) return { answer: await askNodes(request), isStale: false }
  const { kept, refreshing } = nodeCacheOf(state)
  const key = state.look(requester, (view: ShowView) => cacheKey(view, query, sources), time)
  const found = kept.find(key)
  const age = found === undefined ? Number.POSITIVE_INFINITY : asOf - found.at
  const isGood = age >= 0 && age < duration
  const isStale = !isGood && mayBeStale && age >= 0 && age < (1 + STALE_DURATIONS) * duration
  countersOf(state.host).countCache(isGood || isStale)
  if (found !== undefined && isGood) return { answer: found.answer, isStale: false }
  if (found !== undefined && isStale) {
    refresh(request, key, kept, refreshing)
    return { answer: found.answer, isStale: true }
  }
  const answer = await askNodes(request)
  if (answer.failures.length === 0) keepAnswer(request, key, kept, answer)
  return { answer, isStale: false }
}

/**
 * Requests a new answer in the background, unless a request for this key is already running; if it fails, the old answer stays in the
 * cache.
 */
function refresh(request: NodesRequest, key: string, kept: KeptAnswers, refreshing: Set<string>): void {
  if (refreshing.has(key)) return
  refreshing.add(key)
  const time = new TimeLimit(Math.min(REFRESH_MS, request.query.options.timeoutMs), new AbortController().signal)
  askNodes({ ...request, time })
    .then(answer => {
      if (answer.failures.length === 0) keepAnswer(request, key, kept, answer)
    })
    .catch(() => undefined)
    .finally(() => refreshing.delete(key))
}
