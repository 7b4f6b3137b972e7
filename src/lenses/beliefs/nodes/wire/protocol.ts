/**
 * Messages between nodes about beliefs (BQ-119 to BQ-126), as JSON: unknown fields are rejected, and everything has a maximum size. A query
 * is sent in an `Envelope` of `identity/messages.ts`; an answer is signed by the answering node. In an answer, all items are one text and
 * all vectors another; the signature covers the hashes of the two texts, so that nobody has to serialise hundreds of items again to verify
 * it. Times are ISO 8601 in UTC with milliseconds.
 */
import * as z from 'zod'
import { type Json, type JsonObject, sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import { isRecord } from '../../../../base/record.ts'
import { isStorable } from '../../../../base/storable.ts'
import type { Keys } from '../../../../identity/keys.ts'
import {
  type Envelope,
  isStatementOf,
  isTimely,
  type NodeIdentity,
  newNonce,
  sealEnvelope,
  signStatement,
} from '../../../../identity/messages.ts'
import { isIso, toIso } from '../../../../model/instant.ts'
import { MAX_ID_LENGTH } from '../../../../model/limits.ts'
import { isFederationName } from '../../../../model/partition.ts'
import type { LensHost } from '../../../lens.ts'
import type { Dimension } from '../../dimensions.ts'
import { byDimension, CONTRIBUTIONS, DERIVATION_TYPES, VISIBILITIES } from '../../model.ts'
import { type CheckedFilters, NO_FILTER } from '../../schema/filters.ts'
import type { CheckedQuery } from '../../schema/query.ts'
import { did, normaliseDomain, type Value } from '../../schema/values.ts'
import type { AskedSource } from '../remote-belief.ts'

/**
 * Largest deviation from 1 that the norm (Euclidean length) of a received vector may have. It allows for single precision and for
 * implementations that round differently.
 */
const TOLERANCE = 1e-3
const MAX_DIMENSIONS = 8_192
const BYTES = 4

/** Encodes vectors of equal length as one base64 text: 32-bit floats, little-endian on every machine, one vector after the other. */
export function vectorsToText(vectors: readonly Float32Array[]): string {
  const bytes = Buffer.concat(vectors.map(bytesOf))
  if (!IS_LITTLE_ENDIAN) bytes.swap32()
  return bytes.toString('base64')
}

/**
 * Decodes vectors from base64. Returns null if the text does not contain exactly `count` vectors of this length. A vector whose numbers are
 * not finite, or that is not of unit length, is null in the list.
 */
export function vectorsFromText(
  text: string,
  dimensions: number,
  count: number,
): readonly (Float32Array | null)[] | null {
  const bytes = Buffer.from(text, 'base64')
  // Node's `Buffer` ignores characters that are not base64; if there were any, the text is longer than its bytes require, and is refused.
  if (bytes.length !== count * dimensions * BYTES || text.length !== Math.ceil(bytes.length / 3) * 4) return null
  if (!IS_LITTLE_ENDIAN) bytes.swap32()
  const all = floatsOf(bytes)
  return Array.from({ length: count }, (_, at) => unitOrNull(all.subarray(at * dimensions, (at + 1) * dimensions)))
}

/** Decodes one vector of any number of dimensions; null if a number is not finite or the vector is not of unit length. */
export function vectorFromText(text: string): Float32Array | null {
  const dimensions = Math.floor((text.length / 4) * 3) / BYTES
  const count = Math.floor(dimensions)
  if (count < 1 || count > MAX_DIMENSIONS) return null
  return vectorsFromText(text, count, 1)?.[0] ?? null
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/**
 * Interprets bytes as 32-bit floats, without copying if they are aligned to four bytes. Short buffers may be unaligned, because they are
 * parts of a larger block, and are copied.
 */
function floatsOf(bytes: Buffer): Float32Array {
  const whole = bytes.byteOffset % BYTES === 0 ? bytes : Uint8Array.from(bytes)
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength / BYTES)
}

function unitOrNull(vector: Float32Array): Float32Array | null {
  let squares = 0
  for (let at = 0; at < vector.length; at++) squares += (vector[at] as number) ** 2
  // If a number is not finite, the sum of squares is NaN or infinite, so the comparison is false.
  return Math.abs(Math.sqrt(squares) - 1) <= TOLERANCE ? vector : null
}

/**
 * Time of the machine's clock if the host provides one, otherwise of the host's clock. Times in messages of other machines are compared
 * with it.
 */
export function machineNow({ node, clock }: LensHost): Instant {
  return node?.now() ?? clock.now()
}

type Seal = Pick<WireChanges, 'protocol' | 'node' | 'audience' | 'nonce' | 'timestamp' | 'signature'>

export function sealedQuestion(
  host: LensHost,
  keys: Keys,
  audience: string,
  query: WireQuery | WireChangesQuery,
): Envelope {
  const nonce = newNonce(bytes => host.random(bytes))
  // The cast is safe: a query is plain data, but its interface has no index signature.
  return sealEnvelope(keys, query as unknown as Json, { audience, timestamp: machineNow(host), nonce })
}

export function sealedAnswer<T extends object>(
  node: NodeIdentity,
  { sender, nonce }: Envelope,
  said: T,
  statementOf: (answer: T & Seal) => JsonObject,
): T & Seal {
  const keys = node.keys()
  const seal: Seal = {
    ...{ protocol: PROTOCOL, node: keys.did, audience: sender, nonce },
    ...{ timestamp: toIso(node.now()), signature: '' },
  }
  const open = { ...said, ...seal }
  return { ...open, signature: signStatement(keys, statementOf(open)) }
}

/**
 * Whether an answer is recent, answers this query (by its nonce), and is signed by the node with this key. `statement`: the text that the
 * node must have signed.
 */
export function isAnswerTo(
  envelope: Envelope,
  did: string,
  answer: Seal,
  statement: JsonObject,
  now: Instant,
): boolean {
  const { node, audience, nonce, timestamp, signature } = answer
  if (node !== did || audience !== envelope.sender || nonce !== envelope.nonce) return false
  return isTimely(Date.parse(timestamp), now) && isStatementOf(did, statement, signature)
}

/**
 * Version of the protocol between nodes. It is increased when nodes of the previous version cannot read the new messages. Since version 2
 * items contain the name of the belief's chain of versions.
 */
export const PROTOCOL = 2

/** Whether a message states another version of the protocol, so that the meaning of its other fields is unknown. */
export function isOtherVersion(given: unknown): boolean {
  return isRecord(given) && typeof given['protocol'] === 'number' && given['protocol'] !== PROTOCOL
}

/** HTTP paths at which a node answers the queries of other nodes (`QUERY_PATH`) and identifies itself (`ABOUT_PATH`). */
export const QUERY_PATH = '/v1/nodes/query'
export const ABOUT_PATH = '/.well-known/querent'
/** HTTP path at which a node answers requests for a notice that visible beliefs have changed. */
export const CHANGES_PATH = '/v1/nodes/changes'

const MAX_CONTENT_BYTES = 65_536
/** Maximum length of a query's text in UTF-16 units: 4,096 characters of at most two units each. */
const MAX_QUERY_TEXT = 8_192
const MAX_DOMAINS = 50
const MAX_SOURCES = 1_000
const MAX_FILTERS = 16
/** Maximum number of items in an answer; the requesting node accepts no more items than it requested. */
export const MAX_ITEMS = 1_000

const instant = z.string().refine(isIso).meta({ format: 'date-time' })
const share = z.number().min(0).max(1)
/** A text without NUL characters and unpaired surrogates, which could not be stored and hashed in one unambiguous way. */
const text = z.string().refine(isStorable)
const id = text.min(1).max(MAX_ID_LENGTH)
const domain = z.string().refine(text => normaliseDomain(text) === text)
const note = text.max(10_000).nullable()
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const base64url = z.string().max(200)
const federation = z.string().refine(isFederationName)
const modelName = text.min(1).max(400)

const protocol = z.literal(PROTOCOL).describe('Version of the protocol')
const byNode = base64url.describe('Ed25519 in base64url over the other fields, by the node')
const stateText = z.string().min(1).max(100)

/** A vector of unit length with the model that made it; the numbers are 32-bit floats, little-endian, in base64. */
const vector = z.strictObject({
  model: modelName.describe('Key of the model that made it'),
  values: z
    .string()
    .max(Math.ceil((MAX_DIMENSIONS * 4) / 3) * 4)
    .describe('32-bit floats, little-endian, in base64; of unit length'),
})

/**
 * One set of filters of a query; a belief must meet all sets. Filters on holders, trust, reputation and overall confidence are never sent
 * to other nodes (BQ-121).
 */
const filter = z.strictObject({
  valid_at: instant.nullable().describe('Holds at this moment; null: at any'),
  created_after: instant.nullable().describe('Written at this moment or later; null: no bound'),
  created_before: instant.nullable().describe('Written at this moment or earlier; null: no bound'),
  min_confidence: z
    .strictObject(
      byDimension(meaning => share.optional().describe(`Lowest value, 0 to 1, of: ${meaning}. Default: no bound`)),
    )
    .describe('Lowest confidence by dimension'),
  domains_include: z.array(domain).max(MAX_DOMAINS).nullable().describe('In one of these or below it; null: in any'),
  domains_exclude: z.array(domain).max(MAX_DOMAINS).describe('In none of these and not below them'),
  derivation_types: z
    .array(z.enum(DERIVATION_TYPES))
    .max(DERIVATION_TYPES.length)
    .nullable()
    .describe('Derived in one of these ways; null: in any'),
  visibility_levels: z
    .array(z.enum(VISIBILITIES))
    .max(VISIBILITIES.length)
    .nullable()
    .describe('With one of these visibilities; null: with any'),
})

export type WireFilter = Value<typeof filter>

/** Which beliefs are requested: those shared with a federation, available to its members only, or public ones. */
const scope = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('federated').describe('What a federation shares'),
      federation: federation.describe('Name of the federation'),
    }),
    z.strictObject({
      kind: z.literal('network').describe('Public beliefs'),
      federation: z.null().describe('No federation: they are for everybody'),
    }),
  ])
  .describe('Which beliefs are meant')

