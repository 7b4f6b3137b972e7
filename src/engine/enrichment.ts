/** Enrichment for the library: what a domain of one's own is made with. */
export { type C64Options, c64Domain } from '../lenses/c64/domain.ts'
export type { DomainRecord, EnrichmentDomain } from '../lenses/c64/enrichment/domain.ts'
export { type Enrichment, enrich } from '../lenses/c64/enrichment/enrich.ts'
export { extractNumbers } from '../lenses/c64/enrichment/extract-numbers.ts'
export { formatEnrichment } from '../lenses/c64/enrichment/markdown.ts'
export type { NumberRules } from '../lenses/c64/enrichment/number-rules.ts'
export type { NumberRole, ParsedNumber } from '../lenses/c64/enrichment/parsed-number.ts'
export type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../lenses/c64/enrichment/plugin.ts'
export {
  type EnrichmentPluginRequest,
  type EnrichmentPlugins,
  loadEnrichmentPlugins,
} from './enrichment-plugins.ts'
