/**
 * Finds the numbers in a question, in the notations of assemblers and BASIC dialects (hexadecimal, binary, decimal), and determines the
 * role of each: address, value or prose.
 */

/** Largest number that is recognised (two bytes), and the largest that fits into one byte. */
const MAX_NUMBER = 0xffff
const MAX_BYTE = 0xff

/**
 * What a number in a question means, most specific first: certainly an address (`address`), possibly an address (`candidate`), an amount
 * (`value`), or part of the prose, such as a year or "16 colours" (`prose`). Plugins ignore numbers in prose.
 */
export type NumberRole = 'address' | 'candidate' | 'value' | 'prose'

const ROLES: readonly NumberRole[] = ['address', 'candidate', 'value', 'prose']

export interface ParsedNumber {
  /** The number as it is written where it first occurs in the question. */
  readonly sourceToken: string
  /** Value of the number, 0 to 65535. */
  readonly value: number
  readonly decimal: string
  /** The number in hexadecimal: `$` and two digits up to 255, four digits above. */
  readonly hex: string
  /** The number in binary: `%` and eight digits; absent for numbers above 255. */
  readonly binary?: string
  readonly role?: NumberRole
  /** Start position of each occurrence of the number in the question, in UTF-16 units, ascending. */
  readonly at?: readonly number[]
}

export function isByte(value: number): boolean {
  return value <= MAX_BYTE
}

function toHex(value: number): string {
  return `$${digits(value, 16, isByte(value) ? 2 : 4)}`
}

/** Writes a number as an address: `$` and four hexadecimal digits. */
export function toAddress(value: number): string {
  return `$${digits(value, 16, 4)}`
}

function toBinary(value: number): string {
  return `%${digits(value, 2, 8)}`
}

function digits(value: number, base: number, width: number): string {
  return value.toString(base).toUpperCase().padStart(width, '0')
}

/** Start positions of a number in the question. If they were not recorded, the first occurrence of the number's text is searched for. */
export function placesOf(number: ParsedNumber, query: string): readonly number[] {
  if (number.at !== undefined) return number.at
  const first = query.indexOf(number.sourceToken)
  return first < 0 ? [] : [first]
}

/**
 * The numbers in a question in the order of appearance, each value once, with its first spelling and its most specific role. The list and
 * its items are frozen.
 */
export function extractNumbers(query: string, rules: NumberRules = {}): readonly ParsedNumber[] {
  const occurrences = scanNumbers(query, rules)
  const roles = rolesOf(occurrences, query, rules)
  const byValue = new Map<number, { token: string; role: NumberRole; at: number[] }>()
  for (const [index, { token, value, start }] of occurrences.entries()) {
    const role = roles[index] ?? 'value'
    const known = byValue.get(value)
    if (known === undefined) byValue.set(value, { token, role, at: [start] })
    else {
      known.at.push(start)
      if (ROLES.indexOf(role) < ROLES.indexOf(known.role)) known.role = role
    }
  }
  return Object.freeze([...byValue].map(([value, { token, role, at }]) => parsed(value, token, role, at)))
}

function parsed(value: number, sourceToken: string, role: NumberRole, at: readonly number[]): ParsedNumber {
  const forms = { sourceToken, value, decimal: String(value), hex: toHex(value) }
  const binary = isByte(value) ? { binary: toBinary(value) } : {}
  return Object.freeze({ ...forms, ...binary, role, at: Object.freeze([...at]) })
}

export interface NumberOccurrence {
  readonly token: string
  readonly value: number
  /** Start and end of the number in the text, in UTF-16 units; the end is exclusive. */
  readonly start: number
  readonly end: number
  /** How the number is written; `grouped`: decimal with commas as thousands separators. */
  readonly notation: 'hex' | 'binary' | 'decimal' | 'grouped'
  /** Number of digits as written, without prefix and separators. */
  readonly digits: number
}