export type WireScope = Value<typeof scope>

export const wireQuery = z.strictObject({
  protocol,
  scope,
  text: text
    .min(1)
    .max(MAX_QUERY_TEXT)
    .nullable()
    .describe('Text to search, without operators; null with a vector, and in a list'),
  vector: vector.nullable().describe('In place of the text, for a node that has its model; null: the text says it'),
  filters: z.array(filter).max(MAX_FILTERS).describe('Conditions that a belief must meet, all of them'),
  min_similarity: z
    .number()
    .min(-1)
    .max(1)
    .optional()
    .describe(
      'Lowest cosine with the text of a belief that takes part; -1: all. Default: calibrated by the answering node',
    ),
  limit: z.int().min(1).describe('Most results, 1 or more; cut to 1,000'),
  timeout_ms: z.int().min(1).describe('Milliseconds for the answer, 1 or more; cut to 30,000'),
})

export type WireQuery = Value<typeof wireQuery>

/** One belief as it is sent to another node. */
const item = z.strictObject({
  id,
  /**
   * Name of the belief through all of its versions. For a belief from a federation it differs for each requester. It reveals nothing about
   * the holder or earlier versions.
   */
  chain: z.string().min(1).max(100),
  content: text.min(1).refine(content => Buffer.byteLength(content) <= MAX_CONTENT_BYTES),
  content_hash: hash,
  confidence: z.strictObject(byDimension(() => share.nullable())),
  valid_from: instant,
  valid_until: instant.nullable(),
  derivation: z.strictObject({
    type: z.enum(DERIVATION_TYPES),
    sources: z
      .array(
        z.strictObject({
          belief_id: id.nullable(),
          external_ref: note,
          contribution_type: z.enum(CONTRIBUTIONS),
          weight: share,
        }),
      )
      .max(MAX_SOURCES),
    method_description: note,
    confidence_rationale: note,
    note,
  }),
  domains: z.array(domain).max(MAX_DOMAINS),
  visibility: z.enum(VISIBILITIES),
  /** The federation through which the belief was requested, as a list of one; empty for a public belief. */
  federation_ids: z.array(federation).max(1),
  /**
   * For a public belief, the did:key of its holder. For a federated belief a pseudonym, or null if the federation hides its holders
   * completely (is strict).
   */
  holder_id: text.max(300).nullable(),
  created_at: instant,
  /** Number of holders in the federation who hold a belief with equal content; null for public beliefs. */
  member_count: z.int().min(1).nullable(),
  /** Whether the answer contains a vector for this belief. */
  is_embedded: z.boolean(),
  /**
   * Signature of the holder over `beliefStatement`. Null for a federated belief: its holder is not named, and the node's signature over the
   * answer covers the item.
   */
  signature: base64url.nullable(),
})
export type WireItem = Value<typeof item>

