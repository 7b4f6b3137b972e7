/**
 * Passages of the results of one query: which chunks of an entry are shown, best first, and of each the part where the
 * query's words stand, marked.
 */
import type { Candidate, Ranked, Scored } from '../model/candidate.ts'
import type { Chunk, ChunkKey, Entry } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { Excerpt, Item, Passage } from '../model/page.ts'
import { excerpt, type Passage as Stretch, sectionAt, type WordMatcher } from '../text/excerpt.ts'
import { language, SAMPLE } from '../text/language.ts'
import { questionMatcher } from '../text/question-matcher.ts'
import type { Language } from '../text/stopwords.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Ranking, Retrieval } from './stage.ts'

/** What an item shows of its entry: `passages` only where they were asked for. */
export type ShownText = Pick<Item, 'excerpt' | 'passages'>

/** Kinds whose chunks have headings that are indexed and are no part of the content: domains, the question before. */
const INDEXED_ONLY: ReadonlySet<string> = new Set(['belief', 'message'])

/**
 * Makes the excerpt and the passages of each entry of a page. Where one chunk is the best by words and by meaning, an excerpt
 * costs no more than reading that chunk; of other entries, and where passages are asked for, every chunk is scored. Throws
 * `invalid_argument` where several passages are asked for and the score is not one of single passages.
 */
export function shownTexts(
  shown: readonly Ranked[],
  ranking: Ranking,
  { statistics }: Retrieval,
  plan: Plan,
  context: QueryContext,
): (entry: Entry, ranked: Ranked) => ShownText {
  const { passages: asked, explain, lens } = plan.query
  const { rate, explain: reasonsOf } = ranking.scoring
  if (rate === undefined && (asked ?? 1) > 1) {
    throw invalidArgument('passages', asked, `1, because the lens ${lens} does not score single passages`)
  }
  // A chunk without a vector may score more than the best by words and by the vectors there are.
  const isPartly = statistics['expectedBase'] !== undefined
  const knownBest = (ranked: Ranked): ChunkKey | undefined => {
    if (rate === undefined) return chunkByLeg(ranked)
    return asked === null && !isPartly ? agreedChunk(ranked) : undefined
  }
  const read = chunkReader(context, shown.map(knownBest))
  const stretchOf = stretches(plan, context)

  return (entry, ranked) => {
    const best = knownBest(ranked)
    const rated =
      rate === undefined || best !== undefined
        ? [{ chunk: best, scored: ranked }]
        : bestFirst(rate(passagesOf(entry, ranked, plan, context)), ranked)
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
    return {
      excerpt: chosen[0] === undefined ? NOTHING : excerptOf(entry, chosen[0]),
      ...(asked !== null && {
        passages: chosen.map((each): Passage => {
          const { scored } = each
          const reasons = explain ? { explanation: reasonsOf(scored) } : {}
          return { ...excerptOf(entry, each), score: scored.score, ...reasons }
        }),
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
    section: INDEXED_ONLY.has(entry.kind) ? [] : sectionAt(chunk, stretch.start),
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
function chunkByLeg({ chunks, components }: Ranked): ChunkKey | undefined {
  let best: string | undefined
  for (const leg of Object.keys(chunks)) {
    if (best === undefined || (components[leg] ?? 0) > (components[best] ?? 0)) best = leg
  }
  return best === undefined ? undefined : chunks[best]
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
function passagesOf(
  entry: Entry,
  { chunks, signals, source }: Ranked,
  { mode, terms, vector, query: { approximate, passages } }: Plan,
  context: QueryContext,
): readonly Candidate[] {
  const { partitions } = context.sight
  if (mode === 'list') {
    const all = context.reader.chunksOf(entry.key)
    return (passages === null ? all.slice(0, 1) : all).map(({ key }) => ({
      entry: entry.key,
      source,
      signals: {},
      chunks: { words: key },
    }))
  }
  const byKey = new Map<ChunkKey, { words?: number; meaning?: number }>()
  if (mode !== 'meaning') {
    for (const { chunk, score } of context.words.scoreChunks(terms, entry.key, { partitions }))
      byKey.set(chunk, { words: score })
  }
  const cosines = vector === null ? [] : context.vectors?.scoreChunks(vector, entry.key, { partitions }, approximate)
  for (const { chunk, score } of cosines ?? []) {
    const meaning = chunk === chunks['meaning'] ? signals['meaning'] : Math.min(score, signals['meaning'] ?? score)
    byKey.set(chunk, { ...byKey.get(chunk), ...(meaning !== undefined && { meaning }) })
  }
  const { phrase } = signals
  return [...byKey].map(([chunk, own]) => ({
    entry: entry.key,
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
  const weights = weightsOfWords(plan, context)
  const weightOf = (word: string): number => weights.get(word) ?? 1
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
function weightsOfWords({ terms, mode }: Plan, { words, sight }: QueryContext): ReadonlyMap<string, number> {
  if (terms.length === 0 || mode === 'list') return new Map()
  return new Map(words.weigh(terms, sight).map(({ term, boost, idf }) => [term, boost * idf]))
}
