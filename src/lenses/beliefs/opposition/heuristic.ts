/**
 * The built-in detector: two sentences about the same that differ in a negation, in a word and its opposite, or in a number
 * oppose each other. It knows words and no meaning: what is said in other words escapes it.
 */
import { Recent } from '../../../base/recent.ts'
import { language } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import type { ContradictionDetector, ContradictionType, Opposition, Statement } from './detector.ts'

type OppositionLanguage = 'en' | 'es'

interface OppositionWords {
  readonly negations: ReadonlySet<string>
  /** Verbs and adjectives that deny what follows. */
  readonly denials: ReadonlySet<string>
  /** Whether two negations in a sentence undo each other; in Spanish they add up to one. */
  readonly doubles: boolean
  /** Phrases that look like a negation and are none. */
  readonly harmless: RegExp
  /** They make a statement weaker. */
  readonly hedges: ReadonlySet<string>
  readonly universals: ReadonlySet<string>
  /** They say that something is not as it was. */
  readonly changes: RegExp
  /** Words that say nothing of the subject. */
  readonly fillers: ReadonlySet<string>
  /** Any of the words before the colon opposes any behind it. */
  readonly opposites: readonly string[]
  /** What makes the opposite of the word that it stands before. */
  readonly prefixes: readonly string[]
  readonly numbers: Readonly<Record<string, number>>
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))
const counted = (text: string): Readonly<Record<string, number>> =>
  Object.fromEntries(text.split(/\s+/).map(pair => [pair.split(':')[0], Number(pair.split(':')[1])]))

/** The words by which statements in English and Spanish oppose each other. All folded: lower case, without accents. */
const WORDS: Readonly<Record<OppositionLanguage, OppositionWords>> = {
  en: {
    negations: words('not no never none nobody nothing neither nor without'),
    denials: words('unable false untrue deny denies denied fail fails failed lack lacks lacked'),
    doubles: true,
    harmless: /\bnot (only|just|merely|much|many)\b|\bno (doubt|one knows)\b/g,
    hedges: words(`may might could some sometimes often usually probably perhaps possibly likely rarely seldom generally
      typically mostly tends tend occasionally`),
    universals: words('all every always any each'),
    changes: /\b(no longer|used to|formerly|previously|until|since|anymore|any more|nowadays|now)\b/,
    fillers: words('true fact case evidence people person someone somebody thing one longer there able'),
    opposites: [
      'increase increases increased raise raises raised rise rises risen boost boosts grow grows improve improves gain gains: decrease decreases decreased reduce reduces reduced lower lowers fall falls fallen drop drops shrink shrinks worsen worsens lose loses decline declines',
      'safe harmless: dangerous unsafe harmful risky hazardous',
      'good healthy beneficial: bad unhealthy harmful',
      'open opens opened: closed closes close shut',
      'true: false',
      'support supports supported favour favours back backs: oppose opposes opposed reject rejects rejected',
      'accept accepts accepted approve approves approved: reject rejects rejected refuse refuses refused',
      'allow allows allowed permit permits permitted legal: ban bans banned forbid forbids forbidden prohibit prohibits prohibited illegal',
      'cause causes caused: prevent prevents prevented',
      'win wins won: lose loses lost',
      'more higher greater larger: less lower fewer smaller',
      'cheap cheaper: expensive',
      'fast faster quick: slow slower',
      'hot warm: cold cool',
      'before earlier: after later',
      'alive living: dead',
      'guilty: innocent',
      'success succeeds succeeded: failure fails failed',
      'begin begins start starts started: end ends ended stop stops stopped',
      'present: absent',
      'always: never',
      'black: white',
      'wet: dry',
      'rich: poor',
      'strong: weak',
      'full: empty',
      'first: last',
      'best: worst',
    ],
    prefixes: ['un', 'in', 'im', 'il', 'ir', 'dis', 'non'],
    numbers:
      counted(`zero:0 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 fifteen:15
      twenty:20 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thousand:1000`),
  },
  es: {
    negations: words('no nunca jamas ningun ninguna ninguno nadie nada sin tampoco ni'),
    denials: words('incapaz falso falsa niega niegan nego carece carecen'),
    doubles: false,
    harmless: /\bno (solo|solamente|unicamente|mucho|mucha|muchos|muchas)\b|\bsin duda\b/g,
    hedges:
      words(`puede pueden podria podrian quiza quizas algun alguna algunos algunas veces suele suelen probablemente
      posiblemente generalmente normalmente rara raramente`),
    universals: words('todo toda todos todas siempre cada'),
    changes: /\b(ya no|antes|antiguamente|hasta|desde|ahora|hoy)\b/,
    fillers: words('verdad cierto cierta caso persona personas gente cosa'),
    opposites: [
      'aumenta aumentan aumentara aumento sube suben subira subio crece crecen crecera mejora mejoran eleva: disminuye disminuyen disminuira reduce reducen reducira baja bajan bajara bajo decrece decrecen empeora empeoran cae caen caera',
      'seguro segura seguros seguras: peligroso peligrosa peligrosos peligrosas inseguro insegura',
      'bueno buena buenos buenas saludable: malo mala malos malas danino danina perjudicial',
      'abierto abierta abre abren: cerrado cerrada cierra cierran',
      'verdadero verdadera: falso falsa',
      'apoya apoyan acepta aceptan aprueba aprueban: rechaza rechazan opone oponen',
      'permite permiten permitido permitida legal: prohibe prohiben prohibido prohibida ilegal',
      'causa causan provoca provocan: previene previenen evita evitan impide impiden',
      'gana ganan gano: pierde pierden perdio',
      'mas mayor superior: menos menor inferior',
      'barato barata: caro cara',
      'rapido rapida: lento lenta',
      'caliente calido: frio fria',
      'vivo viva: muerto muerta',
      'culpable: inocente',
      'empieza comienza: termina acaba',
      'presente: ausente',
      'blanco blanca: negro negra',
      'mejor: peor',
      'primero primera: ultimo ultima',
    ],
    prefixes: ['in', 'im', 'i', 'des'],
    numbers:
      counted(`cero:0 dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10 once:11 doce:12 quince:15
      veinte:20 treinta:30 cuarenta:40 cincuenta:50 cien:100 mil:1000`),
  },
}

