/**
 * What nodes say to each other about beliefs (BQ-119 to BQ-126), as JSON. A question travels in an `Envelope` of
 * `identity/envelope.ts`; an answer is signed by the node that gives it, over the hash of each of its items, so that one
 * that was changed is told from those that were not. Instants are ISO 8601 in UTC with milliseconds.
 */
import type { JsonObject } from '../../../../base/canonical.ts'
import type { Confidence, Derivation, DerivationType, Dimension, Visibility } from '../../model.ts'

export const PROTOCOL = 1

/** Where a node answers questions of other nodes, and where it says who it is. */
export const QUERY_PATH = '/v1/nodes/query'
export const ABOUT_PATH = '/.well-known/querent'
/** Where it tells which nodes it knows, of those that its owner lets it tell. */
export const PEERS_PATH = '/v1/nodes/peers'

/** Vectors in texts: f32, little-endian, base64; of unit length. */
export interface WireVector {
  /** Key of the model. */
  readonly model: string
  readonly values: string
}

/** Which beliefs are asked for: those shared with one federation, which its members ask for, or public ones. */
export type WireScope =
  | { readonly kind: 'federated'; readonly federation: string }
  | { readonly kind: 'network'; readonly federation: null }

/** One part of the filters; all parts must hold. Holders, trust, reputation and overall confidence are never in it (BQ-121). */
export interface WireFilter {
  readonly valid_at: string | null
  readonly created_after: string | null
  readonly created_before: string | null
  /** Inclusive. */
  readonly min_confidence: Readonly<Partial<Record<Dimension, number>>>
  readonly domains_include: readonly string[] | null
  readonly domains_exclude: readonly string[]
  readonly derivation_types: readonly DerivationType[] | null
  readonly visibility_levels: readonly Visibility[] | null
}

export interface WireQuery {
  readonly protocol: typeof PROTOCOL
  readonly scope: WireScope
  /** What is looked for, operators and exclusions gone; null beside a vector, and in list mode. */
  readonly text: string | null
  /** In place of the text, for a node that is known to have this model. */
  readonly vector: WireVector | null
  readonly filters: readonly WireFilter[]
  /** 1 to 1,000. */
  readonly limit: number
  readonly timeout_ms: number
}

/** One belief, as it leaves a node. */
export interface WireItem {
  readonly id: string
  readonly content: string
  /** Hexadecimal SHA-256 of the content. */
  readonly content_hash: string
  readonly confidence: Confidence
  readonly valid_from: string
  readonly valid_until: string | null
  readonly derivation: Derivation
  readonly domains: readonly string[]
  readonly visibility: Visibility
  /** Those asked through: one, or none of a public belief. */
  readonly federation_ids: readonly string[]
  /** did:key of who holds a public belief; of a federated one a pseudonym, null where the federation is strict. */
  readonly holder_id: string | null
  readonly created_at: string
  /** Holders in the federation who say the same; null for public beliefs. */
  readonly member_count: number | null
  readonly embedding: WireVector | null
  /** By the holder, over `beliefStatement`; null behind a pseudonym, where the node's own signature stands for it. */
  readonly signature: string | null
}

export interface WireAnswer {
  readonly protocol: typeof PROTOCOL
  /** did:key of the node that answers. */
  readonly node: string
  /** did:key of who asked. */
  readonly audience: string
  /** Of the question. */
  readonly nonce: string
  readonly timestamp: string
  /** Key of the model that the node embeds with; null: it has none. */
  readonly model: string | null
  /** The vector is of another model: nothing was looked for, and the question should come again with its text. */
  readonly needs_text: boolean
  /** There are more that match. */
  readonly more: boolean
  readonly items: readonly WireItem[]
  /** Hexadecimal SHA-256 of the canonical JSON of each item, in their order. */
  readonly digests: readonly string[]
  /** By the node, over `answerStatement`. */
  readonly signature: string
}

/** What a holder signs of a public belief: all that its holder has said. */
export function beliefStatement(item: WireItem): JsonObject {
  const { embedding: _, signature: __, member_count: ___, federation_ids: ____, ...said } = item
  return { type: 'querent.belief.v1', ...said } as unknown as JsonObject
}

/** What a node signs of its answer. */
export function answerStatement({ items: _, signature: __, ...answer }: WireAnswer): JsonObject {
  return { type: 'querent.answer.v1', ...answer } as unknown as JsonObject
}

/** Who a node says that it is. */
export interface WireAbout {
  readonly protocol: typeof PROTOCOL
  /** did:key of the node. */
  readonly did: string
  /** Key of the model that it embeds with; null: it has none. */
  readonly model: string | null
  /** Whether it answers questions of other nodes at all. */
  readonly answers: boolean
  /** Whether it answers questions for public beliefs. */
  readonly network: boolean
  /** Federations that its owner lets it tell of, ascending. */
  readonly federations: readonly string[]
  /** When it said so. */
  readonly timestamp: string
  /** By the node, over `aboutStatement`. */
  readonly signature: string
}

export function aboutStatement({ signature: _, ...about }: WireAbout): JsonObject {
  return { type: 'querent.about.v1', ...about } as unknown as JsonObject
}

/** A node that another one knows. */
export interface WirePeer {
  /** What it is called there. */
  readonly id: string
  readonly address: string
  readonly did: string
  /** Whether it is asked for public beliefs there. */
  readonly network: boolean
}

/** The answer at `PEERS_PATH`. */
export interface WirePeers {
  readonly protocol: typeof PROTOCOL
  /** did:key of the node that answers. */
  readonly node: string
  readonly timestamp: string
  /** By id, at most 32. */
  readonly peers: readonly WirePeer[]
  /** By the node, over `peersStatement`. */
  readonly signature: string
}

export function peersStatement({ signature: _, ...peers }: WirePeers): JsonObject {
  return { type: 'querent.peers.v1', ...peers } as unknown as JsonObject
}