/**
 * A request to be notified when the beliefs that the sender may see in a scope are no longer in a given state. It is sent in a signed
 * envelope, like a query.
 */
export const wireChangesQuery = z.strictObject({
  protocol,
  scope,
  since: stateText
    .nullable()
    .describe('State of an earlier answer: a change from it is reported; null: report the current state'),
  wait_ms: z.int().min(0).describe('Milliseconds that the answer may be held back while nothing changes, 0 or more'),
})

export type WireChangesQuery = Value<typeof wireChangesQuery>

/** Fields that all signed answers between nodes have. */
const sealed = {
  protocol,
  node: did.describe('did:key of the node that answers'),
  audience: did.describe('did:key of the requesting agent'),
  nonce: base64url.describe('Nonce of the request'),
  timestamp: instant.describe('When it was answered'),
  state: stateText.describe('Changes with what the sender may see, and only then'),
  signature: byNode,
}

export const wireChanges = z.strictObject(sealed)
export type WireChanges = Value<typeof wireChanges>

export const wireAnswer = z.strictObject({
  ...sealed,
  model: modelName.nullable().describe('Key of the model that the node embeds with; null: none'),
  needs_text: z
    .boolean()
    .describe('Whether the vector is of another model: nothing was searched; send the text instead'),
  more: z.boolean().describe('Whether there are more matches than the limit or the budget allows'),
  items: z.string().describe('JSON of a list of beliefs, as docs/guide/nodes.md describes them'),
  vectors: z
    .strictObject({
      model: modelName.describe('Key of the model that made them'),
      dimensions: z.int().min(1).max(MAX_DIMENSIONS).describe('Numbers of a vector'),
      values: z.string().describe('32-bit floats, little-endian, in base64, one vector after the other'),
    })
    .nullable()
    .describe('Vectors of the items that are embedded, in their order; null: none is'),
})

