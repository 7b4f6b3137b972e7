/**
 * Schemas of the data of the beliefs lens as seen by clients (names in snake_case): a belief, and the answer to a query. The schemas are
 * published, and the types are derived from them. Times are ISO 8601 in UTC with milliseconds; no field is ever undefined, unknown values
 * are null.
 */
import { z } from 'zod'
import { DIMENSIONS, type Dimension } from './dimensions.ts'
import { flag, object, type Value } from './schema/values.ts'

export const VISIBILITIES = ['private', 'federated', 'public'] as const
export type Visibility = (typeof VISIBILITIES)[number]

export const DERIVATION_TYPES = [
  'observation',
  'inference',
  'aggregation',
  'hearsay',
  'assumption',
  'correction',
  'synthesis',
] as const
export type DerivationType = (typeof DERIVATION_TYPES)[number]

export const CONTRIBUTIONS = ['primary', 'supporting', 'contradicting', 'context'] as const
export type Contribution = (typeof CONTRIBUTIONS)[number]

export const SCOPE_KINDS = ['local', 'federated', 'network'] as const
export type ScopeKind = (typeof SCOPE_KINDS)[number]

/** Ways to merge results of several sources into one list (BQ-127 to BQ-129). */
export const MERGE_STRATEGIES = ['rerank', 'interleave', 'waterfall'] as const
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number]

/** What each confidence dimension measures, as text for schemas and explanations. */
export const DIMENSION_TEXTS: Readonly<Record<Dimension, string>> = {
  source_reliability: 'How often the source has been right before',
  method_quality: 'How sound the method is by which it was found',
  internal_consistency: 'How well it agrees with other beliefs of the holder',
  temporal_freshness: 'How current it was when it was written; it fades with age, faster in some domains',
  corroboration: 'How far independent sources confirm it',
  domain_applicability: 'How well it applies in the domains that it names',
}

/** Makes an object schema with one field for each confidence dimension. */
export function byDimension<T extends z.ZodType>(
  of: (meaning: string, dimension: Dimension) => T,
): Record<Dimension, T> {
  return Object.fromEntries(DIMENSIONS.map(name => [name, of(DIMENSION_TEXTS[name], name)])) as Record<Dimension, T>
}

/** Schemas of fields in answers. They describe the answers to clients, and tests check answers against them. */
export const text: z.ZodString = z.string()
export const moment = z.string().meta({ format: 'date-time' })
export const count = z.int().min(0)
/** A number from 0 to 1. */
export const level = z.number().min(0).max(1)

const note = text.nullable()

export const derivation = object({
  type: z.enum(DERIVATION_TYPES).describe('How the holder came to the belief'),
  sources: z
    .array(
      object({
        belief_id: note.describe('Version of a belief that it rests on; null where the source is outside'),
        external_ref: note.describe(
          'Reference outside, such as a URL or a citation; null where the source is a belief',
        ),
        contribution_type: z.enum(CONTRIBUTIONS).describe('What part the source plays'),
        weight: level.describe('How much the source counts for, 0 to 1'),
      }),
    )
    .describe('Sources in the order of the holder, without those that the requester may not see'),
  method_description: note.describe('How it was derived, in words; null: not given'),
  confidence_rationale: note.describe('Why it is as sure as stated; null: not given'),
  note: note.describe('Type as the holder wrote it, if it is not a known type; else null'),
})
export type Derivation = Value<typeof derivation>
export type DerivationSource = Derivation['sources'][number]

const confidence = object(byDimension(meaning => level.nullable().describe(`${meaning}, 0 to 1; null: not known`)))
/** Values of the six confidence dimensions, each 0 to 1; null: unknown, which does not count as 0. */
export type Confidence = Value<typeof confidence>

/**
 * One version of a belief as a requester sees it: ids that the requester may not see are left out, and the holder may be hidden or shown
 * under a pseudonym.
 */
export const belief = object({
  id: text.describe('Name of this version, unique among those of its holder'),
  version: z.int().min(1).describe('From 1; one more with every version'),
  content: text.describe('The statement in words; empty where it was deleted'),
  content_hash: text.describe('SHA-256 over the UTF-8 of the content, 64 hexadecimal digits'),
  confidence: confidence.describe('How sure the holder is, in six dimensions'),
  valid_from: moment.describe('When it begins to hold'),
  valid_until: moment.nullable().describe('When it ceases to hold; null: it has no end'),
  derivation: derivation.describe('Premises'),
  domains: z.array(text).describe('Domains that it belongs to, as paths such as science/biology'),
  visibility: z.enum(VISIBILITIES).describe('Who may see it besides its holder'),
  federation_ids: z
    .array(text)
    .describe(
      'Federations it is shared with: all of them for its holder, else those through which the requester sees it',
    ),
  holder_id: note.describe('Agent that believes it, or its pseudonym; null: its federation shows no holders'),
  created_at: moment.describe('When this version was written'),
  supersedes: note.describe('Version that it replaced; null: it is the first'),
  superseded_by: note.describe('Version that replaced it; null: it is current'),
  embedding_model: note.describe('Key of the model of its vector; null: it has none yet'),
  deleted_at: moment.nullable().describe('When it was deleted; null: it was not'),
})
export type Belief = Value<typeof belief>

