/**
 * Words to stems: what the word index stores and asks for. English by Porter's algorithm (package `stemmer`; the English
 * one of @orama/stemmers cuts `connection` to `connec`), the others by Snowball's (package `@orama/stemmers`, which
 * gives what Snowball's reference gives, ten times as fast as `snowball-stemmers`).
 *
 * A stem depends on the folded word alone, so a word is found with and without its accents. Snowball knows endings by
 * their accents, so the ones that always have one get it back first (`cancion`, `canción`: both `cancion`).
 */
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as english } from 'stemmer'
import { fold } from './normalise.ts'
import type { Language } from './stopwords.ts'

/** The stem of a folded word (`tokenise`). Terms with a digit or sign are their own stem. Stable; cached. */
export function stem(term: string, language: Language): string {
  const cache = CACHES[language]
  const known = cache.get(term)
  if (known !== undefined) return known
  const found = LETTERS.test(term) ? STEMMERS[language](term) : term
  if (cache.size >= CACHE_SIZE) cache.clear()
  cache.set(term, found)
  return found
}

/** What every word with this stem begins with: stemming changes the last two letters that stay at most, never the first. */
export function beginningOf(stem: string): string {
  return stem.slice(0, Math.max(1, stem.length - MAX_CHANGED))
}

/** French `application` has the stem `appliqu`, of which it has `appli`. */
const MAX_CHANGED = 2

const LETTERS = /^[a-z]{3,40}$/
const CACHE_SIZE = 50_000

const CACHES: Readonly<Record<Language, Map<string, string>>> = {
  en: new Map(),
  es: new Map(),
  fr: new Map(),
  de: new Map(),
  it: new Map(),
  pt: new Map(),
}

const STEMMERS: Readonly<Record<Language, (term: string) => string>> = {
  en: english,
  es: spanishStem,
  fr: term => fold(french(term)),
  de: term => fold(german(term)),
  it: term => fold(italian(term)),
  pt: term => fold(portuguese(term.replace(/cao$/, 'ção').replace(/coes$/, 'ções'))),
}

/**
 * Unaccented `comia` and `nacio` keep the i of their ending; without it they meet `comer` and `nacer`. Snowball leaves
 * short plurals (`anos`, `ojos`) as they are.
 */
function spanishStem(term: string): string {
  const found = fold(spanish(term.replace(/([cs])ion$/, '$1ión').replace(/logia(s?)$/, 'logía$1')))
  if (found.length > 3 && found.endsWith('i')) return found.slice(0, -1)
  return found === term && /.[aeo]s$/.test(term) ? term.slice(0, -1) : found
}
