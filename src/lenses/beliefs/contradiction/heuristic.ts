/**
 * Detects contradictions between beliefs: by a trusted plug-in if one is installed, otherwise by the built-in heuristic. By the heuristic,
 * two sentences about the same subject contradict each other if they differ in a negation, in a word and its opposite, or in a number. It
 * compares words, not meaning, so it misses contradictions that are worded differently.
 */

import { Recent } from '../../../base/recent.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { fold } from '../../../text/normalise.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import type { LensHost } from '../../lens.ts'
import type { Belief, Conflict } from '../model.ts'
import words from './words.json' with { type: 'json' }

const set = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const stemmed = (word: string): string => stem(fold(word), 'en')

// The word lists below are folded: lower case, without accents. Texts are folded in the same way before they are compared with the lists.
const NEGATIONS = set(words.negations)
/** Verbs and adjectives that negate the words after them, and so count as a negation of the sentence. */
const DENIALS = set(words.denials)
/** Phrases that contain a negating word but do not negate the sentence; they are removed before negations are counted. */
const HARMLESS = new RegExp(words.harmless, 'g')
/** Words that weaken a statement; a contradiction with a weakened statement counts only as a tension. */
const HEDGES = set(words.hedges)
const UNIVERSALS = set(words.universals)
/** Phrases that say that something has changed over time. */
const CHANGES = new RegExp(words.changes)
/** Words that say nothing about what a sentence is about, and are ignored when subjects are compared. */
const FILLERS = set(words.fillers)
const NUMBERS: Readonly<Record<string, number>> = words.numbers
/** Opposites of each word stem. In each line of the data, the words left of the colon are opposites of the words right of the colon. */
const OPPOSITES = opposites(words.opposites)

function opposites(lines: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const oppose = (one: string, others: readonly string[]) =>
    found.set(one, new Set([...(found.get(one) ?? []), ...others]))
  for (const line of lines) {
    const [left, right] = line.split(': ').map(side => side.split(' ').map(stemmed)) as [string[], string[]]
    for (const one of left) oppose(one, right)
    for (const one of right) oppose(one, left)
  }
  return found
}

interface Sentence {
  readonly text: string
  /** Stems of the content words of the sentence, including words that have opposites. */
  readonly about: ReadonlySet<string>
  readonly isNegated: boolean
  readonly isHedged: boolean
  readonly isUniversal: boolean
  readonly tellsChange: boolean
  /** Numbers in the sentence, by the stem of the word that names what is counted; '' if the sentence does not say it. */
  readonly numbers: ReadonlyMap<string, ReadonlySet<number>>
  readonly years: ReadonlySet<number>
}

/** Maximum number of sentences of one belief that are examined for contradictions. */
const MAX_SENTENCES = 20

/** Number of belief contents whose split sentences are cached, because every belief of a page is compared with every other. */
const KEPT = 256
const READ = new Recent<string, readonly Sentence[]>(KEPT)

/** Sentences of a belief's content, cached. They depend on the content alone, so the cache reveals nothing about other queries. */
function sentencesOf(content: string): readonly Sentence[] {
  return READ.get(content, () =>
    content
      .split(/(?<=[.!?;])\s+|\n+/)
      .map(text => text.trim())
      .filter(text => text !== '')
      .slice(0, MAX_SENTENCES)
      .map(sentence),
  )
}

function sentence(text: string): Sentence {
  const plain = plainText(text).replace(HARMLESS, ' ')
  const tokens = plain.match(/[\p{L}\p{M}]+|\d+(?:\.\d+)?/gu) ?? []
  const counts = new Map<string, Set<number>>()
  const years = new Set<number>()
  const about = new Set<string>()
  let negated = 0
  for (const [at, token] of tokens.entries()) {
    const number = Object.hasOwn(NUMBERS, token) ? (NUMBERS[token] as number) : Number.parseFloat(token)
    if (!Number.isNaN(number)) {
      const unit = unitAt(tokens, at + 1)
      if (isYear(token) && unit === '') years.add(number)
      else counts.set(unit, (counts.get(unit) ?? new Set()).add(number))
    } else if (NEGATIONS.has(token) || DENIALS.has(token)) negated++
    else if (!HEDGES.has(token) && !UNIVERSALS.has(token) && !FILLERS.has(token) && !isStopWord(token, 'en')) {
      about.add(stem(token, 'en'))
    }
  }
  return {
    text,
    about,
    // An even number of negations in a sentence cancels out.
    isNegated: negated % 2 === 1,
    isHedged: tokens.some(token => HEDGES.has(token)),
    isUniversal: tokens.some(token => UNIVERSALS.has(token)),
    tellsChange: CHANGES.test(plain),
    numbers: counts,
    years,
  }
}