export const source = object({
  kind: z.enum(SCOPE_KINDS).describe('Through which scope the requester sees it'),
  id: note.describe('Federation it came through, or node that a public belief came from; null: neither'),
})
export type BeliefSource = Value<typeof source>

const components = object({
  semantic_similarity: z.number().nullable().describe('(cosine + 1) / 2, 0 to 1; null without a text to compare with'),
  confidence_score: z.number().describe('Weighted mean of the six dimensions, 0 to 1'),
  trust_score: z
    .number()
    .describe(
      'Trust of the requester in the holder, 0 to 1; through a federation trust in the federation, or with pseudonyms 0.1, 0.3 or 0.7',
    ),
  recency_score: z.number().describe('Freshness that is left at its age, 0 to 1'),
  diversity_penalty: z.number().describe('0, or negative if results above it are similar'),
})
export type ScoreComponents = Value<typeof components>

export const score = object({
  final: z.number().describe('Weighted sum of the parts, 0 to 1; results are ordered by it, best first'),
  components: components.describe('Parts before they are weighted'),
})

export const chainLink = object({
  belief_id: text.describe('Version at this step'),
  depth: count.describe('Steps from the given belief, which is 0'),
  contribution_type: z
    .enum(CONTRIBUTIONS)
    .nullable()
    .describe('Its contribution to the belief that it was first reached from; null for the belief itself'),
  content_preview: text.describe('First 200 characters of the content'),
  derivation_type: z.enum(DERIVATION_TYPES).describe('How its holder came to it'),
  overall: level.nullable().describe('Confidence over all dimensions, 0 to 1; null: none of them is known'),
  created_at: moment.describe('When that version was written'),
})
export type ChainLink = Value<typeof chainLink>

export const derivationChain = object({
  belief_id: text.describe('Version in the request'),
  depth: count.describe('Steps back that are shown'),
  chain: z.array(chainLink).describe('The belief, then its premises, nearest first'),
})
export type DerivationChain = Value<typeof derivationChain>

const counted = {
  weight: z.number().describe('Share of the part in the score, 0 to 1'),
  contribution: z.number().describe('Value times weight, 0 to 1'),
}

/**
 * Trust that the requester has stated in its own trust edge, with exact numbers. Trust that rests on other agents' edges is only shown as a
 * band: low, medium or high (BQ-107).
 */
const directTrust = object({
  level: level.describe('Level as the requester stated it, 0 to 1'),
  entries: z.record(z.string(), level).describe('Levels by domain of the query, 0 to 1'),
  base: level.describe('Level and entries combined, before decay'),
  days_since_use: z.number().min(0).describe('Days since the statement was used last'),
  rate: z.number().min(0).describe('Share that fades in a day'),
  decayed: z.number().describe('Value after decay, 0 to 1'),
  value: z.number().describe('Effective level, 0 to 1; decay alone never takes it below that of a stranger'),
  distrusted: flag.describe('Whether the requester states distrust'),
})

export const TRUST_KINDS = ['self', 'direct', 'transitive', 'reputation', 'default'] as const
export const trustKind = z.enum(TRUST_KINDS)
export const trustBand = z.enum(['low', 'medium', 'high'])
export const sourcesBand = z.enum(['one', 'several'])

