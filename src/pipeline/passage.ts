/**
 * Passages of the results of one query: which chunks of an entry are shown, best first, and of each chunk the part that contains the
 * query's words, highlighted. Where results are passages (`group: passage`), also the passages' scores.
 */
import { atOnce, type Steps } from '../base/turns.ts'
import type { Candidate, Ranked, Scored } from '../model/candidate.ts'
import type { Chunk, ChunkKey, Entry } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { Excerpt, Passage } from '../model/page.ts'
import { excerpt, type Passage as Stretch, sectionAt, type WordMatcher } from '../text/excerpt.ts'
import { language, languagesOfQuestion, SAMPLE } from '../text/language.ts'
import { beginningOf, stem } from '../text/stem.ts'
import { isStopWord, type Language } from '../text/stopwords.ts'
import { tokenise } from '../text/tokenise.ts'
import type { QueryContext } from './context.ts'
import { firstInOrder } from './diversify.ts'
import { noteDamage } from './many-rows.ts'
import { dropsNoise, isNoise } from './score.ts'
import type { Plan, Ranking, Retrieval, Scoring, ShownText } from './stage.ts'

/**
 * Kinds of entries whose chunk headings are indexed but are not part of the content: a belief's domains, the question before a message.
 * These headings are not shown.
 */
const INDEXED_ONLY: ReadonlySet<string> = new Set(['belief', 'message'])

/** Number of a passage within its entry, from 1. */
export function positionOf({ ordinal }: Chunk): number {
  return ordinal + 1
}

/** Number of passages ranked for each entry that a search may return: 2,000 passages at the usual depth of 100 entries. */
const PASSAGES_EACH = 20
/**
 * Largest number of passages ranked, unless `MIN_EACH` passages per entry are more; ranking runs without a pause, so the number must be
 * limited.
 */
const MAX_PASSAGES = 5_000
/**
 * Smallest number of passages ranked for each entry that a search may return. Where results are diversified it is also the largest, since
 * diversifying reads the vectors of all ranked passages.
 */
const MIN_EACH = 2
/** Number of passages scored before the work pauses so that other requests can run. */
const STEP = 1_000

export interface Grouped {
  readonly scoring: Scoring
  /**
   * The retrieval from which the passages come. Its `exhausted` is set to false where only the best passages were ranked, so that a deeper
   * retrieval would rank more.
   */
  readonly retrieval: Retrieval
  /** Whether only the best passages were ranked and some were left out, which a deeper retrieval would rank. */
  readonly isCut: boolean
}

/**
 * Returns what is ranked, by the query's `group`: the scored entries unchanged, or each of their passages, scored by the same formula from
 * the words and meaning of that passage alone. The verdict remains that of the entries. Throws `invalid_argument` where the lens has no
 * score for single passages. Cost: for each passage of the retrieved entries a look-up of each query word and a dot product, with pauses
 * between entries and within long ones.
 */