/** The text in lower case without accents, with contractions of `not` written out and thousands separators removed. */
function plainText(text: string): string {
  return fold(text.replaceAll('’', "'"))
    .replaceAll('%', ' percent ')
    .replace(/(\d),(?=\d{3}\b)/g, '$1')
    .replace(/\bcannot\b|\bcan't\b/g, 'can not')
    .replace(/n't\b/g, ' not')
}

function isYear(token: string): boolean {
  return /^(1[5-9]|20)\d\d$/.test(token)
}

/** What a number counts: the stem of the word after the number; '' if that word is a number, a stop word, or missing. */
function unitAt(tokens: readonly string[], at: number): string {
  const next = tokens[at]
  return next === undefined || /\d/.test(next) || isStopWord(next, 'en') ? '' : stem(next, 'en')
}

/** Stems of two opposite words: the first occurs in one sentence, the second in the other. */
type OppositePair = readonly [string, string]

/** Pairs of opposite words, one from each of two sentences; each word belongs to at most one pair. */
function oppositesIn(a: ReadonlySet<string>, b: ReadonlySet<string>): readonly OppositePair[] {
  const pairs: OppositePair[] = []
  const taken = new Set<string>()
  for (const one of a) {
    if (b.has(one)) continue
    const found = oppositesOf(one).filter(other => b.has(other) && !a.has(other) && !taken.has(other))
    // If a word of the first sentence has several opposites in the second sentence, the one that comes first in the second sentence is
    // taken.
    const other = found.length < 2 ? found[0] : [...b].find(word => found.includes(word))
    if (other === undefined) continue
    taken.add(other)
    pairs.push([one, other])
  }
  return pairs
}

function oppositesOf(one: string): readonly string[] {
  const found = [...(OPPOSITES.get(one) ?? [])]
  for (const prefix of words.prefixes) {
    found.push(prefix + one)
    if (one.length > prefix.length && one.startsWith(prefix)) found.push(one.slice(prefix.length))
  }
  return found
}

export const HEURISTIC: ContradictionDetector = {
  name: 'negation-and-numbers',
  note: 'Heuristic: it compares negations, opposites and numbers of like English sentences, not meaning.',
  detect: (a, b) => {
    const others = sentencesOf(b.content)
    let best: Contradiction | null = null
    for (const one of sentencesOf(a.content)) {
      for (const other of others) {
        const found = contradictionOf(one, other, oppositesIn(one.about, other.about), isApart(a, b))
        if (found !== null && (best === null || found.score > best.score)) best = found
      }
    }
    return best
  },
}

type Kind = 'negation' | 'opposite' | 'number'

/** Score of a contradiction by its type (`direct`, `implied`, `temporal` or `tension`), for two sentences that agree in all other words. */
const SURE: Readonly<Record<ContradictionType, number>> = { direct: 0.97, implied: 0.93, temporal: 0.9, tension: 0.88 }
/** Factor on the score if each sentence has content words that the other lacks: the two sentences may then be about different things. */
const BOTH_DIFFER = 0.85
/** Relative difference (2 %) up to which two numbers may be one number, rounded differently. */
const NEAR = 0.02

function contradictionOf(
  a: Sentence,
  b: Sentence,
  opposites: readonly OppositePair[],
  isApart: boolean,
): Contradiction | null {
  const kind = kindOf(a, b, opposites)
  if (kind === null) return null
  const type = typeOf(kind, a, b, isApart)
  const score = Math.round(likeness(a, b, opposites) * SURE[type] * 1000) / 1000
  return score === 0 ? null : { type, score, text: `${REASONS[kind]}: ${[a, b].map(quoted).sort().join(' – ')}` }
}

/**
 * How two sentences contradict each other: by negation, by opposite words, or by number. Null: they do not, or their differences cancel
 * out, such as `is safe` and `is not dangerous`.
 */
function kindOf(a: Sentence, b: Sentence, opposites: readonly OppositePair[]): Kind | null {
  const turns = opposites.length + (a.isNegated === b.isNegated ? 0 : 1)
  const numbers = numbersDiffer(a, b)
  if (turns % 2 === 1) {
    if (numbers) return null
    return opposites.length > 0 ? 'opposite' : 'negation'
  }
  return turns === 0 && !a.isNegated && (numbers || areDisjoint(a.years, b.years)) ? 'number' : null
}

function typeOf(kind: Kind, a: Sentence, b: Sentence, isApart: boolean): ContradictionType {
  const byYear = areDisjoint(a.years, b.years) && (kind !== 'number' || numbersDiffer(a, b))
  if (isApart || byYear || a.tellsChange !== b.tellsChange) return 'temporal'
  if ((a.isHedged || b.isHedged) && !a.isUniversal && !b.isUniversal) return 'tension'
  return kind === 'opposite' ? 'implied' : 'direct'
}

/**
 * Similarity of the subjects of two sentences, 0 to 1: common content words divided by those of the longer sentence, without opposites,
 * times `BOTH_DIFFER` if each sentence has words of its own.
 */
function likeness(a: Sentence, b: Sentence, opposites: readonly OppositePair[]): number {
  const ofA = [...a.about].filter(word => !opposites.some(([one]) => one === word))
  const ofB = [...b.about].filter(word => !opposites.some(([, other]) => other === word))
  const common = ofA.filter(word => b.about.has(word)).length
  const isOneWithin = common === Math.min(ofA.length, ofB.length)
  return common === 0 ? 0 : (common / Math.max(ofA.length, ofB.length)) * (isOneWithin ? 1 : BOTH_DIFFER)
}

function numbersDiffer(a: Sentence, b: Sentence): boolean {
  return [...a.numbers].some(([unit, numbers]) => areDisjoint(numbers, b.numbers.get(unit) ?? new Set()))
}

/** Whether both sets contain numbers, but no number of one set is equal or nearly equal to a number of the other. */
function areDisjoint(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size > 0 && b.size > 0 && ![...a].some(one => [...b].some(other => isNear(one, other)))
}

/** Whether two numbers may be one number after rounding (at most 2 % apart). Numbers up to 20 and years must be equal. */
function isNear(one: number, other: number): boolean {
  if (one === other) return true
  const larger = Math.max(Math.abs(one), Math.abs(other))
  const isYear = Number.isInteger(larger) && larger >= 1500 && larger < 2100
  return !isYear && larger > 20 && Math.abs(one - other) <= NEAR * larger
}

/** Whether the validity of one statement ends before the validity of the other begins. */
function isApart(a: Statement, b: Statement): boolean {
  const endsBefore = (one: Statement, other: Statement) =>
    one.validUntil !== null && other.validFrom !== null && one.validUntil <= other.validFrom
  return endsBefore(a, b) || endsBefore(b, a)
}

const REASONS: Readonly<Record<Kind, string>> = {
  negation: 'One denies what the other says',
  opposite: 'One says the opposite of the other',
  number: 'They give different numbers',
}
const LONGEST_QUOTE = 160

function quoted({ text }: Sentence): string {
  return `"${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE).toWellFormed()}…` : text}"`
}

/** Name of the module export under which a plug-in provides a contradiction detector. */
const EXPORT = 'contradictionDetector'

const INSTALLED = new WeakMap<LensHost, ContradictionDetector>()

export function detectorOf(host: LensHost): ContradictionDetector {
  return INSTALLED.get(host) ?? HEURISTIC
}

/**
 * Uses the contradiction detector that a plug-in exports, instead of the built-in heuristic. False: the plug-in exports none. Throws
 * `invalid_argument` if the export is not a detector.
 */
export function installDetector(host: LensHost, exported: Readonly<Record<string, unknown>>): boolean {
  const given = exported[EXPORT]
  if (given === undefined) return false
  if (!isDetector(given)) throw invalidArgument(EXPORT, given, 'an object with name, note and detect(a, b)')
  INSTALLED.set(host, given)
  return true
}

function isDetector(given: unknown): given is ContradictionDetector {
  if (typeof given !== 'object' || given === null) return false
  const { name, note, detect } = given as Partial<Record<keyof ContradictionDetector, unknown>>
  return typeof name === 'string' && typeof note === 'string' && typeof detect === 'function'
}

// Interface of contradiction detectors: a plug-in can provide a detector that replaces the built-in heuristic (BQ-173).

export type ContradictionType = Conflict['contradiction_type']

/** A belief as passed to a contradiction detector. Its validity times are instants; null: unbounded. */
export interface Statement {
  readonly content: string
  readonly validFrom: number | null
  readonly validUntil: number | null
}

export interface Contradiction {
  readonly type: ContradictionType
  /** How certain the detector is of the contradiction, 0 to 1; it is reported only if the score is above `MIN_SCORE`. */
  readonly score: number
  /** Explanation of the contradiction for readers, quoting the opposed statements. */
  readonly text: string
}

export interface ContradictionDetector {
  readonly name: string
  /** A sentence for readers that says how the detector finds contradictions and what it cannot find. */
  readonly note: string
  /** The contradiction between two beliefs; null: there is none. The result must not depend on the order of the two arguments. */
  detect(a: Statement, b: Statement): Contradiction | null
}

export const MIN_SCORE = 0.7
/** Raw cosine (inner product of the unit vectors of two beliefs) from which the beliefs count as being about the same topic. */
export const SAME_TOPIC = 0.75

export function statementOf({ content, valid_from, valid_until }: Belief): Statement {
  return {
    content,
    validFrom: Date.parse(valid_from),
    validUntil: valid_until === null ? null : Date.parse(valid_until),
  }
}
