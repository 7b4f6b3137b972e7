/** Jump table routines that a question names. Some labels are ordinary words and need a voucher. */
import { KERNAL, type KernalFact } from '../facts/facts.ts'
import { isShouted, type Word, wordsOf } from './words.ts'

const BY_LABEL: ReadonlyMap<string, KernalFact> = new Map([
  ...KERNAL.flatMap(entry => entry.aliases.map(alias => [alias, entry] as const)),
  ...KERNAL.map(entry => [entry.label, entry] as const),
])
const WORD_LIKE: ReadonlySet<string> = new Set(
  KERNAL.filter(entry => entry.englishWord === true).map(entry => entry.label),
)

/** In order of appearance, each once. */
export function kernalIn(query: string): readonly KernalFact[] {
  const named = wordsOf(query).flatMap(word => {
    const entry = BY_LABEL.get(word.upper)
    return entry === undefined ? [] : [{ word, entry }]
  })
  const signs = {
    shouted: isShouted(query),
    spokenOf: /\b(?:kernal|kernel|jsr)\b/i.test(query),
    clear: named.some(({ word }) => !WORD_LIKE.has(word.upper)),
  }
  return [...new Set(named.filter(({ word }) => isMeant(word, signs)).map(({ entry }) => entry))]
}

export function kernalNamed(name: string): KernalFact | null {
  return BY_LABEL.get(name.toUpperCase()) ?? null
}

interface Signs {
  readonly shouted: boolean
  /** The question is about the system or calls a routine. */
  readonly spokenOf: boolean
  /** It holds a label that is no word. */
  readonly clear: boolean
}

function isMeant(word: Word, { shouted, spokenOf, clear }: Signs): boolean {
  if (!WORD_LIKE.has(word.upper) || spokenOf) return true
  return word.isUpper && (!shouted || clear)
}
