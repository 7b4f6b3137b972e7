/** The six respects in which a belief may be sure. Apart from the schemas: the explorer needs the names without their checks. */

/** Order of the vector (BQ-012). */
export const DIMENSIONS = [
  'source_reliability',
  'method_quality',
  'internal_consistency',
  'temporal_freshness',
  'corroboration',
  'domain_applicability',
] as const
export type Dimension = (typeof DIMENSIONS)[number]
