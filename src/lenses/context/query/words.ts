/**
 * Words of a question in names, paths and doc comments, a word counting for more the fewer things have it; and the concepts
 * whose names have them (CX-017 to CX-019).
 */
import { TopK } from '../../../base/top-k.ts'
import type { TermWeight } from '../../../index/contract.ts'
import { idf } from '../../../math/bm25.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { covers, foldName, pathOrTail, placesByWord, plainWordsOf, wordsOf } from '../names.ts'
import type { Concept, VisibleConcepts } from '../state.ts'

/** One bit each; the count of a thing's own words stands above them. */
const MOST_WORDS = 20
const WORD_BITS = 2 ** MOST_WORDS - 1

/** Things in a list by their words, folded. A thing may stand for several: `countOf` says how many, `total` in all. */
export interface Worded {
  /** Places in the list. */
  readonly byWord: ReadonlyMap<string, readonly number[]>
  readonly length: number
  readonly total: number
  countOf(place: number): number
}

/** What things have of a question's words. */
export interface Covers {
  /** Of the weight of all words of the question: 0 to 1. */
  shareOf(place: number): number
  /** Of the thing's own words, how many the question covers. */
  wordsOf(place: number): number
}

/** The first words of a question, folded, each once; without those that every text has, unless there are no others. */
export function tellingWords(query: string): readonly string[] {
  const words = plainWordsOf(query).map(word => ({ plain: fold(word), folded: foldName(word) }))
  const languages = languagesOfQuestion(words.map(({ plain }) => plain))
  const telling = words.filter(({ plain }) => !languages.some(language => isStopWord(plain, language)))
  const kept = (telling.length > 0 ? telling : words).map(({ folded }) => folded)
  return [...new Set(kept)].slice(0, MOST_WORDS)
}

export function coversOf(questionWords: readonly string[], { byWord, length, total, countOf }: Worded): Covers {
  const found = new Int32Array(length)
  for (const [word, places] of byWord) {
    const bits = bitsOf(questionWords, word)
    if (bits === 0) continue
    for (const place of places) found[place] = ((found[place] as number) | bits) + WORD_BITS + 1
  }
  const counts = new Map<number, number>()
  for (let place = 0; place < length; place++) {
    const bits = (found[place] as number) & WORD_BITS
    if (bits !== 0) counts.set(bits, (counts.get(bits) ?? 0) + countOf(place))
  }
  const shares = sharesBy(counts, questionWords.length, total)
  return {
    shareOf: place => shares.get((found[place] as number) & WORD_BITS) ?? 0,
    wordsOf: place => (found[place] as number) >>> MOST_WORDS,
  }
}

/** Which of the words of a question cover this one. */
function bitsOf(questionWords: readonly string[], word: string): number {
  let bits = 0
  for (let at = 0; at < questionWords.length; at++) if (covers(questionWords[at] as string, word)) bits |= 1 << at
  return bits
}

/** Thousands of things share few sets of words. */
function sharesBy(counts: ReadonlyMap<number, number>, words: number, total: number): ReadonlyMap<number, number> {
  const weights = Array.from({ length: words }, (_, at) => {
    let having = 0
    for (const [bits, count] of counts) if (bits & (1 << at)) having += count
    return idf(total, having)
  })
  const sumOf = (bits: number) => weights.reduce((sum, weight, at) => sum + (bits & (1 << at) ? weight : 0), 0)
  const all = sumOf(WORD_BITS)
  return new Map([...counts.keys()].map(bits => [bits, sumOf(bits) / all]))
}

interface Paths {
  readonly places: ReadonlyMap<string, number>
  readonly words: Worded
}

const KNOWN = new WeakMap<VisibleConcepts, Paths>()

/** Of a URL, 0 to 1. `root`: what the paths begin below. */
export function pathShares(
  concepts: VisibleConcepts,
  questionWords: readonly string[],
  root: string | undefined,
): (url: string) => number {
  const { places, words } = pathsOf(concepts, root)
  const covers = coversOf(questionWords, words)
  return url => {
    const place = places.get(url)
    return place === undefined ? 0 : covers.shareOf(place)
  }
}

function pathsOf(concepts: VisibleConcepts, root: string | undefined): Paths {
  const known = KNOWN.get(concepts)
  if (known !== undefined) return known
  const places = new Map<string, number>()
  const counts: number[] = []
  for (const { url } of concepts.all) {
    if (url === null) continue
    const place = places.get(url) ?? places.size
    places.set(url, place)
    counts[place] = (counts[place] ?? 0) + 1
  }
  const byWord = placesByWord([...places.keys()], url => new Set(wordsOf(pathOrTail(url, root))))
  const countOf = (place: number) => counts[place] ?? 0
  const made = { places, words: { byWord, length: places.size, total: concepts.all.length, countOf } }
  KNOWN.set(concepts, made)
  return made
}

