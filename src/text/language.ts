/**
 * Recognises the language of a text by its function words, its script, and a few letters that only one language has. That is precise enough
 * to choose a stemmer, fast, and gives the same result on every machine. Trigram libraries (franc, eld) are no better with short entries,
 * and the lists of function words are needed anyway. In doubt the language is English.
 */
import { fold } from './normalise.ts'
import { LANGUAGES, type Language, stopWords } from './stopwords.ts'

/** Length of the text's beginning that is examined for its language, in UTF-16 units. */
export const SAMPLE = 1_000
/**
 * Number of signs (such as function words) of another language that are needed to decide against English: a single one may be a name, a
 * quotation or a loan word.
 */
const MIN_EVIDENCE = 2

/** The language of a text, of which only the beginning is examined; English where the text does not show its language. */
export function language(text: string): Language {
  const sample = text.slice(0, SAMPLE).toWellFormed().normalize('NFC').toLowerCase()
  const signs = signsOf(sample.match(WORD) ?? [])
  const spanish = index('es')
  signs[spanish] = (signs[spanish] as number) + Number(sample.includes('¿')) + Number(sample.includes('¡'))
  const [best] = strongest(signs)
  return best !== undefined && (signs[index(best)] as number) >= MIN_EVIDENCE ? best : 'en'
}

/**
 * Languages that the words of a query indicate: several where these cannot be distinguished (`la` is Spanish, French and Italian), English
 * where the words indicate none. In a query, one function word is enough.
 */
export function languagesOfQuestion(words: readonly string[]): readonly Language[] {
  const winners = strongest(signsOf(words.map(word => word.normalize('NFC').toLowerCase())))
  return winners.length === 0 ? ['en'] : winners
}

/**
 * Language of a text as an ISO 639-1 code, where it is recognisable; otherwise null. Also recognises languages that have no stemmer in this
 * program but a script of their own. Two signs of a language (such as function words) suffice, or its script.
 */
export function shownLanguage(text: string): string | null {
  const sample = text.slice(0, SAMPLE).toWellFormed().normalize('NFC').toLowerCase()
  const words = sample.match(WORD) ?? []
  const unstemmed = words.length === 0 ? undefined : UNSTEMMED.find(([, script]) => isMostly(words, script))
  if (unstemmed !== undefined) return unstemmed[0]
  const of = language(text)
  // The function `language` returns English also for a text without any signs of a language, so English is only returned where the text has
  // an English function word.
  return of !== 'en' || words.some(isEnglishSign) ? of : null
}

/**
 * Languages without a stemmer that are recognised by their script. The first pattern that fits counts, since Japanese texts contain Chinese
 * characters too.
 */
const UNSTEMMED: readonly (readonly [string, RegExp])[] = [
  ['ja', /[\p{sc=Hiragana}\p{sc=Katakana}]/u],
  ['zh', /\p{sc=Han}/u],
  ['ko', /\p{sc=Hangul}/u],
  ['th', /\p{sc=Thai}/u],
  ['he', /\p{sc=Hebrew}/u],
  ['fa', /[پچژگ]/],
]

/**
 * Whether the words of a query show that it is English: one of them is a function word only of English, and no other language has more
 * signs. Words that indicate no language (names, terms) are not enough.
 */
export function isEnglishQuestion(words: readonly string[]): boolean {
  return words.some(isEnglishSign) && languagesOfQuestion(words).includes('en')
}

/** Whether the word is a function word of English and of no other supported language. */
function isEnglishSign(word: string): boolean {
  const places = speaksFor().get(word.normalize('NFC').toLowerCase())
  return places?.length === 1 && places[0] === index('en') && !MISLEADING.has(word.toLowerCase())
}

const WORD = /[\p{L}\p{M}]+/gu

/** Function words of other languages that also occur as names, words or code in English texts; they count at most as signs of English. */
const MISLEADING: ReadonlySet<string> = new Set(
  `a ad ah al am an ante as c col come d da dei die do dos due e era etc fa fare fin fur gut ha hai hat he i in io is j l
   m ma man mas me mi mia n ne ni no nun o on os per plus pour pro qui s sera si sin so solo son soy su t tale te tel
   ten ti ton tout tu u um van war was y`.split(/\s+/),
)

/**
 * Function words that occur as names or words in English texts, for the languages whose lists come from a package: listed words in Latin
 * script that occur in at least two of 9,787 English texts (Cranfield, CACM, SciFact), and further English words that scientific texts do
 * not use. They count at most as signs of English.
 */
