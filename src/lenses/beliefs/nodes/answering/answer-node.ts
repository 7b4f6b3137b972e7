/**
 * Answers the query of another node, or refuses it (BQ-119 to BQ-123). The envelope is checked first; the query is then answered with the
 * permissions of the key that signed it, whatever the query claims, and without anybody's trust or weights.
 */
import { canonicalJson, sha256 } from '../../../../base/canonical.ts'
import { onePer, Recent } from '../../../../base/recent.ts'
import { sign } from '../../../../base/sealed.ts'
import { signStatement } from '../../../../identity/messages.ts'
import type { EntryKey } from '../../../../model/entry.ts'
import type { LensHost } from '../../../lens.ts'
import { memberCount, type ShownBelief, type ShowView, showCurrent } from '../../access/show.ts'
import { BeliefsError } from '../../errors.ts'
import { rankingWeights } from '../../measures/confidence.ts'
import type { RankingWeights } from '../../model.ts'
import { Evaluation, type Question } from '../../query/evaluation.ts'
import { embeddedAs, embedText, understand } from '../../query/understand.ts'
import { type BeliefFilter, toContext, toFilter } from '../../schema/filters.ts'
import type { CheckedText } from '../../schema/values.ts'
import { type BeliefsState, modelOf, vectorsOf } from '../../state.ts'
import { TimeLimit } from '../../time-limit.ts'
import { didOfAgent, ensureKeys, signingKeys } from '../../trust/agent-facts.ts'
import {
  answerStatement,
  asQuery,
  beliefStatement,
  MAX_ITEMS,
  maxAnswerBytes,
  sealedAnswer,
  vectorFromText,
  vectorsToText,
  type WireAnswer,
  type WireItem,
  type WireQuery,
  type WireScope,
  type WireVectors,
} from '../wire/protocol.ts'
import { type NodeCall, nodeOf, notUnderstood, requesterOf, seenState, takenEnvelope } from './node-call.ts'

/** Creates keys for holders of public beliefs that have none. It writes, so it must not be called within a read. */
async function makeHolderKeys({ host, columns }: BeliefsState, keys: readonly EntryKey[]): Promise<void> {
  const { store, random, clock } = host
  const rows = keys.map(key => columns.rowOf(key)).filter(row => row !== -1)
  const holders = [...new Set(rows.map(row => columns.holderOf(row)))]
  const lacking = store.read(reader => holders.filter(holder => didOfAgent(reader, holder) === null))
  if (lacking.length === 0) return
  await store.writeWhenFree(clock.now(), writer => {
    for (const holder of lacking) ensureKeys(writer, holder, bytes => random(bytes))
  })
}

interface Asking {
  readonly scope: WireScope
  /** did:key of the requester. */
  readonly sender: string
  /** Number of items that the requester asked for. */
  readonly limit: number
}

/**
 * Beliefs in the form in which they leave this node: as the requester may see them, public ones signed by their holders (BQ-123). At most
 * as many as a requester reads from one answer, and always the best ones (BQ-118). Beliefs that nobody here can sign are left out, because
 * the requester could not trust them. `isCut`: not all fit into one answer.
 */
function itemsOf(
  state: BeliefsState,
  view: ShowView,
  shown: readonly ShownBelief[],
  { scope, sender, limit }: Asking,
): Pick<WireAnswer, 'items' | 'vectors'> & { readonly isCut: boolean } {
  const vectors = vectorsOf(view, shown)
  const shownBeliefs = shown.flatMap((one, at) => {
    const item = said(one, chainName(view, one, scope), vectors[at] !== undefined)
    const whole =
      scope.kind === 'federated'
        ? throughFederation(view, one, item, scope.federation, sender)
        : signedByHolder(state, view, one, item)
    return whole === null ? [] : [{ text: JSON.stringify(whole), vector: vectors[at] }]
  })
  const kept = fitting(shownBeliefs, limit)
  return {
    items: `[${kept.map(({ text }) => text).join()}]`,
    vectors: wireVectors(
      view.model,
      kept.flatMap(({ vector }) => vector ?? []),
    ),
    isCut: kept.length < shownBeliefs.length,
  }
}

function wireVectors(model: string | null, vectors: readonly Float32Array[]): WireVectors | null {
  const dimensions = vectors[0]?.length
  if (model === null || dimensions === undefined) return null
  return { model, dimensions, values: vectorsToText(vectors) }
}

