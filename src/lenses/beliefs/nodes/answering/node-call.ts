/**
 * Checks the requester of a message from another node before anything else of it is read: its envelope, then what it may ask,
 * and how often (`answers_per_minute`). Agents and nodes known here are counted one by one; unknown keys, of which anybody can
 * make any number, by their address (of IPv6: the network), and all together.
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
 * Throws UNAUTHORIZED, always the same, for one that cannot be taken; of one that was taken before it says so: whoever has
 * it knows that it was sent. The number is used up by one that is good in all else and that its sender may ask still.
 */
export async function takenEnvelope(
  input: unknown,
  node: NodeIdentity,
  { state, charge }: NodeCall,
): Promise<Envelope> {
  if (!state.settings.answerNodes) throw answersNobody()
  if (typeof input !== 'object' || input === null) throw unauthorized()
  // The cast: what is no envelope is refused as malformed.
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
  /** Counts the question against the requester; throws RATE_LIMITED. */
  charge(sender: string): void
}

/** Public beliefs are the same for every requester. No key is written so. */
const ANYBODY = 'did:key:anybody'

/**
 * Who is not an active member, with leave to query, gets the same answer for a federation that exists and for one that does not;
 * of one that gives away no single beliefs (BQ-105), members are too.
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
    // The cast: what says its version is an object.
    const value = String((query as WireQuery).protocol)
    return wrong('query.protocol', `version ${PROTOCOL} of the protocol of nodes`, 'protocol', value)
  }
  return wrong('query', 'a query in the form that docs/guide/nodes.md describes', 'malformed')
}

/** Share of a known sender's rate that all unknown senders of one address have together. */
const STRANGER_SHARE = 5

interface NodeLimits {
  readonly senders: Limits
  readonly addresses: Limits
}

/** `address`: where the question comes from; undefined: from within this process. Throws `rate_limited`. */
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

/** What a sender counts as. A blank is in no name: nobody else has the bucket of one that is known here. */
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
 * What another node may see of a scope, as one text: the same in every process of this store, also after a restart, and
 * another one after each change of a visible belief. Hidden beliefs have no part in it (BQ-111). `sender` is part of it, so
 * that two senders who compare theirs learn nothing.
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

/** Sets of partitions that somebody looks at. */
const MAX_KEPT = 1_000
const sumsOf = onePer((_: BeliefColumns) => new Map<string, KeptSum>())

/** Of all rows in these partitions, in whatever order: made again where one of them has changed. */
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
      // By name: the store's numbers depend on what else was ever written.
      const holder = textHash(columns.holderOf(row))
      one = (one + hashOfTwo(marks[row * 2] as number, holder)) | 0
      other = (other + hashOfTwo(marks[row * 2 + 1] as number, holder)) | 0
    }
  }
  const sum = [one, other] as const
  kept.set(name, { changes, sum })
  return sum
}

/** Shorter than proxies and servers let an answer wait. */
const MAX_WAIT_MS = 20_000
const LOOK_MS = 250
/** At a time, of one sender, all keys that nobody knows here together; and of all. */
const MAX_WAITING = 16
const MAX_IN_ALL = 1_024

const WHAT = 'questions for changes'
const waitingOf = onePer((_: BeliefsState) => new Places(MAX_WAITING, WHAT))

/**
 * Answers when what the sender may see has changed, or after its longest wait. Checked at fixed times, whatever is written:
 * an answer right after a commit would show by its time that something hidden was written (BQ-169). Throws UNAUTHORIZED also
 * where the sender may ask no longer by then, and RATE_LIMITED for too many at a time.
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
