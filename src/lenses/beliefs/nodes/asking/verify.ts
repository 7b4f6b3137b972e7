/** What of an answer can be believed (BQ-124): everything in it is checked before anything of it is used. */
import { canonicalJson, type Json, sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import type { Recent } from '../../../../base/recent.ts'
import type { Envelope } from '../../../../identity/envelope.ts'
import { isTimely } from '../../../../identity/freshness.ts'
import { isStatementOf } from '../../../../identity/statement.ts'
import type { AskedSource } from '../peer.ts'
import { answerStatement, beliefStatement, type WireAnswer, type WireItem } from '../wire/protocol.ts'
import { asAnswer, asItem } from '../wire/shapes.ts'
import { vectorFromText } from '../wire/vectors.ts'

export interface Verified extends Pick<WireAnswer, 'model' | 'more' | 'needs_text'> {
  readonly items: readonly VerifiedItem[]
  /** Whether some were not what they say. */
  readonly hasDropped: boolean
}

export interface VerifiedItem {
  readonly item: WireItem
  /** Of whatever model; null: it came without one. */
  readonly vector: Float32Array | null
}

export interface VerifyRequest {
  readonly source: AskedSource
  readonly envelope: Envelope
  /** Items that were asked for. */
  readonly limit: number
  /** Machine time. */
  readonly now: Instant
  readonly known: Recent<string, true>
  /** Of this node; null: it has none. */
  readonly model: { readonly key: string; readonly dimensions: number } | null
}

/** Null: it is no answer of that node to this question. */
export function verifyAnswer(given: unknown, request: VerifyRequest): Verified | null {
  const answer = asAnswer(given)
  if (answer === null || !isOurs(answer, request)) return null
  const { items: all, digests, model, more, needs_text } = answer
  const seen = new Set<string>()
  const items = all.slice(0, request.limit).flatMap((one, at): readonly VerifiedItem[] => {
    const found = verifyItem(one, digests[at], request)
    if (found === null || seen.has(found.item.id)) return []
    seen.add(found.item.id)
    return [found]
  })
  return { model, more, needs_text, items, hasDropped: items.length < all.length }
}

function isOurs(answer: NonNullable<ReturnType<typeof asAnswer>>, { source, envelope, now }: VerifyRequest): boolean {
  const { did } = source.peer
  const { node, audience, nonce, timestamp, signature, items, digests } = answer
  if (node !== did || audience !== envelope.sender || nonce !== envelope.nonce) return false
  if (items.length !== digests.length || !isTimely(Date.parse(timestamp), now)) return false
  // The items have no part in what is signed: their digests have.
  return isStatementOf(did, answerStatement(answer as WireAnswer), signature)
}

function verifyItem(given: unknown, digest: string | undefined, request: VerifyRequest): VerifiedItem | null {
  const item = asItem(given)
  if (item === null || sha256(canonicalJson(given as Json)) !== digest) return null
  if (sha256(item.content) !== item.content_hash) return null
  const isAllowed = request.source.kind === 'federated' ? isShared(item, request) : isPublic(item, request.known)
  if (!isAllowed) return null
  if (item.embedding === null) return { item, vector: null }
  const vector = vectorFromText(item.embedding.values)
  const { model } = request
  if (vector === null || (item.embedding.model === model?.key && vector.length !== model.dimensions)) return null
  return { item, vector }
}

/** `holder:` and 26 characters; nobody else can be called so. */
const PSEUDONYM = /^holder:[\w-]{26}$/

/** What a federation shares has no names but pseudonyms and the requester's own; the node's signature stands for it. */
function isShared(item: WireItem, { source, envelope }: VerifyRequest): boolean {
  const { visibility, federation_ids, holder_id, member_count } = item
  if (visibility !== 'federated' || member_count === null || federation_ids[0] !== source.id) return false
  return holder_id === null || holder_id === envelope.sender || PSEUDONYM.test(holder_id)
}

/** What is public is signed by who holds it. */
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
