/** From a question to what is searched: numbers, plugins, the joined text and tags, and the way to search. */
import { atOnce, type Steps } from '../../../base/turns.ts'
import type { EnrichmentDomain } from './domain.ts'
import { extractNumbers } from './extract-numbers.ts'
import type { ParsedNumber } from './parsed-number.ts'
import { inOrder } from './plugin.ts'
import { type PluginWarning, runPlugins } from './run-plugins.ts'
import { chooseStrategy, hasNaturalLanguage, type Strategy } from './strategy.ts'

export interface Enrichment {
  readonly query: string
  readonly numbers: readonly ParsedNumber[]
  readonly additionalContext: readonly string[]
  readonly filterTags: readonly string[]
  /** What is embedded and searched for. */
  readonly enrichedQuery: string
  readonly strategy: Strategy
  /** Plugins that failed; their part is missing. */
  readonly warnings: readonly PluginWarning[]
}

/** Throws `conflict` when two plugins of the domain have one name. */
export function enrich(query: string, domain: EnrichmentDomain): Enrichment {
  return atOnce(enrichInSteps(query, domain))
}

/** The same in steps of some milliseconds, however many numbers the question has. */
export function* enrichInSteps(query: string, domain: EnrichmentDomain): Steps<Enrichment> {
  const numbers = extractNumbers(query, domain.numbers)
  const outcome = yield* runPlugins(inOrder(domain.plugins), { query, numbers }, domain.canonicalTag)
  yield
  const isNatural = yield* hasNaturalLanguage(query, outcome.filterTags, domain)
  yield
  return {
    query,
    numbers,
    ...outcome,
    enrichedQuery: joinContext(query, outcome.additionalContext),
    strategy: chooseStrategy(outcome.filterTags, isNatural),
  }
}

/** The question as it is. */
export function withoutEnrichment(query: string): Enrichment {
  const nothing = { numbers: [], additionalContext: [], filterTags: [], warnings: [] }
  return { query, ...nothing, enrichedQuery: query, strategy: 'semantic' }
}

export function joinContext(query: string, context: readonly string[]): string {
  return context.length === 0 ? query : `${query}\n[${context.join('; ')}]`
}