const MISLEADING_OF_PACKAGED: ReadonlySet<string> = new Set(
  `ad af ai aki al ala als alt ami ar au av az bar bare bet bile bir ca care cat ce cu da data de deg di die dog doi door
   du e ei en end er era es et eu ev face fi ge ha ham han hat hep ho hur ii ik il ile ilk ill itt je jeg ki kin kit la le
   li ma man mar mast med meg men met mi min mind mit mod mu multi na ne ni nu o om op opt os pa par pe pic ra rad rank s
   sa sale se sem si sin sine su sub ta tai tata tau te tele ti tie tied till timp u uc um un va vad van var ve vi want wat
   zero altar ben bin can dat dem den der des din dig elf even ever fan gap god had hem hen her here hers him hit hos hun i
   in is it kan ken let lop mag mine nadir net nog nor of ok old on once one or over pun real sex tot than toe ten that
   the their them they this to uit una via was were what will with`.split(/\s+/),
)

/** Spellings that only one of the languages has, and for how many signs of that language a word with the spelling counts (default 1). */
const SPELLINGS: readonly (readonly [Language, RegExp, number?])[] = [
  ['es', /ñ/],
  ['es', /[cs]ión$/],
  ['pt', /[ãõ]/],
  ['fr', /œ|[èê]/],
  ['de', /ß/],
  ['de', /[äö]/],
  ['fi', /ää|yö/],
  ['fi', /(?:ssä|llä|stä|ikä)$/, 2],
  ['sv', /å/],
  ['da', /[åæø]/],
  ['no', /[åæø]/],
  ['hu', /[őű]/],
  ['ro', /[țţă]/],
  ['ro', /^(?:și|şi|în|să|sunt)$/],
  ['tr', /[ğı]/],
  ['tr', /[şç]/],
  ['ru', /[ыэё]/],
  // A Ukrainian letter counts for several signs, since Russian has none of these letters, while many function words of both languages are
  // equal.
  ['uk', /[іїєґ]/, 4],
]

/** Scripts, each with the supported languages that are written in it: a text in the script is in one of these languages. */
const SCRIPTS: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/\p{sc=Cyrillic}/u, ['ru', 'uk']],
  [/\p{sc=Greek}/u, ['el']],
  [/\p{sc=Arabic}/u, ['ar']],
  [/\p{sc=Armenian}/u, ['hy']],
  [/\p{sc=Devanagari}/u, ['hi', 'ne']],
]

function isMostly(words: readonly string[], script: RegExp): boolean {
  let count = 0
  for (const word of words) if (script.test(word)) count++
  return count * 2 > words.length
}

/**
 * For each language, the number of different words in the text that are signs of it (such as function words). Repeating a word adds
 * nothing.
 */
function signsOf(words: readonly string[]): number[] {
  const signs = new Array<number>(LANGUAGES.length).fill(0)
  const counted = new Set<string>()
  const unlike: string[] = []
  const speaks = speaksFor()
  for (const word of words) {
    const isPlain = !BEYOND_ASCII.test(word)
    if (!isPlain) unlike.push(word)
    const folded = isPlain ? word : fold(word)
    const spokenFor = speaks.get(folded)
    if (spokenFor === undefined || counted.has(folded)) continue
    counted.add(folded)
    for (const at of spokenFor) signs[at] = (signs[at] as number) + 1
  }
  if (unlike.length === 0) return signs
  for (const [of, spelling, count = 1] of SPELLINGS) {
    if (unlike.some(word => spelling.test(word))) signs[index(of)] = (signs[index(of)] as number) + count
  }
  const [, ofScript = []] = SCRIPTS.find(([script]) => isMostly(words, script)) ?? []
  for (const of of ofScript) signs[index(of)] = (signs[index(of)] as number) + MIN_EVIDENCE
  return signs
}

const BEYOND_ASCII = /[^\0-\x7f]/

/** For each function word, the indexes in `LANGUAGES` of the languages that have it. Computed on first use. */
function speaksFor(): ReadonlyMap<string, readonly number[]> {
  if (known !== null) return known
  const languages = new Map<string, number[]>()
  LANGUAGES.forEach((of, at) => {
    const misleading = of === 'en' ? NONE : FIRST_LISTS.has(of) ? MISLEADING : MISLEADING_OF_PACKAGED
    for (const word of stopWords(of)) {
      if (!misleading.has(word)) languages.set(word, [...(languages.get(word) ?? []), at])
    }
  })
  known = languages
  return languages
}

let known: ReadonlyMap<string, readonly number[]> | null = null

const NONE: ReadonlySet<string> = new Set()
const FIRST_LISTS: ReadonlySet<Language> = new Set(['en', 'es', 'fr', 'de', 'it', 'pt'])

/** The languages with the most signs; only English where it is among them; none where no language has a sign. */
function strongest(signs: readonly number[]): readonly Language[] {
  const most = Math.max(...signs)
  if (most === 0) return []
  const winners = LANGUAGES.filter((_, at) => signs[at] === most)
  return winners.includes('en') ? ['en'] : winners
}

function index(of: Language): number {
  return LANGUAGES.indexOf(of)
}
