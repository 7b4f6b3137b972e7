/**
 * The built-in detector: two sentences about the same that differ in a negation, in a word and its opposite, or in a number
 * oppose each other. It knows words and no meaning: what is said in other words escapes it.
 */
import type { ContradictionDetector, ContradictionType, Opposition, Statement } from './detector.ts'
import { type OppositePair, oppositesIn } from './opposites.ts'
import { languageOfBoth, type Sentence, sentencesOf } from './sentence.ts'

export const HEURISTIC: ContradictionDetector = {
  name: 'negation-and-numbers',
  note: 'Heuristic: it compares negations, opposites and numbers of like sentences in English and Spanish, not meaning.',
  detect: (a, b) => {
    const inLanguage = languageOfBoth(a.content, b.content)
    const others = sentencesOf(b.content, inLanguage)
    let best: Opposition | null = null
    for (const one of sentencesOf(a.content, inLanguage)) {
      for (const other of others) {
        const found = opposition(one, other, oppositesIn(one.about, other.about, inLanguage), isApart(a, b))
        if (found !== null && (best === null || found.score > best.score)) best = found
      }
    }
    return best
  },
}

type Kind = 'negation' | 'opposite' | 'number'

/** How sure each makes it, between sentences that are the same otherwise. */
const SURE: Readonly<Record<ContradictionType, number>> = { direct: 0.97, implied: 0.93, temporal: 0.9, tension: 0.88 }
/** Each says something that the other does not: then they may well be about different things. */
const BOTH_DIFFER = 0.85
/** Numbers so near, as a share, may be the same one, rounded. */
const NEAR = 0.02

function opposition(a: Sentence, b: Sentence, opposites: readonly OppositePair[], isApart: boolean): Opposition | null {
  const kind = kindOf(a, b, opposites)
  if (kind === null) return null
  const type = typeOf(kind, a, b, isApart)
  const score = Math.round(likeness(a, b, opposites) * SURE[type] * 1000) / 1000
  return score === 0 ? null : { type, score, text: `${REASONS[kind]}: ${[a, b].map(quoted).sort().join(' – ')}` }
}

/** Two differences may undo each other, as `is safe` and `is not dangerous`: then there is none. */
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

/** 0 to 1: how much of what they are about they share, opposites apart. */
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

/** Both say something, and nothing the same. */
function areDisjoint(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size > 0 && b.size > 0 && ![...a].some(one => [...b].some(other => isNear(one, other)))
}

/** Small numbers and years are counted exactly. */
function isNear(one: number, other: number): boolean {
  if (one === other) return true
  const larger = Math.max(Math.abs(one), Math.abs(other))
  const isYear = Number.isInteger(larger) && larger >= 1500 && larger < 2100
  return !isYear && larger > 20 && Math.abs(one - other) <= NEAR * larger
}

/** They hold at different times. */
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
