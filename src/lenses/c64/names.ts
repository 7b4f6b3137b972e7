/**
 * Finds names in a query (chip registers, KERNAL routines, processor instructions, colours), and gives each its canonical spelling as a
 * tag. Records and queries use the same spelling.
 */
import { textBefore, toAddress } from './enrichment/numbers.ts'
import {
  COLORS,
  type ColorFact,
  KERNAL,
  type KernalFact,
  LOCATIONS,
  OPCODES,
  REGISTERS,
  type RegisterFact,
  ROUTINES,
  UNDOCUMENTED,
  WORD_LIKE_REGISTERS,
} from './facts/facts.ts'

const BY_NAME: ReadonlyMap<string, RegisterFact> = new Map(REGISTERS.map(register => [register.name, register]))
const BY_ALIAS: ReadonlyMap<string, RegisterFact> = new Map(
  REGISTERS.flatMap(register => register.aliases.map(alias => [alias, register] as const)),
)
/** Registers by a generic name that registers of several chips share; for each name the register of the first chip comes first. */
const SHARED: ReadonlyMap<string, readonly RegisterFact[]> = Map.groupBy(
  REGISTERS.filter(register => register.genericName !== undefined),
  register => register.genericName ?? '',
)
const WORD_LIKE_NAMES = new Set(WORD_LIKE_REGISTERS)

/** Registers that the query mentions by name, in order of appearance, without duplicates. */
export function registersIn(query: string): readonly RegisterFact[] {
  const words = wordsOf(query)
  const chips = chipsNamed(query)
  const found = words.flatMap((word, index) => {
    if (SHARED.has(word.upper)) return sharedNamed(word, chips)
    const register = BY_NAME.get(word.upper) ?? aliased(word)
    if (register === undefined) return []
    const isVouched = !WORD_LIKE_NAMES.has(word.upper) || isClear(word, words, index, query)
    return isVouched ? [register] : []
  })
  return [...new Set(found)]
}

/**
 * The register that has this name or alias; null when there is none. A generic name shared by registers of several chips finds a register
 * only if it is also the canonical name of one of them.
 */
function registerNamed(name: string): RegisterFact | null {
  const upper = name.toUpperCase()
  return BY_NAME.get(upper) ?? BY_ALIAS.get(upper) ?? null
}

/**
 * An alias of a register that has at most three letters and no digit counts only when the query writes it in capitals: in lower case it
 * could be an ordinary word or another abbreviation.
 */
function aliased(word: Word): RegisterFact | undefined {
  if (/^[A-Z]{1,3}$/.test(word.upper) && !word.isUpper) return undefined
  return BY_ALIAS.get(word.upper)
}

