/**
 * Passages of the results of one query: which chunks of an entry are shown, best first, and of each the part where the
 * query's words stand, marked. Where passages are the results (`group: passage`), also their scores.
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

/** Kinds whose chunks have headings that are indexed and are no part of the content: domains, the question before. */
const INDEXED_ONLY: ReadonlySet<string> = new Set(['belief', 'message'])

/** Position of a passage in its entry, from 1. */
export function positionOf({ ordinal }: Chunk): number {
  return ordinal + 1
}

/** Passages that are ranked for each entry that a leg is asked for: 2,000 at the usual depth of 100. */
const PASSAGES_EACH = 20
/** At most, unless that is less than `MIN_EACH` for each: ranking them is done in one piece. */
const MAX_PASSAGES = 5_000
/** As many as the two legs may bring entries; where results are spread, no more, since spreading reads all of their vectors. */
const MIN_EACH = 2
/** Passages scored between two pauses. */
const STEP = 1_000

export interface Grouped {
  readonly scoring: Scoring
  /** Not exhausted where passages are left for a deeper one. */
  readonly retrieval: Retrieval
  /** Whether passages are left for a deeper retrieval. */
  readonly isCut: boolean
}

/**
 * What is ranked, by the `group` of the query: the scored entries as they are, or each of their passages by the same formula
 * over the words and the meaning of this passage alone. The verdict stays that of the entries. Throws `invalid_argument`
 * where the score is not one of single passages. Costs a lookup of each word and a dot product for each passage of the
 * entries that were brought, and pauses between entries and within long ones.
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

/** Of more passages than this the best are ranked, and the others when a later page asks deeper. */
function maxRanked(depth: number, isSpread: boolean): number {
  const least = MIN_EACH * depth
  return isSpread ? least : Math.max(least, Math.min(PASSAGES_EACH * depth, MAX_PASSAGES))
}

/** As for entries: where noise is no result, a passage without a word of the query and a meaning no nearer than chance is none. */
function noiseAmongPassages(scoring: Scoring, plan: Plan, context: QueryContext): (passage: Scored) => boolean {
  if (!dropsNoise(plan) || scoring.verdict === 'nothing_relevant') return () => false
  return passage => isNoise(passage, context)
}

/**
 * The passages that may be results: those with a word of the query or a vector. Of an entry that has neither, as a phrase of
 * stop words can bring it, the first.
 */
function* candidatesOf(one: Scored, plan: Plan, context: QueryContext): Steps<readonly Candidate[]> {
  const all = yield* passagesOf(one, plan, context)
  if (plan.mode === 'list') return all
  const speaking = all.filter(({ signals }) => (signals['words'] ?? 0) > 0 || signals['meaning'] !== undefined)
  return speaking.length > 0 ? speaking : all.slice(0, 1)
}

/** Throws `invalid_argument` where several passages are asked for and the score is not one of single passages. */
export function assertScoresPassages({ scoring: { rate } }: Ranking, { query: { passages, lens } }: Plan): void {
  if (rate !== undefined || (passages ?? 1) === 1) return
  throw invalidArgument('passages', passages, `1, because the lens ${lens} does not score single passages`)
}

/**
 * Makes the excerpt and the passages of each item of a page. Where one chunk is the best by words and by meaning, the best
 * passage costs no more than reading that chunk; of other entries, and where several are asked for, every chunk is scored.
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
  // A chunk without a vector may score more than the best by words and by the vectors there are.
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
    // No leg found one, or it is gone.
    const [chunk] = chosen.length > 0 ? [] : context.reader.chunksOf(entry.key)
    if (chunk !== undefined) chosen.push({ chunk, scored: ranked, stretch: stretchOf(entry, chunk) })
    const excerpts = chosen.map(each => excerptOf(entry, each))
    return {
      excerpt: excerpts[0] ?? NOTHING,
      passages: chosen.map(({ scored }, at): Passage => {
        // By default they would be those of the item once more.
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

/** With its frame, which is marked as such: the lines of the excerpt are those of the rest. */
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

/** Chunks overlap: whether a better passage shows more than half of this text already. */
function isRepeated(stretch: Stretch, better: Stretch): boolean {
  const start = Math.max(stretch.start, better.start)
  const end = Math.min(stretch.start + stretch.text.length, better.start + better.text.length)
  return end - start > stretch.text.length / 2
}

/** The best chunk of the leg that gave most to the score. */
function chunkByLeg({ chunks }: Ranked, componentsOf: () => Readonly<Record<string, number>>): ChunkKey | undefined {
  const [first, ...others] = Object.keys(chunks)
  if (first === undefined || others.length === 0) return chunks[first ?? '']
  const components = componentsOf()
  const most = others.reduce((best, leg) => ((components[leg] ?? 0) > (components[best] ?? 0) ? leg : best), first)
  return chunks[most]
}

/** The one chunk that is the best by each leg that says anything; undefined: they name several, or none. */
function agreedChunk({ chunks, signals }: Ranked): ChunkKey | undefined {
  const { words, meaning } = chunks
  if ((signals['words'] ?? 0) <= 0) return meaning ?? words
  return meaning === undefined || meaning === words ? words : undefined
}

/** Of the chunks with these keys, which are read at once, and of any other, read when it is asked for. */
function chunkReader(
  { reader }: QueryContext,
  keys: readonly (ChunkKey | undefined)[],
): (key: ChunkKey) => Chunk | undefined {
  const found = new Map(reader.chunks(keys.filter(key => key !== undefined)).map(chunk => [chunk.key, chunk]))
  return key => found.get(key) ?? reader.chunks([key])[0]
}

/**
 * Each chunk of an entry as a candidate. The signals of the chunks that retrieval found are those it gave; others have no more
 * than these, though approximate cosines might say so.
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

/** Ties: first what retrieval found, then by chunk key, as in the indexes. */
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
 * Boost times idf of each word of the question among the visible passages: the statistics that ranking has read already,
 * and which say nothing of hidden ones.
 */
function weightsOfWords({ terms, mode }: Plan, { words, accessScope }: QueryContext): ReadonlyMap<string, number> {
  if (terms.length === 0 || mode === 'list') return new Map()
  return new Map(words.weigh(terms, accessScope).map(({ term, boost, idf }) => [term, boost * idf]))
}

// Which words of a text stand for words of a question: the same stem, as the word index sees it.

/**
 * `of` is the language of the text. Stop words of the question's language, and of the text's, stand for nothing, unless
 * the question has nothing else.
 */
export function questionMatcher(question: readonly string[], of: Language): WordMatcher {
  const words = [...new Set(question.flatMap(text => tokenise(text).map(token => token.term)))]
  const asked = languagesOfQuestion(words)
  const telling = words.filter(word => !asked.some(language => isStopWord(word, language)))
  const stems = new Map((telling.length > 0 ? telling : words).map(word => [stem(word, of), word]))
  // Stemming changes endings only, so most words of a text are recognised by how they begin.
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
    if (telling.length > 0 && isStopWord(term, of)) return null
    return stems.get(stem(term, of)) ?? null
  }
}
