/** The Commodore 64 as a domain of the enrichment pipeline. */
import { c64Corpus } from './corpus.ts'
import type { NumberOccurrence, NumberRules } from './enrichment/numbers.ts'
import { textBefore } from './enrichment/numbers.ts'
import type { EnrichmentDomain, EnrichmentPlugin } from './enrichment/plugin.ts'
import { isKnownAddress } from './facts/facts.ts'
import { canonicalTag, MNEMONIC_NAMES, operandReader, tagsFor } from './names.ts'
import { type BuiltInOptions, builtInPlugins } from './plugins.ts'

export interface C64Options extends BuiltInOptions {
  /** Plugins of the user's own; they take their places among the built-in ones by priority. */
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

/** Of BASIC V2, those that end with a letter: what ends with a sign touches a number in any case. */
const KEYWORDS = [
  ...['END', 'FOR', 'NEXT', 'DATA', 'INPUT', 'DIM', 'READ', 'LET', 'GOTO', 'RUN', 'IF', 'RESTORE', 'GOSUB', 'RETURN'],
  ...['REM', 'STOP', 'ON', 'WAIT', 'LOAD', 'SAVE', 'VERIFY', 'DEF', 'POKE', 'PRINT', 'CONT', 'LIST', 'CLR', 'CMD'],
  ...['SYS', 'OPEN', 'CLOSE', 'GET', 'NEW', 'TO', 'FN', 'THEN', 'NOT', 'STEP', 'AND', 'OR', 'SGN', 'INT', 'ABS', 'USR'],
  ...['FRE', 'POS', 'SQR', 'RND', 'LOG', 'EXP', 'COS', 'SIN', 'TAN', 'ATN', 'PEEK', 'LEN', 'VAL', 'ASC', 'GO'],
]

/** Statements whose commas separate operands. In small letters "data" is a word unless a number follows. */
const OPERAND_LIST =
  /(?<![\p{L}_])(?:(?:poke|peek|sys|wait|usr)(?![\p{L}_])|data\s*[$%\d]|[.!](?:byte|byt|by|db)(?![\p{L}\p{N}_])|dc\.b(?![\p{L}\p{N}_]))/iu
const DATA = /(?<![\p{L}_])DATA(?![\p{L}_])/u

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

/** A lone byte could be anything, so it needs a sign that it is an address of the zero page. */
function zeroPage(query: string): (occurrence: NumberOccurrence) => boolean {
  const isOperand = operandReader(query)
  const isSpokenOf = /\b(?:zero[ -]?page|zp)\b/i.test(query)
  return ({ notation, digits, start }) => {
    if ((notation === 'hex' && digits === 4) || isOperand(start)) return true
    return isSpokenOf && !/#\s*[<>]?$/.test(textBefore(query, start))
  }
}
