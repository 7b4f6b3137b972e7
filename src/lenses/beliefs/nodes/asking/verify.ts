/** Verifies the answer of another node (BQ-124): signatures, hashes and vectors are checked before any part of the answer is used. */
import { canonicalJson, sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import type { Recent } from '../../../../base/recent.ts'
import { isRecord } from '../../../../base/record.ts'
import { type Envelope, isStatementOf } from '../../../../identity/messages.ts'
import { embeddedText } from '../../../../model/entry.ts'
import { inTime } from '../../../../pipeline/time-limit.ts'
import type { LensHost } from '../../../lens.ts'
import { pseudonymOf } from '../../access/show.ts'
import type { Belief, BeliefSource } from '../../model.ts'
import { chunkOf } from '../../record/version.ts'
import { type BeliefsState, modelOf } from '../../state.ts'
import type { TimeLimit } from '../../time-limit.ts'
import { nameOfDid, nodeBookOf } from '../peers.ts'
import type { AskedSource, RemoteBelief } from '../remote-belief.ts'
import {
  answerStatement,
  asAnswer,
  asItem,
  beliefStatement,
  isAnswerTo,
  MAX_ITEMS,
  vectorsFromText,
  type WireAnswer,
  type WireItem,
} from '../wire/protocol.ts'

export interface Verified extends Pick<WireAnswer, 'model' | 'more' | 'needs_text' | 'state'> {
  readonly items: readonly VerifiedItem[]
  /** Identifier of the embedding model that made the vectors in the answer; null: the answer contains no vectors. */
  readonly vectorModel: string | null
  /** Whether items of the answer were dropped: invalid ones, duplicates, or more than were requested. */
  readonly hasDropped: boolean
}

interface VerifiedItem {
  readonly item: WireItem
  /** Vector of the item, made by the other node's model; null: the item came without a vector. */
  readonly vector: Float32Array | null
}

export interface VerifyRequest {
  readonly source: AskedSource
  readonly envelope: Envelope
  /** Number of items that the query requested; further items are dropped. */
  readonly limit: number
  /** Present time of this node's machine clock. */
  readonly now: Instant
  readonly known: Recent<string, true>
  /**
   * This node's embedding model: `key`, the model's identifier, and `dimensions`, the number of dimensions of its vectors. Null: this node
   * has no model.
   */
  readonly model: { readonly key: string; readonly dimensions: number } | null
}

/** Verifies an answer. Null: it is malformed, or not an answer of the queried node to this query. */
export function verifyAnswer(given: unknown, request: VerifyRequest): Verified | null {
  const answer = asAnswer(given)
  const { source, envelope, now } = request
  if (answer === null || !isAnswerTo(envelope, source.peer.did, answer, answerStatement(answer), now)) return null
  const { model, more, needs_text, state } = answer
  const all = itemsOf(answer, request.model)
  if (all === null) return null
  const [seen, chains] = [new Set<string>(), new Set<string>()]
  const items = all.slice(0, request.limit).flatMap(({ given, vector }): readonly VerifiedItem[] => {
    const item = vector === INVALID ? null : verifiedItem(given, request)
    if (item === null || seen.has(item.id) || chains.has(item.chain)) return []
    seen.add(item.id)
    chains.add(item.chain)
    // The cast is safe: items with the marker for an invalid vector were dropped above.
    return [{ item, vector: vector as Float32Array | null }]
  })
  return {
    model,
    more,
    needs_text,
    state,
    items,
    vectorModel: answer.vectors?.model ?? null,
    hasDropped: items.length < all.length,
  }
}

const INVALID = Symbol('no vector of unit length')

interface GivenItem {
  readonly given: unknown
  readonly vector: Float32Array | null | typeof INVALID
}

/** The items of an answer with their vectors. Null: `items` is not a JSON list, is too long, or does not fit the number of vectors. */
function itemsOf({ items, vectors }: WireAnswer, model: VerifyRequest['model']): readonly GivenItem[] | null {
  if (vectors !== null && vectors.model === model?.key && vectors.dimensions !== model.dimensions) return null
  const all = parsedList(items)
  if (all === null || all.length > MAX_ITEMS) return null
  const count = all.reduce<number>((sum, given) => sum + (isEmbedded(given) ? 1 : 0), 0)
  const found =
    vectors === null ? (count === 0 ? [] : null) : vectorsFromText(vectors.values, vectors.dimensions, count)
  if (found === null) return null
  let at = 0
  return all.map(given => ({ given, vector: isEmbedded(given) ? (found[at++] ?? INVALID) : null }))
}

function parsedList(text: string): readonly unknown[] | null {
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found : null
  } catch {
    return null
  }
}

function isEmbedded(given: unknown): boolean {
  return isRecord(given) && given['is_embedded'] === true
}

function verifiedItem(given: unknown, { source, envelope, known }: VerifyRequest): WireItem | null {
  const item = asItem(given)
  if (item === null || sha256(item.content) !== item.content_hash) return null
  const isAllowed = source.kind === 'federated' ? isShared(item, source.id, envelope.sender) : isPublic(item, known)
  return isAllowed ? item : null
}