export type WireAnswer = Value<typeof wireAnswer>
export type WireVectors = NonNullable<WireAnswer['vectors']>

export const wireAbout = z.strictObject({
  protocol,
  did: did.describe('did:key of this node'),
  model: modelName.nullable().describe('Key of the model that it embeds with; null: none'),
  answers: z.boolean().describe('Whether it answers other nodes'),
  network: z.boolean().describe('Whether it answers queries for public beliefs'),
  timestamp: instant.describe('Time by its clock'),
  signature: byNode,
})
export type WireAbout = Value<typeof wireAbout>

/** Makes a parser from a schema; the parser returns null for input that does not match. */
function reading<T extends z.ZodType>(schema: T): (given: unknown) => Value<T> | null {
  // The cast is safe: the value is the output of the schema, and its type differs only in readonly modifiers.
  return given => (schema.safeParse(given).data as Value<T> | undefined) ?? null
}

export const asQuery = reading(wireQuery)
/**
 * Parses an answer. Its items remain a text at first: each item is parsed separately, so that an invalid item does not invalidate the
 * others.
 */
export const asAnswer = reading(wireAnswer)
export const asItem = reading(item)
export const asChangesQuery = reading(wireChangesQuery)
export const asChanges = reading(wireChanges)
export const asAbout = reading(wireAbout)

/**
 * Maximum bytes of an answer with one item of the greatest length. A character of the item can take up to seven bytes, because the item's
 * JSON is a string within JSON.
 */
const LONGEST_ITEM_BYTES = 2 * 2 ** 20
/** Bytes added to the maximum size of an answer for each requested item; most items are far shorter. */
const ITEM_BYTES = 131_072
const MAX_BYTES = 64 * 2 ** 20

/** Maximum bytes of an answer to a query for `limit` items; the answering node leaves out items that do not fit. */
export function maxAnswerBytes(limit: number): number {
  return Math.min(MAX_BYTES, LONGEST_ITEM_BYTES + limit * ITEM_BYTES)
}

/** The statement that the holder of a public belief signs: all fields of the item that the holder has determined. */
export function beliefStatement(item: WireItem): JsonObject {
  const { is_embedded: _, signature: __, member_count: ___, federation_ids: ____, chain: _____, ...said } = item
  return { type: 'querent.belief.v1', ...said } as unknown as JsonObject
}

