/** Chip registers that a question names: canonical names, other names, and data sheet names that two chips share. */
import { REGISTERS, type RegisterFact, WORD_LIKE_REGISTERS } from '../facts/facts.ts'
import { isShouted, type Word, wordsOf } from './words.ts'

const BY_NAME: ReadonlyMap<string, RegisterFact> = new Map(REGISTERS.map(register => [register.name, register]))
const BY_ALIAS: ReadonlyMap<string, RegisterFact> = new Map(
  REGISTERS.flatMap(register => register.aliases.map(alias => [alias, register] as const)),
)
/** The registers of a shared name, that of the first chip first. */
const SHARED: ReadonlyMap<string, readonly RegisterFact[]> = Map.groupBy(
  REGISTERS.filter(register => register.genericName !== undefined),
  register => register.genericName ?? '',
)
const WORD_LIKE = new Set(WORD_LIKE_REGISTERS)

/** In order of appearance, each once. */
export function registersIn(query: string): readonly RegisterFact[] {
  const words = wordsOf(query)
  const chips = chipsNamed(query)
  const found = words.flatMap((word, index) => {
    if (SHARED.has(word.upper)) return sharedNamed(word, chips)
    const register = BY_NAME.get(word.upper) ?? aliased(word)
    if (register === undefined) return []
    const isVouched = !WORD_LIKE.has(word.upper) || isClear(word, words, index, query)
    return isVouched ? [register] : []
  })
  return [...new Set(found)]
}

/** The register that a name means by itself; null when none does, or two. */
export function registerNamed(name: string): RegisterFact | null {
  const upper = name.toUpperCase()
  return BY_NAME.get(upper) ?? BY_ALIAS.get(upper) ?? null
}

/** The registers that a name may mean, depending on the chip that is spoken of. */
export function registersPossible(name: string): readonly RegisterFact[] {
  const shared = SHARED.get(name.toUpperCase())
  const one = registerNamed(name)
  return shared ?? (one === null ? [] : [one])
}

/** Short aliases without a digit are words or abbreviations of something else unless in capitals. */
function aliased(word: Word): RegisterFact | undefined {
  if (/^[A-Z]{1,3}$/.test(word.upper) && !word.isUpper) return undefined
  return BY_ALIAS.get(word.upper)
}

interface ChipsNamed {
  readonly any: boolean
  readonly first: boolean
  readonly second: boolean
}

function chipsNamed(query: string): ChipsNamed {
  const numbers = [...query.matchAll(/\bCIA\s*[#-]?\s*([12])\b/gi)].map(match => match[1])
  return { any: /\bCIA(?:[12]?\b|_)/i.test(query), first: numbers.includes('1'), second: numbers.includes('2') }
}

function sharedNamed(word: Word, chips: ChipsNamed): readonly RegisterFact[] {
  const registers = SHARED.get(word.upper) ?? []
  const canonical = BY_NAME.get(word.upper)
  const [first, second] = registers
  if (chips.second && !chips.first) return second === undefined ? [] : [second]
  // Also a canonical name, of the first chip: that is what it means unless only the other one is spoken of.
  if (canonical !== undefined) return [canonical]
  if (!word.isUpper && !chips.any) return []
  return chips.first && !chips.second ? [first].filter(register => register !== undefined) : registers
}

/** A register name that is an ordinary word counts in capitals, or beside the word "register". */
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
