/** A sentence as opposites are looked for in it: what it is about, whether it denies that, its numbers and its years. */
import { Recent } from '../../../base/recent.ts'
import { language } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { type OppositionLanguage, WORDS } from './words.ts'

export interface Sentence {
  readonly text: string
  /** Stems of what it is about; words of the opposites are among them. */
  readonly about: ReadonlySet<string>
  readonly isNegated: boolean
  readonly isHedged: boolean
  readonly isUniversal: boolean
  readonly tellsChange: boolean
  /** By the stem of what is counted, or '' where that is not said. */
  readonly numbers: ReadonlyMap<string, ReadonlySet<number>>
  readonly years: ReadonlySet<number>
}

/** Looked at of one belief. */
const MOST_SENTENCES = 20

/** Of one page, every belief is compared with every other. */
const KEPT = 256
const READ = new Recent<string, readonly Sentence[]>(KEPT)

/** A function of the text alone, so that what is kept of one question says nothing of another. */
export function sentencesOf(content: string, inLanguage: OppositionLanguage): readonly Sentence[] {
  return READ.get(`${inLanguage} ${content}`, () => readSentences(content, inLanguage))
}

function readSentences(content: string, inLanguage: OppositionLanguage): readonly Sentence[] {
  return content
    .split(/(?<=[.!?;])\s+|\n+/)
    .map(text => text.trim())
    .filter(text => text !== '')
    .slice(0, MOST_SENTENCES)
    .map(text => sentence(text, inLanguage))
}

/** Of both together: one alone is often too short to tell. */
export function languageOfBoth(a: string, b: string): OppositionLanguage {
  return language(`${a} ${b}`) === 'es' ? 'es' : 'en'
}

function sentence(text: string, inLanguage: OppositionLanguage): Sentence {
  const { negations, denials, doubles, harmless, hedges, universals, changes, fillers, numbers } = WORDS[inLanguage]
  const plain = plainText(text, inLanguage).replace(harmless, ' ')
  const tokens = plain.match(/[\p{L}\p{M}]+|\d+(?:\.\d+)?/gu) ?? []
  const counts = new Map<string, Set<number>>()
  const years = new Set<number>()
  const about = new Set<string>()
  let negated = 0
  let denied = 0
  for (const [at, token] of tokens.entries()) {
    const number = Object.hasOwn(numbers, token) ? (numbers[token] as number) : Number.parseFloat(token)
    if (!Number.isNaN(number)) {
      const unit = unitAt(tokens, at + 1, inLanguage)
      if (isYear(token) && unit === '') years.add(number)
      else counts.set(unit, (counts.get(unit) ?? new Set()).add(number))
    } else if (negations.has(token)) negated++
    else if (denials.has(token)) denied++
    else if (!hedges.has(token) && !universals.has(token) && !fillers.has(token) && !isStopWord(token, inLanguage)) {
      about.add(stem(token, inLanguage))
    }
  }
  return {
    text,
    about,
    isNegated: ((doubles ? negated : Math.min(1, negated)) + denied) % 2 === 1,
    isHedged: tokens.some(token => hedges.has(token)),
    isUniversal: tokens.some(token => universals.has(token)),
    tellsChange: changes.test(plain),
    numbers: counts,
    years,
  }
}

/** Folded; short forms of `not` written out, thousands without signs, decimals with a point. */
function plainText(text: string, inLanguage: OppositionLanguage): string {
  const folded = fold(text.replaceAll('’', "'")).replaceAll('%', inLanguage === 'es' ? ' porciento ' : ' percent ')
  const [thousands, decimals] =
    inLanguage === 'es' ? [/(\d)\.(?=\d{3}\b)/g, /(\d),(?=\d)/g] : [/(\d),(?=\d{3}\b)/g, null]
  const whole = folded.replace(thousands, '$1')
  const plain = decimals === null ? whole : whole.replace(decimals, '$1.')
  return inLanguage === 'en' ? plain.replace(/\bcannot\b|\bcan't\b/g, 'can not').replace(/n't\b/g, ' not') : plain
}

function isYear(token: string): boolean {
  return /^(1[5-9]|20)\d\d$/.test(token)
}

/** What a number counts: the word behind it, where that says something. */
function unitAt(tokens: readonly string[], at: number, inLanguage: OppositionLanguage): string {
  const next = tokens[at]
  if (next === undefined || /\d/.test(next) || isStopWord(next, inLanguage)) return ''
  return stem(next, inLanguage)
}
