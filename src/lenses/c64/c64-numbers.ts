/** What numbers stand for in questions about the Commodore 64. */
import type { NumberRules } from './enrichment/number-rules.ts'
import type { NumberOccurrence } from './enrichment/scan-numbers.ts'
import { textBefore } from './enrichment/surroundings.ts'
import { isKnownAddress } from './facts/places.ts'
import { operandReader } from './names/mnemonics.ts'

const ADDRESS_WORDS = ['POKE', 'PEEK', 'SYS', 'WAIT', 'USR']

/** Statements whose commas separate operands. In small letters "data" is a word unless a number follows. */
const OPERAND_LIST =
  /(?<![\p{L}\p{N}_])(?:(?:poke|peek|sys|wait|usr)(?![\p{L}\p{N}_])|data\s+[$%\d]|[.!](?:byte|byt|by|db)(?![\p{L}\p{N}_])|dc\.b(?![\p{L}\p{N}_]))/iu
const DATA = /(?<![\p{L}\p{N}_])DATA(?![\p{L}\p{N}_])/u

/** Singular line, row, colour and sprite are not here: they stand beside real values ("line 200 colour 7"). */
const UNITS = [
  ...['bytes?', 'k', 'kb', 'mb', 'bits?', 'hz', 'khz', 'mhz', 'cycles?', 'lines', 'rows', 'columns', 'pixels?'],
  ...['colou?rs', 'sprites', 'times', 'ms', 'seconds?', 'minutes?', 'hours?', 'years?', 'days?', 'characters?'],
  ...['chars', 'games?', 'disks?', 'programs?', 'voices', 'channels', 'registers', 'keys'],
]

/** The machines, their drives, processors and chips. */
const MODELS = new Set([
  ...[64, 128, 1541, 1571, 1581, 6502, 6507, 6510, 6522, 6526, 6551, 6560, 6561, 6567, 6569, 6572, 6581],
  ...[8500, 8501, 8502, 8521, 8562, 8565, 8580],
])

const FIRST_YEAR = 1970
const LAST_YEAR = 2039

export const C64_NUMBERS: NumberRules = {
  commasSeparate: query => OPERAND_LIST.test(query) || DATA.test(query),
  addressWords: ADDRESS_WORDS,
  units: UNITS,
  names: MODELS,
  isProse: value => value >= FIRST_YEAR && value <= LAST_YEAR,
  isKnownAddress,
  byteAddresses: zeroPage,
}

/** A lone byte could be anything, so it needs a sign that it is an address of the zero page. */
function zeroPage(query: string): (occurrence: NumberOccurrence) => boolean {
  const isOperand = operandReader(query)
  const isSpokenOf = /\b(?:zero[ -]?page|zp)\b/i.test(query)
  return ({ notation, digits, start }) => {
    if ((notation === 'hex' && digits === 4) || isOperand(start)) return true
    return isSpokenOf && !/#\s*[<>]?$/.test(textBefore(query, start))
  }
}
