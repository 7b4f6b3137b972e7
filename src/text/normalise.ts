/**
 * Folds all spellings of a word to one form: compatibility characters are resolved (NFKC), letters become lower-case independently of the
 * locale, and accents are dropped. Words are folded before stemming, so that `cancion` and `canción` are always treated alike; the stemmers
 * restore the single accents that they need (`stem.ts`).
 */

const ASCII = /^[\0-\x7f]*$/
/**
 * Pattern of the marks that folding drops: accents of Latin and Greek letters, vowel signs and hamzas of Arabic ones. Marks of other
 * scripts are kept, since they are letters in their own right.
 */
const ACCENTS = /(?<=[\p{sc=Latin}\p{sc=Greek}][\u0300-\u036f]*)[\u0300-\u036f]|[\u064b-\u0655\u0670]/gu
/** Letters that Unicode does not decompose to a base letter and an accent, so that they need replacements of their own. */
const WHOLE_LETTERS = /[ßæœøłđðþıħŧŋĸς]/g
const SPELT_OUT: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ς: 'σ',
}
/** Pattern of invisible characters, which belong to no spelling: soft hyphens, joiners, direction marks, the byte order mark. */
const INVISIBLE = /\p{Cf}/gu

/** Folds a text to lower case without accents: `Über-Größe` gives `uber-grosse`. Folding a folded text changes nothing. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .replace(INVISIBLE, '')
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .normalize('NFKC')
    .replace(WHOLE_LETTERS, letter => SPELT_OUT[letter] as string)
}
