/**
 * Names of the six dimensions of confidence in a belief. They are in a module of their own, without the schemas, because the web explorer
 * needs only the names.
 */

/** The six dimensions, in the order in which vectors and columns store confidence values (BQ-012). */
export const DIMENSIONS = [
  'source_reliability',
  'method_quality',
  'internal_consistency',
  'temporal_freshness',
  'corroboration',
  'domain_applicability',
] as const
export type Dimension = (typeof DIMENSIONS)[number]
