/**
 * Folds all spellings of a word to one form: compatibility characters resolved (NFKC), lower case independent of locale, accents dropped.
 * Folding comes before stemming, so that `cancion` and `canción` are always treated alike; the stemmers restore the single accent that they
 * need (`stem.ts`).
 */

const ASCII = /^[\0-\x7f]*$/
/** Accents of Latin and Greek letters, vowel signs and hamzas of Arabic ones; marks of other scripts are letters in their own right. */
const ACCENTS = /(?<=[\p{sc=Latin}\p{sc=Greek}][\u0300-\u036f]*)[\u0300-\u036f]|[\u064b-\u0655\u0670]/gu
/** Letters that Unicode does not decompose. */
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
/** Soft hyphens, joiners, direction marks, the byte order mark: invisible, and no part of a spelling. */
const INVISIBLE = /\p{Cf}/gu

/** The folded text: `Über-Größe` gives `uber-grosse`. Folding a folded text changes nothing. */
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