function chipsNamed(query: string) {
  const numbers = [...query.matchAll(/\bCIA\s*[#-]?\s*([12])\b/gi)].map(match => match[1])
  return { any: /\bCIA(?:[12]?\b|_)/i.test(query), first: numbers.includes('1'), second: numbers.includes('2') }
}

function sharedNamed(word: Word, chips: ReturnType<typeof chipsNamed>): readonly RegisterFact[] {
  const registers = SHARED.get(word.upper) ?? []
  const canonical = BY_NAME.get(word.upper)
  const [first, second] = registers
  if (chips.second && !chips.first) return second === undefined ? [] : [second]
  // Where the canonical name of one chip's register is also a generic name of a second chip's register, the name means only the first
  // chip's register, unless the query mentions only the second chip.
  if (canonical !== undefined) return [canonical]
  if (!word.isUpper && !chips.any) return []
  return chips.first && !chips.second ? [first].filter(register => register !== undefined) : registers
}

/**
 * Whether a word that is both a register name and an ordinary word is meant as the register: it is in capitals in a query that is not all
 * capitals, or next to the word "register".
 */
function isClear(word: Word, words: readonly Word[], index: number, query: string): boolean {
  if (word.isUpper && !isShouted(query)) return true
  const isRegister = (neighbour: Word | undefined): boolean =>
    neighbour !== undefined && /^REGISTERS?$/.test(neighbour.upper)
  const [before, after] = [words[index - 1], words[index + 1]]
  return (
    (isRegister(before) && isBlank(query, before?.end ?? 0, word.start)) ||
    (isRegister(after) && isBlank(query, word.end, after?.start ?? 0))
  )
}

function isBlank(query: string, from: number, to: number): boolean {
  return /^\s*$/.test(query.slice(from, to))
}

const BY_LABEL: ReadonlyMap<string, KernalFact> = new Map([
  ...KERNAL.flatMap(entry => entry.aliases.map(alias => [alias, entry] as const)),
  ...KERNAL.map(entry => [entry.label, entry] as const),
])
const WORD_LIKE_LABELS: ReadonlySet<string> = new Set(
  KERNAL.filter(entry => entry.englishWord === true).map(entry => entry.label),
)

/** KERNAL routines that the query mentions by name, in order of appearance, without duplicates. */
export function kernalIn(query: string): readonly KernalFact[] {
  const named = namedIn(query, BY_LABEL)
  const isShoutedQuery = isShouted(query)
  const isAboutSystem = /\b(?:kernal|kernel|jsr)\b/i.test(query)
  const hasClearLabel = named.some(([word]) => !WORD_LIKE_LABELS.has(word.upper))
  const meant = named.filter(
    ([{ upper, isUpper }]) =>
      !WORD_LIKE_LABELS.has(upper) || isAboutSystem || (isUpper && (!isShoutedQuery || hasClearLabel)),
  )
  return [...new Set(meant.map(([, entry]) => entry))]
}

interface Mnemonic {
  readonly canonical: string
  readonly official: boolean
  /** Whether the mnemonic is also an ordinary word, a unit or the name of a tool, as `AND`, `DEC` and `PHP` are. */
  readonly wordLike: boolean
}

const WORD_LIKE_MNEMONICS = new Set(['AND', 'BIT', 'DEC', 'INC', 'SEC', 'TAX', 'SED', 'PHP', 'BMI'])
const WORD_LIKE_UNDOCUMENTED = new Set(['HLT', 'INS', 'JAM', 'KIL', 'LAS', 'LAX', 'SAX', 'TAS'])

const UNOFFICIAL: readonly (readonly [string, Mnemonic])[] = UNDOCUMENTED.flatMap(({ mnemonic, aliases }) =>
  [...aliases, mnemonic].map(
    name => [name, { canonical: mnemonic, official: false, wordLike: WORD_LIKE_UNDOCUMENTED.has(name) }] as const,
  ),
)
const OFFICIAL: readonly (readonly [string, Mnemonic])[] = OPCODES.map(
  ({ mnemonic, englishWord }) =>
    [
      mnemonic,
      { canonical: mnemonic, official: true, wordLike: englishWord === true || WORD_LIKE_MNEMONICS.has(mnemonic) },
    ] as const,
)
/**
 * Processor instructions by mnemonic and alias, in capitals. Where a name is both an alias and a mnemonic, the mnemonic counts; where it is
 * both official and undocumented, the official mnemonic counts.
 */
const MNEMONICS: ReadonlyMap<string, Mnemonic> = new Map([
  ...UNOFFICIAL.filter(([name, { canonical }]) => name !== canonical),
  ...UNOFFICIAL.filter(([name, { canonical }]) => name === canonical),
  ...OFFICIAL,
])

/** All instruction mnemonics and their aliases, in capitals. */
export const MNEMONIC_NAMES: readonly string[] = [...MNEMONICS.keys()]

const ASSEMBLY_WORD =
  /\b(?:opcodes?|mnemonics?|instructions?|assembly|assemblers?|6502|6510|machine[ -](?:code|language)|addressing modes?)\b/i
/**
 * Text directly after a mnemonic that shows an operand: `#` and a number, `$` and a hexadecimal digit, or an indirect address such as
 * `($fb)`.
 */
const OPERAND = /^\s*(?:#[$%\d]|\$[0-9a-f]|\(\$)/i

/** Canonical mnemonics of the processor instructions that the query mentions, in order of appearance, without duplicates. */
export function mnemonicsIn(query: string): readonly string[] {
  const named = namedIn(query, MNEMONICS)
  const isShoutedQuery = isShouted(query)
  const isAboutAssembly = ASSEMBLY_WORD.test(query)
  /** Official mnemonics in the query that are not also ordinary words. */
  const clear = new Set(named.flatMap(([, one]) => (one.official && !one.wordLike ? [one.canonical] : [])))
  const isMeant = ([word, { official, wordLike }]: (typeof named)[number]): boolean => {
    const behind = query.slice(word.end)
    if (OPERAND.test(behind)) return true
    if (word.isUpper) return !(wordLike && isShoutedQuery) || isAboutAssembly || clear.size > 0
    if (wordLike && official) return /^\s+(?:instruction|opcode|mnemonic)/i.test(behind)
    return isAboutAssembly || (official && clear.size >= 2)
  }
  return [...new Set(named.filter(isMeant).map(([, { canonical }]) => canonical))]
}

/**
 * `AND` and `BIT` may be followed by a mask or bit number in ordinary text too; for these two words only an address in assembler notation
 * shows that the instruction is meant.
 */
const BEFORE_AMOUNTS = new Set(['AND', 'BIT'])

/**
 * Returns a function that says whether the text of the query from a position on is the operand of a mnemonic, as in `LDA $9A`, `lda
 * ($fb),y` and `LDA($FB),Y`.
 */
export function operandReader(query: string): (start: number) => boolean {
  const shouted = isShouted(query)
  return start => {
    const name = /(?<![\p{L}\p{N}_$&%])([A-Za-z]\w*)\s*\(?\s*$/u.exec(textBefore(query, start))
    const mnemonic = MNEMONICS.get(name?.[1]?.toUpperCase() ?? '')
    if (name?.[1] === undefined || mnemonic === undefined) return false
    const word = name[1]
    if (query.startsWith('$', start)) return true
    if (BEFORE_AMOUNTS.has(mnemonic.canonical)) return false
    const isUpper = word === word.toUpperCase()
    return isUpper ? !(mnemonic.wordLike && shouted) : mnemonic.official && !mnemonic.wordLike
  }
}

/** Colours by their names and aliases, each in capitals, with British spelling of grey and with blanks as separators. */
const COLOR_BY_NAME: ReadonlyMap<string, ColorFact> = new Map([
  ...COLORS.flatMap(color => color.aliases.map(alias => [plain(alias), color] as const)),
  ...COLORS.map(color => [plain(color.name), color] as const),
])

const COLOR_NAME = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?:${[...COLOR_BY_NAME.keys()]
    // Longer colour names are tried first, so that "light blue" is not found as "blue".
    .sort((a, b) => b.length - a.length)
    .map(name => name.replaceAll(' ', String.raw`[\s_-]+`).replaceAll('GREY', 'GR[EA]Y'))
    .join('|')})(?![\p{L}\p{N}_])`,
  'giu',
)

/** Colours that the query mentions by name, in order of appearance, without duplicates. */
export function colorsIn(query: string): readonly ColorFact[] {
  const found = [...query.matchAll(COLOR_NAME)].map(match => COLOR_BY_NAME.get(plain(match[0])))
  return [...new Set(found.filter(color => color !== undefined))]
}

/**
 * A colour name in the form in which names are compared: capitals, British spelling of grey, and blanks in place of hyphens and
 * underscores.
 */
function plain(name: string): string {
  return name
    .trim()
    .toUpperCase()
    .replace(/[\s_-]+/g, ' ')
    .replaceAll('GRAY', 'GREY')
}

interface Word {
  readonly upper: string
  readonly isUpper: boolean
  /** Range of the word in the query: start inclusive, end exclusive, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

/** Splits a query into words: letters, digits and underscores, beginning with a letter, and not part of a number such as `$ADC0`. */
function wordsOf(query: string): readonly Word[] {
  return [...query.matchAll(/(?<![\p{L}\p{N}_$&%])[A-Za-z][A-Za-z0-9_]*(?![\p{L}\p{N}_])/gu)].map(match => {
    const [text] = match
    const upper = text.toUpperCase()
    return { upper, isUpper: text === upper, start: match.index, end: match.index + text.length }
  })
}

function namedIn<T>(query: string, table: ReadonlyMap<string, T>): readonly (readonly [Word, T])[] {
  return wordsOf(query).flatMap(word => {
    const found = table.get(word.upper)
    return found === undefined ? [] : [[word, found] as const]
  })
}

/** Whether the whole query is written in capitals: it has at least two words and no lower-case letter. */
function isShouted(query: string): boolean {
  return !/\p{Ll}/u.test(query) && wordsOf(query).length >= 2
}

/** The canonical spelling of a tag; a tag that is canonical already is returned unchanged. */
export function canonicalTag(tag: string): string {
  const upper = tag.trim().toUpperCase()
  const address = /^(?:\$|0X)([0-9A-F]{1,4})$/.exec(upper)?.[1]
  if (address !== undefined) return toAddress(Number.parseInt(address, 16))
  return namedTag(upper) ?? MEMORY_LABELS.get(upper) ?? upper.replaceAll('GRAY', 'GREY')
}

/** The canonical tag of the register, routine, instruction or colour that has this name; null when nothing has this name. */
export function namedTag(name: string): string | null {
  const upper = name.toUpperCase()
  const named = registerNamed(name)?.name ?? BY_LABEL.get(upper)?.label ?? COLOR_BY_NAME.get(plain(name))?.tag
  return named ?? MNEMONICS.get(upper)?.canonical ?? null
}

/**
 * Every tag that enrichment may make from a name in a query: the canonical tag, and the registers of all chips that share the name. Which
 * of them it makes depends on the rest of the query.
 */
export function tagsFor(name: string): readonly string[] {
  const shared = SHARED.get(name.toUpperCase()) ?? []
  return [...new Set([canonicalTag(name), ...shared.map(register => register.name)])]
}

/** Labels of memory locations, and of routines outside the KERNAL's jump table, by alias. */
const MEMORY_LABELS: ReadonlyMap<string, string> = new Map(
  [...ROUTINES, ...LOCATIONS].flatMap(({ label, aliases }) =>
    label === null
      ? []
      : aliases.filter(alias => namedTag(alias) === null).map(alias => [alias, namedTag(label) ?? label]),
  ),
)
