/** Processor instructions that a question names, in capitals or in small letters. */
import { textBefore } from '../enrichment/surroundings.ts'
import { OPCODES, UNDOCUMENTED } from '../facts/facts.ts'
import { isShouted, type Word, wordsOf } from './words.ts'

interface Mnemonic {
  readonly canonical: string
  readonly official: boolean
  /** Also an ordinary word, unit or tool. */
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
  if (wordLike && official) return /^\s+(?:instruction|opcode|mnemonic)/i.test(behind)
  return signs.assembly || (official && signs.clear.size >= 2)
}

/** `AND` and `BIT` also stand before masks and bit numbers; only an address in their notation follows them for sure. */
const BEFORE_AMOUNTS = new Set(['AND', 'BIT'])

/** Whether what begins somewhere is the operand of a mnemonic: `LDA $9A`, `lda ($fb),y`, `LDA($FB),Y`. */
export function operandReader(query: string): (start: number) => boolean {
  const shouted = isShouted(query)
  return start => {
    const name = /(?<![\p{L}\p{N}_$&%])([A-Za-z]\w*)(?:\s+|\s*\(\s*)$/u.exec(textBefore(query, start))
    const mnemonic = MNEMONICS.get(name?.[1]?.toUpperCase() ?? '')
    if (name?.[1] === undefined || mnemonic === undefined) return false
    const word = name[1]
    if (query.startsWith('$', start)) return true
    if (BEFORE_AMOUNTS.has(mnemonic.canonical)) return false
    const isUpper = word === word.toUpperCase()
    return isUpper ? !(mnemonic.wordLike && shouted) : mnemonic.official && !mnemonic.wordLike
  }
}

export function canonicalMnemonic(name: string): string | null {
  return MNEMONICS.get(name.toUpperCase())?.canonical ?? null
}
