/** Names of chip registers as tags. */
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { registersIn } from '../names/registers.ts'

export class RegisterEnrichment implements EnrichmentPlugin {
  readonly name: string = 'register'
  readonly priority: number = 60

  enrich({ query }: EnrichmentInput): EnrichmentResult {
    return { additionalContext: [], filterTags: registersIn(query).map(({ name }) => name) }
  }
}
