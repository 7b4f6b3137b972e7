/** The built-in plugins, in one table, so that a bundle, which has no folder to look into, holds them all. */
import { isByte, type ParsedNumber, placesOf, textBefore, toAddress } from './enrichment/numbers.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from './enrichment/plugin.ts'
import { EVERYDAY_WORDS } from './everyday-words.ts'
import {
  addressOf,
  COLOR_RANGES,
  COLORS,
  holds,
  kernalAt,
  mirroredAddress,
  placeAt,
  rangeOf,
  registerAt,
} from './facts/facts.ts'
import { colorsIn, kernalIn, mnemonicsIn, registersIn } from './names.ts'

export interface BuiltInOptions {
  /** An address adds the tag of its register or routine. Off by default. */
  readonly expandAddresses?: boolean | undefined
}

export function builtInPlugins({ expandAddresses = false }: BuiltInOptions = {}): readonly EnrichmentPlugin[] {
  return [
    { name: 'number', priority: 10, enrich: otherBases },
    { name: 'mirror', priority: 20, enrich: mirrored },
    { name: 'memory_map', priority: 30, enrich: ({ numbers }) => result(places(numbers), []) },
    { name: 'color', priority: 40, enrich: colors },
    { name: 'opcode', priority: 50, enrich: input => result([], instructions(input)) },
    {
      name: 'register',
      priority: 60,
      enrich: ({ query }) =>
        result(
          [],
          registersIn(query).map(({ name }) => name),
        ),
    },
    {
      name: 'tag',
      priority: 70,
      enrich: ({ query }) =>
        result(
          [],
          kernalIn(query).map(({ label }) => label),
        ),
    },
    { name: 'name_address', priority: 80, enrich: input => addresses(input, expandAddresses) },
    { name: 'everyday_words', priority: 90, enrich: manualWords },
  ]
}

function result(additionalContext: readonly string[], filterTags: readonly string[]): EnrichmentResult {
  return { additionalContext, filterTags }
}

/** Every number in the bases it was not typed in; addresses become tags. */
function otherBases({ query, numbers }: EnrichmentInput): EnrichmentResult {
  const shown = numbers.filter(number => number.role !== 'prose' && !isCount(number, query))
  return {
    additionalContext: shown.map(number => `${number.sourceToken} = ${otherForms(number).join(' / ')}`),
    filterTags: addressesIn(numbers).map(toAddress),
  }
}

function addressesIn(numbers: readonly ParsedNumber[]): readonly number[] {
  return numbers.filter(({ role }) => role === 'address').map(({ value }) => value)
}

/** Bare decimals below this count things ("voice 1") unless they stand where an operand does. */
const MIN_SHOWN = 10

function isCount(number: ParsedNumber, query: string): boolean {
  if (number.value >= MIN_SHOWN || !/^\d+$/.test(number.sourceToken)) return false
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

/** The register behind an address at which its chip repeats itself. */
function mirrored({ numbers }: EnrichmentInput): EnrichmentResult {
  const mirrors = addressesIn(numbers).flatMap(value => {
    const canonical = mirroredAddress(value)
    const register = canonical === null ? null : registerAt(canonical)
    return register === null ? [] : [{ at: toAddress(value), ...register }]
  })
  return {
    additionalContext: mirrors.map(({ at, address, chip, name }) => `${at} is mirror of ${address} (${chip} ${name})`),
    filterTags: mirrors.map(({ address }) => address),
  }
}

/** What is at an address. */
function places(numbers: readonly ParsedNumber[]): readonly string[] {
  const meant = numbers.filter(({ role }) => role === 'address' || role === 'candidate')
  return meant.map(({ value }) => {
    const { title, summary } = placeAt(value)
    return `${toAddress(value)} → ${title} (${summary})`
  })
}

/** Colours by number, where the question is about colour, and by name everywhere. */
function colors(input: EnrichmentInput): EnrichmentResult {
  const numbered = isAboutColor(input) ? input.numbers.flatMap(number => colorOf(number, input.query)) : []
  return {
    additionalContext: numbered.map(({ token, color }) => `${token} = ${color.name}`),
    filterTags: [...numbered.map(({ color }) => color), ...colorsIn(input.query)].map(({ tag }) => tag),
  }
}

const RANGES = COLOR_RANGES.map(rangeOf)

function isAboutColor({ query, numbers }: EnrichmentInput): boolean {
  if (/\bcolou?r/i.test(query) || registersIn(query).some(register => register.isColor === true)) return true
  return addressesIn(numbers).some(address => RANGES.some(range => holds(range, address)))
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

/** Processor instructions, when no address says more. */
function instructions({ query, numbers }: EnrichmentInput): readonly string[] {
  return numbers.some(({ value, role }) => !isByte(value) && role !== 'prose') ? [] : mnemonicsIn(query)
}

/** From the name of a register or routine to its address, and on request from an address to the name. */
function addresses({ query, numbers }: EnrichmentInput, expandAddresses: boolean): EnrichmentResult {
  const spoken = new Set(numbers.filter(({ role }) => role !== 'prose').map(({ value }) => value))
  const named = [
    ...registersIn(query).map(({ name, address, chip }) => ({ name, address, owner: chip })),
    ...kernalIn(query).map(({ label, address }) => ({ name: label, address, owner: 'KERNAL' })),
  ].filter(({ address }) => !spoken.has(addressOf(address)))
  return {
    additionalContext: named.map(({ name, address, owner }) => `${name} = ${address} (${owner})`),
    filterTags: [
      ...named.map(({ address }) => address),
      ...(expandAddresses
        ? addressesIn(numbers).flatMap(at => [registerAt(at)?.name ?? [], kernalAt(at)?.label ?? []].flat())
        : []),
    ],
  }
}

/** From everyday words to what the manuals call it: questions without a name or number find their record by that. */
function manualWords({ query }: EnrichmentInput): EnrichmentResult {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const meant = RULES.filter(({ parts }) => parts.every(part => words.some(word => part.test(word))))
  const said = ` ${words.join(' ')} `
  return result(
    meant.map(({ means }) => means).filter(means => !said.includes(` ${means.toLowerCase()} `)),
    [],
  )
}

const RULES = EVERYDAY_WORDS.map(({ said, means }) => ({
  means,
  parts: said.split(' ').map(part => new RegExp(`^(?:${part.replaceAll('*', '.*')})$`)),
}))
