/**
 * The built-in enrichment plugins of the lens `c64`, in one table: a program bundled into one file has no plugin folder to search, so it
 * needs them as imports.
 */

import { c64Corpus } from './corpus.ts'
import {
  isByte,
  type NumberOccurrence,
  type NumberRules,
  type ParsedNumber,
  placesOf,
  textBefore,
  toAddress,
} from './enrichment/numbers.ts'
import type { EnrichmentDomain, EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from './enrichment/plugin.ts'
import {
  addressOf,
  COLOR_RANGES,
  COLORS,
  holds,
  isKnownAddress,
  kernalAt,
  mirroredAddress,
  placeAt,
  rangeOf,
  registerAt,
} from './facts/facts.ts'
import {
  canonicalTag,
  colorsIn,
  kernalIn,
  MNEMONIC_NAMES,
  mnemonicsIn,
  operandReader,
  registersIn,
  tagsFor,
} from './names.ts'

export interface BuiltInOptions {
  /** Whether an address in the query adds the tag of the register or routine at that address. Off by default. */
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

/** Adds each number of the query in the number bases in which it was not written (decimal, hexadecimal), and makes tags from addresses. */
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

/**
 * A plain decimal number below this value is taken as a count or index ("voice 1") and is not shown in other bases, unless it is written as
 * an operand.
 */
const MIN_SHOWN = 10

function isCount(number: ParsedNumber, query: string): boolean {
  if (number.value >= MIN_SHOWN || !/^\d+$/.test(number.sourceToken)) return false
  return !placesOf(number, query).some(at => /[,#=]\s*$/.test(textBefore(query, at)))
}

function otherForms({ sourceToken, value, decimal, hex, binary }: ParsedNumber): readonly string[] {
  // The end of a hexadecimal range may consist of decimal digits only, such as the 2000 in `$1000-2000`; so digits alone do not show that a
  // number is decimal.
  const isDecimal = /^[\d,]+$/.test(sourceToken) && Number(sourceToken.replaceAll(',', '')) === value
  return [
    ...(sourceToken.toUpperCase() === hex ? [] : [hex]),
    ...(isDecimal ? [] : [decimal]),
    ...(binary === undefined || /^(?:%|0b[01]+$)/i.test(sourceToken) ? [] : [binary]),
  ]
}

/** Adds to the query the register that one of its addresses mirrors; some chips repeat their registers over a range of addresses. */
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

/** For each number of the query that is or may be an address, a text that says what is at this address. */
function places(numbers: readonly ParsedNumber[]): readonly string[] {
  const meant = numbers.filter(({ role }) => role === 'address' || role === 'candidate')
  return meant.map(({ value }) => {
    const { title, summary } = placeAt(value)
    return `${toAddress(value)} → ${title} (${summary})`
  })
}

/**
 * Adds colours to the query: for colour numbers the colour's name and tag, but only where the query is about colour; for colour names
 * always the tag.
 */
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

/** Nouns such as "voice": a number directly behind one of them is an index or a count. */
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

/**
 * Mnemonics of the query's processor instructions, to be explained; none where the query has an address above 255, which already says what
 * it is about.
 */
function instructions({ query, numbers }: EnrichmentInput): readonly string[] {
  return numbers.some(({ value, role }) => !isByte(value) && role !== 'prose') ? [] : mnemonicsIn(query)
}

/** Adds the address for each register or routine that the query names and, where `expandAddresses` is true, the name for each address. */
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

/**
 * Adds the technical terms of the C64 manuals for everyday words of the query, so that a query without a name or number finds the record
 * that it means.
 */
function manualWords({ query }: EnrichmentInput): EnrichmentResult {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const meant = RULES.filter(({ parts }) => parts.every(part => words.some(word => part.test(word))))
  const said = ` ${words.join(' ')} `
  return result(
    meant.map(({ means }) => means).filter(means => !said.includes(` ${means.toLowerCase()} `)),
    [],
  )
}

interface EverydayWords {
  readonly said: string
  readonly means: string
}

/**
 * Everyday phrases (`said`) and the manuals' terms for them (`means`). A phrase applies where the query has all of its words, in any order;
 * `|` separates alternatives, a star is any ending. The term is added unless the query has it already.
 */
const EVERYDAY_WORDS: readonly EverydayWords[] = [
  // Everyday phrases for the screen, with the manuals' terms.
  { said: 'edge*|frame|surround* screen|picture|display', means: 'border' },
  { said: 'main|whole|behind screen|text', means: 'screen background' },
  { said: 'beam|scanline*|scan', means: 'raster line' },
  { said: 'drawing|drawn|current line', means: 'raster line' },
  { said: 'hires|resolution', means: 'bitmap mode' },
  { said: 'font|lettering|glyph*|shapes', means: 'character set' },
  { said: 'sideways', means: 'horizontal fine scroll' },
  { said: 'smooth* scroll*', means: 'fine scroll' },
  { said: 'blank*|hide|off screen|display', means: 'display enable' },
  { said: 'wipe|empty|erase screen', means: 'clear the screen' },
  { said: 'graphics|video bank|16k', means: 'VIC bank select' },
  { said: 'letters|text|print* colo*', means: 'current text colour' },
  // Everyday phrases for sprites, with the manuals' terms.
  { said: 'mob|mobs', means: 'sprite' },
  { said: 'sprite* on|off|show|hide|visible|appear*', means: 'sprite enable' },
  { said: 'sprite* wide*|width|broad*', means: 'sprite horizontal doubling' },
  { said: 'sprite* tall*|high*|height', means: 'sprite vertical doubling' },
  { said: 'sprite* behind|front|pass', means: 'sprite to background priority' },
  { said: 'sprites touch*|hit*|bump*|overlap*|meet*', means: 'sprite to sprite collision' },
  { said: 'sprite wall*|scenery|background touch*|hit*|bump*', means: 'sprite to foreground collision' },
  { said: 'sprite* beyond|past|far|right 255*|256*|edge|pixel', means: 'most significant X position bit' },
  { said: 'sprite* shape|picture|image|look*|animate', means: 'sprite data pointers' },
  // Everyday phrases for sound, with the manuals' terms.
  { said: 'loud*|quiet*', means: 'master volume' },
  { said: 'pitch|tone|note', means: 'voice frequency' },
  { said: 'fade*|rise* in', means: 'envelope attack' },
  { said: 'fade*|die* out|away', means: 'envelope release' },
  { said: 'first voice|channel', means: 'voice 1' },
  { said: 'second voice|channel', means: 'voice 2' },
  { said: 'third voice|channel', means: 'voice 3' },
  { said: 'sawtooth|triangle|square|pulse|noise', means: 'waveform select' },
  { said: 'muffle*|brightness|treble|bass', means: 'filter cutoff' },
  // Everyday phrases for keys, joysticks and time, with the manuals' terms.
  { said: 'stick|joypad|gamepad', means: 'joystick' },
  { said: 'joystick first|one', means: 'joystick 1, port B' },
  { said: 'joystick second|two', means: 'joystick 2, port A' },
  { said: 'key|keys pressed|presses|waiting|typed', means: 'keyboard queue' },
  { said: 'key|keys repeat*', means: 'key repeat mode' },
  { said: 'shift|control|commodore key held|down|pressed', means: 'modifier keys' },
  { said: 'stop|break key pressed', means: 'RUN/STOP key' },
  { said: 'elapsed|stopwatch|uptime', means: 'jiffy clock' },
  { said: 'wall clock|time', means: 'time of day clock' },
  { said: 'ntsc pal|which|machine', means: 'video standard' },
  { said: 'random', means: 'voice 3 oscillator random source, seed of RND' },
  // Everyday phrases for files and devices, with the manuals' terms.
  { said: 'name file', means: 'SETNAM set the file name' },
  { said: 'disk|tape|drive load*|read*', means: 'LOAD routine' },
  { said: 'disk|tape|drive save*|write*', means: 'SAVE routine' },
  { said: 'close* all', means: 'CLALL' },
  { said: 'single|one character|letter|byte print*|output|write|show', means: 'write a byte to the output channel' },
  { said: 'character|letter|byte read*|get|fetch* keyboard|input', means: 'read a byte from the input channel' },
  { said: 'cursor place|put|move|row|column|position', means: 'PLOT cursor position' },
  { said: 'drive|disk|device number', means: 'current device number' },
  { said: 'modem|terminal|serial', means: 'RS-232' },
  // Everyday phrases for memory and the system, with the manuals' terms.
  { said: 'reboot|restart', means: 'reset' },
  { said: 'interrupt* own|hook|custom|my', means: 'IRQ handler vector' },
  { said: 'interrupt* ignore|disable|forbid|block|mask|prevent', means: 'set interrupt disable flag' },
  { said: 'interrupt* allow|again|enable|permit', means: 'clear interrupt disable flag' },
  { said: 'ram under|below|beneath|instead|hidden', means: 'bank control LORAM HIRAM CHAREN' },
  { said: 'first page', means: 'zero page' },
  { said: 'unused|spare own|my|pointers', means: 'free for programs' },
  { said: 'basic program|listing start*|begin*', means: 'start of the BASIC program' },
  // Everyday phrases for processor instructions, with the manuals' terms.
  { said: 'subroutine go|call|jump', means: 'call subroutine' },
  { said: 'subroutine back|leave|end', means: 'return from subroutine' },
  { said: 'add|plus|sum carry|numbers', means: 'add with carry' },
  { said: 'minus|subtract|difference numbers|carry|borrow', means: 'subtract with borrow' },
  { said: 'bits left', means: 'shift left' },
  { said: 'bits right', means: 'shift right' },
  { said: 'status|flags save|keep|remember stack', means: 'push status register' },
  { said: 'status|flags restore|back stack', means: 'pull status register' },
  { said: 'nothing|wait|delay instruction|cycles', means: 'no operation' },
]

const RULES = EVERYDAY_WORDS.map(({ said, means }) => ({
  means,
  parts: said.split(' ').map(part => new RegExp(`^(?:${part.replaceAll('*', '.*')})$`)),
}))

// The Commodore 64 as a domain of query enrichment: the plugins, names and tags with which a query about this computer is extended.

export interface C64Options extends BuiltInOptions {
  /** The user's own enrichment plugins; they run among the built-in plugins in order of priority. */
  readonly plugins?: readonly EnrichmentPlugin[] | undefined
}

export function c64Domain(options: C64Options = {}): EnrichmentDomain {
  return {
    name: 'c64',
    plugins: [...builtInPlugins(options), ...(options.plugins ?? [])],
    numbers: C64_NUMBERS,
    canonicalTag,
    tagsFor,
    corpus: c64Corpus,
  }
}

const ADDRESS_WORDS = ['POKE', 'PEEK', 'SYS', 'WAIT', 'USR']

/**
 * Keywords of BASIC V2 that end with a letter, which may touch a number that follows (`GOTO100`). Keywords that end with a sign, such as
 * `CHR$`, need no entry.
 */
const KEYWORDS = [
  ...['END', 'FOR', 'NEXT', 'DATA', 'INPUT', 'DIM', 'READ', 'LET', 'GOTO', 'RUN', 'IF', 'RESTORE', 'GOSUB', 'RETURN'],
  ...['REM', 'STOP', 'ON', 'WAIT', 'LOAD', 'SAVE', 'VERIFY', 'DEF', 'POKE', 'PRINT', 'CONT', 'LIST', 'CLR', 'CMD'],
  ...['SYS', 'OPEN', 'CLOSE', 'GET', 'NEW', 'TO', 'FN', 'THEN', 'NOT', 'STEP', 'AND', 'OR', 'SGN', 'INT', 'ABS', 'USR'],
  ...['FRE', 'POS', 'SQR', 'RND', 'LOG', 'EXP', 'COS', 'SIN', 'TAN', 'ATN', 'PEEK', 'LEN', 'VAL', 'ASC', 'GO'],
]

/**
 * Statements of BASIC and assembler whose operands are separated by commas. The lower-case word "data" counts as a statement only where a
 * number follows.
 */
const OPERAND_LIST =
  /(?<![\p{L}_])(?:(?:poke|peek|sys|wait|usr)(?![\p{L}_])|data\s*[$%\d]|[.!](?:byte|byt|by|db)(?![\p{L}\p{N}_])|dc\.b(?![\p{L}\p{N}_]))/iu
const DATA = /(?<![\p{L}_])DATA(?![\p{L}_])/u

/**
 * Nouns that make the number beside them a count and not an address ("16 bytes"). The singulars line, row, colour and sprite are left out,
 * because numbers beside them can be values ("line 200 colour 7").
 */
const UNITS = [
  ...['bytes?', 'k', 'kb', 'mb', 'bits?', 'hz', 'khz', 'mhz', 'cycles?', 'lines', 'rows', 'columns', 'pixels?'],
  ...['colou?rs', 'sprites', 'times', 'ms', 'seconds?', 'minutes?', 'hours?', 'years?', 'days?', 'characters?'],
  ...['chars', 'games?', 'disks?', 'programs?', 'voices', 'channels', 'registers', 'keys'],
]

/** Numbers that are names of computers, drives, processors and chips (64, 1541, 6502), not addresses. */
const MODELS = new Set([
  ...[64, 128, 1541, 1571, 1581, 6502, 6507, 6510, 6522, 6526, 6551, 6560, 6561, 6567, 6569, 6572, 6581],
  ...[8500, 8501, 8502, 8521, 8562, 8565, 8580],
])

const FIRST_YEAR = 1970
const LAST_YEAR = 2039

export const C64_NUMBERS: NumberRules = {
  keywords: KEYWORDS,
  mnemonics: MNEMONIC_NAMES,
  commasSeparate: query => OPERAND_LIST.test(query) || DATA.test(query),
  addressWords: ADDRESS_WORDS,
  units: UNITS,
  names: MODELS,
  isProse: value => value >= FIRST_YEAR && value <= LAST_YEAR,
  isKnownAddress,
  byteAddresses: zeroPage,
}

/**
 * Returns a test whether a number in the query is meant as an address in the zero page. A number of one byte could be anything, so it
 * counts only where it is written with four hexadecimal digits, is an operand, or the query speaks of the zero page.
 */
function zeroPage(query: string): (occurrence: NumberOccurrence) => boolean {
  const isOperand = operandReader(query)
  const isSpokenOf = /\b(?:zero[ -]?page|zp)\b/i.test(query)
  return ({ notation, digits, start }) => {
    if ((notation === 'hex' && digits === 4) || isOperand(start)) return true
    return isSpokenOf && !/#\s*[<>]?$/.test(textBefore(query, start))
  }
}