/** The statement that a node signs for an answer: the hashes of the texts of items and vectors, and all other fields. */
export function answerStatement({ items, vectors, signature: _, ...answer }: WireAnswer): JsonObject {
  return {
    type: 'querent.answer.v1',
    ...answer,
    items: sha256(items),
    vectors: vectors && { ...vectors, values: sha256(vectors.values) },
  }
}

export function changesStatement({ signature: _, ...changes }: WireChanges): JsonObject {
  return { type: 'querent.changes.v1', ...changes }
}

export function aboutStatement({ signature: _, ...about }: WireAbout): JsonObject {
  return { type: 'querent.about.v1', ...about } as unknown as JsonObject
}

// The part of a query that is sent to other nodes (BQ-121): without weights, and without any information about whom the requester trusts.

export interface WireQueryParts {
  readonly source: AskedSource
  readonly query: CheckedQuery
  /** Vector of the query's text that is sent in place of the text; null: the text itself is sent. */
  readonly vector: { readonly model: string; readonly values: Float32Array } | null
  readonly asOf: Instant
  readonly timeoutMs: number
}

export function scopeOf({ kind, id }: AskedSource): WireScope {
  return kind === 'federated' ? { kind, federation: id } : { kind, federation: null }
}

export function wireQueryOf({ source, query, vector, asOf, timeoutMs }: WireQueryParts): WireQuery {
  const { semantic, filters, options, context } = query
  const parts = filters.length === 0 ? [NO_FILTER] : filters
  const isAged = context.queryDomains.length > 0
  return {
    protocol: PROTOCOL,
    scope: scopeOf(source),
    text: vector === null ? (semantic?.base ?? null) : null,
    vector: vector === null ? null : { model: vector.model, values: vectorsToText([vector.values]) },
    filters: withMoment(
      parts.map(part => wireFilter(part, asOf, isAged)),
      asOf,
    ),
    ...(options.minSimilarity !== null && { min_similarity: options.minSimilarity }),
    limit: options.maxResultsPerNode,
    timeout_ms: Math.max(1, Math.floor(timeoutMs)),
  }
}

/**
 * Adds the query's time to the filters if they give no time of validity, so that both nodes select beliefs that are valid at one moment,
 * whatever their clocks say.
 */
function withMoment(filters: readonly WireFilter[], asOf: Instant): readonly WireFilter[] {
  if (filters.some(filter => filter.valid_at !== null)) return filters
  return filters.map((filter, at) => (at === 0 ? { ...filter, valid_at: toIso(asOf) } : filter))
}

/**
 * Converts filters to the form in which they are sent to other nodes, where all bounds are inclusive. If a bound of the query is exclusive,
 * this node applies it itself to the beliefs that it receives.
 */
function wireFilter(filter: CheckedFilters, asOf: Instant, isAged: boolean): WireFilter {
  const { validAt, createdBefore, domainsInclude, domainsExclude, derivationTypes, visibilityLevels } = filter
  return {
    valid_at: isoOrNull(validAt),
    created_after: isoOrNull(createdAfter(filter, asOf)),
    created_before: isoOrNull(createdBefore),
    min_confidence: boundsOf(filter, isAged),
    domains_include: domainsInclude,
    domains_exclude: domainsExclude,
    derivation_types: derivationTypes && [...derivationTypes],
    visibility_levels: visibilityLevels && [...visibilityLevels],
  }
}

function createdAfter({ createdAfter: after, createdWithinMs: within }: CheckedFilters, asOf: Instant): Instant | null {
  if (within === null) return after
  return Math.max(after ?? Number.NEGATIVE_INFINITY, asOf - within)
}

/**
 * The minimum confidences that are sent to another node, by dimension. Bounds on overall confidence are not sent, because it depends on the
 * requester's weights; a bound on freshness is not sent if the query names domains, because the decay then depends on them.
 */
function boundsOf({ confidence }: CheckedFilters, isAged: boolean): WireFilter['min_confidence'] {
  const bounds = new Map<Dimension, number>()
  for (const { of, bound } of confidence) {
    if (of === 'overall' || (of === 'temporal_freshness' && isAged)) continue
    bounds.set(of, Math.max(bounds.get(of) ?? 0, bound))
  }
  return Object.fromEntries(bounds)
}

function isoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : toIso(instant)
}