type Said = Omit<WireItem, 'visibility' | 'federation_ids' | 'holder_id' | 'member_count' | 'signature'>

function said({ belief }: ShownBelief, chain: string, isEmbedded: boolean): Said {
  const { id, content, content_hash, confidence, valid_from, valid_until, derivation, domains, created_at } = belief
  return {
    ...{ id, chain, content, content_hash, confidence, valid_from, valid_until, derivation, domains, created_at },
    is_embedded: isEmbedded,
  }
}

/** Name of a belief's chain for another node: a keyed hash, which reveals neither the holder nor the first version. */
function chainName(view: ShowView, { version: { holder, chain } }: ShownBelief, { federation }: WireScope): string {
  return sign(view.secret(), canonicalJson(['chain', federation, view.requester.id, holder, chain]))
}

function throughFederation(
  { columns, requester }: ShowView,
  { entry, belief }: ShownBelief,
  item: Said,
  federation: string,
  sender: string,
): WireItem {
  return {
    ...item,
    visibility: 'federated',
    federation_ids: [federation],
    holder_id: belief.holder_id === requester.id ? sender : belief.holder_id,
    member_count: memberCount(columns, requester, columns.rowOf(entry), federation),
    signature: null,
  }
}

function signedByHolder(
  state: BeliefsState,
  { reader }: ShowView,
  { version }: ShownBelief,
  item: Said,
): WireItem | null {
  const { holder } = version
  const did = didOfAgent(reader, holder)
  if (did === null) return null
  const open: WireItem = {
    ...item,
    visibility: 'public',
    federation_ids: [],
    holder_id: did,
    member_count: null,
    signature: null,
  }
  const statement = beliefStatement(open)
  const kept = signaturesOf(state)
  const name = sha256(canonicalJson(statement))
  const keys = kept.find(name) === undefined ? signingKeys(reader, holder) : null
  const signature = keys === null ? kept.find(name) : kept.get(name, () => signStatement(keys, statement))
  return signature === undefined ? null : { ...open, signature }
}

/** Cache of signatures, by the signed statement, which contains the key. */
const signaturesOf = onePer((_: BeliefsState) => new Recent<string, string>(MAX_SIGNATURES))
const MAX_SIGNATURES = 50_000

/** Maximum bytes of an answer besides its items and vectors. */
const FRAME_BYTES = 65_536
/** Maximum bytes of one UTF-16 unit of JSON text that is encoded as a JSON string again. */
const MAX_BYTES_A_UNIT = 3

interface Part {
  /** An item of the answer as JSON text. */
  readonly text: string
  readonly vector: Float32Array | undefined
}

/** The first items that fit into an answer. `limit`: number of items requested. */
function fitting<T extends Part>(parts: readonly T[], limit: number): readonly T[] {
  const most = maxAnswerBytes(limit) - FRAME_BYTES
  const atMost = parts.reduce((sum, part) => sum + MAX_BYTES_A_UNIT * part.text.length + vectorBytes(part), 0)
  if (atMost <= most) return parts
  let left = most
  const end = parts.findIndex(part => {
    left -= Buffer.byteLength(JSON.stringify(part.text)) + vectorBytes(part)
    return left < 0
  })
  return end === -1 ? parts : parts.slice(0, end)
}

/** Number of bytes of a vector in base64. */
function vectorBytes({ vector }: Part): number {
  return vector === undefined ? 0 : Math.ceil(vector.byteLength / 3) * 4
}

export async function answerNode(input: unknown, call: NodeCall): Promise<WireAnswer> {
  const { state } = call
  const node = nodeOf(state.host)
  const envelope = await takenEnvelope(input, node, call)
  const query = asQuery(envelope.query)
  if (query === null) throw notUnderstood(envelope.query)
  const who = { requester: requesterOf(state, query.scope, envelope.sender), sender: envelope.sender }
  const model = modelOf(state.host)
  if (query.vector !== null && query.vector.model !== model) {
    const seen = lookAs(state, query.scope, who, view => seenState(view, query.scope, who.sender))
    return sealedAnswer(
      node,
      envelope,
      { model, needs_text: true, more: false, state: seen, ...NOTHING },
      answerStatement,
    )
  }
  // A request for more items than allowed is cut, not rejected (BQ-118).
  const timeoutMs = Math.min(MAX_MS, query.timeout_ms)
  const time = new TimeLimit(timeoutMs, call.signal)
  try {
    const found = await find(state, query, who, time)
    return sealedAnswer(node, envelope, { model, needs_text: false, ...found }, answerStatement)
  } catch (thrown) {
    throw thrown instanceof BeliefsError && thrown.code === 'TIMEOUT' ? late(timeoutMs) : thrown
  }
}