/** Finds all occurrences of numbers in a text, in order, including repeated ones. */
export function scanNumbers(text: string, rules: NumberRules = {}): readonly NumberOccurrence[] {
  const found: NumberOccurrence[] = []
  const { separate, grouping } = patternsOf(rules)
  const pattern = new RegExp(rules.commasSeparate?.(text) === true ? separate : grouping, 'giu')
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
/**
 * Pattern for what may precede a number that begins with a digit: no letter or digit, and no sign (`$`, `%`, `&`) that introduces another
 * notation.
 */
const BEFORE_DIGIT = String.raw`(?<![\p{L}\p{N}_$%&])`
const AFTER = String.raw`(?!${WORD}|\.\d)`
/** Pattern for what may follow a decimal number: a percent sign is allowed, unless it begins a binary number. */
const AFTER_DECIMAL = String.raw`(?![\p{L}\p{N}_$&]|\.\d|%${WORD})`
const HEX = '[0-9a-f]'

const PASSED_OVER = [
  String.raw`(?:\d{4}-\d{2}-\d{2}(?:t\d{2}[\d:.]*z?)?)`,
  String.raw`(?:\d{1,2}:[0-5]\d(?::[0-5]\d)?(?:\.\d+)?(?!\d))`,
  String.raw`(?:(?<!\d)\d+(?:\.\d+)+|(?<!\.)\.\d+)`,
]
const MARKED = [
  `${BEFORE_DIGIT}0x(?<zeroX>${HEX}{1,4})${AFTER}`,
  `${BEFORE}&(?<ampersand>${HEX}{4})${AFTER}`,
  // A hexadecimal number with a final `h` must have four digits, at least one of them 0 to 9, so that "beach" is not a number; or it must
  // begin with 0.
  String.raw`${BEFORE_DIGIT}(?<trailingH>0${HEX}{1,4}|(?=[a-f]{0,3}\d)${HEX}{4})h${AFTER}`,
  `${BEFORE}%(?<percent>[01](?:_?[01]){0,15})${AFTER}`,
  `${BEFORE_DIGIT}0b(?<zeroB>[01]{1,16})${AFTER}`,
]
const GROUPED = String.raw`(?<![\p{L}\p{N}_$%&,])(?<grouped>[1-9]\d{0,2}(?:,\d{3})+)(?!,?\d)${AFTER_DECIMAL}`
/** Maximum number of keywords written without blanks in a row before or after a number. */
const MAX_WORDS = 8

interface Patterns {
  readonly separate: string
  readonly grouping: string
}

const PATTERNS = new WeakMap<NumberRules, Patterns>()

function patternsOf(rules: NumberRules): Patterns {
  const known = PATTERNS.get(rules)
  if (known !== undefined) return known
  // A keyword may touch a number only if it begins a word, or continues a row of keywords and numbers, such as `1TO10`.
  const keyword = anyOf(rules.keywords)
  const row = String.raw`(?<=(?<![\p{L}\p{N}_$%&])(?:\d{0,5}${keyword}){1,${MAX_WORDS}})`
  const mnemonic = `(?<=${BEFORE}${anyOf(rules.mnemonics)})`
  const dollar = String.raw`(?:${BEFORE}|${row}|${mnemonic}|(?<=\$${HEX}{1,4}))\$(?<dollar>${HEX}{1,4})${AFTER}`
  const wordBehind = String.raw`(?=${keyword}{1,${MAX_WORDS}}(?![\p{L}_]))`
  const decimal = String.raw`(?:${BEFORE_DIGIT}|${row})(?<decimal>\d{1,5})(?:${AFTER_DECIMAL}|${wordBehind})`
  const marked = [...PASSED_OVER, dollar, ...MARKED]
  const made = { separate: [...marked, decimal].join('|'), grouping: [...marked, GROUPED, decimal].join('|') }
  PATTERNS.set(rules, made)
  return made
}

/** Pattern that matches any of the given words; for an empty list it never matches. */
function anyOf(words: readonly string[] = []): string {
  return words.length === 0 ? '(?:(?!))' : `(?:${words.join('|')})`
}

/** Notation of the number by the name of the pattern group that matched; groups that are not listed contain hexadecimal numbers. */
const NOTATIONS: Readonly<Record<string, NumberOccurrence['notation']>> = {
  percent: 'binary',
  zeroB: 'binary',
  decimal: 'decimal',
}
const RADIX = { hex: 16, binary: 2, decimal: 10, grouped: 10 } as const

/** The numbers in a match of the pattern. None if the match is a text to be skipped, such as a date, or if the number is above 65535. */
function numbersOf(match: RegExpExecArray): readonly NumberOccurrence[] {
  const [token] = match
  const named = Object.entries(match.groups ?? {}).find(([, digits]) => digits !== undefined)
  if (named === undefined) return []
  const [form, digits] = named
  if (form === 'grouped') return groupedOf(token, match.index)
  return occurrence(token, digits, match.index, NOTATIONS[form] ?? 'hex')
}

/** Reads digits with commas as one number with thousands separators; if that number is above 65535, the commas separate several numbers. */
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

/**
 * The end of a range such as `$800-9FF` or `$800-1000`, which is hexadecimal although it has no `$`. If it has fewer digits than the
 * beginning, it is not an end: `$1000-1` is a subtraction.
 */
function rangeEnd(text: string, first: NumberOccurrence): NumberOccurrence | null {
  const pattern = new RegExp(`[-–](${HEX}{${first.digits},4})${AFTER}`, 'iuy')
  pattern.lastIndex = first.end
  const digits = pattern.exec(text)?.[1]
  return digits === undefined ? null : (occurrence(digits, digits, first.end + 1, 'hex')[0] ?? null)
}

/**
 * Rules by which a domain decides what numbers in a question mean; all are optional. Without rules, numbers are still found, and their
 * notation and size determine their role.
 */
export interface NumberRules {
  /** Keywords that may directly touch a number on either side, because some programming languages need no blanks. */
  readonly keywords?: readonly string[] | undefined
  /** Instruction names that may be directly followed by a dollar sign and a number. */
  readonly mnemonics?: readonly string[] | undefined
  /** Whether commas in this question separate numbers even where they could be thousands separators. */
  readonly commasSeparate?: ((query: string) => boolean) | undefined
  /** Words of the domain (such as store instructions) whose first operand is an address. */
  readonly addressWords?: readonly string[] | undefined
  /** Units that make a decimal number before them part of the prose, as in "1024 bytes". Plurals must be listed separately. */
  readonly units?: readonly string[] | undefined
  /** Decimal numbers that are names, such as the models of a machine, and so are no addresses or values. */
  readonly names?: ReadonlySet<number> | undefined
  /** Whether a decimal number is not a number of the domain but, for example, a year. */
  readonly isProse?: ((value: number) => boolean) | undefined
  /** Whether a decimal number above 255 is an address that the rules for this subject list. */
  readonly isKnownAddress?: ((value: number) => boolean) | undefined
  /**
   * Called once per question; returns a function that decides whether an occurrence of a number up to 255 is an address. If not, the number
   * is a value.
   */
  readonly byteAddresses?: ((query: string) => (occurrence: NumberOccurrence) => boolean) | undefined
}

/**
 * Determines the role of each occurrence of a number, in order, because the role of the second number in a pair such as `53280,0` depends
 * on that of the first.
 */
function rolesOf(occurrences: readonly NumberOccurrence[], query: string, rules: NumberRules): readonly NumberRole[] {
  const operand = operandPattern(rules)
  const unit = unitPattern(rules.units)
  const isByteAddress = rules.byteAddresses?.(query)
  const roles: NumberRole[] = []
  const roleOf = (occurrence: NumberOccurrence, index: number): NumberRole => {
    const { value, start, end, notation } = occurrence
    const before = textBefore(query, start)
    const isOperand = operand?.test(before) === true
    const isDecimal = notation === 'decimal' || notation === 'grouped'
    if (isDecimal && !/[,#=]\s*$/.test(before) && unit.test(query.slice(end))) return 'prose'
    if (isDecimal && !isOperand && isNamed(occurrence, rules)) {
      const previous = occurrences[index - 1]
      const isPaired = previous !== undefined && roles[index - 1] === 'address' && isPair(previous, occurrence, query)
      return isByte(value) && (isPaired || /[#=]\s*$/.test(before)) ? 'value' : 'prose'
    }
    if (isOperand) return 'address'
    if (isByte(value)) return isByteAddress?.(occurrence) === true ? 'address' : 'value'
    const next = occurrences[index + 1]
    const leads = next !== undefined && isByte(next.value) && isPair(occurrence, next, query)
    return !isDecimal || leads || rules.isKnownAddress?.(value) === true ? 'address' : 'candidate'
  }
  for (const [index, occurrence] of occurrences.entries()) roles.push(roleOf(occurrence, index))
  return roles
}

/**
 * Whether a decimal number is a name, a year or another number in prose, or an amount with thousands separators that is no known address.
 */
function isNamed({ value, notation }: NumberOccurrence, rules: NumberRules): boolean {
  if (rules.names?.has(value) === true || rules.isProse?.(value) === true) return true
  return notation === 'grouped' && rules.isKnownAddress?.(value) !== true
}

function isPair(first: NumberOccurrence, second: NumberOccurrence, query: string): boolean {
  return /^\s*,\s*$/.test(query.slice(first.end, second.start))
}

function operandPattern({ addressWords: words = [], keywords }: NumberRules): RegExp | null {
  if (words.length === 0) return null
  const row = `${BEFORE}(?:\\d{0,5}${anyOf(keywords)}){0,${MAX_WORDS}}\\d{0,5}`
  return new RegExp(String.raw`${row}(?:${words.join('|')})\s*\(?\s*$`, 'iu')
}

function unitPattern(units: readonly string[] = []): RegExp {
  const percent = String.raw`\s?%(?![\p{L}\p{N}_])`
  const words = String.raw`[\s-]?(?:${units.join('|')})(?![\p{L}\p{N}_])`
  return new RegExp(units.length === 0 ? `^${percent}` : `^(?:${percent}|${words})`, 'iu')
}

/**
 * Maximum number of characters that are examined before a number. They are enough for every searched word with the blanks after it, and
 * make the time proportional to the length of the question.
 */
const NEAR = 48

/** The last characters, at most 48, of the question before position `at`; all in UTF-16 units. */
export function textBefore(query: string, at: number): string {
  return query.slice(Math.max(0, at - NEAR), at)
}
