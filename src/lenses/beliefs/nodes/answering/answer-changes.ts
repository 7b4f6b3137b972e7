/**
 * Tells another node when what it may see here has changed: held back until then, or until it has waited for as long as it
 * wanted. It is looked at fixed times, whatever is written: an answer right behind a commit would tell by its hour that
 * something hidden was written (BQ-169).
 */
import { pause } from '../../../../base/pause.ts'
import { Places, tooManyAtOnce } from '../../../../identity/places.ts'
import type { BeliefsState } from '../../state.ts'
import { sealedAnswer } from '../sealed.ts'
import { asChangesQuery, changesStatement, type WireChanges, type WireScope } from '../wire/protocol.ts'
import { seenState } from './seen-state.ts'
import { bucketOf, type NodeCall, nodeOf, notUnderstood, requesterOf, takenEnvelope } from './taken.ts'

/** Shorter than proxies and servers let an answer wait. */
const MOST_WAIT_MS = 20_000
const LOOK_MS = 250
/** At a time, of one sender, all keys that nobody knows here together; and of all. */
const MOST_WAITING = 16
const MOST_IN_ALL = 1_024

const WAITING = new WeakMap<BeliefsState, Places>()

/** Throws UNAUTHORIZED also where the sender may ask no longer by then, and RATE_LIMITED for too many at a time. */
export async function answerChanges(input: unknown, call: NodeCall): Promise<WireChanges> {
  const { state, signal } = call
  const node = nodeOf(state.host)
  const envelope = await takenEnvelope(input, node, call)
  const { sender } = envelope
  const query = asChangesQuery(envelope.query)
  if (query === null) throw notUnderstood()
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
  const until = performance.now() + Math.min(MOST_WAIT_MS, wait)
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
  const places = WAITING.get(state) ?? new Places(MOST_WAITING, WHAT)
  WAITING.set(state, places)
  if (places.size >= MOST_IN_ALL) throw tooManyAtOnce(MOST_IN_ALL, WHAT)
  return places.take(bucketOf(state, sender))
}

const WHAT = 'questions for changes'