export async function byGroup(
  scoring: Scoring,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Promise<Grouped> {
  if (plan.query.group === 'entry') return { scoring, retrieval, isCut: false }
  return context.turns.run(scorePassages(scoring, retrieval, plan, context))
}

function* scorePassages(scoring: Scoring, retrieval: Retrieval, plan: Plan, context: QueryContext): Steps<Grouped> {
  const { rate, adjust = all => all } = scoring
  const { lens, approximate, diversity } = plan.query
  if (rate === undefined) {
    throw invalidArgument('group', 'passage', `entry, because the lens ${lens} does not score single passages`)
  }
  const most = approximate ? maxRanked(retrieval.depth, diversity < 1) : Number.POSITIVE_INFINITY
  const isList = plan.mode === 'list'
  const isDropped = noiseAmongPassages(scoring, plan, context)
  let scored: Scored[] = []
  let isCut = false
  let isLate = false
  const cut = () => {
    isCut ||= scored.length > most
    scored = isList ? scored.slice(0, most) : [...firstInOrder(scored, most, context)]
  }
  for (const entry of isList ? scoring.scored : [...scoring.scored].sort((a, b) => b.score - a.score)) {
    isLate = scored.length > 0 && context.deadline.over
    isCut ||= isList && scored.length >= most
    if (isLate || (isList && isCut)) break
    const passages = yield* candidatesOf(entry, plan, context)
    for (let at = 0; at < passages.length; at += STEP) {
      for (const passage of rate(passages.slice(at, at + STEP))) {
        if (!isDropped(passage)) scored.push(entry.round === undefined ? passage : { ...passage, round: entry.round })
      }
      if (scored.length > 2 * most) cut()
      yield
    }
  }
  cut()
  return {
    scoring: { ...scoring, scored: adjust(scored), isWhole: scoring.isWhole === true && !isCut },
    retrieval: {
      ...retrieval,
      exhausted: retrieval.exhausted && !isCut,
      complete: retrieval.complete && !isLate,
    },
    isCut,
  }
}

/**
 * Largest number of passages that are ranked at a retrieval depth; only the best ones are. The others are ranked when a later page
 * retrieves deeper.
 */
function maxRanked(depth: number, isSpread: boolean): number {
  const least = MIN_EACH * depth
  return isSpread ? least : Math.max(least, Math.min(PASSAGES_EACH * depth, MAX_PASSAGES))
}

/**
 * Returns a test that is true for passages that are noise: no query word, and a meaning no nearer to the query than chance. Where the query
 * does not drop noise, the test is false for every passage.
 */
function noiseAmongPassages(scoring: Scoring, plan: Plan, context: QueryContext): (passage: Scored) => boolean {
  if (!dropsNoise(plan) || scoring.verdict === 'nothing_relevant') return () => false
  return passage => isNoise(passage, context)
}

/**
 * The passages of an entry that may be results: those with a query word or a vector. Where the entry has none of these (as when a phrase of
 * stop words found it), its first passage.
 */
function* candidatesOf(one: Scored, plan: Plan, context: QueryContext): Steps<readonly Candidate[]> {
  const all = yield* passagesOf(one, plan, context)
  if (plan.mode === 'list') return all
  const speaking = all.filter(({ signals }) => (signals['words'] ?? 0) > 0 || signals['meaning'] !== undefined)
  return speaking.length > 0 ? speaking : all.slice(0, 1)
}

/** Throws `invalid_argument` where several passages per result are requested but the lens has no score for single passages. */
export function assertScoresPassages({ scoring: { rate } }: Ranking, { query: { passages, lens } }: Plan): void {
  if (rate !== undefined || (passages ?? 1) === 1) return
  throw invalidArgument('passages', passages, `1, because the lens ${lens} does not score single passages`)
}

/**
 * Prepares the excerpt and the passages of each item of a page. Where one chunk of an entry is the best both by words and by meaning, only
 * that chunk is read; otherwise, and where the query requests several passages, every chunk of the entry is scored.
 */
export function shownTexts(
  shown: readonly Ranked[],
  ranking: Ranking,
  { statistics }: Retrieval,
  plan: Plan,
  context: QueryContext,
): (entry: Entry, ranked: Ranked) => ShownText {
  const { passages: asked, explain } = plan.query
  const { rate, components, explain: reasonsOf } = ranking.scoring
  // Where vectors are missing, a chunk without a vector may score higher than the best chunk by words and existing vectors, so all chunks
  // are scored.
  const isPartly = statistics['expectedBase'] !== undefined
  const bestOf = (ranked: Ranked): ChunkKey | undefined => {
    if (ranked.passage !== undefined) return ranked.passage
    if (rate === undefined) return chunkByLeg(ranked, () => components(ranked))
    return (asked ?? 1) === 1 && !isPartly ? agreedChunk(ranked) : undefined
  }
  const knownBest = new Map(shown.map(ranked => [ranked, bestOf(ranked)]))
  const read = chunkReader(context, [...knownBest.values()])
  const stretchOf = stretches(plan, context)

  return (entry, ranked) => {
    const best = knownBest.get(ranked)
    const rated =
      rate === undefined || best !== undefined
        ? [{ chunk: best, scored: ranked }]
        : bestFirst(rate(atOnce(passagesOf(ranked, plan, context))), ranked)
    const chosen: Chosen[] = []
    for (const { chunk: key, scored } of rated) {
      const chunk = key === undefined ? undefined : read(key)
      if (chunk?.entry !== entry.key) continue
      const stretch = stretchOf(entry, chunk)
      if (!chosen.some(better => isRepeated(stretch, better.stretch))) chosen.push({ chunk, scored, stretch })
      if (chosen.length >= (asked ?? 1)) break
    }
    // The entry's first chunk is shown where no search named a chunk, or the named chunk no longer exists.
    const [chunk] = chosen.length > 0 ? [] : context.reader.chunksOf(entry.key)
    if (chunk !== undefined) chosen.push({ chunk, scored: ranked, stretch: stretchOf(entry, chunk) })
    const excerpts = chosen.map(each => excerptOf(entry, each))
    return {
      excerpt: excerpts[0] ?? NOTHING,
      passages: chosen.map(({ scored }, at): Passage => {
        // The explanation of each passage's score is added only where the query requests several passages; otherwise it would repeat the
        // explanation of the item.
        const reasons = explain && asked !== null ? { explanation: reasonsOf(scored) } : {}
        return { ...(excerpts[at] as Excerpt), score: scored.score, ...reasons }
      }),
    }
  }
}

interface Chosen {
  readonly chunk: Chunk
  readonly scored: Scored
  readonly stretch: Stretch
}

const NOTHING: Excerpt = { text: '', start_line: 1, end_line: 1, section: [], highlights: [] }

function excerptOf(entry: Entry, { chunk, stretch }: Chosen): Excerpt {
  return {
    ...textOf(stretch),
    start_line: stretch.startLine,
    end_line: stretch.endLine,
    section: INDEXED_ONLY.has(entry.kind) ? [] : sectionAt(chunk, stretch.start + (stretch.highlights[0]?.[0] ?? 0)),
    ...(stretch.isStartCut && { cut_start: true }),
    ...(stretch.isEndCut && { cut_end: true }),
  }
}

/**
 * The text of an excerpt with the repeated lines before and after it (its frame: a table header, code fences). `framed` marks these lines,
 * since the excerpt's line numbers do not include them.
 */
function textOf({ text, highlights, frame }: Stretch): Pick<Excerpt, 'text' | 'highlights' | 'framed'> {
  if (frame === null) return { text, highlights }
  const [before, after] = [frame.lead === '' ? '' : `${frame.lead}\n`, frame.tail === '' ? '' : `\n${frame.tail}`]
  const moved = highlights.map(([start, end]) => [start + before.length, end + before.length] as const)
  return {
    text: `${before}${text}${after}`,
    highlights: [...frame.highlights, ...moved],
    framed: [before.length, after.length],
  }
}

/** Whether a better passage already shows more than half of this passage's text, as overlapping chunks can. */
function isRepeated(stretch: Stretch, better: Stretch): boolean {
  const start = Math.max(stretch.start, better.start)
  const end = Math.min(stretch.start + stretch.text.length, better.start + better.text.length)
  return end - start > stretch.text.length / 2
}

/** The best chunk according to the search (by words, by meaning or another) that contributed most to the item's score. */
function chunkByLeg({ chunks }: Ranked, componentsOf: () => Readonly<Record<string, number>>): ChunkKey | undefined {
  const [first, ...others] = Object.keys(chunks)
  if (first === undefined || others.length === 0) return chunks[first ?? '']
  const components = componentsOf()
  const most = others.reduce((best, leg) => ((components[leg] ?? 0) > (components[best] ?? 0) ? leg : best), first)
  return chunks[most]
}

/** The chunk that is the best both by words and by meaning; undefined: the two differ, or there is none. */
function agreedChunk({ chunks, signals }: Ranked): ChunkKey | undefined {
  const { words, meaning } = chunks
  if ((signals['words'] ?? 0) <= 0) return meaning ?? words
  return meaning === undefined || meaning === words ? words : undefined
}

/** Returns a function that reads chunks: those with the given keys are read together, any other chunk when it is requested. */
function chunkReader(
  { reader }: QueryContext,
  keys: readonly (ChunkKey | undefined)[],
): (key: ChunkKey) => Chunk | undefined {
  const found = new Map(reader.chunks(keys.filter(key => key !== undefined)).map(chunk => [chunk.key, chunk]))
  return key => found.get(key) ?? reader.chunks([key])[0]
}

/**
 * Makes each chunk of an entry a candidate with scores by words and by meaning (signals). The chunk that retrieval found best by meaning
 * keeps its cosine. The other chunks get at most that cosine, even where an approximate one is higher.
 */
function* passagesOf(
  { entry, chunks, signals, source }: Scored,
  { mode, terms, vector, query: { approximate, passages, group } }: Plan,
  context: QueryContext,
): Steps<readonly Candidate[]> {
  const { partitions } = context.accessScope
  if (mode === 'list') {
    const all = context.reader.around(noteDamage(context), () => context.reader.chunksOf(entry))
    return (passages === null && group === 'entry' ? all.slice(0, 1) : all).map(({ key }) => ({
      entry,
      passage: key,
      source,
      signals,
      chunks: { words: key },
    }))
  }
  const byKey = new Map<ChunkKey, { words?: number; meaning?: number }>()
  if (mode !== 'meaning') {
    for (const { chunk, score } of context.words.scoreChunks(terms, entry, { partitions }))
      byKey.set(chunk, { words: score })
    yield
  }
  const cosines = vector === null ? [] : context.vectors?.scoreChunks(vector, entry, { partitions }, approximate)
  for (const { chunk, score } of cosines ?? []) {
    const meaning = chunk === chunks['meaning'] ? signals['meaning'] : Math.min(score, signals['meaning'] ?? score)
    byKey.set(chunk, { ...byKey.get(chunk), ...(meaning !== undefined && { meaning }) })
  }
  yield
  const { phrase } = signals
  return [...byKey].map(([chunk, own]) => ({
    entry,
    passage: chunk,
    source,
    signals: { ...own, ...(phrase !== undefined && { phrase }) },
    chunks: { words: chunk, meaning: chunk },
  }))
}

/**
 * An entry's scored passages, best first. Of equally scored passages, those that retrieval found come first, then the lower chunk key,
 * which is the order that the indexes use.
 */
function bestFirst(scored: readonly Scored[], ranked: Ranked): readonly { chunk: ChunkKey; scored: Scored }[] {
  const found = new Set(Object.values(ranked.chunks))
  const late = (chunk: ChunkKey) => (found.has(chunk) ? 0 : 1)
  const all = scored.map(each => ({ chunk: each.chunks['words'] as ChunkKey, scored: each }))
  return all.sort((a, b) => b.scored.score - a.scored.score || late(a.chunk) - late(b.chunk) || a.chunk - b.chunk)
}

function stretches(plan: Plan, context: QueryContext): (entry: Entry, chunk: Chunk) => Stretch {
  const words = plan.terms.map(term => term.text)
  let weights: ReadonlyMap<string, number> | undefined
  const weightOf = (word: string): number => {
    weights ??= weightsOfWords(plan, context)
    return weights.get(word) ?? 1
  }
  const matchers = new Map<Language, WordMatcher>()
  const matcherFor = (of: Language): WordMatcher => {
    const matcher = matchers.get(of) ?? questionMatcher(words, of)
    matchers.set(of, matcher)
    return matcher
  }
  return (entry, chunk) => {
    const of = context.memo.language(entry, () => language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`))
    return excerpt(entry.content, chunk, {
      match: matcherFor(of),
      weightOf,
      maxLength: plan.query.excerptLength,
      form: entry.kind === 'code' ? 'code' : 'prose',
    })
  }
}

/**
 * Weight of each query word: its boost times its idf among the visible passages. Ranking has read these statistics already, and they reveal
 * nothing about hidden passages.
 */
function weightsOfWords({ terms, mode }: Plan, { words, accessScope }: QueryContext): ReadonlyMap<string, number> {
  if (terms.length === 0 || mode === 'list') return new Map()
  return new Map(words.weigh(terms, accessScope).map(({ term, boost, idf }) => [term, boost * idf]))
}

// Matches the words of a text with the words of a query: two words match when they have the same stem, as in the word index.

/**
 * Makes a function that returns the query word which a word of a text matches, or null. `of`: language of the text. Stop words of the
 * query's language and of the text's language match nothing, unless the query consists only of stop words.
 */
export function questionMatcher(question: readonly string[], of: Language): WordMatcher {
  const words = [...new Set(question.flatMap(text => tokenise(text).map(token => token.term)))]
  const asked = languagesOfQuestion(words)
  const contentTerms = words.filter(word => !asked.some(language => isStopWord(word, language)))
  const stems = new Map((contentTerms.length > 0 ? contentTerms : words).map(word => [stem(word, of), word]))
  // Stemming changes only the end of a word, so comparing first letters rules out most words of a text without stemming them.
  const beginnings = [...stems.keys()].map(stem => beginningOf(stem, of))
  const isAnyWord = beginnings.includes('')
  const initials = new Set(beginnings.map(beginning => beginning.charCodeAt(0)))
  const beginsAsOne = (term: string): boolean => {
    if (isAnyWord) return true
    if (!initials.has(term.charCodeAt(0))) return false
    for (const beginning of beginnings) if (term.startsWith(beginning)) return true
    return false
  }
  return term => {
    if (!beginsAsOne(term)) return null
    if (contentTerms.length > 0 && isStopWord(term, of)) return null
    return stems.get(stem(term, of)) ?? null
  }
}
