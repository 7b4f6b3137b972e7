/** What of an answer can be believed (BQ-124): everything in it is checked before anything of it is used. */
import { canonicalJson, sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import type { Recent } from '../../../../base/recent.ts'
import { isRecord } from '../../../../base/record.ts'
import type { Envelope } from '../../../../identity/envelope.ts'
import { isStatementOf } from '../../../../identity/statement.ts'
import type { AskedSource } from '../guest.ts'
import { isAnswerTo } from '../sealed.ts'
import {
  answerStatement,
  asAnswer,
  asItem,
  beliefStatement,
  MOST_ITEMS,
  type WireAnswer,
  type WireItem,
} from '../wire/protocol.ts'
import { vectorsFromText } from '../wire/vectors.ts'

export interface Verified extends Pick<WireAnswer, 'model' | 'more' | 'needs_text' | 'state'> {
  readonly items: readonly VerifiedItem[]
  /** What their vectors were made with; null: none has one. */
  readonly vectorModel: string | null
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
    // The cast: what is invalid was left out above.
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

/** Each with its vector. Null: they are no items, or there are other vectors than they say. */
function itemsOf({ items, vectors }: WireAnswer, model: VerifyRequest['model']): readonly GivenItem[] | null {
  if (vectors !== null && vectors.model === model?.key && vectors.dimensions !== model.dimensions) return null
  const all = parsedList(items)
  if (all === null || all.length > MOST_ITEMS) return null
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

/** `holder:` and 26 characters; nobody else can be called so. */
const PSEUDONYM = /^holder:[\w-]{26}$/

/** What a federation shares has no names but pseudonyms and the requester's own; the node's signature stands for it. */
function isShared(item: WireItem, federation: string, sender: string): boolean {
  const { visibility, federation_ids, holder_id, member_count } = item
  if (visibility !== 'federated' || member_count === null || federation_ids[0] !== federation) return false
  return holder_id === null || holder_id === sender || PSEUDONYM.test(holder_id)
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