/** Form of a holder's pseudonym: `holder:` and 26 characters. No other name of a holder has this form. */
const PSEUDONYM = /^holder:[\w-]{26}$/

/**
 * Whether an item that was shared through a federation is valid: its holder must be hidden, a pseudonym, or the requester. It needs no
 * signature of its own, because the node's signature covers the whole answer.
 */
function isShared(item: WireItem, federation: string, sender: string): boolean {
  const { visibility, federation_ids, holder_id, member_count } = item
  if (visibility !== 'federated' || member_count === null || federation_ids[0] !== federation) return false
  return holder_id === null || holder_id === sender || PSEUDONYM.test(holder_id)
}

/** Whether a public item is valid: it must carry a valid signature by the key of its holder. */
function isPublic(item: WireItem, known: Recent<string, true>): boolean {
  const { visibility, federation_ids, holder_id, signature } = item
  if (visibility !== 'public' || federation_ids.length > 0 || holder_id === null || signature === null) return false
  const statement = beliefStatement(item)
  const name = sha256(canonicalJson([holder_id, signature, statement]))
  if (known.find(name) === true) return true
  if (!isStatementOf(holder_id, statement, signature)) return false
  known.get(name, () => true)
  return true
}

/** Maximum number of texts from one answer of one node that this node embeds itself. */
const MAX_EMBEDDED = 64
/** Share of the remaining time that embedding other nodes' texts may take. */
const EMBEDDING_SHARE = 0.5

interface Welcome {
  readonly state: BeliefsState
  readonly requester: string
  readonly source: AskedSource
  readonly time: TimeLimit
}

/**
 * Converts verified items to remote beliefs: replaces the names of holders by this node's names, and gives each a vector by this node's
 * model if possible.
 */
export async function remotesOf(
  welcome: Welcome,
  { items, vectorModel }: Pick<Verified, 'items' | 'vectorModel'>,
): Promise<readonly RemoteBelief[]> {
  const model = modelOf(welcome.state.host)
  const vectors = items.map(({ vector }) => (vectorModel === model ? vector : null))
  const made = await embedded(welcome, items, vectors)
  return items.map(({ item }, at) => remoteOf(welcome, item, made[at] ?? null, model))
}

function remoteOf(welcome: Welcome, item: WireItem, vector: Float32Array | null, model: string | null): RemoteBelief {
  const { source } = welcome
  const { is_embedded: _, signature: __, member_count: memberCount, chain, ...said } = item
  const from: BeliefSource = { kind: source.kind, id: source.id }
  const belief: Belief = {
    ...said,
    version: 1,
    holder_id: holderName(welcome, item),
    supersedes: null,
    superseded_by: null,
    embedding_model: vector === null ? null : model,
    deleted_at: null,
  }
  return { node: source.peer.id, source: from, belief, chain, vector, memberCount }
}

/**
 * This node's name for the holder of an item from another node. A pseudonym that came through a federation is turned into a new one, so
 * that no node can reuse the pseudonym of another node or claim that the requester holds a belief that the requester never signed.
 */
function holderName({ state, requester, source }: Welcome, { holder_id: holder }: WireItem): string | null {
  if (holder === null) return null
  if (source.kind === 'network') return nameOfDid(state.host.store, holder)
  return pseudonymOf(state.secret(), source.id, requester, `${source.peer.did} ${holder}`)
}

/** Embeds items that have no vector by this node's model, as far as time allows (BQ-031). */
async function embedded(
  { state: { host }, time }: Welcome,
  items: readonly VerifiedItem[],
  vectors: readonly (Float32Array | null)[],
): Promise<readonly (Float32Array | null)[]> {
  const kept = nodeBookOf(host).vectors
  const missing = items.filter((_, at) => vectors[at] === null).map(({ item }) => textOf(item))
  const wanted = missing.filter(text => kept.find(sha256(text)) === undefined).slice(0, MAX_EMBEDDED)
  const made = await embedTexts(host, wanted, time)
  for (const [at, vector] of made.entries()) kept.set(sha256(wanted[at] as string), vector)
  return vectors.map((vector, at) => vector ?? kept.find(sha256(textOf((items[at] as VerifiedItem).item))) ?? null)
}

/**
 * Embeds texts. Returns no vectors if there is no time or embedding fails: the beliefs are then ranked like beliefs of this node that have
 * no vector yet.
 */
async function embedTexts(
  { embedder }: LensHost,
  texts: readonly string[],
  { leftMs, signal }: TimeLimit,
): Promise<readonly Float32Array[]> {
  if (embedder === null || texts.length === 0) return []
  const embed = (late: AbortSignal) => embedder.embed(texts, 'passage', AbortSignal.any([signal, late]))
  return (await inTime(embed, { signal, leftMs: leftMs * EMBEDDING_SHARE }).catch(() => null)) ?? []
}

function textOf(item: WireItem): string {
  return embeddedText({ id: item.id, title: '', content: item.content }, chunkOf(item))
}
