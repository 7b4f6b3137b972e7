/** The six dimensions of confidence in a belief. In a module without the schemas, because the explorer needs only the names. */

/** Dimensions in the order of the confidence vector (BQ-012). */
export const DIMENSIONS = [
  'source_reliability',
  'method_quality',
  'internal_consistency',
  'temporal_freshness',
  'corroboration',
  'domain_applicability',
] as const
export type Dimension = (typeof DIMENSIONS)[number]
