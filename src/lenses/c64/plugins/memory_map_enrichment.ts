/** What is at an address. */
import { toAddress } from '../enrichment/parsed-number.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { placeAt } from '../facts/places.ts'

export class MemoryMapEnrichment implements EnrichmentPlugin {
  readonly name: string = 'memory_map'
  readonly priority: number = 30

  enrich({ numbers }: EnrichmentInput): EnrichmentResult {
    const places = numbers.filter(({ role }) => role === 'address' || role === 'candidate')
    return { additionalContext: places.map(({ value }) => line(value)), filterTags: [] }
  }
}

function line(address: number): string {
  const { title, summary } = placeAt(address)
  return `${toAddress(address)} → ${title} (${summary})`
}
