/** What another node asks, as a query of this one: with no trust, no weights and no operators of anybody's. */

import { DIMENSIONS } from '../../dimensions.ts'
import { rankingWeights } from '../../measures/weights.ts'
import type { RankingWeights } from '../../model.ts'
import type { Question } from '../../query/question.ts'
import { toContext } from '../../schema/context.ts'
import type { CheckedFilters } from '../../schema/filters.ts'
import { NO_FILTER } from '../../schema/filters.ts'
import type { CheckedText } from '../../schema/text.ts'
import type { WireFilter, WireQuery } from '../wire/protocol.ts'

export function questionOf({ scope, text, vector, filters, min_similarity }: WireQuery, requester: string): Question {
  const isList = text === null && vector === null
  // What the sender has stated of trust here is no part of it: it weighs what it gets by itself.
  const context = toContext({ trust_weight: 0 }, { id: requester, trustGraph: null })
  return {
    semantic: textOf(text),
    filters: filters.map(filterOf),
    context,
    // The cast: what is left of the default weights is never nothing.
    weights: rankingWeights({ trustWeight: context.trustWeight, given: null, listMode: isList }) as RankingWeights,
    minSimilarity: min_similarity ?? null,
    scope: { local: false, federated: scope.kind === 'federated', network: scope.kind === 'network' },
  }
}

/** All of it is text: nothing in it is a sign. */
export function textOf(text: string | null): CheckedText | null {
  return text === null ? null : { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
}

function filterOf(filter: WireFilter): CheckedFilters {
  const { derivation_types: types, visibility_levels: levels, min_confidence: bounds } = filter
  return {
    ...NO_FILTER,
    confidence: DIMENSIONS.flatMap(of => {
      const bound = bounds[of]
      return bound === undefined ? [] : [{ of, bound, strict: false }]
    }),
    validAt: instantOrNull(filter.valid_at),
    createdAfter: instantOrNull(filter.created_after),
    createdBefore: instantOrNull(filter.created_before),
    domainsInclude: filter.domains_include?.length === 0 ? null : filter.domains_include,
    domainsExclude: filter.domains_exclude,
    derivationTypes: types && new Set(types),
    visibilityLevels: levels && new Set(levels),
  }
}

function instantOrNull(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}
