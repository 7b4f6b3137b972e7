/** What may come over the wire, shape by shape: nothing unknown, nothing without bound. */
import * as z from 'zod'
import { isStorable } from '../../../../base/storable.ts'
import { publicKeyOf } from '../../../../identity/did-key.ts'
import { isIso } from '../../../../model/instant.ts'
import { MAX_ID_LENGTH } from '../../../../model/limits.ts'
import { isFederationName } from '../../../../model/partition.ts'
import { addressOf } from '../../check/peers.ts'
import { normaliseDomain } from '../../measures/domains.ts'
import { CONTRIBUTIONS, DERIVATION_TYPES, DIMENSIONS, VISIBILITIES } from '../../model.ts'
import {
  PROTOCOL,
  type WireAbout,
  type WireAnswer,
  type WireChanges,
  type WireChangesQuery,
  type WireItem,
  type WirePeers,
  type WireQuery,
} from './protocol.ts'
import { MOST_DIMENSIONS } from './vectors.ts'

const MOST_CONTENT_BYTES = 65_536
/** 4,096 characters, each of which may take two units. */
const MOST_QUERY_TEXT = 8_192
const MOST_DOMAINS = 50
const MOST_SOURCES = 1_000
const MOST_FILTERS = 16
const MOST_FEDERATIONS = 1_000
/** That one node tells of. */
export const MOST_PEERS = 32
/** Of one answer; an asker takes no more than it asked for. */
export const MOST_ITEMS = 1_000

const instant = z.string().refine(isIso)
const share = z.number().min(0).max(1)
/** Without NUL and halves of pairs: one text has one hash. */
const text = z.string().refine(isStorable)
const id = text.min(1).max(MAX_ID_LENGTH)
const domain = z.string().refine(text => normaliseDomain(text) === text)
const didKey = z.string().refine(text => publicKeyOf(text) !== null)
const note = text.max(10_000).nullable()
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const base64url = z.string().max(200)
const stateText = z.string().min(1).max(100)
const federation = z.string().refine(isFederationName)
const modelName = text.min(1).max(400)
const vector = z.strictObject({
  model: modelName,
  values: z.string().max(Math.ceil((MOST_DIMENSIONS * 4) / 3) * 4),
})

const dimensions = Object.fromEntries(DIMENSIONS.map(name => [name, share.nullable()]))
const bounds = Object.fromEntries(DIMENSIONS.map(name => [name, share.optional()]))

const filter = z.strictObject({
  valid_at: instant.nullable(),
  created_after: instant.nullable(),
  created_before: instant.nullable(),
  min_confidence: z.strictObject(bounds),
  domains_include: z.array(domain).max(MOST_DOMAINS).nullable(),
  domains_exclude: z.array(domain).max(MOST_DOMAINS),
  derivation_types: z.array(z.enum(DERIVATION_TYPES)).max(DERIVATION_TYPES.length).nullable(),
  visibility_levels: z.array(z.enum(VISIBILITIES)).max(VISIBILITIES.length).nullable(),
})

const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('federated'), federation }),
  z.strictObject({ kind: z.literal('network'), federation: z.null() }),
])

const query = z.strictObject({
  protocol: z.literal(PROTOCOL),
  scope,
  text: text.min(1).max(MOST_QUERY_TEXT).nullable(),
  vector: vector.nullable(),
  filters: z.array(filter).max(MOST_FILTERS),
  limit: z.int().min(1),
  timeout_ms: z.int().min(1),
})

const item = z.strictObject({
  id,
  content: text.min(1).refine(content => Buffer.byteLength(content) <= MOST_CONTENT_BYTES),
  content_hash: hash,
  confidence: z.strictObject(dimensions),
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
      .max(MOST_SOURCES),
    method_description: note,
    confidence_rationale: note,
    note,
  }),
  domains: z.array(domain).max(MOST_DOMAINS),
  visibility: z.enum(VISIBILITIES),
  federation_ids: z.array(federation).max(1),
  holder_id: text.max(300).nullable(),
  created_at: instant,
  member_count: z.int().min(1).nullable(),
  is_embedded: z.boolean(),
  signature: base64url.nullable(),
})

const changesQuery = z.strictObject({
  protocol: z.literal(PROTOCOL),
  scope,
  since: stateText.nullable(),
  wait_ms: z.int().min(0),
})

/** What all signed answers say. */
const sealed = {
  protocol: z.literal(PROTOCOL),
  node: didKey,
  audience: didKey,
  nonce: base64url,
  timestamp: instant,
  state: stateText,
  signature: base64url,
}

const changes = z.strictObject(sealed)

const answer = z.strictObject({
  ...sealed,
  model: modelName.nullable(),
  needs_text: z.boolean(),
  more: z.boolean(),
  items: z.string(),
  vectors: z
    .strictObject({ model: modelName, dimensions: z.int().min(1).max(MOST_DIMENSIONS), values: z.string() })
    .nullable(),
})

const about = z.strictObject({
  protocol: z.literal(PROTOCOL),
  did: didKey,
  model: modelName.nullable(),
  answers: z.boolean(),
  network: z.boolean(),
  federations: z.array(federation).max(MOST_FEDERATIONS),
  timestamp: instant,
  signature: base64url,
})

const peer = z.strictObject({
  id: z.string().refine(isFederationName),
  address: z.string().refine(text => addressOf(text) === text),
  did: didKey,
  network: z.boolean(),
})

const peers = z.strictObject({
  protocol: z.literal(PROTOCOL),
  node: didKey,
  timestamp: instant,
  // Each key once: what is told of one must not be told of it twice.
  peers: z
    .array(peer)
    .max(MOST_PEERS)
    .refine(list => new Set(list.map(({ did }) => did)).size === list.length),
  signature: base64url,
})

/** Null for anything else. */
export function asQuery(value: unknown): WireQuery | null {
  return (query.safeParse(value).data as WireQuery | undefined) ?? null
}

/** Its items are still a text: each is looked at by itself, so that one that is wrong spoils no other. */
export function asAnswer(value: unknown): WireAnswer | null {
  return answer.safeParse(value).data ?? null
}

export function asItem(value: unknown): WireItem | null {
  return (item.safeParse(value).data as WireItem | undefined) ?? null
}

export function asChangesQuery(value: unknown): WireChangesQuery | null {
  return changesQuery.safeParse(value).data ?? null
}

export function asChanges(value: unknown): WireChanges | null {
  return changes.safeParse(value).data ?? null
}

export function asAbout(value: unknown): WireAbout | null {
  return about.safeParse(value).data ?? null
}

export function asPeers(value: unknown): WirePeers | null {
  return peers.safeParse(value).data ?? null
}
