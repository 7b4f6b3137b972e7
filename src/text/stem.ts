/**
 * Stems of words, which the word index stores and searches. English words are stemmed by Porter's algorithm (package `stemmer`; the English
 * stemmer of @orama/stemmers cuts `connection` to `connec`), other languages by Snowball's algorithms (package `@orama/stemmers`, which
 * gives the results of Snowball's reference, ten times as fast as `snowball-stemmers`). The choice of that package's languages:
 * docs/decisions/047.
 *
 * A stem depends only on the folded word, so a word is found with and without its accents. Snowball recognises endings by their accents, so
 * endings that always have an accent get it back before stemming (`cancion`, `canción`: both `cancion`).
 */
import { stemmer as arabic } from '@orama/stemmers/arabic'
import { stemmer as armenian } from '@orama/stemmers/armenian'
import { stemmer as danish } from '@orama/stemmers/danish'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as finnish } from '@orama/stemmers/finnish'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as greek } from '@orama/stemmers/greek'
import { stemmer as hungarian } from '@orama/stemmers/hungarian'
import { stemmer as hindi } from '@orama/stemmers/indian'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as nepali } from '@orama/stemmers/nepali'
import { stemmer as norwegian } from '@orama/stemmers/norwegian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as romanian } from '@orama/stemmers/romanian'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as swedish } from '@orama/stemmers/swedish'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian'
import { stemmer as english } from 'stemmer'
import { fold } from './normalise.ts'
import { LANGUAGES, type Language } from './stopwords.ts'

/**
 * The stem of a word that `tokenise` has folded. A term with a digit or sign is its own stem. A word always has the same stem; stems are
 * cached.
 */
export function stem(term: string, language: Language): string {
  const cache = CACHES[language]
  const known = cache.get(term)
  if (known !== undefined) return known
  const letters = language in OTHER_SCRIPTS ? OTHER_LETTERS : LETTERS
  const found = letters.test(term) ? STEMMERS[language](term) : term
  if (cache.size >= CACHE_SIZE) cache.clear()
  cache.set(term, found)
  return found
}

/**
 * Letters with which every word that has this stem begins. A word and its stem differ only in the last one or two letters of the stem and
 * in what follows, never in the first letter. Empty for Arabic, where stemming also removes prefixes, such as the article.
 */
export function beginningOf(stem: string, language: Language): string {
  return language === 'ar' ? '' : stem.slice(0, Math.max(1, stem.length - MAX_CHANGED))
}

/**
 * Largest number of letters at the end of a stem in which the stem differs from its words: French `application` has the stem `appliqu`,
 * with which it shares `appli`.
 */
const MAX_CHANGED = 2

const LETTERS = /^[a-z]{3,40}$/
const OTHER_LETTERS = /^[\p{L}\p{M}]{3,40}$/u
const CACHE_SIZE = 50_000

const CACHES = Object.fromEntries(LANGUAGES.map(language => [language, new Map<string, string>()])) as Readonly<
  Record<Language, Map<string, string>>
>

/** Stemmers of languages that are not written in Latin letters. */
const OTHER_SCRIPTS = {
  ru: russian,
  uk: ukrainian,
  el: greek,
  ar: arabic,
  hy: armenian,
  hi: hindi,
  ne: nepali,
}

const STEMMERS: Readonly<Record<Language, (term: string) => string>> = {
  en: english,
  es: spanishStem,
  fr: term => fold(french(term)),
  de: term => fold(german(term)),
  it: term => fold(italian(term)),
  pt: term => fold(portuguese(term.replace(/cao$/, 'ção').replace(/coes$/, 'ções'))),
  nl: term => fold(dutch(term)),
  sv: term => fold(swedish(term)),
  da: term => fold(danish(term)),
  no: term => fold(norwegian(term)),
  fi: term => fold(finnish(term)),
  hu: term => fold(hungarian(term)),
  ro: term => fold(romanian(term)),
  tr: turkishStem,
  ...OTHER_SCRIPTS,
}

/** Stem of a Turkish word. Where Snowball leaves only one letter, as for `bunu`, the word is its own stem. */
function turkishStem(term: string): string {
  const found = fold(turkish(term))
  return found.length < 2 ? term : found
}

/**
 * Stem of a Spanish word. Unaccented forms such as `comia` and `nacio` would keep the `i` of their ending; it is removed, so that they
 * match `comer` and `nacer`. Snowball leaves short plurals (`anos`, `ojos`) unchanged, which need a rule of their own.
 */
function spanishStem(term: string): string {
  const found = fold(spanish(term.replace(/([cs])ion$/, '$1ión').replace(/logia(s?)$/, 'logía$1')))
  if (found.length > 3 && found.endsWith('i')) return found.slice(0, -1)
  return found === term && /.[aeo]s$/.test(term) ? term.slice(0, -1) : found
}