interface Sentence {
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
function sentencesOf(content: string, inLanguage: OppositionLanguage): readonly Sentence[] {
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
function languageOfBoth(a: string, b: string): OppositionLanguage {
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

/** Stems: of the first sentence, and of the second. */
type OppositePair = readonly [string, string]

/** Each word once. */
function oppositesIn(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  inLanguage: OppositionLanguage,
): readonly OppositePair[] {
  const pairs: OppositePair[] = []
  const taken = new Set<string>()
  for (const one of a) {
    if (b.has(one)) continue
    const found = oppositesOf(one, inLanguage).filter(other => b.has(other) && !a.has(other) && !taken.has(other))
    // Of several the first that is said.
    const other = found.length < 2 ? found[0] : [...b].find(word => found.includes(word))
    if (other === undefined) continue
    taken.add(other)
    pairs.push([one, other])
  }
  return pairs
}

function oppositesOf(one: string, inLanguage: OppositionLanguage): readonly string[] {
  const { prefixes } = WORDS[inLanguage]
  const found = [...(OPPOSITES[inLanguage].get(one) ?? [])]
  for (const prefix of prefixes) {
    found.push(prefix + one)
    if (one.length > prefix.length && one.startsWith(prefix)) found.push(one.slice(prefix.length))
  }
  return found
}

const OPPOSITES: Readonly<Record<OppositionLanguage, ReadonlyMap<string, ReadonlySet<string>>>> = {
  en: opposites('en'),
  es: opposites('es'),
}

function opposites(inLanguage: OppositionLanguage): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const stems = (side = '') =>
    side
      .trim()
      .split(/\s+/)
      .map(word => stem(fold(word), inLanguage))
  for (const line of WORDS[inLanguage].opposites) {
    const [left, right] = line.split(':').map(stems) as [string[], string[]]
    for (const [these, those] of [
      [left, right],
      [right, left],
    ] as const) {
      for (const one of these) found.set(one, new Set([...(found.get(one) ?? []), ...those]))
    }
  }
  return found
}

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
