/** Labels of the jump table as tags. */
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { kernalIn } from '../names/kernal.ts'

export class TagEnrichment implements EnrichmentPlugin {
  readonly name: string = 'tag'
  readonly priority: number = 70

  enrich({ query }: EnrichmentInput): EnrichmentResult {
    return { additionalContext: [], filterTags: kernalIn(query).map(({ label }) => label) }
  }
}
