/**
 * Finds every number in a text, in the notations of assemblers and BASICs, and passes over what only looks like one:
 * dates, clock times, dotted numbers, digits inside words. One pass; no pattern backtracks over more than a few digits.
 */
import { MAX_NUMBER } from './parsed-number.ts'

export interface NumberOccurrence {
  readonly token: string
  readonly value: number
  /** Half-open, in UTF-16 units. */
  readonly start: number
  readonly end: number
  /** `grouped`: decimal with commas between thousands. */
  readonly notation: 'hex' | 'binary' | 'decimal' | 'grouped'
  /** How many digits were written. */
  readonly digits: number
}

/** `commasSeparate`: `1,000` is two numbers, as in a list of operands, not one. In order of appearance. */
export function scanNumbers(text: string, commasSeparate: boolean): readonly NumberOccurrence[] {
  const found: NumberOccurrence[] = []
  const pattern = new RegExp(commasSeparate ? SEPARATE : GROUPING, 'giu')
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const numbers = numbersOf(match)
    found.push(...numbers)
    const [first] = numbers
    const second = first !== undefined && match.groups?.['dollar'] !== undefined ? rangeEnd(text, first) : null
    if (second === null) continue
    found.push(second)
    pattern.lastIndex = second.end
  }
  return found
}

const WORD = String.raw`[\p{L}\p{N}_]`
const BEFORE = `(?<!${WORD})`
/** Notations that begin with a digit touch no sign of another notation either. */
const BEFORE_DIGIT = String.raw`(?<![\p{L}\p{N}_$%&])`
const AFTER = String.raw`(?!${WORD}|\.\d)`
/** A percent sign may follow a decimal, but not begin a number of its own there. */
const AFTER_DECIMAL = String.raw`(?![\p{L}\p{N}_$&]|\.\d|%${WORD})`
const HEX = '[0-9a-f]'

const PASSED_OVER = [
  String.raw`(?:\d{4}-\d{2}-\d{2}(?:t\d{2}[\d:.]*z?)?)`,
  String.raw`(?:\d{1,2}:[0-5]\d(?::[0-5]\d)?(?:\.\d+)?(?!\d))`,
  String.raw`(?:(?<!\d)\d+(?:\.\d+)+|(?<!\.)\.\d+)`,
]
const MARKED = [
  String.raw`${BEFORE}\$(?<dollar>${HEX}{1,4})${AFTER}`,
  `${BEFORE_DIGIT}0x(?<zeroX>${HEX}{1,4})${AFTER}`,
  `${BEFORE}&(?<ampersand>${HEX}{4})${AFTER}`,
  // Four digits, one of them decimal, so that "beach" is a word; or a leading zero.
  String.raw`${BEFORE_DIGIT}(?<trailingH>0${HEX}{1,4}|(?=[a-f]{0,3}\d)${HEX}{4})h${AFTER}`,
  `${BEFORE}%(?<percent>[01](?:_?[01]){0,15})${AFTER}`,
  `${BEFORE_DIGIT}0b(?<zeroB>[01]{1,16})${AFTER}`,
]
const GROUPED = String.raw`(?<![\p{L}\p{N}_$%&,])(?<grouped>[1-9]\d{0,2}(?:,\d{3})+)(?!,?\d)${AFTER_DECIMAL}`
const DECIMAL = String.raw`${BEFORE_DIGIT}(?<decimal>\d{1,5})${AFTER_DECIMAL}`

const SEPARATE = [...PASSED_OVER, ...MARKED, DECIMAL].join('|')
const GROUPING = [...PASSED_OVER, ...MARKED, GROUPED, DECIMAL].join('|')

const BASES: Readonly<Record<string, 'hex' | 'binary' | 'decimal'>> = {
  dollar: 'hex',
  zeroX: 'hex',
  ampersand: 'hex',
  trailingH: 'hex',
  percent: 'binary',
  zeroB: 'binary',
  decimal: 'decimal',
}
const RADIX = { hex: 16, binary: 2, decimal: 10, grouped: 10 } as const

/** None for what is passed over and for numbers that are too large. */
function numbersOf(match: RegExpExecArray): readonly NumberOccurrence[] {
  const [token] = match
  const named = Object.entries(match.groups ?? {}).find(([, digits]) => digits !== undefined)
  if (named === undefined) return []
  const [form, digits] = named
  if (form === 'grouped') return groupedOf(token, match.index)
  return occurrence(token, digits, match.index, BASES[form] ?? 'decimal')
}

/** One number if it fits; else the commas separate after all. */
function groupedOf(token: string, start: number): readonly NumberOccurrence[] {
  const whole = occurrence(token, token.replaceAll(',', ''), start, 'grouped')
  if (whole.length > 0) return whole
  let at = start
  return token.split(',').flatMap(part => {
    const found = occurrence(part, part, at, 'decimal')
    at += part.length + 1
    return found
  })
}

function occurrence(
  token: string,
  digits: string,
  start: number,
  notation: NumberOccurrence['notation'],
): readonly NumberOccurrence[] {
  const bare = digits.replaceAll('_', '')
  const value = Number.parseInt(bare, RADIX[notation])
  if (value > MAX_NUMBER) return []
  return [{ token, value, start, end: start + token.length, notation, digits: bare.length }]
}

/** The end of `$800-9FF` or `$800-1000`, which needs no sign of its own. With fewer digits it is taken away: `$1000-1`. */
function rangeEnd(text: string, first: NumberOccurrence): NumberOccurrence | null {
  const pattern = new RegExp(`[-–](${HEX}{${first.digits},4})${AFTER}`, 'iuy')
  pattern.lastIndex = first.end
  const digits = pattern.exec(text)?.[1]
  return digits === undefined ? null : (occurrence(digits, digits, first.end + 1, 'hex')[0] ?? null)
}