const explanationParts = {
  semantic: object({
    value: z.number().nullable().describe('Similarity to the text, 0 to 1; null without a text'),
    ...counted,
    measured_by: z.enum(['vector', 'words', 'nothing']).describe('What the similarity was measured by'),
    cosine_distance: z.number().nullable().describe('1 - cosine, 0 to 2; null where no vectors were compared'),
    matched_terms: z.array(text).describe('Words and phrases of the query that stand in the content'),
  }).describe('What meaning contributes'),
  confidence: object({
    value: z.number().describe('Confidence as ranking counts it, 0 to 1'),
    ...counted,
    overall: z.number().nullable().describe('Weighted mean of the known dimensions, 0 to 1; null: none is known'),
    dimension_weights: object(byDimension(meaning => z.number().describe(`Weight, 0 to 1, of: ${meaning}`))).describe(
      'Weights of the dimensions, together 1',
    ),
    weakest: object({
      dimension: z.enum(DIMENSIONS).describe('Name of the dimension'),
      value: level.nullable().describe('How sure the holder is there, 0 to 1'),
    })
      .nullable()
      .describe('Dimension that lowers it most; null: none is known'),
    incomplete: flag.describe('Whether a dimension is not known'),
    missing: z.array(z.enum(DIMENSIONS)).describe('Dimensions that are not known'),
  }).describe('What confidence contributes'),
  trust: object({
    value: z.number().describe('Trust in the holder, 0 to 1'),
    ...counted,
    kind: trustKind.describe('What the trust rests on'),
    of: z
      .enum(['holder', 'federation'])
      .describe('Whom the trust is in: a federation that shows no holders counts as a whole'),
    direct: directTrust.optional().describe("The requester's own statement; only for the kind direct"),
    transitive: object({
      band: trustBand.describe('Size: low below 0.2, medium below 0.4, else high'),
      sources: sourcesBand.describe('How many agents that the requester trusts vouch'),
    })
      .optional()
      .describe('Trust that rests on statements of others; only for the kind transitive'),
    shared: object({
      band: trustBand.describe('Size: low below 0.2, medium below 0.4, else high'),
      sources: sourcesBand.describe('How many agents vouch'),
    })
      .optional()
      .describe('All that is shown of trust in what came through a federation; in place of direct and transitive'),
  }).describe('What trust contributes'),
  recency: object({
    value: z.number().describe('Freshness that is left, 0 to 1'),
    ...counted,
    freshness: level.nullable().describe('Freshness when it was written, 0 to 1; null: not known'),
    age_days: z.number().min(0).describe('Days since it was written'),
    rate: z.number().min(0).describe('Rate at which it fades a day, by domain'),
    pattern: text.nullable().describe('Domain whose rate applies; null: that of all others'),
  }).describe('What recency contributes'),
  final: z.number().describe('Weighted sum of the parts, 0 to 1'),
  diversity_penalty: z.number().describe('0, or negative if results above it are similar'),
  rank: z.int().min(1).describe('Position in the order of all matches, from 1'),
  of: count.describe('Number of matches'),
}

/**
 * The explanation of a rank as the operation `beliefs.explain` returns it; percentile and summary are not in it, because they are fields of
 * the answer itself.
 */
export const explanationTree = object(explanationParts)

export const percentile = z.number().min(0).max(100).describe('100 for the first match, 0 for the last')
export const summary = text.describe('The same in words')

export const explanation = object({ ...explanationParts, percentile, summary })
export type Explanation = Value<typeof explanation>

const rankedFields = {
  belief: belief.describe('The belief as the requester may see it'),
  score: score.describe('Score that the order is computed from'),
  rank: z.int().min(1).describe('Position in the whole order, from 1'),
  source: source.describe('Origin of the belief'),
  node: text.optional().describe('Other node that it came from; absent: this one'),
  federation_id: text.optional().describe('Federation that it was reached through; absent: none'),
  member_count: z.int().min(1).optional().describe('Members of that federation who say the same, at least 1'),
}

/** Schema of a query's result, extended by further fields of an operation. */
export function rankedWith<S extends z.core.$ZodLooseShape>(more: S) {
  return object({ ...rankedFields, ...more })
}

export const ranked = rankedWith({
  explanation: explanation.optional().describe('Why it has this score; with options.include_explanation'),
  derivation_chain: derivationChain.optional().describe('Premises; with options.include_derivation'),
})
export type RankedBelief = Value<typeof ranked>

export interface RankingWeights {
  readonly semantic: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}
/** Weight of each confidence dimension in the overall confidence; 0 or more, with the sum 1. */
export type DimensionWeights = Readonly<Record<Dimension, number>>

/** Schema of the weights and trust parameters with which an answer was computed (BQ-061, BQ-064, BQ-017). */
export const effectiveWeights = object({
  semantic: z.number().describe('Share of meaning in the score, 0 to 1'),
  confidence: z.number().describe('Share of confidence, 0 to 1'),
  trust: z.number().describe('Share of trust, 0 to 1'),
  recency: z.number().describe('Share of recency, 0 to 1'),
  confidence_weights: object(byDimension(meaning => z.number().describe(`Weight, 0 to 1, of: ${meaning}`))).describe(
    'Weights of the dimensions in the confidence, together 1',
  ),
  max_trust_hops: z.int().min(1).max(5).describe('Longest chain of trust that counts, in steps'),
  transitive_damping: z.number().min(0.1).max(0.9).describe('Factor by which trust shrinks with each further step'),
})
export type EffectiveWeights = Value<typeof effectiveWeights>

