/** Processor instructions that a question names, in capitals or in small letters. */
import { OPCODES, UNDOCUMENTED } from './facts.ts'
import { isShouted, type Word, wordsOf } from './words.ts'

interface Mnemonic {
  readonly canonical: string
  readonly official: boolean
  /** Also an ordinary word, unit or tool: small letters say nothing. */
  readonly wordLike: boolean
}

const WORD_LIKE = new Set(['AND', 'BIT', 'DEC', 'INC', 'SEC', 'TAX', 'SED', 'PHP', 'BMI'])
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
      { canonical: mnemonic, official: true, wordLike: englishWord === true || WORD_LIKE.has(mnemonic) },
    ] as const,
)
/** By name and alias in capitals. A name of its own beats an alias, an official one both. */
const MNEMONICS: ReadonlyMap<string, Mnemonic> = new Map([
  ...UNOFFICIAL.filter(([name, { canonical }]) => name !== canonical),
  ...UNOFFICIAL.filter(([name, { canonical }]) => name === canonical),
  ...OFFICIAL,
])

const ASSEMBLY_WORD =
  /\b(?:opcodes?|mnemonics?|instructions?|assembly|assemblers?|6502|6510|machine[ -](?:code|language)|addressing modes?)\b/i
/** Directly behind a mnemonic: `#` and a number, `$` and a digit, or an indirect address. */
const OPERAND = /^\s+(?:#[$%\d]|\$[0-9a-f]|\(\$)/i

/** Canonical names, in order of appearance, each once. */
export function mnemonicsIn(query: string): readonly string[] {
  const named = wordsOf(query).flatMap(word => {
    const mnemonic = MNEMONICS.get(word.upper)
    return mnemonic === undefined ? [] : [{ word, mnemonic }]
  })
  const clear = new Set(
    named.filter(({ mnemonic }) => mnemonic.official && !mnemonic.wordLike).map(({ mnemonic }) => mnemonic.canonical),
  )
  const signs = { shouted: isShouted(query), assembly: ASSEMBLY_WORD.test(query), clear }
  const meant = named.filter(({ word, mnemonic }) => isMeant(word, mnemonic, query, signs))
  return [...new Set(meant.map(({ mnemonic }) => mnemonic.canonical))]
}

interface Signs {
  readonly shouted: boolean
  /** The question speaks of assembly. */
  readonly assembly: boolean
  /** Official mnemonics in it that are no words. */
  readonly clear: ReadonlySet<string>
}

function isMeant(word: Word, { official, wordLike }: Mnemonic, query: string, signs: Signs): boolean {
  const behind = query.slice(word.end)
  if (OPERAND.test(behind)) return true
  if (word.isUpper) return !(wordLike && signs.shouted) || signs.assembly || signs.clear.size > 0
  if (wordLike) return /^\s+(?:instruction|opcode|mnemonic)/i.test(behind)
  return signs.assembly || (official && signs.clear.size >= 2)
}

/** `AND` and `BIT` also stand before masks and bit numbers; only an address in their notation follows them for sure. */
const BEFORE_AMOUNTS = new Set(['AND', 'BIT'])

/** Whether what begins at `start` is the operand of a mnemonic: `LDA $9A`, `lda ($fb),y`. */
export function isOperandAt(query: string, start: number): boolean {
  const word = wordsOf(query.slice(0, start)).at(-1)
  if (word === undefined || !/^\s+\(?\s*$/.test(query.slice(word.end, start))) return false
  const mnemonic = MNEMONICS.get(word.upper)
  if (mnemonic === undefined) return false
  if (OPERAND.test(query.slice(word.end))) return true
  if (BEFORE_AMOUNTS.has(mnemonic.canonical)) return false
  return word.isUpper ? !(mnemonic.wordLike && isShouted(query)) : mnemonic.official && !mnemonic.wordLike
}

export function canonicalMnemonic(name: string): string | null {
  return MNEMONICS.get(name.toUpperCase())?.canonical ?? null
}
