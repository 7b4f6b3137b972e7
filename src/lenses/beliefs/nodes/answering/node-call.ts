/**
 * Authenticates a message from another node before anything else in the message is read: checks its signed envelope, what the sender may
 * ask, and how often (`answers_per_minute`). Known agents and nodes are counted individually. Unknown keys, which anybody can create in any
 * number, are counted by network address (for IPv6, by network) and all together.
 */
import { canonicalJson } from '../../../../base/canonical.ts'
import { onePer } from '../../../../base/recent.ts'
import { sign } from '../../../../base/sealed.ts'
import { hashOfTwo, textHash } from '../../../../base/text-hash.ts'
import { pause } from '../../../../base/turns.ts'
import { RequesterLimits } from '../../../../identity/limits.ts'
import { type Envelope, envelopeRefusal, type NodeIdentity } from '../../../../identity/messages.ts'
import { type Limits, networkOf, Places, tooManyAtOnce } from '../../../../identity/rates.ts'
import { MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { LensHost } from '../../../lens.ts'
import type { ShowView } from '../../access/show.ts'
import type { BeliefColumns } from '../../columns/columns.ts'
import { answersNobody, replayed, unauthorized, wrong } from '../../errors.ts'
import type { BeliefsState } from '../../state.ts'
import { knownPeers, nameOfDid } from '../peers.ts'
import {
  asChangesQuery,
  changesStatement,
  isOtherVersion,
  PROTOCOL,
  sealedAnswer,
  type WireChanges,
  type WireQuery,
  type WireScope,
} from '../wire/protocol.ts'

/**
 * Checks the envelope of a message. If it is not accepted, throws UNAUTHORIZED with one fixed message; only a message that was received
 * before is reported differently, which reveals nothing, because its sender knows that it was sent. The nonce counts as used only if
 * everything else is valid and the sender has not exceeded its rate.
 */
export async function takenEnvelope(
  input: unknown,
  node: NodeIdentity,
  { state, charge }: NodeCall,
): Promise<Envelope> {
  if (!state.settings.answerNodes) throw answersNobody()
  if (typeof input !== 'object' || input === null) throw unauthorized()
  // The cast is safe: `input` of any other form is rejected by the checks as malformed.
  const envelope = input as Envelope
  const checks = { audience: node.keys().did, now: node.now(), nonces: node.nonces, charge }
  const refusal = await envelopeRefusal(envelope, checks)
  if (refusal === 'replay') throw replayed()
  if (refusal !== null) throw unauthorized()
  return envelope
}

export interface NodeCall {
  readonly state: BeliefsState
  readonly signal: AbortSignal
  /** Counts the query against the sender's rate limit; throws RATE_LIMITED. */
  charge(sender: string): void
}

/** Name of the requester in queries for public beliefs, which are the same for everybody. No real did:key has this form. */
const ANYBODY = 'did:key:anybody'

/**
 * Name of the requester with whose permissions a query is answered. A sender that is not an active member with permission to query gets one
 * error whether the federation exists or not; so do members of a federation that publishes only aggregates (BQ-105).
 */
export function requesterOf(state: BeliefsState, scope: WireScope, sender: string): string {
  if (scope.kind === 'network') {
    if (!state.settings.answerNetwork) throw unauthorized()
    return ANYBODY
  }
  const requester = nameOfDid(state.host.store, sender)
  const { federation } = scope
  if (!state.requester(requester).federations.includes(federation)) throw unauthorized()
  return requester
}

export function nodeOf({ node }: LensHost): NodeIdentity {
  if (node === undefined) throw new Error('invariant broken: a node without a key')
  return node
}

export function notUnderstood(query?: unknown): Error {
  if (isOtherVersion(query)) {
    // The cast is safe: a value with a `protocol` field is an object.
    const value = String((query as WireQuery).protocol)
    return wrong('query.protocol', `version ${PROTOCOL} of the protocol of nodes`, 'protocol', value)
  }
  return wrong('query', 'a query in the form that docs/guide/nodes.md describes', 'malformed')
}

/** Divisor for unknown senders: all of them at one network address share the rate of one known sender divided by this number. */
const STRANGER_SHARE = 5

interface NodeLimits {
  readonly senders: Limits
  readonly addresses: Limits
}

/**
 * Counts a query against the rate limits. `address`: network address of the sender; undefined: the call came from within this process.
 * Throws `rate_limited`.
 */
export function chargeNode(state: BeliefsState, sender: string, address: string | undefined): void {
  const { senders, addresses } = limitsOf(state)
  const bucket = bucketOf(state, sender)
  if (bucket === sender && address !== undefined) addresses.charge(networkOf(address), 1)
  senders.charge(bucket, 1)
}

const limitsOf: (state: BeliefsState) => NodeLimits = onePer(({ settings: { answersPerMinute }, host }) => {
  const now = () => host.node?.machineTime() ?? 0
  const limits = (unitsPerMinute: number) => new RequesterLimits({ unitsPerMinute, burst: unitsPerMinute }, now)
  return { senders: limits(answersPerMinute), addresses: limits(Math.ceil(answersPerMinute / STRANGER_SHARE)) }
})

/**
 * Name under which a sender's queries are counted. Names of known senders get the prefix `node `, whose blank makes sure that no unknown
 * sender shares their count, because keys contain no blanks.
 */
function bucketOf(state: BeliefsState, sender: string): string {
  const { store } = state.host
  const name = nameOfDid(store, sender)
  const isKnown = name !== sender || isMember(state, name) || knownPeers(store).dids.has(sender)
  return isKnown ? `node ${name}` : name
}

function isMember({ host }: BeliefsState, agent: string): boolean {
  return host.store.table(MEMBERSHIPS).scan({ agent, status: 'active' }, { columns: ['agent'], limit: 1 }).length > 0
}

/**
 * A text that identifies the state of the beliefs that another node may see: equal in every process on this store, even after a restart,
 * and different after a change of a visible belief. Hidden beliefs do not affect it (BQ-111). It differs by `sender`, so that two senders
 * learn nothing by comparing their texts.
 */
export function seenState(view: ShowView, scope: WireScope, sender: string): string {
  const { columns, requester } = view
  const sum = sumOf(columns, requester.accessScope.partitions)
  return sign(view.secret(), canonicalJson(['state', scope.federation, sender, sum[0], sum[1]]))
}

type Sum = readonly [number, number]

interface KeptSum {
  readonly changes: number
  readonly sum: Sum
}

/** Maximum number of sets of partitions whose checksums are cached at once. */
const MAX_KEPT = 1_000
const sumsOf = onePer((_: BeliefColumns) => new Map<string, KeptSum>())

/**
 * Checksum over the beliefs in these partitions, independent of the order of rows; cached until a belief in one of the partitions changes.
 */
function sumOf(columns: BeliefColumns, partitions: readonly number[]): Sum {
  const kept = sumsOf(columns)
  const name = partitions.join()
  const changes = columns.changesIn(partitions)
  const known = kept.get(name)
  if (known?.changes === changes) return known.sum
  if (kept.size >= MAX_KEPT) kept.clear()
  const { marks } = columns.arrays
  let [one, other] = [0, 0]
  for (const partition of partitions) {
    for (const row of columns.rowsIn(partition)) {
      // The hash uses the holder's name, because the holder's number depends on everything that was ever written to the store.
      const holder = textHash(columns.holderOf(row))
      one = (one + hashOfTwo(marks[row * 2] as number, holder)) | 0
      other = (other + hashOfTwo(marks[row * 2 + 1] as number, holder)) | 0
    }
  }
  const sum = [one, other] as const
  kept.set(name, { changes, sum })
  return sum
}

/**
 * Two times in milliseconds for requests of other nodes that are answered when visible beliefs change. `MAX_WAIT_MS`: longest wait before
 * the answer, shorter than the timeouts of usual proxies and servers. `LOOK_MS`: interval at which changes are looked for.
 */
const MAX_WAIT_MS = 20_000
const LOOK_MS = 250
/**
 * Maximum number of requests for changes that wait at once: for one sender (all unknown keys count as one), and for all senders together.
 */
const MAX_WAITING = 16
const MAX_IN_ALL = 1_024

const WHAT = 'questions for changes'
const waitingOf = onePer((_: BeliefsState) => new Places(MAX_WAITING, WHAT))

/**
 * Answers a request for changes when the beliefs that the sender may see have changed, or after the longest wait. Changes are looked for at
 * fixed intervals, not at each write: an answer right after a commit would reveal that something hidden was written (BQ-169). Throws
 * UNAUTHORIZED also if the sender loses its permission during the wait, and RATE_LIMITED if too many requests wait.
 */
export async function answerChanges(input: unknown, call: NodeCall): Promise<WireChanges> {
  const { state, signal } = call
  const node = nodeOf(state.host)
  const envelope = await takenEnvelope(input, node, call)
  const { sender } = envelope
  const query = asChangesQuery(envelope.query)
  if (query === null) throw notUnderstood(envelope.query)
  const free = takePlace(state, sender)
  try {
    const seen = await nextState(state, query.scope, sender, { ...query, signal })
    return sealedAnswer(node, envelope, { state: seen }, changesStatement)
  } finally {
    free()
  }
}

interface Waiting {
  readonly since: string | null
  readonly wait_ms: number
  readonly signal: AbortSignal
}

async function nextState(
  state: BeliefsState,
  scope: WireScope,
  sender: string,
  { since, wait_ms: wait, signal }: Waiting,
): Promise<string> {
  const until = performance.now() + Math.min(MAX_WAIT_MS, wait)
  await state.load(signal)
  for (;;) {
    const requester = requesterOf(state, scope, sender)
    const through = scope.federation ?? undefined
    const now = state.look(requester, view => seenState(view, scope, sender), undefined, through)
    if (now !== since || performance.now() >= until || signal.aborted) return now
    await pause(LOOK_MS, signal)
  }
}

function takePlace(state: BeliefsState, sender: string): () => void {
  const places = waitingOf(state)
  if (places.size >= MAX_IN_ALL) throw tooManyAtOnce(MAX_IN_ALL, WHAT)
  return places.take(bucketOf(state, sender))
}