const nodeCoverage = object({
  node: text.describe('Name of the node here'),
  kind: z.enum(['federated', 'network']).describe('Purpose of the query'),
  federation: note.describe('Federation of the query; null: public beliefs'),
  responded: flag.describe('Whether it gave an answer in time'),
  results: count.describe('Verified beliefs that it gave, before filters, copies and paging'),
  more: flag.describe('Whether it has more matches'),
  answered_at: moment.nullable().describe('When it answered; earlier than as_of for a cached answer, null for none'),
  elapsed_ms: z.number().min(0).describe('Milliseconds until it answered or was given up'),
})
export type NodeCoverage = Value<typeof nodeCoverage>

export const coverage = object({
  local: flag.describe('Whether the own beliefs of the requester were searched'),
  federations_queried: z.array(text).describe('Federations of the query'),
  federations_responded: z.array(text).describe('Federations that answered'),
  network_queried: flag.describe('Whether public beliefs were requested'),
  network_responded: flag.describe('Whether public beliefs were searched'),
  federated: z.array(text).describe('The same as federations_responded, under the name of the specification'),
  network: flag.describe('The same as network_responded, under the name of the specification'),
  nodes: z.array(nodeCoverage).optional().describe('Other nodes that were queried; absent: none'),
})
export type Coverage = Value<typeof coverage>

export const conflict = object({
  belief_ids: z.tuple([text, text]).describe('The two versions, the one that ranks higher first'),
  contradiction_type: z
    .enum(['direct', 'implied', 'temporal', 'tension'])
    .describe('How they contradict each other, as far as the detector can tell'),
  resolution: z
    .enum(['both_shown', 'one_penalized', 'one_excluded'])
    .describe('What became of the lower one, as this node is configured'),
  resolution_reason: text.describe('Why, in words'),
})
export type Conflict = Value<typeof conflict>

export const warnings = z
  .array(
    object({
      code: text.describe('Stable code, such as clamped or vectors_pending'),
      message: text.describe('Message for people'),
    }),
  )
  .describe('What the requester should know about the answer; empty: nothing')

const partError = object({
  code: text.describe('One of the codes of the lens, such as TIMEOUT'),
  message: text.describe('Message for people'),
  details: z.record(z.string(), z.json()).describe('Facts about this failure, such as reason or elapsed_ms'),
  retryable: flag.describe('Whether a retry may help'),
  source: source.optional().describe('Part of the request; absent: it concerns the whole answer'),
  node: text.optional().describe('Which node failed; absent: it concerns the whole answer'),
  elapsed_ms: z.number().min(0).optional().describe('Milliseconds until it failed; only for a node'),
})

export const queryResult = object({
  beliefs: z.array(ranked).describe('One page of results, best first'),
  total_count: count.describe('Matches that the requester may see; copies count once, before diversity and paging'),
  count_exact: flag.describe('Whether total_count is exact; other nodes may have more'),
  stale: z
    .literal(true)
    .optional()
    .describe('Answers of other nodes are older than they should be and are being renewed'),
  next_cursor: text.optional().describe('For options.cursor: continues after this page; absent: there is no more'),
  query_time_ms: z.number().min(0).describe('Milliseconds that the answer took'),
  partial: flag.describe('Whether something is missing, because time ran out or a node did not answer'),
  coverage: coverage.describe('Sources that were queried, and those that answered'),
  errors: z.array(partError).describe('What failed in an answer that is partial'),
  conflicts: z.array(conflict).describe('Results of this page that contradict each other'),
  effective_weights: effectiveWeights.describe('What the score was computed with'),
  as_of: moment.describe('Moment that all ages in the answer refer to'),
  verdict: z
    .enum(['answered', 'weak', 'nothing_relevant'])
    .optional()
    .describe('Whether a belief here answers the text; absent in a list'),
  verdict_reason: text.nullable().optional().describe('Why, if the verdict is not answered; absent in a list'),
  verdict_by: z
    .enum(['meaning', 'words', 'both'])
    .optional()
    .describe('Basis of the verdict. words: vectors were missing; both: some were; absent in a list'),
  nearest: z
    .array(ranked)
    .optional()
    .describe('If nothing is relevant: up to 3 beliefs that came closest; they are not results; absent in a list'),
  warnings,
})
export type QueryResult = Value<typeof queryResult>