const NOTHING = { items: '[]', vectors: null }

/** The timeout error. It reports the limit, not the true duration, which would reveal how much work hidden beliefs caused. */
function late(timeoutMs: number): BeliefsError {
  return new BeliefsError('TIMEOUT', 'there was no answer within timeout_ms', { elapsed_ms: timeoutMs })
}

const MAX_MS = 30_000

interface Who {
  readonly requester: string
  readonly sender: string
}

async function find(
  state: BeliefsState,
  query: WireQuery,
  who: Who,
  time: TimeLimit,
): Promise<Pick<WireAnswer, 'items' | 'vectors' | 'more' | 'state'>> {
  const { scope } = query
  const limit = Math.min(MAX_ITEMS, query.limit)
  await state.load(time.signal)
  const vector = vectorOf(state.host, query)
  const embedded = vector === null ? await embedText(state, textOf(query.text), time.signal, time) : embeddedAs(vector)
  const asOf = state.host.clock.now()
  const question = questionOf(query, who.requester)
  // Read at the same moment as the results: a later change is then reported to a requester that asks for changes since.
  const { keys, seen, hasMore } = await state.lookInSteps(
    who.requester,
    function* (view) {
      const understood = understand(state, embedded, question.semantic, view.requester.accessScope)
      const evaluation = new Evaluation(state, view, question, understood, asOf)
      yield* evaluation.prepare()
      yield
      const best = evaluation.best(limit + 1)
      const hasMore = best.length > limit || evaluation.isCut
      return { keys: best.map(({ entry }) => entry), seen: seenState(view, scope, who.sender), hasMore }
    },
    time,
    scope.federation ?? undefined,
  )
  if (scope.kind === 'network') await makeHolderKeys(state, keys)
  // The second check of the visibility matrix (BQ-095).
  const asking = { scope, sender: who.sender, limit }
  const show = (view: ShowView) => {
    return itemsOf(state, view, showCurrent(view, keys.slice(0, limit), question.scope), asking)
  }
  const { isCut, ...shownBeliefs } = lookAs(state, scope, who, show, time)
  return { ...shownBeliefs, more: isCut || hasMore, state: seen }
}

/** Reads with the permissions of the requester, restricted to the federation of the query. */
function lookAs<T>(
  state: BeliefsState,
  { federation }: WireScope,
  { requester }: Who,
  body: (view: ShowView) => T,
  time?: TimeLimit,
): T {
  return state.look(requester, body, time, federation ?? undefined)
}

/** Vector of the query; null: it has none. Throws if it is not a vector of this node's model. */
function vectorOf({ embedder }: LensHost, { vector }: WireQuery): Float32Array | null {
  if (vector === null) return null
  const found = vectorFromText(vector.values)
  if (found === null || found.length !== embedder?.model.dimensions) throw notUnderstood()
  return found
}

function questionOf({ scope, text, vector, filters, min_similarity }: WireQuery, requester: string): Question {
  const isList = text === null && vector === null
  // Trust that the sender has stated here is not used: the sender weighs the results itself.
  const context = toContext({ trust_weight: 0 }, { id: requester, trustGraph: null })
  return {
    semantic: textOf(text),
    // The cast is safe: bounds that are null are left out.
    filters: filters.map(filter => toFilter(filter as BeliefFilter)),
    context,
    // The cast is safe: the remaining default weights never add up to 0.
    weights: rankingWeights({ trustWeight: context.trustWeight, given: null, listMode: isList }) as RankingWeights,
    minSimilarity: min_similarity ?? null,
    scope: { local: false, federated: scope.kind === 'federated', network: scope.kind === 'network' },
  }
}

/** The whole text as plain text, without operators. */
function textOf(text: string | null): CheckedText | null {
  return text === null ? null : { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
}
