/** Every number in the bases it was not typed in; addresses become tags. */
import { type ParsedNumber, placesOf, toAddress } from '../enrichment/parsed-number.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { textBefore } from '../enrichment/surroundings.ts'

export class NumberEnrichment implements EnrichmentPlugin {
  readonly name: string = 'number'
  readonly priority: number = 10

  enrich({ query, numbers }: EnrichmentInput): EnrichmentResult {
    const told = numbers.filter(number => number.role !== 'prose' && !isCount(number, query))
    return {
      additionalContext: told.map(number => `${number.sourceToken} = ${otherForms(number).join(' / ')}`),
      filterTags: numbers.filter(({ role }) => role === 'address').map(({ value }) => toAddress(value)),
    }
  }
}

/** Bare decimals below this count things ("voice 1") unless they stand where an operand does. */
const LEAST_TOLD = 10

function isCount(number: ParsedNumber, query: string): boolean {
  if (number.value >= LEAST_TOLD || !/^\d+$/.test(number.sourceToken)) return false
  return !placesOf(number, query).some(at => /[,#=]\s*$/.test(textBefore(query, at)))
}

function otherForms({ sourceToken, value, decimal, hex, binary }: ParsedNumber): readonly string[] {
  // The end of a range of hexadecimal numbers may be all digits: `$1000-2000`.
  const isDecimal = /^[\d,]+$/.test(sourceToken) && Number(sourceToken.replaceAll(',', '')) === value
  return [
    ...(sourceToken.toUpperCase() === hex ? [] : [hex]),
    ...(isDecimal ? [] : [decimal]),
    ...(binary === undefined || /^(?:%|0b[01]+$)/i.test(sourceToken) ? [] : [binary]),
  ]
}
