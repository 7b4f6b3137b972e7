import type { CheckedFilters } from './checked.ts'

/** Asks for nothing: what a filter of one or two members is made from. */
export const NO_FILTER: CheckedFilters = {
  confidence: [],
  validAt: null,
  createdAfter: null,
  createdBefore: null,
  createdWithinMs: null,
  domainsInclude: null,
  domainsExclude: [],
  holderIds: null,
  excludeHolders: new Set(),
  minHolderReputation: null,
  directTrustAbove: null,
  derivationTypes: null,
  maxDerivationDepth: null,
  visibilityLevels: null,
}
