import STATUS_CODES from '../status-codes.json' with { type: 'json' }

export class StatusEnrichment {
  name = 'status'
  priority = 10

  enrich({ numbers }) {
    const known = numbers.filter(number => number.role !== 'prose' && number.decimal in STATUS_CODES)
    return {
      additionalContext: known.map(({ decimal }) => `${decimal} = ${STATUS_CODES[decimal]}`),
      filterTags: known.map(({ decimal }) => decimal),
    }
  }
}