/** Of a doc comment, 0 to 1: of the weight of all words. */
export function docShares(weights: readonly TermWeight[]): (doc: string) => number {
  const asked = weights.map(({ term, idf, boost }) => ({ word: foldName(term), weight: boost * idf }))
  const all = asked.reduce((sum, { weight }) => sum + weight, 0)
  return doc => {
    if (doc === '' || all === 0) return 0
    const words = wordsOf(doc)
    const isThere = (asked: string) => words.some(word => covers(asked, word))
    return asked.reduce((sum, { word, weight }) => sum + (isThere(word) ? weight : 0), 0) / all
  }
}

export interface NameMatch {
  readonly concept: Concept
  /** `whole`: it is the question; `name`: it holds the question as it is; `words`: it shares words with it. */
  readonly match: 'whole' | 'name' | 'words'
  /** 0 to 1: how much of the question the name has, and how much of the name the question has, as their harmonic mean. */
  readonly share: number
}

/** The best, by share, then id; only those that hold the question as it is unless `inWords`. */
export function bestNames(
  concepts: VisibleConcepts,
  query: string,
  questionWords: readonly string[],
  { most, inWords }: { readonly most: number; readonly inWords: boolean },
): readonly NameMatch[] {
  const wanted = foldName(query)
  const { all, byWord } = concepts
  const covers = coversOf(questionWords, { byWord, length: all.length, total: all.length, countOf: () => 1 })
  const best = new TopK<NameMatch>(most, (a, b) => b.share - a.share || a.concept.id - b.concept.id)
  // By id ascending: of equal shares the first stays.
  const offer = (concept: Concept, match: NameMatch['match'], share: number) => {
    if (!best.full || share > (best.worst?.share ?? 0)) best.push({ concept, match, share })
  }
  for (let place = 0; place < all.length; place++) {
    const concept = all[place] as Concept
    const byWords = wordShare(concept, covers, place)
    if (concept.folded.includes(wanted)) {
      const ofName = wanted.length / concept.folded.length
      offer(concept, ofName === 1 ? 'whole' : 'name', Math.max(byWords, shareOfName(concept, wanted)))
    } else if (inWords && byWords > 0) offer(concept, 'words', byWords)
  }
  return best.sorted()
}

function wordShare({ words }: Concept, covers: Covers, place: number): number {
  const covered = covers.wordsOf(place)
  return covered === 0 ? 0 : harmonic(covers.shareOf(place), covered / words.length)
}

/** Of a name that holds the question as it is. */
function shareOfName({ folded }: Concept, wanted: string): number {
  return harmonic(1, wanted.length / folded.length)
}

function harmonic(a: number, b: number): number {
  return (2 * a * b) / (a + b)
}

/** Words of a question that names are compared with in the documented order: more is a text, not a name. */
const MOST_COMPARED = 64

/** By id those whose name holds the question as it is; then, with `inWords`, those that share words with it, most first. */
export function namedAnchors(
  concepts: VisibleConcepts,
  query: string,
  limit: number,
  inWords: boolean,
): readonly NameMatch[] {
  const wanted = foldName(query)
  const named: NameMatch[] = []
  for (const concept of concepts.all) {
    if (named.length === limit) return named
    if (concept.folded.includes(wanted)) named.push({ concept, match: 'name', share: shareOfName(concept, wanted) })
  }
  if (!inWords) return named
  const taken = new Set(named.map(({ concept }) => concept))
  const queryWords = new Set(wordsOf(query).slice(0, MOST_COMPARED))
  const sharing = [...coveredWords(concepts, queryWords)]
    .filter(([concept]) => !taken.has(concept))
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || a.id - b.id)
    .slice(0, limit - named.length)
  const match = 'words'
  return [...named, ...sharing.map(([concept, count]) => ({ concept, match, share: count / queryWords.size }) as const)]
}

/** How many of the question's words each concept's name covers, where it is any. */
function coveredWords({ all, byWord }: VisibleConcepts, queryWords: ReadonlySet<string>): ReadonlyMap<Concept, number> {
  const counts = new Map<Concept, number>()
  for (const queryWord of queryWords) {
    const covered = new Set<number>()
    for (const [word, places] of byWord) {
      if (!covers(queryWord, word)) continue
      for (const place of places) covered.add(place)
    }
    for (const place of covered) counts.set(all[place] as Concept, (counts.get(all[place] as Concept) ?? 0) + 1)
  }
  return counts
}
