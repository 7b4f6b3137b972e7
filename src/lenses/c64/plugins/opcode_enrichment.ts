/** Processor instructions as tags, when no address tells more. */
import { isByte } from '../enrichment/parsed-number.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { mnemonicsIn } from '../names/mnemonics.ts'

export class OpcodeEnrichment implements EnrichmentPlugin {
  readonly name: string = 'opcode'
  readonly priority: number = 50

  enrich({ query, numbers }: EnrichmentInput): EnrichmentResult {
    const hasAddress = numbers.some(({ value, role }) => !isByte(value) && role !== 'prose')
    return { additionalContext: [], filterTags: hasAddress ? [] : [...mnemonicsIn(query)] }
  }
}
