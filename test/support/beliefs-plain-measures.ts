/** What a text, a context and a belief come to in numbers, by the rows. */

import { languagesOfQuestion } from '../../src/text/language.ts'
import { isStopWord } from '../../src/text/stopwords.ts'
import { DAY_MS, DIMENSIONS, isBelow, type PlainBelief, type Vector } from './beliefs-plain.ts'
import { toyVector } from './toy-embedder.ts'

/** A part of a text, before it is written as one. */
export interface AskedWord {
  readonly sign: '' | '+' | '-'
  readonly text: string
  readonly quoted: boolean
  readonly boost: number
}

export type Json = Readonly<Record<string, unknown>>

/** What goes over the wire, with the text in its parts. */
export interface PlainAsked {
  readonly words: readonly AskedWord[]
  readonly filters: readonly (string | Json)[]
  readonly context: Json
  readonly options: Json
}

/** Raw cosines; of the toy model, which has no floor of its own here. */
export const THRESHOLDS = { include: 0.55, exclude: 0.45, floor: -1 }

export interface Weights {
  readonly semantic: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}

/** BQ-014 to BQ-016. */
export function overall(vector: Vector, weights: Vector): number | null {
  const known = DIMENSIONS.filter(name => vector[name] !== null && (weights[name] as number) > 0)
  if (known.length === 0) return null
  const total = known.reduce((sum, name) => sum + (weights[name] as number), 0)
  const logs = known.map(name => (weights[name] as number) * Math.log(Math.max(vector[name] as number, 0.001)))
  return rounded(Math.exp(logs.reduce((sum, one) => sum + one, 0) / total))
}

export function confidenceWeights(given: Json = {}): Vector {
  const plain = [0.25, 0.2, 0.15, 0.15, 0.15, 0.1]
  const wished = DIMENSIONS.map((name, at) => number(given[name], plain[at] as number))
  const sum = wished.reduce((total, one) => total + one, 0)
  return Object.fromEntries(DIMENSIONS.map((name, at) => [name, (wished[at] as number) / sum])) as Vector
}

/** BQ-060, BQ-061, BQ-041, BQ-023. */
export function weightsOf({ words, context, options }: PlainAsked): Weights {
  const given = context['ranking_weights'] as Partial<Weights> | undefined
  const share = 0.6 * number(context['trust_weight'], 0.5)
  const rest = (part: number) => (part * (1 - share)) / 0.7
  const usual = { semantic: rest(0.35), confidence: rest(0.25), trust: share, recency: rest(0.1) }
  const wished = given === undefined ? usual : { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1, ...given }
  const spoken = words.filter(({ sign }) => sign !== '-').flatMap(({ text }) => text.toLowerCase().split(' '))
  const isOf = (wanted: readonly string[]) =>
    options['temporal_intent'] === true && spoken.some(one => wanted.includes(one))
  const factor =
    (isOf(['recent', 'latest', 'new', 'current']) ? 2 : 1) *
    (isOf(['history', 'origin', 'first', 'original']) ? 0.5 : 1)
  const scaled = toOne({ ...wished, semantic: words.length === 0 ? 0 : wished.semantic })
  return toOne({ ...scaled, recency: scaled.recency * factor })
}

function toOne({ semantic, confidence, trust, recency }: Weights): Weights {
  const sum = semantic + confidence + trust + recency
  return { semantic: semantic / sum, confidence: confidence / sum, trust: trust / sum, recency: recency / sum }
}

const RATES: Readonly<Record<string, number>> = {
  ...{ news: 0.1, prices: 0.5, stocks: 0.5, weather: 1, science: 0.002, history: 0.0001, math: 0 },
}

/** BQ-019, BQ-020. All patterns have one segment, so none is more specific than another. */
export function decayRate(domains: readonly string[], queryDomains: readonly string[]): number {
  const met = Object.keys(RATES).filter(name => domains.some(domain => isBelow(domain, name)))
  const asked = met.filter(name => queryDomains.some(domain => isBelow(domain, name)))
  const rates = (asked.length > 0 ? asked : met).map(name => RATES[name] as number)
  return rates.length === 0 ? 0.01 : Math.min(...rates)
}

