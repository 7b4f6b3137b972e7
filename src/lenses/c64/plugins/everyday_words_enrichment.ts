/** From everyday words to what the manuals call it: questions without a name or number find their record by that. */
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { EVERYDAY_WORDS } from '../names/everyday-words.ts'

export class EverydayWordsEnrichment implements EnrichmentPlugin {
  readonly name: string = 'everyday_words'
  readonly priority: number = 90

  enrich({ query }: EnrichmentInput): EnrichmentResult {
    const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
    const meant = RULES.filter(({ parts }) => parts.every(part => words.some(word => part.test(word))))
    const said = ` ${words.join(' ')} `
    return {
      additionalContext: meant.map(({ means }) => means).filter(means => !said.includes(` ${means.toLowerCase()} `)),
      filterTags: [],
    }
  }
}

const RULES = EVERYDAY_WORDS.map(({ said, means }) => ({
  means,
  parts: said.split(' ').map(part => new RegExp(`^(?:${part.replaceAll('*', '.*')})$`)),
}))
