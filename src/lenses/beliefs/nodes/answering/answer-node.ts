/**
 * Answers the query of another node, or refuses it (BQ-119 to BQ-123). The signed envelope is checked first. The query is then answered
 * with the permissions of the key that signed it, whatever requester the query names, and the results are ranked without trust.
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

/**
 * Creates signing keys for holders of the given beliefs that have no key. It writes to the store, so it must not be called within a read.
 */
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
  /** Key (did:key) that signed the query: of an agent on another node, or of the other node itself. */
  readonly sender: string
  /** Number of results that the query asked for. */
  readonly limit: number
}

/**
 * Converts beliefs to the form in which they leave this node: as the requester may see them, public ones signed by their holders (BQ-123).
 * If not all fit into one answer, the best ones are kept (BQ-118) and `isCut` is true. Public beliefs that cannot be signed here are left
 * out, because the requester could not verify them.
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

/**
 * Name of a belief's chain of versions for another node: a keyed hash, which reveals neither the holder nor the id of the first version.
 */
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

/** Cache of the holders' signatures, by the signed statement; the statement contains the signing key. */
const signaturesOf = onePer((_: BeliefsState) => new Recent<string, string>(MAX_SIGNATURES))
const MAX_SIGNATURES = 50_000

/** Maximum bytes of an answer without its items and vectors. */
const FRAME_BYTES = 65_536
/**
 * Upper bound for the bytes that one UTF-16 unit of an item's JSON text takes up in an answer. The text is a string within the JSON of the
 * answer, so some characters are escaped there.
 */
const MAX_BYTES_A_UNIT = 3

interface Part {
  /** One belief of the answer as JSON text. */
  readonly text: string
  readonly vector: Float32Array | undefined
}

/**
 * The first items that together fit into an answer of limited size. `limit`: number of items that the query asked for, which determines the
 * size.
 */
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

/** Number of bytes of a vector when it is encoded as base64. */
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
  // If the query asks for more items than allowed, fewer items are returned; the query is not rejected (BQ-118).
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

/**
 * The error for a query that took too long. It reports the time limit instead of the true duration, which would reveal how much work hidden
 * beliefs caused.
 */
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
  // The state identifier is computed in the same read as the results, so that a requester that later asks for changes since this state
  // misses none.
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
  // Checks again, when the items are made, that the requester may see each belief (BQ-095).
  const asking = { scope, sender: who.sender, limit }
  const show = (view: ShowView) => {
    return itemsOf(state, view, showCurrent(view, keys.slice(0, limit), question.scope), asking)
  }
  const { isCut, ...shownBeliefs } = lookAs(state, scope, who, show, time)
  return { ...shownBeliefs, more: isCut || hasMore, state: seen }
}

/** Reads the store with the permissions of the query's requester, restricted to the federation that the query names. */
function lookAs<T>(
  state: BeliefsState,
  { federation }: WireScope,
  { requester }: Who,
  body: (view: ShowView) => T,
  time?: TimeLimit,
): T {
  return state.look(requester, body, time, federation ?? undefined)
}

/**
 * The vector in the query; null: the query has none. Throws if it cannot be decoded, or has another number of dimensions than the vectors
 * of this node's embedding model.
 */
function vectorOf({ embedder }: LensHost, { vector }: WireQuery): Float32Array | null {
  if (vector === null) return null
  const found = vectorFromText(vector.values)
  if (found === null || found.length !== embedder?.model.dimensions) throw notUnderstood()
  return found
}

function questionOf({ scope, text, vector, filters, min_similarity }: WireQuery, requester: string): Question {
  const isList = text === null && vector === null
  // The trust weight is 0: trust that the sender may have stated on this node is not used, because the sender weighs the results with its
  // own trust.
  const context = toContext({ trust_weight: 0 }, { id: requester, trustGraph: null })
  return {
    semantic: textOf(text),
    // The cast is safe: bounds that are null are treated like absent ones.
    filters: filters.map(filter => toFilter(filter as BeliefFilter)),
    context,
    // The cast is safe: weights are null only if their sum is 0, and the default weights other than trust never add up to 0.
    weights: rankingWeights({ trustWeight: context.trustWeight, given: null, listMode: isList }) as RankingWeights,
    minSimilarity: min_similarity ?? null,
    scope: { local: false, federated: scope.kind === 'federated', network: scope.kind === 'network' },
  }
}

/** Makes a query text that contains no operators: the whole text is searched for by meaning. */
function textOf(text: string | null): CheckedText | null {
  return text === null ? null : { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
}
