/**
 * Which language a text is in, by its function words and a few letters that only one language has: enough to choose a
 * stemmer, quick, and the same on every machine. A trigram library (franc, eld) was not taken: short entries are its
 * weak side too, and the stop lists are here anyway. In doubt it is English.
 */
import { fold } from './normalise.ts'
import { LANGUAGES, type Language, STOP_WORDS } from './stopwords.ts'

/** How much of a text is looked at, in UTF-16 units. */
export const SAMPLE = 1_000
/** Signs it takes to leave English: one alone may be a name, a quotation, a loan word. */
const MIN_EVIDENCE = 2

/** The language of an entry's text. */
export function language(text: string): Language {
  const sample = text.slice(0, SAMPLE).toWellFormed().normalize('NFC').toLowerCase()
  const signs = signsOf(sample.match(WORD) ?? [])
  const spanish = index('es')
  signs[spanish] = (signs[spanish] as number) + Number(sample.includes('¿')) + Number(sample.includes('¡'))
  const [best] = strongest(signs)
  return best !== undefined && (signs[index(best)] as number) >= MIN_EVIDENCE ? best : 'en'
}

/**
 * The languages that the words of a question speak for: several when they cannot be told apart (`la` is Spanish, French
 * and Italian), English when they speak for none. One function word is enough here.
 */
export function languagesOfQuestion(words: readonly string[]): readonly Language[] {
  const winners = strongest(signsOf(words.map(word => word.normalize('NFC').toLowerCase())))
  return winners.length === 0 ? ['en'] : winners
}

/**
 * Whether the words of a question show that it is English: one of them is a function word that only English has, and no
 * other language has more. Words that show nothing (names, terms) are not enough.
 */
export function isEnglishQuestion(words: readonly string[]): boolean {
  const english = index('en')
  const isProof = (word: string): boolean => {
    const places = SPEAKS_FOR.get(word.normalize('NFC').toLowerCase())
    return places?.length === 1 && places[0] === english && !MISLEADING.has(word.toLowerCase())
  }
  return words.some(isProof) && languagesOfQuestion(words).includes('en')
}

const WORD = /[\p{L}\p{M}]+/gu

/** Function words of one language that are names, words or code in English text: they speak for English at most. */
const MISLEADING: ReadonlySet<string> = new Set(
  `a ad ah al am an ante as c col come d da dei die do dos due e era etc fa fare fin fur gut ha hai hat he i in io is j l
   m ma man mas me mi mia n ne ni no nun o on os per plus pour pro qui s sera si sin so solo son soy su t tale te tel
   ten ti ton tout tu u um van war was y`.split(/\s+/),
)

/** Spellings that only one of the languages has. */
const SPELLINGS: readonly (readonly [Language, RegExp])[] = [
  ['es', /ñ/],
  ['es', /[cs]ión$/],
  ['pt', /[ãõ]/],
  ['fr', /œ|[èê]/],
  ['de', /ß/],
  ['de', /[äö]/],
]

/** Different signs for each language: a word that comes often says no more than once. */
function signsOf(words: readonly string[]): number[] {
  const signs = new Array<number>(LANGUAGES.length).fill(0)
  const counted = new Set<string>()
  const unlike: string[] = []
  for (const word of words) {
    const isPlain = !BEYOND_ASCII.test(word)
    if (!isPlain) unlike.push(word)
    const folded = isPlain ? word : fold(word)
    const spokenFor = SPEAKS_FOR.get(folded)
    if (spokenFor === undefined || counted.has(folded)) continue
    counted.add(folded)
    for (const at of spokenFor) signs[at] = (signs[at] as number) + 1
  }
  if (unlike.length === 0) return signs
  for (const [of, spelling] of SPELLINGS) {
    if (unlike.some(word => spelling.test(word))) signs[index(of)] = (signs[index(of)] as number) + 1
  }
  return signs
}

const BEYOND_ASCII = /[^\0-\x7f]/

/** By function word, the places in LANGUAGES of those it speaks for. */
const SPEAKS_FOR: ReadonlyMap<string, readonly number[]> = speaksFor()

function speaksFor(): Map<string, number[]> {
  const languages = new Map<string, number[]>()
  LANGUAGES.forEach((of, at) => {
    for (const word of STOP_WORDS[of]) {
      if (of === 'en' || !MISLEADING.has(word)) languages.set(word, [...(languages.get(word) ?? []), at])
    }
  })
  return languages
}

/** The languages with the most signs; English alone when it is among them; none when there is no sign. */
function strongest(signs: readonly number[]): readonly Language[] {
  const most = Math.max(...signs)
  if (most === 0) return []
  const winners = LANGUAGES.filter((_, at) => signs[at] === most)
  return winners.includes('en') ? ['en'] : winners
}

function index(of: Language): number {
  return LANGUAGES.indexOf(of)
}