export function aged(freshness: number, { created }: PlainBelief, rate: number, now: number): number {
  return freshness * Math.exp((-rate * Math.max(0, now - created)) / DAY_MS)
}

export function isValid({ validFrom, validUntil }: PlainBelief, at: number): boolean {
  return validFrom <= at && (validUntil === null || at < validUntil)
}

/** BQ-043: the substitute for the cosine of a belief without a vector, by the share of the words of the text that it holds. */
export function standInOf(words: readonly AskedWord[], { content }: PlainBelief): number {
  const kept = words.filter(({ sign }) => sign !== '-').flatMap(({ text }) => folded(text).match(TOKEN) ?? [])
  const languages = languagesOfQuestion(kept)
  const telling = kept.filter(word => !languages.some(language => isStopWord(word, language)))
  const wanted = [...new Set(telling.length === 0 ? kept : telling)]
  const share = wanted.filter(word => stands(word, content)).length / wanted.length
  return share > 0 ? 0.2 + 0.45 * share : 0
}

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu

/** BQ-043: whether it holds a phrase, or an included term, as it is written. */
export function holdsLiterally(words: readonly AskedWord[], { content }: PlainBelief): boolean {
  return words.some(({ sign, text, quoted }) => {
    if (sign === '+') return stands(text, content)
    return sign === '' && quoted && folded(content).includes(folded(text).trim())
  })
}

/** BQ-037 to BQ-039. */
export function meets(belief: PlainBelief, words: readonly AskedWord[]): boolean {
  return words.every(({ sign, text, quoted }) => {
    if (sign === '') return !quoted || folded(belief.content).includes(folded(text).trim())
    const isThere = stands(text, belief.content)
    const near = belief.hasVector ? cosineOfVectors(toyVector(text), vectorOf(belief)) : -2
    return sign === '+' ? isThere || near >= THRESHOLDS.include : !isThere && near < THRESHOLDS.exclude
  })
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().split(/\s+/u).join(' ')
}

function stands(operand: string, content: string): boolean {
  const tokens = (text: string) =>
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const [wanted, there] = [tokens(operand), tokens(content)]
  return wanted.length > 0 && there.some((_, from) => wanted.every((token, at) => there[from + at] === token))
}

/** BQ-036. */
export function questionVector(words: readonly AskedWord[]): Float32Array {
  const kept = words.filter(({ sign }) => sign !== '-')
  const base = toyVector(kept.map(({ text }) => text).join(' '))
  const boosted = kept.filter(({ boost }) => boost !== 1)
  if (boosted.length === 0) return base
  const sum = Array.from(base, (component, at) =>
    boosted.reduce((total, { text, boost }) => total + (boost - 1) * (toyVector(text)[at] as number), component),
  )
  const length = Math.hypot(...sum)
  return length < 1e-6 ? base : Float32Array.from(sum, component => component / length)
}

/** What is embedded of a belief: the line of its domains, and its content. */
const VECTORS = new Map<string, Float32Array>()
export function vectorOf({ domains, content }: PlainBelief): Float32Array {
  const text = domains.length === 0 ? content : `${domains.join(', ')}\n${content}`
  const vector = VECTORS.get(text) ?? toyVector(text)
  VECTORS.set(text, vector)
  return vector
}

export function cosineOf(question: Float32Array, belief: PlainBelief): number {
  return belief.hasVector ? cosineOfVectors(question, vectorOf(belief)) : 0
}

export function cosineOfVectors(a: Float32Array, b: Float32Array): number {
  return within(
    a.reduce((sum, component, at) => sum + component * (b[at] as number), 0),
    -1,
    1,
  )
}

export function list(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[]
}

export function number(value: unknown, otherwise: number): number {
  return (value ?? otherwise) as number
}

export function time(value: unknown): number {
  return Date.parse(value as string)
}

export function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** To twelve decimals. */
export function rounded(value: number): number {
  return Number(value.toFixed(12))
}
