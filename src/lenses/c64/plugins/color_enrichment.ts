/** Colours by number, where the question is about colour, and by name everywhere. */
import { type ParsedNumber, placesOf } from '../enrichment/parsed-number.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { textBefore } from '../enrichment/surroundings.ts'
import { holds, rangeOf } from '../facts/address.ts'
import { COLOR_RANGES, COLORS } from '../facts/facts.ts'
import { colorsIn } from '../names/colors.ts'
import { registersIn } from '../names/registers.ts'

export class ColorEnrichment implements EnrichmentPlugin {
  readonly name: string = 'color'
  readonly priority: number = 40

  enrich(input: EnrichmentInput): EnrichmentResult {
    const numbered = isAboutColor(input) ? input.numbers.flatMap(number => colorOf(number, input.query)) : []
    const named = colorsIn(input.query)
    return {
      additionalContext: numbered.map(({ token, color }) => `${token} = ${color.name}`),
      filterTags: [...numbered.map(({ color }) => color.tag), ...named.map(({ tag }) => tag)],
    }
  }
}

const RANGES = COLOR_RANGES.map(rangeOf)

function isAboutColor({ query, numbers }: EnrichmentInput): boolean {
  if (/\bcolou?r/i.test(query) || registersIn(query).some(register => register.isColor === true)) return true
  return numbers.some(({ value, role }) => role === 'address' && RANGES.some(range => holds(range, value)))
}

/** What a number directly behind one of these counts. */
const INDEX_NOUN = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?:${[
    ...['sprite', 'voice', 'bit', 'bank', 'timer', 'port', 'joystick', 'channel', 'device', 'drive', 'line', 'row'],
    ...['column', 'track', 'sector', 'mode', 'player', 'background', 'gr[ae]y', 'cia', 'page', 'level', 'file'],
  ].join('|')})[\s_-]*#?\s*$`,
  'iu',
)

function colorOf(number: ParsedNumber, query: string) {
  const color = COLORS[number.value]
  if (color === undefined || (number.role ?? 'value') !== 'value') return []
  const isIndex = placesOf(number, query).every(at => INDEX_NOUN.test(textBefore(query, at)))
  return isIndex ? [] : [{ token: number.sourceToken, color }]
}
